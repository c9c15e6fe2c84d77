"""The menu of downloads on every page with a picture, also while the model is being removed."""

import json
import re
import shutil
from pathlib import Path

import pytest

import crfviz
from crfviz.taggers.user_models import remove_model
from crfviz.ui import stage
from crfviz.views.contents import ENTRIES
from crfviz.views.site import folder as site
from tests.support.app_pages import go_to, open_at

FEVER, DAYS = "textbook/fever", "normal cold dizzy"
NO_PATH = {"model": "ner-en", "sentence": "Go", "p": "0.I-PER"}
TAKE = "Download as HTML"
BOTH = ["Download A as HTML", "Download B as HTML"]
WITH_A_PICTURE = [  # of the chain, for any model
    entry.script
    for entry in ENTRIES
    if entry.sentence and entry.path not in ("homework", "entities", "em")
]


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture
def offered(monkeypatch):
    """What pages offer to take along, by its label."""
    made = {}
    monkeypatch.setattr(stage, "download", lambda label, make, *_, **__: made.update({label: make}))
    return made


@pytest.fixture
def visit(app):
    """A page with some state in its address."""

    def run(script, **params):
        app.query_params.update(params)
        open_at(app, script)
        assert not app.exception
        assert not app.error

    return run


def test_every_picture_page_offers_a_download(app, visit, offered):
    visit("pages/viterbi.py", model=FEVER, sentence=DAYS)
    for script in WITH_A_PICTURE:
        offered.clear()
        go_to(app, script)
        assert TAKE in offered, script
        assert data_of(offered[TAKE]())["words"] == DAYS.split()


@pytest.mark.parametrize("path", ["entities", "why", "paths"])
def test_sentence_without_a_path_can_be_downloaded(visit, offered, path):
    visit(f"pages/{path}.py", **NO_PATH)
    told = data_of(offered[TAKE]())
    assert (told["words"], told["pins"]) == (["Go"], [[0, "I-PER"]])


def test_both_sides_of_a_comparison_can_be_downloaded(visit, offered):
    visit("pages/compare.py", model=FEVER, sentence=DAYS, k="0", **{"v.pair": "lattices"})
    strengths = [data_of(offered[label]())["edits"]["strength"] for label in BOTH]
    assert sorted(strengths) == [0, 1]


@pytest.fixture
def own_model(tmp_path, monkeypatch):
    """A model that somebody brought, by its name."""
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    shutil.copytree(crfviz.load_tagger("upos-en-contextfree").folder, tmp_path / "ours")
    return "ours"


def test_picture_can_be_downloaded_after_its_model_is_removed(visit, offered, own_model):
    visit("pages/viterbi.py", model=own_model, sentence="They go .")
    remove_model(own_model)
    assert data_of(offered[TAKE]())["words"] == ["They", "go", "."]


def test_export_continues_if_its_model_is_removed(own_model, tmp_path, monkeypatch):
    """The file of examples is seen, and gone when it is to be read."""
    tagger = crfviz.load_tagger(own_model)
    read = Path.read_text

    def removed_first(path, *options, **named):
        if path.name == "examples.jsonl":
            path.unlink(missing_ok=True)
        return read(path, *options, **named)

    monkeypatch.setattr(Path, "read_text", removed_first)
    out = tmp_path / "fine.html"
    crfviz.export_html(tagger, out, sentence="These look fine to me.", with_model=True)
    assert data_of(out.read_text("utf-8"))["words"] == ["These", "look", "fine", "to", "me", "."]


def test_site_is_complete_if_a_model_is_removed_during_writing(own_model, tmp_path, monkeypatch):
    tagger = crfviz.load_tagger(own_model)
    text = tagger.examples()[0].text
    pack = site.tagger_payload

    def removed_then(which):
        shutil.rmtree(which.folder)
        return pack(which)

    monkeypatch.setattr(site, "tagger_payload", removed_then)
    site.write_site(tmp_path / "site", [tagger])
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    models = json.loads(re.search(r'id="site">(.*?)</script>', index, re.DOTALL)[1])["models"]
    assert models[0]["examples"][0]["text"] == text
