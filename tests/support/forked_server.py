"""Servers of the app that start in a moment: forked from a process that has imported the libraries.

Of the three seconds in which a server starts, imports take most, and a test that kills a hundred
servers is not about them. What runs is Streamlit's own command all the same.
"""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

from benchmarks.serving import ROOT

_one_at_a_time = threading.Lock()  # the main module is that of all threads


@contextmanager
def forking():
    """Processes of `multiprocessing` are forked from one that has imported what they need."""
    get_context("forkserver").set_forkserver_preload(
        ["tests.support.saving_worker", "tests.support.warm"]
    )
    # Streamlit leaves the app as the main module, which every process would run first.
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = before


class ForkedServer:
    """A process of `multiprocessing` with the methods of `subprocess.Popen`."""

    def __init__(self, process):
        self._process = process
        self.pid = process.pid
        self.terminate = process.terminate
        self.kill = process.kill

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("streamlit", timeout)
        return self._process.exitcode


def fork(arguments, environment, log):
    """Start Streamlit in a fork; see `benchmarks.serving.new_process`."""
    context = get_context("forkserver")
    process = context.Process(target=serve, args=(arguments, dict(environment), log.name))
    with _one_at_a_time, forking():
        process.start()
    return ForkedServer(process)


def serve(arguments, environment, log):
    """What the fork does: become a server with this environment and log."""
    from streamlit.web.cli import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    with Path(log).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(arguments, prog_name="streamlit")
