"""Which parts of a page an event draws anew: the parts that tell of it, or everything."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner import RerunData

from crfviz.chain.edits import Edits
from crfviz.ui.session.kept import KEPT
from crfviz.ui.shell import parts
from crfviz.ui.shell.parts import EDITS, PAGE

STAGE = "$$STREAMLIT_INTERNAL_KEY_$$ID-0a1b-stage.hmm-as-crf__events"


@pytest.fixture(autouse=True)
def named(monkeypatch):
    """The parts of a page, by the ids that Streamlit gave them."""
    monkeypatch.setattr(parts, "_names", {f"id of {name}": name for name in (PAGE, EDITS)})


@pytest.fixture
def fragments():
    storage = MemoryFragmentStorage()
    for name in (PAGE, EDITS):
        storage.register(f"id of {name}", lambda: None, target_key=name)
    return storage


def sent(*events, widget=STAGE):
    text = json.dumps([{"event": "events", "value": list(events)}])
    return WidgetState(id=widget, json_trigger_value=text)


def request(*widgets, fragment=PAGE):
    return RerunData(widget_states=WidgetStates(widgets=widgets), fragment_id=f"id of {fragment}")


EDIT, STEP = {"kind": "transition", "seq": 1}, {"kind": "step", "seq": 2}


@pytest.mark.parametrize("events", [[EDIT], [STEP], [EDIT, STEP], [{"kind": "undo"}]])
def test_an_event_of_a_stage_draws_the_page_alone(events):
    told = request(sent(*events), WidgetState(id="view.twin", bool_value=True))
    assert parts.asked(told) == told


@pytest.mark.parametrize(
    "widgets",
    [
        [WidgetState(id="view.twin", bool_value=True)],
        [WidgetState(id="list.Next", trigger_value=True)],
        [sent(EDIT), WidgetState(id="list.Next", trigger_value=True)],
        [sent(EDIT, widget="$$ID-0a1b-question__answer")],
        [sent(EDIT, {"kind": "page", "value": "next"})],
        [sent({"kind": "cover", "parts": []})],
        [sent({"kind": "whole"})],
        [sent({})],
        [WidgetState(id=STAGE, json_trigger_value="{")],
        [WidgetState(id=STAGE, json_trigger_value="7")],
    ],
)
def test_whatever_else_happens_draws_everything(widgets):
    assert parts.asked(request(*widgets)) == replace(request(*widgets), fragment_id=None)


def test_what_happens_in_the_sidebar_draws_everything():
    undo = WidgetState(id="undo", trigger_value=True)
    assert parts.asked(request(undo, fragment=EDITS)).fragment_id is None


def test_a_fragment_of_a_page_s_own_is_left_alone():
    told = request(WidgetState(id="x", bool_value=True), fragment="a table")
    assert parts.asked(told) == told


def queued(*widgets):
    told = parts.asked(request(*widgets))
    return replace(told, fragment_id=None, fragment_id_queue=[told.fragment_id])


def test_an_edit_is_told_by_edits_too_and_a_step_is_not(fragments):
    told = parts.widened(queued(sent(EDIT)), fragments)
    assert told.fragment_id_queue == [f"id of {name}" for name in (PAGE, EDITS)]
    told = parts.widened(queued(sent(STEP)), fragments)
    assert told.fragment_id_queue == [f"id of {PAGE}"]


@pytest.fixture
def session(monkeypatch):
    """What a session has edited, and what it can undo and redo."""
    edits = Edits({("DET", "NOUN"): 1.0}, {(3, "X"): 0.0})
    kept = SimpleNamespace(past=[()], future=[])
    monkeypatch.setattr(parts, "scenario", lambda: SimpleNamespace(edits=edits))
    monkeypatch.setattr(parts, "history", lambda: kept)
    context = SimpleNamespace(session_state={KEPT: {}})
    monkeypatch.setattr(parts, "get_script_run_ctx", lambda: context)
    return kept


AGAIN = {"kind": "transition", "from": "DET", "to": "NOUN", "score": 2.0}
OF_WORD = {"kind": "emission", "position": 3, "tag": "X", "score": None}


@pytest.mark.parametrize("events", [[AGAIN], [OF_WORD], [AGAIN, OF_WORD]])
@pytest.mark.usefixtures("session")
def test_where_a_score_is_edited_again_the_sidebar_says_the_same(fragments, events):
    told = parts.widened(queued(sent(*events)), fragments)
    assert told.fragment_id_queue == [f"id of {PAGE}"]


@pytest.mark.parametrize(
    "event",
    [
        {**AGAIN, "from": "VERB"},
        {**AGAIN, "from": ["DET"]},
        {**OF_WORD, "position": 2},
        {**AGAIN, "kind": "restore"},
        {"kind": "undo"},
        {"kind": "strength", "value": 0.5},
    ],
)
@pytest.mark.usefixtures("session")
def test_the_sidebar_tells_of_every_other_edit(fragments, event):
    told = parts.widened(queued(sent(AGAIN, event)), fragments)
    assert told.fragment_id_queue == [f"id of {name}" for name in (PAGE, EDITS)]


@pytest.mark.parametrize("change", [{"past": []}, {"future": [()]}])
def test_the_sidebar_tells_of_what_can_be_undone_and_redone(fragments, session, change):
    vars(session).update(change)
    told = parts.widened(queued(sent(AGAIN)), fragments)
    assert told.fragment_id_queue == [f"id of {name}" for name in (PAGE, EDITS)]


def test_a_new_session_has_edited_nothing(fragments, session, monkeypatch):
    vars(session).update(past=[()])
    monkeypatch.setattr(parts, "get_script_run_ctx", lambda: SimpleNamespace(session_state={}))
    told = parts.widened(queued(sent(AGAIN)), fragments)
    assert told.fragment_id_queue == [f"id of {name}" for name in (PAGE, EDITS)]


def test_a_page_may_lack_such_a_part():
    told = parts.widened(queued(sent(EDIT)), MemoryFragmentStorage())
    assert told.fragment_id_queue == [f"id of {PAGE}"]


def test_all_of_a_page_stays_all():
    assert parts.widened(RerunData(), MemoryFragmentStorage()) == RerunData()
