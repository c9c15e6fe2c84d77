"""A Streamlit session whose callbacks are cut short by another run."""

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.state import session_state_proxy
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

from crfviz.ui.session.session_store import STORE_KEY


class Interrupted(SessionState):
    """Streamlit's session while the browser asks for another run."""

    asked = True


@pytest.fixture
def asked_again(monkeypatch):
    """A session in which every look-up ends the callback, as another run has been asked for.

    Returns what lies below that, for tests to fill.
    """
    state = Interrupted()
    state[STORE_KEY] = {}

    def end():
        if state.asked:
            raise StopException

    guarded = SafeSessionState(state, yield_callback=end)
    monkeypatch.setattr(session_state_proxy, "get_session_state", lambda: guarded)
    return state
