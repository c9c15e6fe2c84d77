"""Named snapshots: every rule of the shelf, and any state through the address and back."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.edits import Edits
from crfviz.ui.state.event_parser import RefusedError
from crfviz.ui.state.link import LONGEST_LINK, Link
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import Scenario
from crfviz.ui.state.snapshots import (
    LONGEST_NAME,
    MAX_SNAPSHOTS,
    PARAMETER,
    Snapshot,
    Snapshots,
    linked_snapshots,
    query,
    with_snapshots,
    without_snapshots,
)

STATE = Scenario(
    "upos", "He runs .", Edits({("A", "B"): 1.5}, {(1, "A"): -2.0}, 0.5), {0: "B"},
    {"rows": "viterbi"}, 3,
)  # fmt: skip
OTHER = Scenario("ner", "She ran .")


def shelf_of(*names):
    shelf = Snapshots()
    for name in names:
        shelf = shelf.saved(name, STATE)
    return shelf


def decode(params):
    return linked_snapshots(params, Models(["upos", "ner"], "upos", lambda _: "First ."))


def test_snapshot_omits_page_options_and_step():
    saved = shelf_of("soft").named("soft").scenario
    assert (saved.model, saved.sentence) == (STATE.model, STATE.sentence)
    assert (saved.edits, saved.pins) == (STATE.edits, STATE.pins)
    assert (saved.view, saved.step) == ({}, 0)


def test_snapshot_names_are_put_on_one_line():
    assert shelf_of("  two\nlines\t here ").names() == ["two lines here"]


def test_html_in_a_snapshot_name_is_unchanged():
    assert shelf_of("<b>x</b>").names() == ["<b>x</b>"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "needs a name"),
        (" \n ", "needs a name"),
        ("x" * (LONGEST_NAME + 1), "41 characters: at most 40"),
        ("soft", "called “soft” already"),
    ],
)
def test_invalid_names_are_rejected_and_snapshots_kept(name, message):
    shelf = shelf_of("soft", "hard")
    for change in (lambda: shelf.saved(name, OTHER), lambda: shelf.renamed("hard", name)):
        with pytest.raises(RefusedError, match=message):
            change()
    assert shelf.names() == ["soft", "hard"]


def test_hundred_and_first_snapshot_is_rejected():
    shelf = shelf_of(*map(str, range(MAX_SNAPSHOTS)))
    assert len(shelf.names()) == 100
    with pytest.raises(RefusedError, match="100 snapshots already"):
        shelf.saved("one more", STATE)
    emptier = shelf.without("7")
    assert len(emptier.saved("one more", STATE).restored().names()) == 100


def test_rename_keeps_position_and_state():
    shelf = shelf_of("one", "two", "three").renamed("two", "zwei")
    assert shelf.names() == ["one", "zwei", "three"]
    assert shelf.current().name == "zwei"
    assert shelf.renamed("zwei", " zwei ").names() == shelf.names()
    with pytest.raises(RefusedError, match="no snapshot called “two”"):
        shelf.renamed("two", "x")


def test_deleted_snapshots_are_restored_in_place():
    shelf = shelf_of("one", "two", "three").without("two").without("one")
    assert shelf.names() == ["three"]
    assert shelf.restored().names() == ["one", "three"]
    assert shelf.restored().restored().names() == ["one", "two", "three"]
    assert shelf.restored().restored().restored().names() == ["one", "two", "three"]


def test_restored_snapshot_with_a_used_name_gets_a_number():
    shelf = shelf_of("one").without("one").saved("one", OTHER).restored()
    assert shelf.names() == ["one (2)", "one"]


def test_last_saved_snapshot_is_current():
    assert Snapshots().current() is None
    assert shelf_of("one", "two").current().name == "two"
    assert shelf_of("one", "two").without("two").current().name == "one"


def test_linked_snapshots_are_added_unless_their_name_is_used():
    shelf = shelf_of("one").with_linked([Snapshot("one", OTHER), Snapshot("two", OTHER)])
    assert shelf.names() == ["one", "two"]
    assert shelf.named("one").scenario.model == "upos"


names = st.text(string.printable + "äß%&=+#“”漢", min_size=1, max_size=LONGEST_NAME).map(
    lambda text: " ".join(text.split())
)
scores = st.floats(-1e6, 1e6).map(lambda score: score + 0.0) | st.just(-float("inf"))
tags = st.sampled_from(["DET", "B-PER", "a.b", "c,d:e", "ü%2E"])
scenarios = st.builds(
    Scenario,
    st.sampled_from(["upos", "ner"]),
    st.text(string.ascii_letters + " äß%&=+#", max_size=40),
    st.builds(
        Edits,
        st.dictionaries(st.tuples(tags, tags), scores, max_size=3),
        st.dictionaries(st.tuples(st.integers(0, 119), tags), scores, max_size=3),
        st.floats(0, 2).map(lambda strength: strength + 0.0),
        st.booleans(),
    ),
    st.dictionaries(st.integers(0, 119), tags, max_size=3),
)


@given(names.filter(bool), scenarios)
def test_any_snapshot_survives_the_url(name, state):
    link = with_snapshots(Link({"sentence": "x"}, complete=True), [Snapshot(name, state)])
    assert link.complete
    assert decode(link.params) == [Snapshot(name, state)]
    assert without_snapshots(link.params) == {"sentence": "x"}


def test_snapshot_too_long_for_a_link_is_left_out():
    long = Snapshot("long", Scenario("upos", "ü" * 4000))
    link = with_snapshots(Link({}, complete=True), [long, Snapshot("short", OTHER)])
    assert not link.complete
    assert list(link.params) == [PARAMETER + "short"]
    assert len(query(long.scenario)) > LONGEST_LINK


@pytest.mark.parametrize(
    "params",
    [
        {"s.x": "model=nobody"},
        {"s.x": ""},
        {"s.": "model=ner"},
        {"s." + "x" * 41: "model=ner"},
        {"s.a\nb": "model=ner"},
        {"x": "model=ner"},
        {"s.x": "%%%;;;&&=&model"},
    ],
)
def test_invalid_snapshot_parameters_are_ignored(params):
    assert decode(params) == []


def test_nested_snapshot_is_ignored():
    assert decode({"s.x": "model=ner&sentence=Hi&s.y=model%3Dner"}) == [
        Snapshot("x", Scenario("ner", "Hi"))
    ]


@pytest.mark.parametrize("name", [7, 1.5, None, ["one"]])
def test_non_string_snapshot_name_is_rejected(name):
    shelf = shelf_of("one")
    for change in (lambda: shelf.saved(name, STATE), lambda: shelf.renamed("one", name)):
        with pytest.raises(RefusedError, match="needs a name"):
            change()
