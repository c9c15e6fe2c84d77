"""What the page does with what the labeller sends: steps, refusals, conflicts, a broken store."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import insert

from crfviz.annotations.queue import Doubt
from crfviz.annotations.records import CURATED, Annotation, Item
from crfviz.annotations.store.schema import ANNOTATIONS, annotation_row
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import CrfvizError, LostStoreError, StoreError
from crfviz.ui import cached
from crfviz.ui.annotate import desk, queue
from crfviz.ui.annotate.queue import Queue
from crfviz.ui.session import scenario_state as session
from crfviz.ui.session.session_store import session_value, set_value
from crfviz.ui.state.scenario import Scenario
from tests.support.fake_tagger import FakeTagger

pytestmark = pytest.mark.usefixtures("asked_again")  # no step may be cut short

WHO = "anna"
OFFSETS = ((0, 4), (5, 8), (9, 13))
TAGGER = FakeTagger(
    ("NOUN", "VERB"),
    {"dogs": {"NOUN": 0.2}, "run": {"NOUN": 0.1}},
    {("NOUN", "NOUN"): -1.0, ("VERB", "NOUN"): 2.0, ("NOUN", "VERB"): 0.5},
)


class Page:
    """The page as the labeller in the browser knows it."""

    def __init__(self, store):
        self.store = store
        (self.document,) = store.documents()
        self.ids = store.item_ids(self.document.name)
        self.queue = Queue(self.document, WHO, self.ids)
        self.seq = 0

    def send(self, kind, item=None, **fields):
        self.seq += 1
        item = self.ids[0] if item is None else item
        stored = self.store.annotation(item, WHO) if isinstance(item, int) else None
        revision = stored.revision if stored else 0
        event = {"kind": kind, "item": item, "revision": revision, "seconds": 1.5, **fields}
        desk.take_steps(self.queue, [{"seq": self.seq, **event}])

    def set(self, position, tag, **fields):
        self.send("correct", first=position, last=position, what=tag, **fields)

    @property
    def told(self):
        return session_value("last step", desk.LastStep)

    @property
    def opened(self):
        return session.view_option("item")

    def sheet(self, item=None):
        return desk.sheet_of(desk.desk_of(self.queue, item or self.ids[0]), self.queue)

    def stored(self, item=None):
        return self.store.annotation(item or self.ids[0], WHO)


@pytest.fixture
def page(tmp_path, monkeypatch):
    store = open_store(f"sqlite:///{tmp_path}/annotations.db")
    store.add("dogs.txt", [Item("dogs run home", OFFSETS) for _ in range(3)])
    set_value("scenario", Scenario("fake", ""))
    monkeypatch.setattr(cached, "tagger", lambda _: TAGGER)
    monkeypatch.setattr(desk, "version_of", lambda _: "v1")
    for module in (desk, queue):
        monkeypatch.setattr(module, "store", lambda: store)
    yield Page(store)
    store.close()


def test_correction_is_stored_and_reported(page):
    page.set(1, "VERB")
    assert page.stored().final[1] == "VERB"
    assert page.stored().seconds == 1.5
    assert page.told.note.startswith("1 correction, ")
    sheet = page.sheet()
    assert (sheet.annotation, sheet.ack, sheet.last.problem) == (page.stored(), 1, "")


def test_changed_neighbours_are_reported_with_their_old_tags(page):
    before = page.sheet().annotation.final
    page.set(0, "VERB" if before[0] == "NOUN" else "NOUN")
    after = page.stored().final
    assert page.told.changed == {t: before[t] for t in (1, 2) if before[t] != after[t]}


def test_accepting_opens_the_next_open_sentence(page):
    first, second, third = page.ids
    page.send("accept", second)
    page.send("accept", first)
    assert page.opened == str(third)
    page.send("accept", third)
    assert page.opened == ""
    assert page.store.done_ids(page.document.name, WHO) == set(page.ids)


def test_undo_in_an_untouched_sentence_returns_to_the_last_accepted_one(page):
    first, second, _ = page.ids
    page.set(0, "VERB")
    page.send("accept", first)
    page.send("undo", second)
    assert page.opened == str(first)
    page.send("undo", first)
    assert (page.stored().state, dict(page.stored().pins)) == ("open", {0: "VERB"})
    page.send("undo", first)
    assert dict(page.stored().pins) == {}
    page.send("undo", first)
    assert page.told.note == "There is nothing to undo."


def test_moving_between_sentences_stores_nothing(page):
    first, second, third = page.ids
    page.send("go", first, by=1)
    assert page.opened == str(second)
    page.send("go", third, by=1)
    page.send("go", first, by=-1)
    assert page.opened == str(first)
    assert page.stored() is None


def test_stale_revision_is_a_conflict_and_overwrites_nothing(page):
    page.set(0, "VERB")
    kept = page.stored()
    page.set(0, "NOUN", revision=0)
    assert page.stored() == kept
    assert "another tab" in page.told.problem
    assert page.sheet().last.problem == page.told.problem
    page.set(0, "NOUN")
    assert page.told.problem == ""
    assert page.stored().revision == 2


def test_repeated_event_counts_once(page):
    event = {"seq": 7, "kind": "correct", "item": page.ids[0], "revision": 0}
    event |= {"seconds": 0.0, "first": 0, "last": 0, "what": "VERB"}
    for _ in range(3):
        desk.take_steps(page.queue, [event])
    assert page.stored().revision == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "correct", "first": 0, "last": 0, "what": "DET"},
        {"kind": "correct", "first": 0, "last": 3, "what": "NOUN"},
        {"kind": "correct", "first": 2, "last": 1, "what": "NOUN"},
        {"kind": "correct", "first": -1, "last": 1, "what": "NOUN"},
        {"kind": "correct", "first": 0, "last": 0, "what": 3},
        {"kind": "correct", "first": True, "last": 0, "what": "NOUN"},
        {"kind": "correct"},
        {"kind": "cut", "word": 0, "at": 99},
        {"kind": "cut", "word": 9, "at": 1},
        {"kind": "join", "word": 2},
        {"kind": "join", "word": "0"},
        {"kind": "dance"},
        {"kind": None},
        {"kind": "accept", "revision": "0"},
        {"kind": "accept", "item": 4711},
        {"kind": "accept", "item": None},
        {"kind": "accept", "item": "1"},
        {"kind": "go", "by": 1.5},
    ],
    ids=str,
)
def test_invalid_event_is_rejected_with_a_message_and_stores_nothing(page, fields):
    page.set(0, "VERB")
    kept = page.stored()
    page.seq += 1
    event = {"item": page.ids[0], "revision": 1, "seconds": 0.0, **fields}
    desk.take_steps(page.queue, [{"seq": page.seq, **event}])
    assert page.told.problem
    assert page.store.annotations() == [(page.store.item(page.ids[0]), kept)]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), "5", None, -3.0])
def test_invalid_durations_count_as_zero(page, seconds):
    page.set(0, "VERB", seconds=seconds)
    assert page.stored().seconds == 0.0


def test_failed_save_keeps_the_stored_annotation_and_reports_the_error(page, monkeypatch):
    page.set(0, "VERB")
    kept = page.stored()

    def full(*_):
        raise StoreError("The disk is full; nothing was stored.")

    monkeypatch.setattr(page.store, "save", full)
    page.set(1, "VERB")
    assert page.told.problem == "The disk is full; nothing was stored."
    assert page.sheet().annotation == kept
    page.send("accept")
    assert page.opened == ""
    monkeypatch.undo()


def test_model_without_the_tags_names_the_model_to_choose(page, monkeypatch):
    page.set(0, "VERB")
    other = FakeTagger(("A", "B"), {})
    other.name = "other"
    monkeypatch.setattr(cached, "tagger", lambda _: other)
    with pytest.raises(CrfvizError, match="Choose fake above"):
        page.sheet()


def test_queue_wraps_around_and_skips_finished_sentences():
    queue = Queue(None, WHO, [5, 3, 9])
    assert queue.after(None, set()) == 5
    assert queue.after(3, {9}) == 5
    assert queue.after(3, {5, 9}) == 3
    assert queue.after(3, {3, 5, 9}) is None
    assert queue.after(77, {5}) == 3
    assert [queue.beside(5, -1), queue.beside(5, 1), queue.beside(9, 4)] == [5, 3, 9]


def test_queue_reason_shows_the_entropy_or_not_scored():
    queue = Queue(None, WHO, [5], {5: Doubt(1.234, 0.5, 2.0)}, "entropy")
    assert "1.23 nats" in queue.reason(5)
    assert "not scored" in replace(queue, doubts={}).reason(5)


@pytest.mark.parametrize(("seconds", "counted"), [(2, 2.0), (0.25, 0.25), (10**400, 60.0)])
def test_times_are_counted_up_to_a_pause(page, seconds, counted):
    page.set(0, "VERB", seconds=seconds)
    assert page.stored().seconds == counted


def test_going_back_stays_within_the_document_and_annotator(page):
    first, second, _ = page.ids
    page.send("accept", first)
    other = replace(page.document, name="another")
    assert desk.back_to_last(replace(page.queue, document=other)) is None
    assert desk.back_to_last(replace(page.queue, who="ben")) is None
    page.send("undo", second)
    assert page.opened == str(first)
    page.send("accept", first)
    for _ in range(2):  # a second click may be quicker than the answer to the first
        assert desk.back_to_last(page.queue) == first
        assert page.opened == str(first)


def test_going_back_to_an_accepted_sentence_survives_a_reload(page):
    first, second, third = page.ids
    page.send("accept", second)
    page.send("accept", first)
    set_value("last step", desk.LastStep())
    page.send("undo", third)
    assert page.opened == str(first)


def test_messages_are_shown_only_to_the_annotator_concerned(page):
    page.set(1, "VERB")
    assert page.sheet().last.note
    other = desk.sheet_of(desk.desk_of(replace(page.queue, who="ben"), page.ids[0]), page.queue)
    assert other.last == desk.LastStep()


def test_steps_are_held_in_the_browser_while_the_store_is_lost(page, monkeypatch):
    page.set(0, "VERB")
    kept, acknowledged = page.stored(), page.sheet().ack

    def lost(*_):
        raise LostStoreError("The store was deleted or moved.")

    with monkeypatch.context() as patched:
        patched.setattr(page.store, "save", lost)
        page.set(1, "VERB")
        assert (page.sheet().last.held, page.sheet().ack) == (True, acknowledged)
        assert "deleted or moved" in page.sheet().last.problem
        assert page.stored() == kept
    page.seq -= 1
    page.set(1, "VERB")  # the same event once more
    assert (page.sheet().last.held, page.sheet().ack) == (False, acknowledged + 1)
    assert page.stored().pins == {0: "VERB", 1: "VERB"}


def test_first_step_fixes_the_tags_of_the_document(page):
    page.set(0, "VERB")
    (document,) = page.store.documents()
    assert (document.tags, document.model) == (TAGGER.tags, TAGGER.name)


def test_sentence_with_too_many_words_is_rejected(page):
    words = desk.MAX_WORDS + 1
    offsets = tuple((2 * n, 2 * n + 1) for n in range(words))
    page.store.add("long", [Item("a " * words, offsets)])
    (item,) = page.store.item_ids("long")
    with pytest.raises(CrfvizError, match=r"at most 2,000 words .*, got 2,001"):
        page.sheet(item)


def test_sentence_with_tags_of_another_model_can_be_restarted(page):
    page.set(0, "VERB", item=page.ids[1])
    page.set(0, "VERB", item=page.ids[2])
    tags = ("DET",) * 3
    old = Annotation(page.ids[0], WHO, OFFSETS, tags, tags, {0: "DET"}, model="gone", revision=1)
    with page.store._engine.begin() as connection:  # as a store of before may have it
        connection.execute(insert(ANNOTATIONS).values(annotation_row(stamped(old))))
    with pytest.raises(CrfvizError, match="Choose gone above"):
        page.sheet()
    desk._begin_anew(desk.desk_of(page.queue, page.ids[0]), page.stored())
    assert (page.stored().model, page.stored().revision) == (TAGGER.name, 2)
    assert set(page.sheet().annotation.final) <= set(TAGGER.tags)


def stamped(annotation):
    now = datetime.now(UTC)
    return replace(annotation, created=now, updated=now)


def test_skipped_sentence_returns_when_no_other_is_left(page):
    first, second, third = page.ids
    page.send("go", first, by=1)
    page.send("accept", second)
    assert page.opened == str(third)
    desk._open(None)  # somebody comes back
    assert page.queue.next(None) == third
    page.send("accept", third)
    assert page.opened == str(first)
    page.send("accept", first)
    assert page.opened == ""


def settle(page, kind, **fields):
    """Send a step of whoever settles what anna and ben said about the first sentence."""
    page.seq += 1
    stored = page.store.annotation(page.ids[0], CURATED)
    event = {"kind": kind, "item": page.ids[0], "revision": stored.revision if stored else 0}
    queue = Queue(page.document, "carl", [*page.store.disputed("dogs.txt")], settles=True)
    desk.take_steps(queue, [{"seq": page.seq, **event, **fields}])
    return page.store.annotation(page.ids[0], CURATED)


@pytest.fixture
def disputed(page):
    for who, tags in {"anna": ("NOUN", "VERB", "NOUN"), "ben": ("VERB", "NOUN", "NOUN")}.items():
        page.store.save(Annotation(page.ids[0], who, OFFSETS, tags, tags, state="done"))
    return page


def test_two_versions_are_settled_word_by_word(disputed):
    assert settle(disputed, "accept") is None
    assert disputed.told.problem == "2 disputes are not settled yet. Enter goes to the next one."
    taken = settle(disputed, "take", version=0, word=0)
    assert taken.pins == {0: "NOUN", 2: "NOUN"}
    assert settle(disputed, "take", version=1, word=1).final == ("NOUN", "NOUN", "NOUN")
    assert settle(disputed, "undo").pins == taken.pins
    settle(disputed, "correct", first=1, last=1, what="VERB")
    done = settle(disputed, "accept")
    assert (done.state, done.final) == ("done", ("NOUN", "VERB", "NOUN"))
    assert done.curation.by == "carl"
    assert set(done.curation.versions) == {"anna", "ben"}
    assert disputed.store.disputed("dogs.txt") == {disputed.ids[0]: True}
    assert disputed.opened == ""


def test_desk_shows_both_versions_and_later_changes(disputed):
    queue = Queue(disputed.document, "carl", [disputed.ids[0]], settles=True)

    def sheet():
        found = desk.desk_of(queue, disputed.ids[0])
        return desk.sheet_of(found, queue)

    assert [each.annotator for each in sheet().desk.versions] == ["anna", "ben"]
    assert len(sheet().why) == 2
    settle(disputed, "take", version=0, word=-1)
    settle(disputed, "accept")
    assert (sheet().annotation.state, sheet().reason) == ("done", "annotators disagree")
    disputed.store.save(disputed.store.annotation(disputed.ids[0], "ben"))
    assert (sheet().annotation.state, sheet().reason) == ("open", "settled before a change by ben")
    assert settle(disputed, "accept").curation.versions["ben"] is not None
    assert disputed.store.disputed("dogs.txt") == {disputed.ids[0]: True}


@pytest.mark.parametrize("fields", [{"version": 2, "word": 0}, {"version": 0, "word": 2}, {}])
def test_invalid_reading_is_rejected_and_stores_nothing(disputed, fields):
    assert settle(disputed, "take", **fields) is None
    assert disputed.told.problem
