"""A server that has just started, with model folders that are broken."""

import json
import shutil

import pytest
from playwright.sync_api import expect

from benchmarks.serving import running_app
from crfviz.taggers.registry import SHIPPED
from tests.support.screen import MODEL, PATIENCE, SENTENCE, assert_lattice, chain, with_cell

BROKEN = {  # models, and what a message names
    "missing": "vocabulary.json",
    "truncated": "model.safetensors",
    "no-json": "config.json",
    "wrong-field": "tags",
}
FILES = ("config.json", "vocabulary.json", "model.safetensors")


@pytest.fixture
def broken_models(tmp_path):
    """A folder of models that differ from a good one by one mistake each."""
    parent = tmp_path / "models"
    for name in BROKEN:
        (parent / name).mkdir(parents=True)
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


@pytest.mark.rotating
def test_new_server_draws_its_first_page_and_names_broken_models(
    watch, fresh, broken_models, tmp_path
):
    """Started as people do, not forked: it imports everything during the first visit."""
    with running_app(tmp_path / "server.log", {"CRFVIZ_MODELS": str(broken_models)}) as app:
        screen = watch(fresh(), app)
        screen.open("forward-backward", t="DET.NOUN:-3.25")
        expect(screen.page.get_by_role("dialog")).to_have_count(0)
        screen.expect_edits(1)
        for model, said in BROKEN.items():
            screen.visit("transitions", model=model, t="DET.NOUN:-3.25")
            message = screen.page.locator("[data-testid=stMain] [data-testid=stAlert]")
            expect(message).to_contain_text(said, timeout=PATIENCE)
            expect(screen.sentence).to_have_value(SENTENCE)
            screen.expect_edits(1)
        with screen.redraw():
            screen.choose("model", MODEL)
        expected = chain(edits=with_cell("DET", "NOUN", -3.25))
        screen.eventually(lambda: assert_lattice(screen.read(), expected))
        assert "failed, log id" not in app.log()
