"""A program's writes as steps of a walk, in a payload and in notebooks."""

import base64
import math

import numpy as np
import pytest

from crfviz import Potentials, show, trace
from crfviz.chain.decoding.analysis import analyse
from crfviz.views.frames.homework import MAX_STEPS, trace_picture
from crfviz.views.stage.payload import payload
from crfviz.views.stage.picture import Subject
from tests.support.student import Student
from tests.unit.chain.homework.test_check import random_chain
from tests.unit.chain.homework.test_grade import cell_by_cell

CHAIN = Potentials(
    [[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.25, 0.0]], tags=["N", "V"], tokens=["{n}", "b"]
)


def drawn(program, chain=CHAIN, table="alpha"):
    return trace_picture(trace(program, chain, table))


def test_each_write_is_a_step_and_the_last_has_the_grade():
    table = Student(CHAIN).table("alpha")
    picture = drawn(cell_by_cell(table, "alpha"))
    texts = [phase.text for phase in picture.walk.phases]
    assert texts[0] == "Write 1: board.alpha[0, 0] = 1 (N at “(n)”)."
    assert texts[2].startswith("Write 3: board.alpha[1, 0] = 1.3869 (N at “b”).")
    assert texts[-1] == "Right: all 4 cells of board.alpha."
    assert len(texts) == 5
    assert picture.walk.start.startswith("4 writes to board.alpha.")
    assert picture.grids[0].wrong is None


def test_walk_stops_at_the_first_wrong_write():
    table = Student(CHAIN, transposed=True).table("alpha")
    picture = drawn(cell_by_cell(table, "alpha"))
    (grid,) = picture.grids
    assert len(grid.writes) == 3
    assert grid.wrong == (1, 0)
    assert "Likely bug: transposed matrix." in picture.walk.phases[-1].text
    assert len(picture.walk.phases) == 4
    assert "yours: α(2, N)" in picture.note


def test_write_of_several_cells_shows_their_number():
    def program(board):
        board.alpha[0] = np.array([1.0, 0.0])

    assert drawn(program).walk.phases[0].text == "Write 1: 2 cells of board.alpha."


def test_long_traces_play_only_the_last_writes():
    chain = random_chain(4, num_tokens=120, num_tags=4)
    picture = drawn(cell_by_cell(Student(chain).table("alpha"), "alpha"), chain)
    assert len(picture.grids[0].writes) == MAX_STEPS
    assert picture.walk.phases[0].text == f"The first {480 - MAX_STEPS + 1} writes at once."
    assert picture.walk.phases[1].text.startswith(f"Write {480 - MAX_STEPS + 2}: ")
    assert sum(map(len, picture.grids[0].writes)) == 480


def test_failed_program_shows_its_writes_and_the_error():
    def program(board):
        board.alpha[0, 1] = math.nan
        board.alpha[2, 0] = 0

    picture = drawn(program)
    assert picture.walk.phases[0].text == "Write 1: board.alpha[0, 1] = NaN (V at “(n)”)."
    assert "out of bounds" in picture.walk.phases[-1].text


def test_payload_encodes_writes_as_bytes():
    picture = drawn(cell_by_cell([[math.nan, -math.inf], [2.0, 3.0]], "alpha"))
    analysis = analyse(CHAIN)
    data = payload(Subject(analysis, analysis), picture)
    (table,) = data["tables"]
    first = np.frombuffer(base64.b64decode(table["writes"][0]), "<f8")
    np.testing.assert_array_equal(first, [0, 0, math.nan])
    assert table["kind"] == "written"
    assert table["wrong"] == [0, 0]


@pytest.mark.parametrize("table", ["alpha", "beta", "viterbi", "backpointers"])
def test_notebooks_play_the_trace(table):
    name = {"viterbi": "best"}.get(table, table)
    shown = show(trace(cell_by_cell(Student(CHAIN).table(table), name), CHAIN, table))
    html = shown._repr_html_()
    assert f"board.{name}, as the program writes it" in html
    assert "Your code" in html
