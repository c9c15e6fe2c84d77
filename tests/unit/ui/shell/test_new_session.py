"""A browser that comes back to a server without its session tells it what its widgets hold."""

from unittest.mock import MagicMock

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, script_runner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from crfviz.ui.session.kept import KEPT
from crfviz.ui.shell import scripts

SCRIPT = """
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.kept import found, keep, of_session

of_session("sentence", lambda: "as the address says")
text = found("sentence")
bound_to(st.text_input, "Sentence", "sentence", text, lambda text: keep("sentence", text))
bound_to(st.selectbox, "Words", "words", None, lambda word: keep("word", word), options=["dog"])
ended = [*of_session("ended", list), found("sentence")]
if st.button("Press", key="press"):
    keep("pressed", of_session("pressed", int) + 1)
later = st.session_state.to_dict().get("later")
if later and not ended[1:]:
    get_script_run_ctx().script_requests.request_rerun(later)
st.write("drawn")
keep("ended", ended)
"""


class Sessions:
    """Sessions of a script, each with a browser that tells what its widgets hold."""

    def __init__(self, script):
        script.write_text(SCRIPT)
        self._script = str(script)
        self._pages = PagesManager(self._script, ScriptCache(), setup_watcher=False)
        state, _ = self.run(None)
        mapping = state._key_id_mapper
        self._ids = [mapping.get_id_from_key(key) for key in ("sentence", "press", "words")]

    def told(self, text, *, pressed=False):
        states = [WidgetState(id=self._ids[0], string_value=text), WidgetState(id=self._ids[2])]
        if pressed:
            states.append(WidgetState(id=self._ids[1], trigger_value=True))
        return WidgetStates(widgets=states)

    def run(self, told, **state_before):
        """A session that hears this first: its state, and whether each run set the box anew."""
        state = SessionState()
        for name, value in state_before.items():
            state[name] = value
        return state, self.go_on(state, told)

    def go_on(self, state, told):
        """The session hears this: whether each run set the box anew."""
        guarded = SafeSessionState(state, lambda: None)
        runner = LocalScriptRunner(self._script, guarded, self._pages)
        boxes = []
        runner.on_event.connect(lambda *_, **of: boxes.extend(_box(of)), weak=False)
        runner.request_rerun(RerunData(widget_states=told))
        runner.start()
        runner.join()
        return boxes


def _box(event):
    message = event.get("forward_msg")
    if message is not None and message.delta.new_element.WhichOneof("type") == "text_input":
        yield message.delta.new_element.text_input.set_value


@pytest.fixture
def sessions(monkeypatch, tmp_path):
    monkeypatch.setattr(script_runner, "ScriptRequests", scripts.OneAtATime)
    monkeypatch.setattr(Runtime, "_instance", MagicMock(spec=Runtime))
    Runtime._instance.media_file_mgr = MagicMock()
    Runtime._instance.dataframe_source_mgr = MagicMock()
    return Sessions(tmp_path / "script.py")


def test_what_was_typed_counts_more_than_the_address(sessions):
    state, _ = sessions.run(sessions.told("as typed"))
    assert state[KEPT]["ended"] == ["as typed", "as typed"]
    assert "word" not in state[KEPT]  # nothing was chosen in that box


def test_a_press_is_heard_once(sessions):
    state, _ = sessions.run(sessions.told("as typed", pressed=True))
    assert state[KEPT]["pressed"] == 1
    assert state[KEPT]["sentence"] == "as typed"


def test_a_box_is_not_set_while_somebody_types(sessions):
    assert sessions.run(sessions.told("as the address says"))[1] == [False, False]
    assert sessions.run(sessions.told("as typed"))[1] == [False, False]
    assert sessions.run(None)[1] == [True]


def test_what_is_told_meanwhile_comes_after_it(sessions):
    later = RerunData(widget_states=sessions.told("typed after that"))
    state, _ = sessions.run(sessions.told("as typed", pressed=True), later=later)
    assert state[KEPT]["sentence"] == "typed after that"
    assert state[KEPT]["pressed"] == 1


def test_a_session_that_is_known_hears_of_all_at_once(sessions):
    known = {KEPT: {"sentence": "kept"}}
    state, _ = sessions.run(sessions.told("as typed", pressed=True), **known)
    assert state[KEPT]["ended"] == ["kept"]
    assert state[KEPT]["pressed"] == 1


def test_a_box_is_told_what_it_holds_until_the_browser_says_so(sessions):
    """A run that ends early, as another is asked for, may never reach the browser."""
    state, boxes = sessions.run(None)
    assert boxes == [True]
    assert sessions.go_on(state, WidgetStates()) == [True]
    assert sessions.go_on(state, sessions.told(state["sentence"])) == [False]
    assert sessions.go_on(state, WidgetStates()) == [False]  # whatever is being typed stays


PRESSED = WidgetState(id="reset", trigger_value=True)
TYPED = WidgetState(id="sentence", string_value="A dog .")


@pytest.fixture
def asked(monkeypatch):
    """What a session is asked to draw that has drawn one part; hands it what the browser tells."""

    made = []

    class Session:
        def has_fragment(self, part):
            return part == "drawn"

        def request_rerun(self, state):
            made.append(state)

    monkeypatch.setattr(app_session, "AppSession", Session)
    assert scripts.hear_every_press()
    assert scripts.hear_every_press()  # once more changes nothing
    session = Session()

    def hand(*states, part=None):
        told = ClientState(fragment_id=part, widget_states=WidgetStates(widgets=states))
        session.request_rerun(told)
        return made.pop().fragment_id, told

    hand.session, hand.made = session, made
    return hand


def test_what_is_pressed_in_a_part_not_drawn_yet_is_told_of_the_whole_page(asked):
    part, told = asked(TYPED, PRESSED, part="not yet")
    assert part == ""
    assert told.fragment_id == "not yet"  # who told it keeps it
    assert asked(PRESSED, part="drawn")[0] == "drawn"
    assert asked(TYPED, part="not yet")[0] == "not yet"  # Streamlit says why it drops it
    assert asked(PRESSED)[0] == ""
    asked.session.request_rerun(None)
    assert asked.made == [None]


def test_another_streamlit_is_told_as_it_likes(monkeypatch, caplog):
    monkeypatch.delattr(app_session.AppSession, "has_fragment")
    assert not scripts.hear_every_press()
    assert "what is pressed early is lost" in caplog.text
