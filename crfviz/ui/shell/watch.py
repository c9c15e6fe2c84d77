"""Begins to watch a server that is about to answer: its log, its databases, and what it holds."""

from crfviz.ui.live_room.room_backend import rooms
from crfviz.ui.session.floor import FLOOR
from crfviz.ui.session.permission import say_who_labels
from crfviz.ui.session.turns import TURNS
from crfviz.ui.watching.logs import begin_log
from crfviz.ui.watching.meters import watch, watch_databases
from crfviz.ui.watching.requests import open_sessions


def begin_watch() -> None:
    """Write the log as the settings say, and count."""
    begin_log()
    say_who_labels()
    watch_databases()
    watch("sessions", "Sessions that a browser shows", open_sessions)
    watch("runs_waiting", "Runs of scripts that wait for their turn", FLOOR.waiting)
    watch("work_waiting", "Long work that waits for its turn", TURNS.waiting)
    watch("rooms", "Rooms that this process knows", lambda: len(rooms().known()))
    watch("followers", "Who follows a room in this process", _followers)


def _followers() -> float:
    return sum(room.followers for room in rooms().known())
