"""Check my homework in the browser: an example with a bug, a typed table, a bad one."""

import pytest
from playwright.sync_api import expect

from crfviz import trace
from crfviz.views.frames.homework import as_text
from tests.support.screen import chain

MODEL, DAYS = "textbook/ice-cream", "2 3 3 1"


@pytest.fixture
def homework(screen):
    return screen.visit("homework", model=MODEL, sentence=DAYS)


def paste(screen, text):
    box = screen.page.locator("textarea")
    box.fill(text)
    box.press("Control+Enter")


def test_a_right_table_a_wrong_cell_and_a_bug_that_is_named(homework):
    expected = chain(MODEL, DAYS)
    table = expected.analysis.forward_backward.log_alpha.clone()
    paste(homework, as_text(table, expected.tags))
    homework.wait_for_text("Right: all 8 cells.")
    table[1, 0] -= 0.5
    paste(homework, as_text(table, expected.tags))
    homework.wait_for_text("The first wrong cell is C at “3” (word 2)")
    expect(homework.page.locator("[data-testid=stDataFrame]")).to_have_count(2)
    homework.choose("view-homework", "max for sum")
    homework.expect_param("v.homework", "max for sum")
    homework.rest()  # a button knows what was chosen when drawn
    fill = homework.page.get_by_role("button", name="Fill it in")
    fill.focus()
    fill.press("Enter")
    homework.wait_for_text("Likely bug: max for sum.")


@pytest.mark.rotating
def test_markup_stays_text_and_is_kept(homework):
    text = "<img/src=x/onerror=alert(1)> 1\n2 3"
    paste(homework, text)
    homework.wait_for_text("line 1, column 1")
    expect(homework.page.locator("textarea")).to_have_value(text)
    homework.follow("Viterbi")
    homework.follow("Homework")
    expect(homework.page.locator("textarea")).to_have_value(text)


def test_a_trace_is_played_up_to_its_first_wrong_write(homework, tmp_path):
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
