"""A Streamlit session whose callbacks are interrupted by a requested rerun."""

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.state import session_state_proxy
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

from crfviz.ui.session.session_store import STORE_KEY


class Interrupted(SessionState):
    """Session state while the browser has requested a rerun."""

    asked = True


@pytest.fixture
def asked_again(monkeypatch):
    """Install a session in which every look-up raises StopException, as during a rerun request.

    Returns the underlying session state, for tests to fill.
    """
    state = Interrupted()
    state[STORE_KEY] = {}

    def end():
        if state.asked:
            raise StopException

    guarded = SafeSessionState(state, yield_callback=end)
    monkeypatch.setattr(session_state_proxy, "get_session_state", lambda: guarded)
    return state
