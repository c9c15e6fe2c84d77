"""How Streamlit runs scripts here: one at a time, and without a collection of garbage after each.

Streamlit looks for garbage after every script, in all that all sessions hold: with some hundred
sessions that takes longer than the script. `runner.postScriptGC` in config.toml ends that. Python
looks by itself as objects become more; what hangs on few objects, such as tensors, is looked for
after every `RUNS` scripts.

A thread that waits for Python's lock asks for it after `SWITCH`: beside one that reads a large
file, a script would else lose Python's own 5 ms at each look at a file and each message.
"""

import gc
import importlib
import logging
import sys
from itertools import count

from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)

from crfviz.ui.session.floor import FLOOR

RUNS = 200  # scripts between two collections
SWITCH = 0.0005  # seconds

_RUNNER = "streamlit.runtime.scriptrunner.script_runner"
_log = logging.getLogger(__name__)
_ended = count(1)  # scripts


class OneAtATime(ScriptRequests):
    """What a session asks of its script; handed to it when it has the floor.

    Requests that come before are merged into one, the newest state wins.
    """

    def on_scriptrunner_ready(self) -> ScriptRequest:
        """The next run, or the end: Streamlit asks before the first run and after each."""
        if FLOOR.give():
            _after_run()
        if self._state is ScriptRequestType.RERUN:
            FLOOR.take()
        request = super().on_scriptrunner_ready()
        if request.type is not ScriptRequestType.RERUN:
            FLOOR.give()
        return request

    def on_scriptrunner_yield(self) -> ScriptRequest | None:
        """Whether the run is to end; Streamlit asks whenever the script draws something."""
        FLOOR.let_others()
        return super().on_scriptrunner_yield()


def one_script_at_a_time() -> bool:
    """Have all scripts that begin from now on wait for their turn; whether that could be done.

    Another Streamlit may not ask as this one does: then it runs its scripts as it likes.
    """
    sys.setswitchinterval(SWITCH)
    runner = importlib.import_module(_RUNNER)
    if getattr(runner, "ScriptRequests", None) not in (ScriptRequests, OneAtATime):
        _log.warning("scripts run side by side: this Streamlit asks for them in another way")
        return False
    runner.ScriptRequests = OneAtATime  # type: ignore[attr-defined]
    return True


def _after_run() -> None:
    if next(_ended) % RUNS == 0:
        gc.collect()
