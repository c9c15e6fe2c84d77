"""A server that has just started, with model folders that are broken."""

import json
import shutil

import pytest
from playwright.sync_api import expect

from benchmarks.serving import running_app
from crfviz.taggers.registry import SHIPPED
from tests.support.screen import MODEL, PATIENCE, SENTENCE, assert_lattice, chain, with_cell

FILES = ("config.json", "vocabulary.json", "model.safetensors")


@pytest.fixture(scope="module")
def broken_models(tmp_path_factory):
    """A folder of models that differ from a good one by one mistake each."""
    parent = tmp_path_factory.mktemp("models")
    for name in ("missing", "truncated", "no-json", "wrong-field"):
        (parent / name).mkdir()
        for file in FILES:
            shutil.copy(SHIPPED / MODEL / file, parent / name)
    (parent / "missing" / "vocabulary.json").unlink()
    weights = parent / "truncated" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    (parent / "no-json" / "config.json").write_text("{ this is no json")
    config = json.loads((parent / "wrong-field" / "config.json").read_text())
    config["tags"] = "all of them"
    (parent / "wrong-field" / "config.json").write_text(json.dumps(config))
    return parent


@pytest.fixture(scope="module")
def new_app(chromium, broken_models, tmp_path_factory):  # noqa: ARG001 - without it no server
    log = tmp_path_factory.mktemp("new") / "server.log"
    with running_app(log, {"CRFVIZ_MODELS": str(broken_models)}) as running:
        yield running


def test_first_page_of_a_new_server_by_its_address(watch, fresh, new_app):
    screen = watch(fresh(), new_app)
    screen.open("forward-backward", t="DET.NOUN:-3.25")
    expect(screen.page.get_by_role("dialog")).to_have_count(0)
    screen.expect_edits(1)


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("missing", "vocabulary.json"),
        ("truncated", "model.safetensors"),
        ("no-json", "config.json"),
        ("wrong-field", "tags"),
    ],
)
def test_broken_model_is_named_and_everything_else_stays(watch, fresh, new_app, model, said):
    screen = watch(fresh(), new_app)
    screen.visit("transitions", model=model, t="DET.NOUN:-3.25")
    message = screen.page.locator("[data-testid=stMain] [data-testid=stAlert]")
    expect(message).to_contain_text(said, timeout=PATIENCE)
    expect(screen.sentence).to_have_value(SENTENCE)
    screen.expect_edits(1)
    with screen.redraw():
        screen.choose("model", MODEL)
    expected = chain(edits=with_cell("DET", "NOUN", -3.25))
    screen.eventually(lambda: assert_lattice(screen.read(), expected))


def test_a_new_server_keeps_its_log_clean_of_crashes(new_app):
    assert "failed, log id" not in new_app.log()
