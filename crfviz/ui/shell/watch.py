"""Begins to watch a server that is about to answer: its log, its databases, and what it holds."""

from streamlit.runtime import Runtime

from crfviz.ui.following.homes import rooms
from crfviz.ui.session.floor import FLOOR
from crfviz.ui.session.permission import say_who_labels
from crfviz.ui.session.turns import TURNS
from crfviz.ui.watching.logs import begin_log
from crfviz.ui.watching.meters import watch, watch_databases


def begin_watch() -> None:
    """Write the log as the settings say, and count."""
    begin_log()
    say_who_labels()
    watch_databases()
    watch("sessions", "Sessions that a browser shows", _sessions)
    watch("runs_waiting", "Runs of scripts that wait for their turn", FLOOR.waiting)
    watch("work_waiting", "Long work that waits for its turn", TURNS.waiting)
    watch("rooms", "Rooms that this process knows", lambda: len(rooms().here()))
    watch("followers", "Who follows a room in this process", _followers)


def _sessions() -> float:
    manager = getattr(Runtime.instance(), "_session_mgr", None) if Runtime.exists() else None
    return 0 if manager is None else manager.num_active_sessions()


def _followers() -> float:
    return sum(room.followers for room in rooms().here())
