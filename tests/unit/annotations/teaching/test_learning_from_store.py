"""From a real store to a new model, and to what two annotators disagree about."""

import json

import pytest

from crfviz.__main__ import main
from crfviz.annotations.agreement import agreement
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.store import open_store
from crfviz.annotations.teaching.gains import taught_of
from crfviz.annotations.teaching.jobs import Jobs
from crfviz.annotations.teaching.learning import Lesson
from crfviz.annotations.teaching.teach import finished, start_teaching
from crfviz.taggers.registry import list_taggers
from tests.support.tiny_tagger import save_tiny

pytestmark = pytest.mark.slow

OFFSETS = ((0, 2), (3, 7))
SAID = {  # final tags of "He runs" and "He Runs" by annotator
    "anna": [("NOUN", "VERB"), ("NOUN", "VERB")],
    "ben": [("NOUN", "NOUN"), ("NOUN", "VERB")],
}


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'annotations.db'}") as opened:
        opened.add("notes", [Item("He runs", OFFSETS), Item("He Runs", OFFSETS)])
        for name, tags in SAID.items():
            for item, final in zip(opened.items("notes"), tags, strict=True):
                said = Annotation(item.id, name, OFFSETS, ("X", "X"), final, state="done")
                opened.save(said)
        yield opened


def test_disagreements_lead_back_to_the_stored_sentences(store):
    found = agreement(store.annotations("notes"), "anna", "ben")
    (one,) = found.disagreements
    assert store.item(one.item.id).text == "He runs"
    assert (one.word, one.tags) == ("runs", ("VERB", "NOUN"))
    assert (found.sentences, found.words, found.observed) == (2, 4, 0.75)


@pytest.mark.slow
def test_what_one_annotator_finished_is_taught_beside_the_app(store, tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    sentences = finished(store.annotations("notes", annotator="anna", state="done"))
    lesson = Lesson(str(save_tiny(tmp_path / "tiny")), held_out=0)
    status = start_teaching(Jobs(), lesson, sentences).wait(300)
    taught = taught_of(status.result)
    assert taught.num_sentences == 2
    assert taught.gains[0].after.log_likelihood > taught.gains[0].before.log_likelihood
    assert taught.name in list_taggers()


@pytest.mark.slow
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("file_format", ["jsonl", "conllu", "columns"])
def test_what_is_exported_can_be_taught(tmp_path, monkeypatch, capsys, file_format):
    """`teach` reads what `annotations export` writes."""
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path / 'annotations.db'}")
    file, tiny = str(tmp_path / "done"), str(save_tiny(tmp_path / "tiny"))
    export = ["--annotator", "anna", "--state", "done", "--format", file_format, "--out", file]
    assert main(["annotations", "export", *export]) == 0
    assert main(["teach", file, "--model", tiny, "--held-out", "0", "--json-lines"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])["result"]
    assert (result["num_sentences"], result["gains"][0]["num_words"]) == (2, 4)
