"""A document keeps the tags it was begun with; tests/app/test_store_postgres.py repeats this."""

from dataclasses import replace

import pytest

from crfviz.annotations import mixing
from crfviz.annotations.mixing import tag_sets
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import StoreError, UnknownTagError

OFFSETS = ((0, 3), (4, 8))
UPOS = ("NOUN", "PROPN", "PRON", "VERB")
NER = ("O", "B-ORG", "I-ORG")


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/annotations.db") as opened:
        yield opened


def said(item, final, model="upos", annotator="anna", **fields):
    return Annotation(item, annotator, OFFSETS, final, final, model=model, **fields)


def document(store, name="a"):
    return next(each for each in store.documents() if each.name == name)


def begun(store):
    store.add("a", [Item("Kim left", OFFSETS)] * 3)
    return store.item_ids("a")


def test_first_confirmed_annotation_fixes_the_tags_of_a_document(store):
    first, second, _ = begun(store)
    assert (document(store).tags, document(store).model) == (None, "")
    saved = store.save(said(first, ("PROPN", "VERB")), UPOS)
    assert (document(store).tags, document(store).model) == (UPOS, "upos")
    with pytest.raises(UnknownTagError, match=r"'a' .* upos, and 'PROP' .*did you mean PROPN or"):
        store.save(said(second, ("PROP", "VERB")), UPOS)
    with pytest.raises(UnknownTagError, match=r"'B-ORG' is none of them: expected one of NOUN, "):
        store.save(said(second, ("B-ORG", "O"), "ner"), NER)
    with pytest.raises(UnknownTagError, match="'I-ORG'"):
        store.save(replace(saved, pins={1: "I-ORG"}))
    assert [pair[1] for pair in store.annotations()] == [saved]
    store.save(said(second, ("NOUN", "VERB"), "other"), ("VERB", "NOUN", "X"))
    assert document(store).model == "upos"


def test_imported_document_accepts_only_models_with_its_tags(store):
    labelled = [said(0, ("PROPN", "VERB")), said(1, ("PRON", "VERB")), said(2, ("O", "O"), "ner")]
    store.add("a", [Item("Kim left", OFFSETS)] * 3, labelled=labelled)
    assert (document(store).tags, document(store).model) == (None, "upos")
    mine = said(store.item_ids("a")[0], ("O", "O"), "ner", "ben")
    with pytest.raises(UnknownTagError, match="begun with upos and has the tag 'PRON'"):
        store.save(mine, NER)
    assert document(store).tags is None
    store.save(replace(mine, final=("NOUN", "VERB"), model="upos-new"), UPOS)
    assert (document(store).tags, document(store).model) == (UPOS, "upos")


def test_rejected_annotation_does_not_fix_the_tags(store):
    (item, *_) = begun(store)
    with pytest.raises(StoreError, match="removed meanwhile"):
        store.save(said(item, ("NOUN", "VERB"), revision=4), UPOS)
    assert document(store).tags is None


def test_entities_and_parts_of_speech_are_not_mixed_without_a_tag_set(store):
    store.add("a", [Item("Kim left", OFFSETS)], labelled=[said(0, ("PROPN", "VERB"))])
    (item,) = store.item_ids("a")
    with pytest.raises(UnknownTagError, match="tags such as 'PROPN', so 'B-ORG' is none of them"):
        store.merge("a", [said(item, ("B-ORG", "O"), "ner", "ben")])
    assert len(store.merge("a", [said(item, ("X", "O"), "other", "ben")]).new) == 1


def test_xpos_and_upos_are_not_mixed_without_a_tag_set(store):
    store.add("a", [Item("Kim left", OFFSETS)], labelled=[said(0, ("PROPN", "VERB"))])
    (item,) = store.item_ids("a")
    with pytest.raises(UnknownTagError, match="tags such as 'PROPN', so 'NNP' is none of them"):
        store.merge("a", [said(item, ("NNP", "VBD"), "xpos", "ben")])
    two = [(item, ("PROPN", "SYM")), (item, ("NNP", "SYM"))]
    pairs = [(Item("Kim left", OFFSETS, document="a"), said(*each)) for each in two]
    found = tag_sets(pairs, {})
    assert [each.used for each in found] == [{"PROPN", "SYM"}, {"NNP"}]


def test_documents_with_compatible_tags_form_one_tag_set():
    def pairs(*documents):
        for name, tags, model in documents:
            item = Item("Kim left", OFFSETS, document=name)
            yield item, said(0, tags, model)

    mixed = [("old", ("PROPN", "VERB"), "upos"), ("old", ("B-ORG", "O"), "ner")]
    others = [("a", ("NOUN", "PROPN"), ""), ("b", ("O", "O"), ""), ("c", ("I-ORG", "O"), "ner")]
    found = tag_sets(list(pairs(*mixed, *others)), {})
    assert [each.documents for each in found] == [["old", "a"], ["old", "c"]]
    assert [each.used for each in found] == [{"NOUN", "PROPN", "VERB"}, {"B-ORG", "I-ORG"}]
    begun = {"old": (*UPOS, *NER), "a": UPOS}
    found = tag_sets(list(pairs(*mixed, *others)), begun)
    assert [each.documents for each in found] == [["old", "c"], ["a"]]
    assert [len(tag_sets(list(pairs(*some)), {})) for some in (mixed[:1], others[:2], [])] == [
        1,
        1,
        0,
    ]


def test_strangers_are_listed_in_linear_time(monkeypatch):
    seen, example = [], mixing.example

    def counted(tags):
        seen.append(len(tags))
        return example(tags)

    monkeypatch.setattr(mixing, "example", counted)
    rows = [["NOUN", "VERB"]] * 60 + [["B-PER", "O"]] * 40
    assert list(mixing.strangers(rows)) == list(range(60, 100))
    assert sum(seen) <= sum(map(len, rows))
