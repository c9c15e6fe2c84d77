"""The page Homework in the browser: a trace is played."""

import pytest
from playwright.sync_api import expect

from crfviz import trace
from tests.support.screen import chain

MODEL, DAYS = "textbook/ice-cream", "2 3 3 1"


@pytest.fixture
def homework(screen):
    return screen.visit("homework", model=MODEL, sentence=DAYS)


def test_trace_is_played_to_its_first_wrong_write(homework, tmp_path):
    potentials = chain(MODEL, DAYS).analysis.potentials

    def program(board):
        for t in range(board.num_tokens):
            board.best[t] = board.emissions[t]  # no step at all

    path = tmp_path / "trace.json"
    trace(program, potentials, "viterbi").save(path)
    homework.page.locator("input[type=file]").set_input_files(path)
    homework.wait_for_text("4 writes to board.best. Press → to play them.")
    cells = homework.page.locator("[data-table=yours]:not(:empty)")
    expect(cells).to_have_count(0)
    homework.page.keyboard.press("ArrowRight")
    homework.wait_for_text("Write 1: 2 cells of board.best.")
    expect(cells).to_have_count(2)
    expect(homework.page.locator("[data-table=yours][data-wrong]")).to_have_count(1)
    homework.page.keyboard.press("End")
    homework.wait_for_text("The first wrong cell is board.best[0, 0]")
    homework.wait_for_text("No known bug gives exactly this table.")
