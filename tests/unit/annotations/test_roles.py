"""The tags of a file as finished work, proposals or a hidden reference."""

import json

import pytest

from crfviz.__main__ import main
from crfviz.annotations import labelling
from crfviz.annotations.files.exporting import FILE_FORMATS, FOREIGN_SUFFIXES, foreign, render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.files.roles import with_role
from crfviz.annotations.hints import Hint, file_hints, hinted
from crfviz.annotations.labelling import Desk
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import BlankTagger, bio_tags
from crfviz.taggers.registry import load_tagger

SPANS = ("doccano", "labelstudio", "prodigy")  # hold entities alone
SENTENCES = {
    "entities": [
        ("Anna Lee saw Bergen, O.K.?", "Anna Lee saw Bergen , O.K. ?", "B-PER I-PER O B-LOC O O O"),
        ("Nothing here.", "Nothing here .", "O O O"),
        ("New  York-based Siemens", "New York - based Siemens", "B-LOC I-LOC O O B-ORG"),
        ("don't can not", "don't can not", "O B-MISC O"),
        ("Ann Bob", "Ann Bob", "B-PER B-PER"),
        ("Ünï 日本 👩 x", "Ünï 日本 👩 x", "B-PER O B-LOC O"),
    ],
    "no entity": [("Nothing here.", "Nothing here .", "O O O")],
    "parts of speech": [("Dogs run.", "Dogs run .", "NOUN VERB PUNCT"), ("Go!", "Go !", "VERB X")],
    "own tags": [("red shoes", "red shoes", "COLOUR WARE")],
}


def pairs_of(rows):
    pairs = []
    for number, (text, words, tags) in enumerate(rows):
        places, at = [], 0
        for word in words.split():
            at = text.index(word, at)
            places.append((at, at + len(word)))
            at += len(word)
        item = Item(text, tuple(places), document="d", position=number, id=number + 1)
        final = tuple(tags.split())
        pairs.append((item, Annotation(item.id, "anna", item.offsets, final, final, state="done")))
    return pairs


@pytest.mark.parametrize("kind", SENTENCES)
@pytest.mark.parametrize("name", [*FILE_FORMATS, *FOREIGN_SUFFIXES])
def test_every_written_format_comes_back_as_finished_work(kind, name, tmp_path):
    if name in SPANS and kind in ("parts of speech", "own tags"):
        return
    pairs = pairs_of(SENTENCES[kind])
    content = render(pairs, name).encode() if name in FILE_FORMATS else foreign(pairs, name)
    read = with_role(read_items(content, "file"), "work", "anna")
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        (document,) = keep(store, read)
        progress = store.progress(document, "anna")
        stored = store.annotations(document, "anna", "done")
    assert (progress.done, progress.total) == (len(pairs), len(pairs))
    assert [
        (tuple(item.text[a:b] for a, b in said.offsets), said.final) for item, said in stored
    ] == [(item.tokens, said.final) for item, said in pairs]


def test_label_studio_gets_finished_work_as_annotations_and_begun_work_as_predictions():
    (item, done), *_ = pairs_of(SENTENCES["entities"])
    begun = Annotation(item.id, "ben", item.offsets, done.final, done.final, state="open")
    tasks = json.loads(foreign([(item, done), (item, begun)], "labelstudio"))
    assert ["annotations" in task for task in tasks] == [True, False]
    assert ["predictions" in task for task in tasks] == [False, True]
    (annotation,) = tasks[0]["annotations"]
    assert [each["value"]["text"] for each in annotation["result"]] == ["Anna Lee", "Bergen"]


def test_work_needs_a_name_and_keeps_untagged_sentences_open():
    read = read_items(b"Anna\tB-PER\nran\t_\n\nHi\tO\n", "x")
    with pytest.raises(CrfvizError, match="name of its annotator"):
        with_role(read, "work", " ")
    done = with_role(read, "work", "ben")
    assert [each.state for each in done.annotations][-1] == "done"
    assert {each.annotator for each in done.annotations} == {"ben"}
    assert all(item.gold is None for item in done.items)


def test_proposals_are_followed_until_the_annotator_tags_a_word(tmp_path):
    read = with_role(read_items(b"Anna\tB-PER\nLee\tI-PER\nran\tO\n\n", "x"), "proposals")
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        (name,) = keep(store, read)
        assert store.documents()[0].settings.proposes_gold
        (item,) = store.items(name)
    tagger = BlankTagger(bio_tags(["PER", "LOC"]))
    desk = Desk(item, "anna", tagger, "", hints=file_hints(item))
    begun = labelling.begin(desk)
    assert begun.final == begun.proposed == ("B-PER", "I-PER", "O")
    assert desk.reasons(begun) == {0: "from the file", 1: "from the file"}
    assert not begun.pins
    marked = labelling.correct(desk, begun, 1, 1, "LOC")
    assert marked.final == ("O", "B-LOC", "O")
    assert desk.reasons(marked) == {}
    assert labelling.undo(desk, marked).final == begun.final


def test_hints_that_do_not_fit_are_left_out():
    places = ((0, 2), (3, 5), (6, 8))
    entity = Hint(places[:2], ("B-PER", "I-PER"), "why")
    later = Hint(places[1:2], ("B-LOC",), "later")
    tags = bio_tags(["PER", "LOC"])
    assert hinted(places, {}, [entity, later], tags) == {0: ("B-PER", "why"), 1: ("I-PER", "why")}
    assert hinted(places, {1: "O"}, [entity], tags) == {}
    assert hinted(((0, 2), (2, 5), (6, 8)), {}, [entity], tags) == {}
    assert hinted(places, {}, [entity], bio_tags(["LOC"])) == {}


def test_marginals_stay_those_of_the_model_under_hints():
    tagger = load_tagger("upos-en-contextfree")
    item = Item("old dogs run", ((0, 3), (4, 8), (9, 12)))
    plain = Desk(item, "anna", tagger, "v")
    desk = Desk(item, "anna", tagger, "v", hints=(Hint(((0, 3),), ("X",), "why"),))
    one, other = plain.propose(item.offsets, {}), desk.propose(item.offsets, {})
    assert other.tags[0] == "X"
    assert other.marginals.tolist() == one.marginals.tolist()
    assert other.probabilities[0] == float(one.marginals[0, tagger.tags.index("X")])


def test_import_command_stores_tags_in_their_role(tmp_path, capsys):
    file = tmp_path / "towns.conll"
    file.write_text("Bergen\tB-LOC\nis\tO\n\nRain\tO\n", "utf-8")
    url = f"sqlite:///{tmp_path}/store.db"
    base = ["annotations", "import", "--database", url, str(file)]
    assert main(["annotations", "import", "--database", url, "--tags-are", "work", str(file)]) != 0
    assert "--by NAME" in capsys.readouterr().err
    assert main([*base]) == 0
    assert "hidden reference; --tags-are work --by NAME" in capsys.readouterr().err
    assert main([*base, "--separate", "--tags-are", "work", "--by", "ben"]) == 0
    assert main([*base, "--separate", "--tags-are", "proposals"]) == 0
    with open_store(url) as store:
        first, second, third = (each.name for each in store.documents())
        assert store.progress(second, "ben").done == 2
        assert [a.final for _, a in store.annotations(second)] == [("B-LOC", "O"), ("O",)]
        assert store.annotations(first) == store.annotations(third) == []
        assert [each.settings.proposes_gold for each in store.documents()] == [False, False, True]
