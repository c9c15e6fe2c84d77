"""`annotations new` and `annotations propose`: own tags, and the model that learns them."""

import json
import sqlite3
from dataclasses import replace
from itertools import product

import pytest

from crfviz.__main__ import main
from crfviz.annotations.labelling import Desk, accept, begin, correct, propose
from crfviz.annotations.store import database
from crfviz.annotations.store.store import open_store
from crfviz.annotations.teaching.propose import last_proposer, propose_model
from crfviz.annotations.teaching.teach import RECORD_FILE
from crfviz.chain.forward_backward import forward_backward
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import document_tagger
from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.taggers.tagger import CRF, PERCEPTRON
from crfviz.taggers.user_models import new_model, remove_model, user_models
from tests.support import oracle

COLOURS, THINGS = ("rote", "blaue", "graue"), ("Jacke", "Hose", "Tasche", "Mütze")
TEXTS = [f"Die {colour} {thing}" for colour, thing in product(COLOURS, THINGS)]


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/annotations.db")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "waren.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    return path


def new(file, *more, tags="FARBE,WARE"):
    return main(["annotations", "new", "Waren", "--tags", tags, *more, str(file)])


def test_tags_may_be_quoted_as_in_csv(file, capsys):
    assert new(file, tags=",,NN") == 2
    assert "a comma stands in double quotes" in capsys.readouterr().err
    with open_store() as store:
        assert not store.documents()
        assert new(file, tags='",",NN,"a=b"=k') == 0
        (document,) = store.documents()
    assert document.tags == (",", "NN", "a=b")
    assert document.settings.keys == {"a=b": "k"}


def asked(*more, model="mein", document="Waren"):
    return main(["annotations", "propose", document, "--as", model, *more])


def label(number, start=0, *, bio=True, who="anna", same=False):
    """Label sentences as somebody would at the desk."""
    with open_store() as store:
        (document,) = store.documents()
        tagger = document_tagger(document.tags, None)
        for item in store.items("Waren")[start:number]:
            desk = Desk(item, who, tagger, "")
            annotation = begin(desk)
            if not bio:
                annotation = correct(desk, annotation, 0, 0, "REST")
            for position, kind in ((1, "FARBE"), (2, "FARBE" if same else "WARE")):
                annotation = correct(desk, annotation, position, position, kind)
            store.save(accept(annotation), tagger.tags)


def test_new_stores_sentences_with_their_own_tags(file, capsys):
    assert new(file, "--bio") == 0
    assert (
        "12 sentences stored as Waren, to be labelled with O, B-FARBE, I-"
        in capsys.readouterr().err
    )
    with open_store() as store:
        (document,) = store.documents()
        assert document.tags == ("O", "B-FARBE", "I-FARBE", "B-WARE", "I-WARE")
        assert [item.text for item in store.items("Waren")] == TEXTS
    assert new(file) == 2
    assert "a document 'Waren' already" in capsys.readouterr().err


def test_new_reads_keys_after_tag_names(file):
    assert new(file, "--bio", tags="FARBE=f, WARE") == 0
    with open_store() as store:
        (document,) = store.documents()
        assert document.settings.names == ("FARBE", "WARE")
        assert document.settings.keys == {"FARBE": "f"}


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ("A,a", "each tag once, got A and a"),
        (",".join(f"T{n}" for n in range(200)), "1 to 60 tags, got 200"),
        ("A B,C", "without blanks"),
        ("<script>", "got '<script>'"),
        ("", "1 to 60 tags, got 0"),
        ("A=a,B=a", "one tag for each key, got 'a' for A and B"),
    ],
)
def test_invalid_tags_are_rejected_and_nothing_is_stored(file, capsys, tags, message):
    assert new(file, tags=tags) == 2
    assert message in capsys.readouterr().err
    with open_store() as store:
        assert store.documents() == []


@pytest.mark.parametrize("name", ["", "  "])
def test_document_without_a_name_is_rejected(file, capsys, name):
    assert main(["annotations", "new", name, "--tags", "A,B", str(file)]) == 2
    assert "expected a name for the document, got none" in capsys.readouterr().err
    with open_store() as store:
        assert store.documents() == []


def test_gold_tags_outside_the_tag_list_are_rejected(tmp_path, capsys):
    path = tmp_path / "gold.conll"
    path.write_text("rote\tFARBE\nHose\tDING\n", encoding="utf-8")
    assert new(path) == 2
    assert "expected the tags FARBE, WARE, got 'DING'" in capsys.readouterr().err
    assert new(path, tags="FARBE,DING") == 0
    with open_store() as store:
        assert [item.gold for item in store.items("Waren")] == [("FARBE", "DING")]


@pytest.mark.parametrize("family", [CRF, PERCEPTRON])
@pytest.mark.parametrize("bio", [True, False], ids=["entities", "words"])
def test_propose_trains_a_model_with_the_tags(file, capsys, family, bio):
    assert new(file, *["--bio"] * bio, tags="FARBE,WARE,SELTEN" + ",REST" * (not bio)) == 0
    label(10, bio=bio)
    assert asked("--family", family) == 0
    assert "% of the words right" in capsys.readouterr().out
    tagger = load_tagger("mein")
    with open_store() as store:
        (document,) = store.documents()
    assert (document.model, document.tags) == ("mein", tagger.tags)
    assert (tagger.family, tagger.probabilistic) == (family, family == CRF)
    wanted = ("O", "B-FARBE", "B-WARE") if bio else ("REST", "FARBE", "WARE")
    chain = tagger.potentials(TEXTS[-1].split())
    assert propose(chain, {}).tags == wanted
    marginals = forward_backward(chain).marginals
    for (position, tag), p in oracle.marginals(chain).items():
        assert float(marginals[position, tag]) == pytest.approx(p, abs=1e-9)
    assert "Waren" in tagger.card()
    assert {len(example.tokens) for example in tagger.examples()} == {3}
    made = last_proposer(document)
    assert (made.num_sentences, made.score.num_sentences) == (10, 10)
    assert (made.score.entity_f1 is not None) == bio


def test_propose_replaces_only_its_own_earlier_model(file, capsys):
    assert new(file, "--bio") == 0
    label(10)
    assert asked(model="upos-en") == 2
    with new_model("fremd") as folder:
        (folder / "config.json").write_text("{}", encoding="utf-8")
    assert asked(model="fremd") == 2
    assert capsys.readouterr().err.count("choose another name") == 2
    assert asked() == 0
    first = load_tagger("mein").potentials(["Schal"]).emissions
    label(12, start=10)
    assert asked() == 0
    assert list_taggers().count("mein") == 1
    with open_store() as store:
        (document,) = store.documents()
        assert last_proposer(document).num_sentences == 12
        store.add("Andere", store.items("Waren"), labelled=[
            replace(each, item=number) for number, (_, each) in enumerate(store.annotations())
        ])  # fmt: skip
    assert load_tagger("mein").potentials(["Schal"]).emissions.tolist() != first.tolist()
    assert asked(document="Andere") == 2
    assert "'mein' is taken" in capsys.readouterr().err
    remove_model("mein")
    assert asked() == 0


@pytest.mark.parametrize(
    ("number", "same", "message"),
    [
        (3, False, "expected at least 10 finished sentences to learn from, got 3"),
        (12, True, "at least two different tags in the 12 finished sentences, got FARBE alone"),
    ],
    ids=["three sentences", "one label"],
)
def test_too_few_sentences_to_learn_from_are_rejected(file, capsys, number, same, message):
    assert new(file, tags="FARBE,WARE,REST") == 0
    with open_store() as store:
        (document,) = store.documents()
        tagger = document_tagger(document.tags, None)
        for item in store.items("Waren")[:number]:
            desk = Desk(item, "anna", tagger, "")
            last = "FARBE" if same else "WARE"
            annotation = correct(desk, correct(desk, begin(desk), 0, 1, "FARBE"), 2, 2, last)
            store.save(accept(annotation), tagger.tags)
    assert asked() == 2
    assert message in capsys.readouterr().err
    assert "mein" not in list_taggers()
    with open_store() as store:
        assert store.documents()[0].model == ""
        assert store.count() == number


def test_disagreeing_annotators_require_a_choice(file, capsys):
    assert new(file, "--bio") == 0
    label(12)
    label(10, who="ben", same=True)
    assert asked() == 2
    assert "(--annotator WHO or --copies); nothing was trained" in capsys.readouterr().err
    assert asked("--annotator", "ben") == 0
    with open_store() as store:
        assert last_proposer(store.documents()[0]).num_sentences == 10
    assert asked("--copies", "agreed") == 2
    assert "at least 10 finished sentences to learn from, got 2" in capsys.readouterr().err


def test_open_sentences_are_used_for_training(file, capsys):
    assert new(file, "--bio") == 0
    label(10)
    with open_store() as store:
        tagger = document_tagger(store.documents()[0].tags, None)
        desk = Desk(store.items("Waren")[11], "anna", tagger, "")
        store.save(correct(desk, begin(desk), 1, 1, "FARBE"), tagger.tags)
    assert asked("--json-lines") == 0
    *lines, result = map(json.loads, capsys.readouterr().out.splitlines())
    assert result["result"]["num_begun"] == 1
    shares = [line["progress"] for line in lines]
    assert shares == sorted(shares)
    assert (shares[-1], {line["message"] for line in lines}) == (
        1.0,
        {"cross-validation", "training mein", "saving mein"},
    )


def test_locked_store_is_reported_and_leaves_no_model(file, tmp_path, capsys, monkeypatch):
    assert new(file, "--bio") == 0
    label(12)
    monkeypatch.setattr(database, "WAIT", 0.05)
    other = sqlite3.connect(tmp_path / "annotations.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert asked() == 2
    assert "another program keeps it locked" in capsys.readouterr().err
    other.execute("ROLLBACK")
    assert "mein" not in list_taggers()
    assert not list(user_models().iterdir())
    with open_store() as store:
        assert store.documents()[0].model == ""
    assert asked() == 0
    with open_store() as store:
        assert store.documents()[0].model == "mein"
    other.execute("BEGIN IMMEDIATE")
    assert asked() == 0  # the next version changes nothing in the store
    other.close()


def test_rejected_version_keeps_the_previous_model(file, tmp_path, monkeypatch):
    assert new(file, "--bio") == 0
    label(10)
    assert asked(model="first") == 0
    assert asked(model="second") == 0
    label(12, 10)
    before = (user_models() / "first" / RECORD_FILE).read_bytes()
    monkeypatch.setattr(database, "WAIT", 0.05)
    other = sqlite3.connect(tmp_path / "annotations.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert asked(model="first") == 2
    other.close()
    assert sorted(path.name for path in user_models().iterdir()) == ["first", "second"]
    assert (user_models() / "first" / RECORD_FILE).read_bytes() == before
    with open_store() as store:
        assert store.documents()[0].model == "second"


def test_settings_changed_during_training_are_kept(file):
    assert new(file, "--bio") == 0
    label(10)
    with open_store() as store:
        (document,) = store.documents()
        tags = (*document.tags, "B-NEU", "I-NEU")

        def report(share, _):
            if share and store.documents()[0].name == "Waren":
                settings = replace(document.settings, tags=tags, keys={"WARE": "k"})
                store.change("Waren", settings, "Katalog")

        propose_model(store, document, "mein", store.annotations("Waren"), report)
        (after,) = store.documents()
        assert (after.name, after.model) == ("Katalog", "mein")
        assert (after.tags, after.settings.keys) == (tags, {"WARE": "k"})
        tagger = document_tagger(after.tags, load_tagger("mein"), own=True)
        assert propose(tagger.potentials(TEXTS[-1].split()), {}).tags == ("O", "B-FARBE", "B-WARE")


def test_document_removed_during_training_leaves_no_model(file):
    assert new(file, "--bio") == 0
    label(10)
    with open_store() as store:
        (document,) = store.documents()
        pairs = store.annotations("Waren")
        with pytest.raises(CrfvizError, match="'Waren' is gone"):
            propose_model(store, document, "mein", pairs, lambda *_: store.remove("Waren"))
    assert "mein" not in list_taggers()
