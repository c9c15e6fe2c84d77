"""The one owner of the session: how widgets, the stage and the address change the scenario."""

from types import SimpleNamespace

import pytest
import streamlit as st

from crfviz.chain.edits import END, START, Edits
from crfviz.exceptions import ModelError
from crfviz.text.tokenizer import given_words
from crfviz.ui import cached
from crfviz.ui.session import scenario_state as session
from crfviz.ui.session.components import last_event
from crfviz.ui.session.page_state import begin
from crfviz.ui.session.session_store import discard_messages, messages, notify
from crfviz.ui.session.stage_events import handle_events
from crfviz.ui.shell import frame
from crfviz.ui.state.scenario import Scenario

pytestmark = pytest.mark.usefixtures("asked_again")  # no change may be cut short

TAGGERS = {
    "tiny": SimpleNamespace(tags=("DET", "NOUN", "VERB"), observations=None, reads=bool),
    "spans": SimpleNamespace(tags=("O", "B-PER", "I-PER", "NOUN"), observations=None, reads=bool),
    "cones": SimpleNamespace(
        tags=("C", "H"),
        observations=("1", "2", "3"),
        reads=lambda text: set(text.split()) <= {"1", "2", "3"},
    ),
    "given": SimpleNamespace(
        tags=("DET", "NOUN"), observations=None, reads=lambda text: text == "the dog"
    ),
}
FIRST = {
    "tiny": "Run !",
    "spans": "Paris .",
    "cones": "2 3 3",
    "given": "the dog",
    "broken": "These look fine to me .",
}


class Address(dict):
    """What `st.query_params` is to the code under test; counts how often it is written."""

    written = 0

    def to_dict(self):
        return dict(self)

    def from_dict(self, params):
        self.clear()
        self.update(params)
        self.written += 1


def load(name):
    if name not in TAGGERS:
        raise ModelError(f"{name}/config.json: the file is missing")
    return TAGGERS[name]


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(st, "query_params", Address())
    monkeypatch.setattr(cached, "models", lambda: ["tiny", "spans", "cones", "given", "broken"])
    monkeypatch.setattr(cached, "tagger", load)
    monkeypatch.setattr(cached, "first_sentence", FIRST.__getitem__)
    return st.query_params


@pytest.fixture
def begun(address):
    begin("")
    return address


def take_messages():
    said = list(messages())
    discard_messages(said)
    return said


def go_back(monkeypatch):
    monkeypatch.setattr(session, "is_history_navigation", lambda: True)


def transition(number, score, source="DET", target="NOUN"):
    return {"seq": number, "kind": "transition", "from": source, "to": target, "score": score}


@pytest.mark.usefixtures("begun")
def test_new_session_shows_the_first_sentence_of_the_first_model():
    assert session.scenario() == Scenario("tiny", "Run !")
    assert take_messages() == []


def test_new_session_reads_valid_parts_of_the_url_and_reports_others(address):
    address.update(sentence="He runs", t="DET.NOUN:2,DET.XYZ:1,START.VERB:-inf", k="7")
    begin("")
    assert session.scenario().sentence == "He runs"
    assert session.scenario().edits == Edits({("DET", "NOUN"): 2.0, (START, "VERB"): -float("inf")})
    strength, unknown = take_messages()
    assert "strength “7”" in strength
    assert "tiny has no tag “XYZ”" in unknown


def test_url_is_written_only_when_it_changes(begun):
    session.publish()
    assert begun.written == 0
    session.change(sentence="He runs")
    session.publish()
    session.publish()
    assert begun == {"sentence": "He runs"}
    assert begun.written == 1


def test_page_change_that_empties_the_url_loses_nothing(begun):
    session.change(sentence="He runs")
    session.publish()
    begun.clear()
    begin("")
    session.publish()
    assert begun == {"sentence": "He runs"}


def test_going_back_restores_the_scenario_from_the_url(begun, monkeypatch):
    session.change(edits=Edits(strength=0.5))
    begun.from_dict({"k": "0.25", "step": "2"})
    go_back(monkeypatch)
    begin("")
    assert session.scenario() == Scenario("tiny", "Run !", Edits(strength=0.25), step=2)
    session.undo()
    assert session.scenario().edits == Edits(strength=0.5)


def test_going_back_to_another_sentence_clears_its_history(begun, monkeypatch):
    session.change(sentence="He runs", edits=Edits({}, {(1, "VERB"): 3.0}))
    begun.clear()
    go_back(monkeypatch)
    begin("")
    assert session.scenario() == Scenario("tiny", "Run !")
    assert not session.history().past


@pytest.mark.usefixtures("begun")
def test_every_edit_can_be_undone_and_redone():
    for strength in (0.1, 0.2, 0.3):
        session.change(edits=Edits(strength=strength))
    assert session.history().past
    session.undo()
    session.undo()
    assert session.scenario().edits.strength == 0.1
    session.redo()
    assert session.scenario().edits.strength == 0.2
    assert session.history().future
    session.change(edits=Edits(strength=0.9))
    assert not session.history().future


@pytest.mark.usefixtures("begun")
def test_change_without_an_edit_is_not_an_undo_step():
    session.change(edits=Edits())
    session.change(step=3, view={"rows": "gold"})
    assert not session.history().past
    session.undo()
    session.redo()
    assert session.scenario() == Scenario("tiny", "Run !", step=3, view={"rows": "gold"})


@pytest.mark.usefixtures("begun")
def test_reset_drops_edits_and_pins_and_can_be_undone():
    edits = Edits({("DET", "NOUN"): 2.0})
    session.change(edits=edits, pins={0: "DET"}, step=2)
    session.reset()
    assert session.scenario() == Scenario("tiny", "Run !", step=2)
    session.undo()
    assert session.scenario() == Scenario("tiny", "Run !", edits, {0: "DET"}, step=2)
    session.undo()
    assert session.scenario() == Scenario("tiny", "Run !", step=2)


@pytest.mark.usefixtures("begun")
def test_pins_are_separate_undo_steps():
    session.change(pins={0: "DET"})
    session.change(pins={0: "DET", 1: "NOUN"})
    session.undo()
    assert session.scenario().pins == {0: "DET"}
    session.redo()
    assert session.scenario().pins == {0: "DET", 1: "NOUN"}


@pytest.mark.usefixtures("begun")
def test_new_sentence_keeps_transition_edits_and_reports_dropped_ones():
    session.change(edits=Edits({("DET", "NOUN"): 2.0}), pins={0: "DET"}, step=1)
    session.change(edits=Edits({("DET", "NOUN"): 2.0}, {(0, "VERB"): 1.0}))
    session.change(sentence="He runs")
    assert session.scenario() == Scenario("tiny", "He runs", Edits({("DET", "NOUN"): 2.0}))
    assert take_messages() == ["1 edit of single words were dropped with the old sentence."]
    session.undo()
    assert session.scenario().edits == Edits()


@pytest.mark.usefixtures("begun")
def test_too_long_sentence_is_cut_with_a_message():
    session.change(sentence="worded " * 3000)
    assert len(session.scenario().sentence) == 15_000
    assert "cut after 15,000 characters" in take_messages()[0]


@pytest.mark.usefixtures("begun")
def test_new_model_drops_edits_of_unknown_tags_with_a_message():
    session.change(edits=Edits({("DET", "NOUN"): 2.0, ("NOUN", END): 1.0}), pins={0: "VERB"})
    session.change(model="spans")
    assert session.scenario() == Scenario("spans", "Run !", Edits({("NOUN", END): 1.0}))
    message = "spans has no tag “DET”, “VERB”: edits of such tags were dropped."
    assert take_messages() == [message]
    session.undo()
    assert session.scenario().edits == Edits()


@pytest.mark.usefixtures("begun")
def test_unknown_model_is_rejected():
    session.change(model="../../etc")
    assert session.scenario().model == "tiny"
    assert take_messages() == ["There is no model called “../../etc”."]


@pytest.mark.usefixtures("begun")
def test_broken_model_can_be_chosen_and_left_without_losing_edits():
    session.change(edits=Edits({("DET", "NOUN"): 2.0}))
    session.change(model="broken")
    assert session.scenario().model == "broken"
    session.change(model="tiny")
    assert session.scenario().edits == Edits({("DET", "NOUN"): 2.0})


@pytest.mark.usefixtures("begun")
def test_events_are_applied_once_and_in_order():
    handle_events("stage", [transition(2, 2.0), transition(1, 1.0)])
    handle_events("stage", [transition(1, 1.0), transition(2, 2.0), transition(3, 3.0)])
    assert last_event("stage") == 3
    assert session.scenario().edits == Edits({("DET", "NOUN"): 3.0})
    session.undo()
    session.undo()
    assert session.scenario().edits == Edits({("DET", "NOUN"): 1.0})


@pytest.mark.usefixtures("begun")
def test_undo_redo_and_reset_are_accepted_as_events():
    handle_events("stage", [transition(1, 1.0), {"seq": 2, "kind": "undo"}])
    assert session.scenario().edits == Edits()
    handle_events("stage", [{"seq": 3, "kind": "redo"}])
    assert session.scenario().edits == Edits({("DET", "NOUN"): 1.0})
    handle_events("stage", [{"seq": 4, "kind": "reset"}])
    assert session.scenario().edits == Edits()


@pytest.mark.usefixtures("begun")
def test_surrounding_blanks_do_not_change_the_sentence():
    session.change(step=3, pins={0: "DET"})
    before = session.scenario()
    session.change(sentence=f" {before.sentence}  ")
    assert session.scenario() == before


@pytest.mark.usefixtures("begun")
def test_single_word_keeps_its_double_blanks():
    session.change(sentence=" can't   ")
    whole = session.scenario()
    assert given_words(whole.sentence) == ["can't"]
    session.change(sentence=f"{whole.sentence}  ")
    assert session.scenario() == whole
    session.change(sentence="can't ")
    assert session.scenario().sentence == "can't"


@pytest.mark.usefixtures("begun")
def test_late_events_about_positions_do_not_change_the_next_sentence():
    session.change(sentence="They run")
    places = [
        {"kind": "step", "value": 1},
        {"kind": "emission", "position": 1, "tag": "DET", "score": 1.0},
        {"kind": "right", "position": 1, "tag": "DET"},
        {"kind": "view", "name": "at", "value": "1 DET"},
    ]
    events = [{**transition(1, 1.0), "sentence": "Run !"}]
    events += [{"seq": n, "sentence": "Run !", **each} for n, each in enumerate(places, 2)]
    handle_events("stage", events)
    assert session.scenario() == Scenario("tiny", "They run", Edits({("DET", "NOUN"): 1.0}))
    assert last_event("stage") == 5
    handle_events("stage", [{"seq": 6, "sentence": "They run", **places[0]}])
    assert session.scenario().step == 1
    assert take_messages() == []


@pytest.mark.usefixtures("begun")
def test_rejected_event_is_reported_and_others_are_applied():
    events = [transition(1, 1.0), transition(2, 1.0, target="XYZ"), transition(3, None, START)]
    handle_events("stage", events)
    expected = Edits({("DET", "NOUN"): 1.0, (START, "NOUN"): -float("inf")})
    assert session.scenario().edits == expected
    assert last_event("stage") == 3
    (message,) = take_messages()
    assert "“XYZ”: the model has no such tag" in message


@pytest.mark.usefixtures("begun")
def test_events_under_a_broken_model_report_its_error():
    session.change(model="broken")
    handle_events("stage", [transition(1, 1.0)])
    assert session.scenario().edits == Edits()
    assert take_messages() == ["broken/config.json: the file is missing"]


@pytest.mark.usefixtures("begun")
def test_repeated_message_is_shown_once():
    notify("once")
    notify("once")
    assert take_messages() == ["once"]
    assert take_messages() == []


@pytest.mark.usefixtures("address")
def test_page_without_its_frame_reruns(monkeypatch):
    class Again(BaseException):
        pass

    def rerun():
        raise Again

    titles = []
    monkeypatch.setattr(st, "rerun", rerun)
    monkeypatch.setattr(st, "title", lambda title, **_: titles.append(title))
    monkeypatch.setattr(st, "navigation", lambda *_, **__: None)
    with pytest.raises(Again):
        frame.header("Viterbi")
    frame.style()
    frame.header("Viterbi")
    assert titles == ["Viterbi"]


@pytest.mark.usefixtures("begun")
def test_textbook_chain_opens_with_a_sentence_it_can_read():
    session.change(sentence="They run")
    session.change(model="cones")
    assert session.scenario().sentence == "2 3 3"
    session.change(sentence="1 1")
    session.change(model="spans")
    assert session.scenario().sentence == "Paris ."
    session.change(sentence="3 2")
    session.change(model="cones")
    assert session.scenario().sentence == "3 2"


@pytest.mark.usefixtures("begun")
def test_imported_scores_open_with_one_of_their_sentences():
    session.change(sentence="They run")
    session.change(model="given")
    assert session.scenario().sentence == "the dog"
    session.change(model="spans")
    assert session.scenario().sentence == "the dog"
    session.change(model="given")
    assert session.scenario().sentence == "the dog"


@pytest.mark.usefixtures("begun")
def test_each_stage_counts_its_own_events():
    handle_events("one", [transition(5, 1.0)])
    handle_events("two", [transition(1, 2.0)])
    assert last_event("one") == 5
    assert last_event("two") == 1
    assert last_event("three") == 0
    assert session.scenario().edits.transitions["DET", "NOUN"] == 2.0
