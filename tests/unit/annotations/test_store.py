"""The store on SQLite; tests/app/test_store_postgres.py runs these tests on PostgreSQL."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from threading import Barrier, Thread

import pytest

from crfviz.annotations.records import CURATED, Annotation, Curation, Item, Progress, Step
from crfviz.annotations.store.store import open_store
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
    return Annotation(item, annotator, **({"offsets": OFFSETS} | given | fields))


def test_stored_annotations_are_read_back(store, url):
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


def test_save_from_an_old_revision_is_a_conflict_and_overwrites_nothing(store):
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


def test_two_annotators_have_separate_rows(store):
    store.add("a", [sentence()])
    (item,) = store.item_ids("a")
    anna = store.save(annotation(item))
    ben = store.save(annotation(item, "ben", state="done", seconds=4.0))
    found = [one for _, one in store.annotations()]
    assert found == [anna, ben]
    assert [one for _, one in store.annotations("a", "ben", "done")] == [ben]
    assert store.annotations("a", "anna", "done") == store.annotations("b") == []
    assert store.annotators() == store.annotators("a") == ["anna", "ben"]
    assert store.annotators("b") == []


def test_progress_counts_done_and_open_sentences(store):
    store.add("a", [sentence()] * 4)
    store.add("b", [sentence()])
    ids = store.item_ids("a")
    for item, state, seconds in ((ids[0], "done", 2.0), (ids[2], "done", 4.5), (ids[1], "open", 9)):
        store.save(annotation(item, state=state, seconds=seconds))
    store.save(annotation(ids[3], "ben", state="done", seconds=8.0))
    assert store.progress("a", "anna") == Progress(total=4, done=2, open=1, seconds=6.5)
    assert store.progress("b", "anna") == Progress(total=1, done=0, open=0, seconds=0.0)
    assert store.done_ids("a", "anna") == {ids[0], ids[2]}
    assert store.done_ids("b", "anna") == set()


def test_fully_undone_sentence_is_not_open(store):
    store.add("a", [sentence()] * 2)
    first, second = store.item_ids("a")
    begun = store.save(annotation(first, past=(Step(OFFSETS, {}),)))
    moved = annotation(second, offsets=((0, 7), (8, 12)), proposed=("X",) * 2, final=("X",) * 2)
    store.save(replace(moved, pins={}))
    assert store.progress("a", "anna").open == 2
    store.save(replace(begun, pins={}, past=(), final=begun.proposed))
    assert store.progress("a", "anna").open == 1


@pytest.mark.parametrize(
    "left",
    [
        {"pins": {1: "NOUN"}},
        {"past": (Step(OFFSETS, {}),)},
        {"final": GOLD},
        {"offsets": ((0, 7), (8, 12)), "proposed": ("X",) * 2, "final": ("X",) * 2},
        {"state": "done"},
    ],
    ids=lambda left: ", ".join(left),
)
def test_any_remaining_change_makes_a_sentence_open(store, left):
    store.add("a", [sentence()])
    (item,) = store.item_ids("a")
    untouched = annotation(item, pins={}, past=(), final=("PROPN", "NOUN", "PROPN"))
    first = store.save(untouched)
    assert store.progress("a", "anna") == Progress(total=1, done=0, open=0, seconds=0.0)
    store.save(replace(first, **left))
    progress = store.progress("a", "anna")
    assert progress.open + progress.done == 1


def test_documents_get_unused_names_and_are_deleted_with_their_contents(store):
    names = [store.add("a", [sentence()] * n) for n in (1, 2, 0)]
    assert names == ["a", "a (2)", "a (3)"]
    assert [(d.name, d.sentences) for d in store.documents()] == [
        ("a", 1),
        ("a (2)", 2),
        ("a (3)", 0),
    ]
    assert abs((datetime.now(UTC) - store.documents()[0].created).total_seconds()) < 600
    (item,) = store.item_ids("a")
    old = store.save(annotation(item))
    store.remove("a")
    assert [d.name for d in store.documents()] == ["a (2)", "a (3)"]
    assert store.annotations() == []
    assert store.add("a", [sentence()]) == "a"
    assert store.item_ids("a") != [item]  # an old tab cannot write to a new sentence
    with pytest.raises(StoreError, match="is not in the store"):
        store.save(old)
    with pytest.raises(StoreError, match="is not in the store"):
        store.item(item)


def test_saving_a_removed_annotation_is_a_conflict(store):
    store.add("a", [sentence()])
    (item,) = store.item_ids("a")
    with pytest.raises(ConflictError, match="removed meanwhile"):
        store.save(annotation(item, revision=3))


def test_increasing_positions_are_kept_and_others_renumbered(store):
    store.add("a", [sentence(position=n) for n in (0, 4, 2, 9)])
    assert [item.position for item in store.items("a")] == [0, 4, 5, 9]
    assert [item.position for item in store.items("a", start=1, limit=2)] == [4, 5]
    assert store.items("a", start=4) == []


def test_document_and_its_annotations_are_added_atomically(store):
    moment = datetime(2020, 2, 29, 12, 30, 1, 5, tzinfo=UTC)
    labelled = [annotation(1, created=moment, updated=moment), annotation(0, "ben", revision=7)]
    told = []
    store.add("a", [sentence()] * 2, lambda *done: told.append(done), labelled)
    assert told == [(2, 4), (4, 4)]
    (_, ben), (_, anna) = store.annotations()
    assert (ben.revision, anna.revision, anna.created, anna.updated) == (7, 1, moment, moment)
    assert [ben.item, anna.item] == store.item_ids("a")
    with pytest.raises(StoreError, match="annotations of sentences 0 to 0, got one of 1"):
        store.add("b", [sentence()], labelled=[annotation(1)])
    with pytest.raises(StoreError, match=r"unique|UNIQUE"):
        store.add("b", [sentence()], labelled=[annotation(0)] * 2)
    assert [d.name for d in store.documents()] == ["a"]


def test_interrupted_import_stores_nothing(store):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add("a", [sentence()] * 2, stop)
    assert store.documents() == []
    assert store.add("a", [sentence()]) == "a"


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_text_with_unstorable_characters_is_rejected(store, text):
    with pytest.raises(StoreError, match="got the character"):
        store.add("a", [Item(text, ((0, 1),))])
    with pytest.raises(StoreError, match="got the character"):
        store.add(text, [])
    store.add("a", [sentence()])
    (item,) = store.item_ids("a")
    with pytest.raises(StoreError, match="got the character"):
        store.save(annotation(item, text))
    with pytest.raises(StoreError, match="expected the name of an annotator"):
        store.save(annotation(item, " "))


def test_concurrent_saves_of_one_revision_store_exactly_one(store):
    store.add("a", [sentence()])
    (item,) = store.item_ids("a")
    current = annotation(item)
    for _ in range(10):
        stored, refused = at_once([partial(store.save, current)] * 2)
        assert (len(stored), [type(error) for error in refused]) == (1, [ConflictError])
        (current,) = stored
    assert store.annotation(item, "anna") == current
    assert current.revision == 10


def test_twenty_concurrent_annotators_lose_and_duplicate_nothing(store):
    store.add("a", [sentence()] * 5)
    ids = store.item_ids("a")

    def label(name):
        for item in ids:
            saved = annotation(item, name)
            for state in ("open", "open", "done"):
                saved = store.save(replace(saved, state=state, seconds=saved.seconds + 1))

    _, refused = at_once([partial(label, f"annotator {n}") for n in range(20)])
    assert refused == []
    rows = [one for _, one in store.annotations()]
    assert len(rows) == len({(one.item, one.annotator) for one in rows}) == 100
    assert {(one.revision, one.state, one.seconds) for one in rows} == {(3, "done", 3.0)}


def test_concurrent_programs_create_one_store_with_distinct_names(url):
    programs, refused = at_once([partial(open_store, url)] * 6)
    assert refused == []
    names, refused = at_once([partial(one.add, "a", [sentence()]) for one in programs * 3])
    assert refused == []
    assert sorted(names) == sorted(["a", *(f"a ({n})" for n in range(2, 19))])
    assert sorted(d.name for d in programs[0].documents()) == sorted(names)
    for one in programs:
        one.close()


def at_once(tasks):
    """Results and errors of functions that begin together, each in a thread."""
    together = Barrier(len(tasks))
    results, errors = [], []

    def run(task):
        together.wait()
        try:
            results.append(task())
        except StoreError as error:
            errors.append(error)

    threads = [Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, errors


def test_counts_equal_the_lengths_of_lists(store):
    for name in ("a", "b"):
        store.add(name, [sentence(), sentence()])
        for item in store.item_ids(name):
            store.save(annotation(item, state="done" if item % 2 else "open"))
    store.save(annotation(store.item_ids("b")[0], "ben"))
    for filters in product((None, "a", "b", "c"), (None, "anna", "ben"), (None, "done", "open")):
        rows = store.annotations(*filters)
        assert store.count(*filters) == len(rows)
        assert store.count(*filters, sentences=True) == len({item.id for item, _ in rows})


@pytest.mark.parametrize("number", [-1, 0, 10**6, 2**31, 2**63, 2**64])
def test_id_outside_the_database_range_is_not_found(store, number):
    with pytest.raises(StoreError, match="is not in the store"):
        store.item(number)


@pytest.mark.parametrize(
    ("stored", "came", "after"),
    [
        ("open", "open", "open"),
        ("open", "done", "done"),
        ("done", "open", "done"),
        ("done", "done", "done"),
    ],
)
def test_merging_equal_tags_changes_only_open_to_done(store, stored, came, after):
    name = store.add("a.txt", [sentence()])
    (item,) = store.item_ids(name)
    saved = store.save(annotation(item, state=stored))
    merged = store.merge(name, [annotation(item, state=came)])
    changed = stored != after
    assert (len(merged.new), merged.same, merged.conflicts) == (changed, 1 - changed, ())
    there = store.annotation(item, "anna")
    assert (there.state, there.revision) == (after, saved.revision + changed)


def test_merging_differently_split_words_is_a_conflict(store):
    name = store.add("a.txt", [sentence()])
    (item,) = store.item_ids(name)
    saved = store.save(annotation(item))
    other = annotation(item, offsets=((0, 3), (4, 6), (8, 12)), state="done")
    merged = store.merge(name, [other])
    assert (merged.new, merged.same, merged.conflicts) == ((), 0, ((saved, other),))
    assert store.annotation(item, "anna") == saved


def test_last_done_is_the_most_recently_accepted_sentence(store):
    name = store.add("a.txt", [sentence(), sentence(), sentence()])
    first, second, third = store.item_ids(name)
    assert store.last_done(name, "anna") is None
    for item, state in ((second, "done"), (first, "done"), (third, "open")):
        store.save(annotation(item, state=state))
    assert store.last_done(name, "anna") == first


def settle(store, item):
    times = {each.annotator: each.updated for each in store.versions(item)}
    before = store.annotation(item, CURATED)
    revision = before.revision if before else 0
    settled = annotation(item, CURATED, state="done", revision=revision)
    return store.save(replace(settled, curation=Curation("carl", times)))


def test_curated_sentence_is_settled_until_a_version_changes(store):
    store.add("news", [sentence(), sentence()])
    (item, other) = store.item_ids("news")
    store.save(annotation(item, state="done"))
    store.save(annotation(other, state="done"))
    assert store.disputed("news") == {}
    store.save(annotation(item, "ben", state="done", final=("X",) * 3))
    assert store.disputed("news") == {item: False}
    settled = settle(store, item)
    assert store.disputed("news") == {item: True}
    assert store.annotation(item, CURATED) == settled
    assert [each.annotator for each in store.versions(item)] == ["anna", "ben"]
    assert store.annotators("news") == ["anna", "ben", CURATED]
    store.save(store.annotation(item, "ben"))
    assert store.disputed("news") == {item: False}
    settle(store, item)
    words = ((0, 3), (4, 12))
    cleo = Annotation(item, "cleo", words, GOLD[:2], GOLD[:2], state="done")
    cleo = store.save(cleo)
    assert store.disputed("news") == {item: False}
    store.save(replace(store.annotation(item, "ben"), state="open"))
    store.save(replace(cleo, state="open"))
    assert store.disputed("news") == {}


def test_reserved_annotator_name_is_rejected(store):
    store.add("news", [sentence()])
    with pytest.raises(StoreError, match="label under another name"):
        store.save(annotation(store.item_ids("news")[0], CURATED))


def test_skipped_sentences_are_stored_per_annotator(store, url):
    store.add("news", [sentence(), sentence()])
    (_, second) = store.item_ids("news")
    for _ in range(2):
        store.skip(second, "anna")
    with open_store(url) as again:
        assert again.skipped("news", "anna") == {second}
        assert again.skipped("news", "ben") == set()
        again.remove("news")
        assert again.skipped("news", "anna") == set()
