"""Servers of the app that start in a moment: forked from a process that has imported the libraries.

Of the three seconds in which a server starts, imports take most, and a test that kills a hundred
servers is not about them. What runs is Streamlit's own command all the same.
"""

import os
import subprocess
from multiprocessing import get_context
from pathlib import Path

import altair  # noqa: F401
import pandas  # noqa: F401
import plotly.graph_objects  # noqa: F401
import spacy.lang.en  # noqa: F401
import sqlalchemy  # noqa: F401
import streamlit.web.bootstrap  # noqa: F401
import torch  # noqa: F401
from streamlit.web.cli import main

from benchmarks.serving import ROOT


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
    process.start()
    return ForkedServer(process)


def serve(arguments, environment, log):
    """What the fork does: become a server with this environment and log."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    with Path(log).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(arguments, prog_name="streamlit")
