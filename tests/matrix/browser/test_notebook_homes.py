"""The notebooks of the documentation where people open them: draw, drag, read back."""

import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from time import monotonic

import pytest
from playwright.sync_api import TimeoutError as Timeout
from playwright.sync_api import expect

from tests.support.paths import ROOT

NOTEBOOKS = ROOT / "docs" / "notebooks"
PATIENCE = 60_000  # milliseconds: a kernel starts
QUICKLY = 5_000  # milliseconds for a question that may not be asked
TRIES = 20


@contextmanager
def running(folder, port, *program):
    """A server of notebooks, with a home of its own, from when it listens on."""
    own = {"HOME": str(folder), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    own |= {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *program], env=os.environ | own, stdout=log, stderr=log
        )
    try:
        begin = monotonic()
        while monotonic() - begin < PATIENCE / 1000:
            assert process.poll() is None, (folder / "log").read_text()
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def page(fresh):
    page = fresh().new_page()
    page.set_default_timeout(PATIENCE)
    return page


def pull(page, cell, up):
    """Drag a cell of the matrix upwards, or down."""
    page.get_by_role("button", name="Transitions").click()
    place = page.locator(f"[data-cell='{cell}']")
    for _ in range(TRIES):  # what is around it may move it away before the hand is there
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - up, steps=6)
        page.mouse.up()
        with suppress(AssertionError):
            return expect(place).to_have_attribute("data-edited", "true", timeout=QUICKLY)
    pytest.fail("the cell cannot be taken")


@pytest.mark.long
def test_jupyterlab_draws_and_returns_dragged_edits(page, port, tmp_path):
    pytest.importorskip("jupyterlab")
    shutil.copy(NOTEBOOKS / "there-and-back.ipynb", tmp_path)
    options = {
        "ServerApp.port": port,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.root_dir": tmp_path,
        "ServerApp.allow_root": True,
        "IdentityProvider.token": "",
        "LabApp.news_url": None,
    }
    named = [f"--{name}={value}" for name, value in options.items()]
    with running(tmp_path, port, "jupyterlab", "--no-browser", *named) as url:
        page.goto(f"{url}/doc/tree/there-and-back.ipynb")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        with suppress(Timeout):  # which kernel it shall be
            page.locator(".jp-Dialog").get_by_role("button", name="Select").click(timeout=QUICKLY)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("^Run All Cells")).first.click()
        stage = page.locator("[data-stage]")
        stage.wait_for()
        tags = page.locator("[data-row=viterbi]")
        expect(tags).to_have_text(["NOUN", "NOUN", "NOUN"])  # as its last cell sets it
        pull(page, "VERB,NOUN", 60)
        expect(stage).to_have_attribute("data-source", "live")
        page.get_by_role("button", name="Explore").click()
        expect(tags).to_have_text(["VERB", "NOUN", "NOUN"])
        cells = page.locator(".jp-CodeCell")
        read_back = cells.filter(has_text=re.compile(r"^\s*\[.*\]:?\s*\[scores")).first
        for _ in range(TRIES):  # the edit is on its way to the kernel
            read_back.locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
            with suppress(AssertionError):
                said = read_back.locator(".jp-OutputArea-output")
                expect(said).to_have_text("['VERB', 'NOUN', 'NOUN']", timeout=QUICKLY)
                return
    pytest.fail("the kernel has not heard of the edit")


def test_marimo_draws_and_reruns_dependent_cells(page, port, tmp_path):
    if find_spec("marimo") is None:  # not imported here: it opens a log file and leaves it open
        pytest.skip("no marimo")
    notebook = shutil.copy(NOTEBOOKS / "there_and_back.py", tmp_path)
    options = ["--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    with running(tmp_path, port, "marimo", "run", *options, str(notebook)) as url:
        page.goto(url)
        page.locator("[data-stage]").wait_for()
        page.get_by_text("NOUN VERB NOUN").wait_for()
        pull(page, "NOUN,VERB", -100)
        page.get_by_text("NOUN NOUN NOUN").wait_for()
