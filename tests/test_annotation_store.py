"""The store on SQLite and, where its programs are installed, on PostgreSQL."""

from dataclasses import replace

import pytest

from crfviz.annotations.records import Annotation, Item, Step
from crfviz.annotations.store import open_store
from crfviz.exceptions import ConflictError, StoreError

TEXT = "Kim saw Oslo"
OFFSETS = ((0, 3), (4, 7), (8, 12))
GOLD = ("PROPN", "VERB", "PROPN")


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/annotations.db"


@pytest.fixture
def store(url):
    with open_store(url) as store:
        yield store


def sentence(**fields):
    return Item(**({"text": TEXT, "offsets": OFFSETS} | fields))


def annotation(item, annotator="anna", **fields):
    given = {"proposed": ("PROPN", "NOUN", "PROPN"), "final": GOLD, "pins": {1: "VERB"}}
    return Annotation(item, annotator, OFFSETS, **(given | fields))


def test_what_is_stored_comes_back_as_it_was(store, url):
    name = store.add("a.txt", [sentence(), sentence(gold=GOLD), sentence(text=TEXT + " ☕\u2028")])
    assert name == "a.txt"
    ids = store.item_ids(name)
    assert [item.id for item in store.items(name)] == ids
    past = (Step(OFFSETS, {}), Step(((0, 12),), {0: "X"}))
    saved = store.save(
        annotation(ids[1], state="done", model="m", model_version="1f", seconds=2.5, past=past)
    )
    assert (saved.revision, saved.state) == (1, "done")
    assert saved.created == saved.updated
    with open_store(url) as other:
        assert other.annotation(ids[1], "anna") == saved
        assert other.item(ids[1]) == sentence(gold=GOLD, document=name, position=1, id=ids[1])
        assert other.items(name)[2].text == TEXT + " ☕\u2028"
        assert other.annotations() == [(other.item(ids[1]), saved)]
        assert other.annotation(ids[1], "ben") is None


def test_a_save_from_an_old_revision_is_a_conflict_and_overwrites_nothing(store):
    store.add("a", [sentence()])
    (item,) = store.item_ids("a")
    first = store.save(annotation(item))
    second = store.save(replace(first, final=("X",) * 3))
    for old in (annotation(item), first):
        with pytest.raises(ConflictError, match=r"stored meanwhile .*revision 2"):
            store.save(old)
    assert store.annotation(item, "anna") == second
    assert second.created == first.created
    assert second.updated > first.updated
    with pytest.raises(StoreError, match="sentence 99 is not in the store"):
        store.save(annotation(99))
