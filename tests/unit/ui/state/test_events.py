"""What the browser asks for is checked field by field."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.edits import END, START, Edits
from crfviz.ui.state.event_parser import RefusedError, new_events, parse_event
from crfviz.ui.state.scenario import BEFORE_FIRST, Scenario

TAGS = ("DET", "NOUN")
EDITED = Edits({("DET", "NOUN"): 1.0}, {(3, "NOUN"): 2.0})
SCENARIO = Scenario("tiny", "Run !", EDITED, view={"rows": "gold"}, step=1)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([*TAGS, START, END]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)
KINDS = ["transition", "emission", "restore", "strength", "constrained", "right", "step", "view"]
KINDS += ["cover", "page", "undo"]
FIELDS = ["from", "to", "score", "position", "tag", "value", "name", "parts"]


def apply(**event):
    if "source" in event:
        event["from"] = event.pop("source")
    return after(SCENARIO, event)


def after(scenario, event):
    return parse_event(event, TAGS).apply(scenario)


def test_transition_event_sets_the_score():
    after = apply(kind="transition", source="NOUN", to="DET", score=-2)
    assert after.edits.transitions == {("DET", "NOUN"): 1.0, ("NOUN", "DET"): -2.0}
    assert after.edits.emissions == EDITED.emissions


@pytest.mark.parametrize("move", [(START, "NOUN"), ("NOUN", END)])
def test_transition_events_set_start_and_end_scores(move):
    after = apply(kind="transition", source=move[0], to=move[1], score=1.5)
    assert after.edits.transitions[move] == 1.5


def test_null_score_forbids_the_transition():
    after = apply(kind="transition", source="DET", to="NOUN", score=None)
    assert after.edits.transitions == {("DET", "NOUN"): -math.inf}


def test_emission_event_sets_the_score():
    after = apply(kind="emission", position=0, tag="DET", score=0.5)
    assert after.edits.emissions == {(3, "NOUN"): 2.0, (0, "DET"): 0.5}


def test_right_event_marks_the_gold_tag():
    marked = apply(kind="right", position=1, tag="DET")
    assert marked.right == {1: "DET"}
    again = after(marked, {"kind": "right", "position": 1, "tag": "NOUN"})
    assert again.right == {1: "NOUN"}
    assert marked.edits == EDITED
    with pytest.raises(RefusedError, match="no such tag"):
        apply(kind="right", position=1, tag="VERB")
    with pytest.raises(RefusedError, match="expected a whole number"):
        apply(kind="right", position=-1, tag="DET")


def test_restore_event_removes_one_edit():
    assert apply(kind="restore", source="DET", to="NOUN").edits == Edits({}, EDITED.emissions)
    assert apply(kind="restore", position=3, tag="NOUN").edits == Edits(EDITED.transitions)
    assert apply(kind="restore", source="NOUN", to="NOUN") == SCENARIO


def test_strength_constraints_step_and_view_events_are_applied():
    assert apply(kind="strength", value=0).edits.strength == 0.0
    assert not apply(kind="constrained", value=False).edits.constrained
    assert apply(kind="step", value=4).step == 4
    assert apply(kind="step", value="start").step == BEFORE_FIRST
    assert apply(kind="cover", parts=["viterbi", "note"]).view == {
        "rows": "greedy.left_to_right.max_marginal.gold",
        "hide": "note",
    }
    assert apply(kind="view", name="twin", value="1").view == {"rows": "gold", "twin": "1"}
    assert apply(kind="whole") == SCENARIO


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"kind": "explode"}, "no such kind"),
        ({"kind": ["transition"]}, "no such kind"),
        ({}, "no such kind"),
        ({"kind": "transition", "to": "NOUN", "score": 1}, "the tag None"),
        ({"kind": "transition", "from": "X", "to": "NOUN", "score": 1}, "the tag “X”"),
        ({"kind": "transition", "from": END, "to": "NOUN", "score": 1}, "the tag “END”"),
        ({"kind": "transition", "from": START, "to": END, "score": 1}, "START → END"),
        ({"kind": "transition", "from": "DET", "to": "DET"}, "the score None for DET → DET"),
        ({"kind": "transition", "from": "DET", "to": "DET", "score": "1"}, "the score “1”"),
        ({"kind": "transition", "from": "DET", "to": "DET", "score": True}, "the score True"),
        ({"kind": "transition", "from": "DET", "to": "DET", "score": math.nan}, "the score nan"),
        ({"kind": "transition", "from": "DET", "to": "DET", "score": -math.inf}, "-inf"),
        ({"kind": "transition", "from": "DET", "to": "DET", "score": 1e7}, "to 1,000,000"),
        ({"kind": "transition", "from": "DET", "to": "DET", "score": 10**400}, "of type int"),
        ({"kind": "emission", "position": 15_000, "tag": "DET", "score": 1}, "from 0 to 14999"),
        ({"kind": "emission", "position": -1, "tag": "DET", "score": 1}, "position -1"),
        ({"kind": "emission", "position": True, "tag": "DET", "score": 1}, "position True"),
        ({"kind": "emission", "position": 1.0, "tag": "DET", "score": 1}, "position 1.0"),
        ({"kind": "emission", "position": 1, "tag": None, "score": 1}, "the tag None"),
        ({"kind": "restore", "position": 1}, "the tag None"),
        ({"kind": "strength", "value": 2.5}, "from 0 to 2"),
        ({"kind": "strength", "value": -0.5}, "from 0 to 2"),
        ({"kind": "strength", "value": math.nan}, "from 0 to 2"),
        ({"kind": "constrained", "value": 0}, "true or false"),
        ({"kind": "step", "value": -1}, "the step -1"),
        ({"kind": "step", "value": 10_001}, "from 0 to 10000"),
        ({"kind": "page", "value": "last"}, "the page “last”"),
        ({"kind": "page", "value": ["next"]}, "next or previous"),
        ({"kind": "cover", "parts": ["viterbi", "rubbish"]}, "parts of greedy"),
        ({"kind": "cover", "parts": "viterbi"}, "parts of greedy"),
        ({"kind": "cover", "parts": [["viterbi"]]}, "parts of greedy"),
        ({"kind": "view", "name": "Bad name", "value": "x"}, "the page option “Bad name”"),
        ({"kind": "view", "name": "rows", "value": ""}, "two short texts"),
        ({"kind": "view", "name": "rows", "value": 1}, "two short texts"),
    ],
)
def test_invalid_event_is_rejected_with_a_message(event, message):
    with pytest.raises(RefusedError, match="Ignored") as refusal:
        parse_event(event, TAGS)
    assert message in str(refusal.value)


@given(
    st.sampled_from(KINDS),
    st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, values)),
)
def test_any_event_is_applied_or_rejected(kind, fields):
    try:
        changed = after(SCENARIO, {"kind": kind, **fields})
    except RefusedError:
        return
    scores = [*changed.edits.transitions.values(), *changed.edits.emissions.values()]
    assert all(score == -math.inf or abs(score) <= 1e6 for score in scores)
    assert 0 <= changed.edits.strength <= 2
    assert SCENARIO.edits == EDITED


def test_only_new_events_are_returned_in_order():
    events = [{"seq": 3}, {"seq": 2}, {"seq": 5}, {"seq": 4}]
    assert [number for number, _ in new_events(events, after=2)] == [3, 4, 5]


@pytest.mark.parametrize(
    "events",
    [None, 7, "x", {"seq": 1}, [None, 1, "x", {}, {"seq": None}, {"seq": True}, {"seq": "1"}]],
)
def test_malformed_event_list_is_empty(events):
    assert new_events(events, after=0) == []


def test_sequence_numbers_beyond_javascript_integers_are_ignored():
    assert new_events([{"seq": 2**60}, {"seq": 1.5}], after=0) == []


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"kind": "step", "value": 1, "sentence": "Old"}, False),
        ({"kind": "emission", "position": 0, "tag": "DET", "score": 1, "sentence": "Old"}, False),
        ({"kind": "restore", "position": 0, "tag": "DET", "sentence": "Old"}, False),
        ({"kind": "right", "position": 0, "tag": "DET", "sentence": "Old"}, False),
        ({"kind": "view", "name": "chosen", "value": "0 DET", "sentence": "Old"}, False),
        ({"kind": "view", "name": "rows", "value": "gold", "sentence": "Old"}, True),
        ({"kind": "restore", "from": "DET", "to": "NOUN", "sentence": "Old"}, True),
        ({"kind": "strength", "value": 1, "sentence": "Old"}, True),
        ({"kind": "step", "value": 1, "sentence": "New"}, True),
        ({"kind": "step", "value": 1}, True),
    ],
)
def test_event_about_another_sentence_is_not_applied(event, expected):
    assert parse_event(event, TAGS).is_for("New") is expected


def test_event_names_the_payload_of_its_browser():
    assert parse_event({"kind": "undo", "has": "a"}, TAGS).has == "a"
    assert parse_event({"kind": "whole", "has": "a"}, TAGS).has is None


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"kind": "emission", "position": 3, "tag": "DET", "score": 1}, {(703, "DET"): 1.0}),
        ({"kind": "restore", "position": 3, "tag": "NOUN"}, {}),
    ],
)
def test_event_positions_are_relative_to_the_window(event, expected):
    state = Scenario("tiny", "Run !", Edits({}, {(703, "NOUN"): 2.0}))
    kept = {} if event["kind"] == "restore" else state.edits.emissions
    edited = after(state, {**event, "offset": 700})
    assert edited.edits.emissions == {**kept, **expected}


def test_view_options_with_a_word_are_relative_to_the_window():
    def chosen(name, value):
        return apply(kind="view", name=name, value=value, offset=700).view[name]

    assert chosen("chosen", "3 NOUN") == "703 NOUN"
    assert chosen("cell", "0 DET") == "700 DET"
    assert chosen("from", "60") == "60"
    assert chosen("panel", "3 alpha") == "3 alpha"
    right = apply(kind="right", position=1, tag="DET", offset=700).right
    assert right == {701: "DET"}


@pytest.mark.parametrize("offset", ["3", 1.5, -1, 15_000, True])
def test_invalid_offset_is_rejected(offset):
    with pytest.raises(RefusedError, match="window"):
        apply(kind="emission", position=0, tag="DET", score=1, offset=offset)
