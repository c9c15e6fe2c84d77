"""A marked name elsewhere in a document, refused places, and remembered names."""

import random
from dataclasses import replace

import pytest

from crfviz.annotations import labelling
from crfviz.annotations.everywhere import Name, confirm, marked_name, retyped, undecided
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.labelling import Desk
from crfviz.annotations.memory import Memory
from crfviz.annotations.records import Annotation
from crfviz.annotations.store import names
from crfviz.annotations.store.store import open_store
from crfviz.corpus.tables.inconsistent_names import equal_runs
from crfviz.exceptions import ConflictError
from crfviz.taggers.blank import BlankTagger, bio_tags

TAGGER = BlankTagger(bio_tags(["LOC", "PER"]))
TEXT = """Bergen is wet.
Bergenhus is not Bergen.
I saw Bergen, bergen and New York.
New York and Bergen
Oslo"""
BERGEN = Name(("Bergen",), "LOC")


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/a.db") as opened:
        yield opened


@pytest.fixture
def items(store):
    store.add("towns", read_items(TEXT.encode(), "towns").items)
    return store.items("towns")


def desk(item, hints=()):
    return Desk(item, "anna", TAGGER, "", hints=hints)


def mark(store, item, first, last, what="LOC", hints=(), *, done=False):
    here = desk(item, hints)
    stored = store.annotation(item.id, "anna") or labelling.begin(here)
    after = labelling.correct(here, stored, first, last, what)
    return store.save(labelling.accept(after) if done else after, TAGGER.tags)


def places(store, name=BERGEN, what=None):
    rows = names.sentences_with(store, "towns", "anna", name.words)
    no = names.refused(store, "towns", "anna", what or name.what)
    return [
        (each.item.position + 1, each.first, each.last)
        for each in undecided(rows, name, no, bio=True)
    ]


def test_places_have_the_same_words_in_the_same_case_and_are_undecided(store, items):
    first = mark(store, items[0], 0, 0)
    assert marked_name(desk(items[0]), first, 0) == (BERGEN, 0)
    assert places(store) == [(2, 3, 3), (3, 2, 2), (4, 3, 3)]
    mark(store, items[1], 3, 3)  # marked so
    mark(store, items[2], 2, 2, "PER")  # decided otherwise
    assert places(store) == [(4, 3, 3)]
    names.refuse(store, items[3].id, "anna", (13, 19), BERGEN)
    names.refuse(store, items[3].id, "anna", (13, 19), BERGEN)  # twice is once
    assert places(store) == []
    assert places(store, Name(("Bergen",), "PER")) == [(4, 3, 3)]  # refused as a place alone
    names.take_back(store, items[3].id, "anna", (13, 19), BERGEN)
    assert places(store) == [(4, 3, 3)]
    two = Name(("New", "York"), "LOC")
    assert places(store, two) == [(3, 6, 7), (4, 0, 1)]
    store.remove("towns")  # with what was refused
    assert names.refused(store, "towns", "anna") == set()


def test_places_equal_those_of_a_plain_search(store):
    dice = random.Random(3)
    words = ["a", "ab", "b", "ba", "aa", "ß", "👩"]
    texts = [" ".join(dice.choices(words, k=dice.randint(1, 9))) for _ in range(300)]
    store.add("towns", read_items("\n".join(texts).encode(), "t").items)
    for wanted in (("a",), ("ab", "a"), ("aa", "aa"), ("👩",)):
        expected = []
        for number, text in enumerate(texts, start=1):
            split, t = text.split(), 0
            while t < len(split):
                hit = split[t : t + len(wanted)] == list(wanted)
                expected += [(number, t, t + len(wanted) - 1)] * hit
                t += len(wanted) if hit else 1
        assert places(store, Name(wanted, "LOC")) == expected


def test_yes_keeps_a_finished_sentence_finished_and_its_other_tags(store, items):
    done = mark(store, items[3], 0, 1, done=True)
    (place,) = undecided([(items[3], done)], BERGEN, bio=True)
    after = confirm(desk(items[3]), done, place, "LOC")
    assert after.state == "done"
    assert after.final == ("B-LOC", "I-LOC", "O", "B-LOC")
    (saved,) = names.save_all(store, [after], TAGGER.tags)
    assert saved.revision == done.revision + 1
    assert store.annotation(items[3].id, "anna").final == after.final
    assert places(store) == [(1, 0, 0), (2, 3, 3), (3, 2, 2)]


def test_saving_several_stores_all_or_none(store, items):
    one, two = (labelling.begin(desk(item)) for item in items[:2])
    store.save(two, TAGGER.tags)
    with pytest.raises(ConflictError):
        names.save_all(store, [one, two], TAGGER.tags)
    assert store.annotation(items[0].id, "anna") is None


def recalled(store, memory):
    new = memory.changed(names.revisions(store, "towns", "anna"))
    memory.learn(names.versions_of(store, new, "anna"))
    return memory


def test_names_are_proposed_where_they_were_marked_and_stop_when_refused(store, items):
    memory = Memory()
    mark(store, items[0], 0, 0)
    mark(store, items[3], 0, 1)
    recalled(store, memory)
    hints = memory.hints(items[2])
    assert [(h.tags, h.why) for h in hints] == [
        (("B-LOC",), "seen in 1"),
        (("B-LOC", "I-LOC"), "seen in 4"),
    ]
    assert memory.hints(items[0]) == ()  # its own mark does not count
    assert memory.hints(items[2], {(6, 12)}) == hints[1:]
    begun = labelling.begin(desk(items[2], hints))
    assert begun.final[2] == "B-LOC"
    assert not begun.pins
    mark(store, items[3], 3, 3)
    assert recalled(store, memory).hints(items[2])[0].why == "seen in 1 and 4"
    store.save(labelling.accept(labelling.begin(desk(items[1]))), TAGGER.tags)  # unmarked there
    assert recalled(store, memory).hints(items[2])[0].why == "seen in 1 and 4"
    undone = labelling.undo(desk(items[0]), store.annotation(items[0].id, "anna"))
    store.save(undone)
    assert [h.why for h in recalled(store, memory).hints(items[2])] == ["seen in 4"]  # New York


def test_memory_lists_three_sentences_and_takes_the_usual_type():
    memory = Memory()
    texts = "\n".join(["Bergen"] * 7)
    items = [
        replace(i, id=n + 1, position=n)
        for n, i in enumerate(read_items(texts.encode(), "t").items)
    ]
    for item, kind in zip(items[:6], ["PER", *["LOC"] * 5], strict=True):
        said = labelling.correct(desk(item), labelling.begin(desk(item)), 0, 0, kind)
        memory.learn([(item, said)])
    ((hint),) = memory.hints(items[6])
    assert (hint.tags, hint.why) == (("B-LOC",), "seen in 2, 3, 4 and 2 more")


def test_runs_of_equal_words_are_disjoint():
    assert list(equal_runs(list("aaabaa"), ("a", "a"))) == [0, 4]
    assert list(equal_runs((), ("a",))) == []


def test_place_is_decided_if_one_of_its_words_is(store, items):
    york = Name(("New", "York"), "LOC")
    assert places(store, york) == [(3, 6, 7), (4, 0, 1)]
    mark(store, items[2], 7, 7, "PER")  # York alone
    assert places(store, york) == [(4, 0, 1)]


def said(item, who, tags):
    tags = tuple(tags.split())
    return Annotation(item.id, who, item.offsets, tags, tags, dict(enumerate(tags)), "done")


def test_retyping_changes_a_name_alone_and_is_one_undo_step_a_place(items):
    before = said(items[3], "anna", "B-PER I-PER O B-PER")
    after = retyped(desk(items[3]), before, "New York", "LOC")
    assert after.final == ("B-LOC", "I-LOC", "O", "B-PER")
    assert after.state == "done"
    assert retyped(desk(items[3]), after, "New York", "LOC") is after
    assert retyped(desk(items[3]), after, "York", "PER") is after
    assert labelling.undo(desk(items[3]), replace(after, state="open")).final == before.final


@pytest.mark.parametrize(
    ("ben", "final", "state"),
    [
        ("B-LOC I-LOC O B-PER", "B-LOC I-LOC O B-PER", "done"),  # the only dispute
        ("B-LOC I-LOC O B-LOC", "B-LOC I-LOC O O", "open"),  # Bergen is open
        ("B-LOC O O B-PER", None, "open"),  # another end: no type alone settles it
        ("O O O B-PER", None, "open"),  # no entity
        ("B-PER I-PER O B-PER", "B-LOC I-LOC O B-PER", "done"),  # all say the same
    ],
)
def test_retyping_at_curation_settles_types_alone(items, ben, final, state):
    versions = (said(items[3], "anna", "B-PER I-PER O B-PER"), said(items[3], "ben", ben))
    curated = Desk(items[3], "curated", TAGGER, "", curator="cleo", versions=versions)
    before = labelling.begin(curated)
    after = retyped(curated, before, "New York", "LOC")
    assert after.state == state
    if final is None:
        assert after is before
    else:
        assert after.final == tuple(final.split())
