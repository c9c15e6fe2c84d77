"""A server with CRFVIZ_PLUGINS: its taggers are on the pages, and so are their changes."""

import pytest
from playwright.sync_api import expect

from benchmarks.serving import running_app
from tests.support.forked_server import fork
from tests.support.screen import PATIENCE

CODE = """
from crfviz import Potentials


class Mine:
    tags = ["SHORT", "LONG"]

    def potentials(self, tokens):
        emissions = [[LIMIT, len(word)] for word in tokens]
        return Potentials(emissions, [[0.0, 0.0], [0.0, 0.0]])
"""


@pytest.mark.rotating
def test_a_server_shows_the_taggers_of_a_folder_and_their_changes(watch, fresh, tmp_path):
    file = tmp_path / "by_length.py"
    file.write_text(CODE.replace("LIMIT", "3.5"))
    variables = {"CRFVIZ_PLUGINS": str(tmp_path)}
    with running_app(tmp_path / "server.log", variables, fork) as app:
        screen = watch(fresh(), app)
        screen.open("", model="by_length", sentence="an elephant ran")
        screen.eventually(lambda: assert_path(screen, ["SHORT", "LONG", "SHORT"]))
        file.write_text(CODE.replace("LIMIT", "2.5"))
        screen.reload()
        screen.eventually(lambda: assert_path(screen, ["SHORT", "LONG", "LONG"]))
        file.write_text("1 / 0")
        screen.page.reload()
        message = screen.page.locator("[data-testid=stMain] [data-testid=stAlert]")
        expect(message).to_contain_text("The plug-in by_length failed", timeout=PATIENCE)


def assert_path(screen, tags):
    assert screen.read().rows["viterbi"] == tags
