"""A Streamlit server of small third-party apps that use crfviz, in their own folder."""

import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

from benchmarks.serving import running_app
from tests.support.browser import once_per_session

# Runs the script named by the URL's parameter `app`.
HOST = """
import runpy
import streamlit as st

runpy.run_path(st.query_params["app"])
"""


class Guests:
    """The server; `open` writes an app and opens it in a browser."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server

    def open(self, page, text, name="app.py"):
        path = self.folder / name
        path.write_text(text)
        page.goto(f"{self.server.url}/?{urlencode({'app': str(path)})}")
        page.locator("[data-stage]:visible, [data-labeller]:visible").first.wait_for()
        return page


@contextmanager
def running_guests(folder):
    """Start Streamlit in a folder without crfviz' app or settings; stop it at the end."""
    script = folder / "host.py"
    script.write_text(HOST)

    def start(arguments, environment, log):
        command = [sys.executable, "-m", "streamlit", "run", str(script), *arguments[2:]]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)

    with running_app(folder / "server.log", start=start) as server:
        yield Guests(folder, server)


@pytest.fixture(scope="session")
@once_per_session
def guests(chromium, tmp_path_factory):  # noqa: ARG001 - without Chromium no server either
    """Start one server of other people's apps for all tests."""
    with running_guests(tmp_path_factory.mktemp("guests")) as running:
        yield running
