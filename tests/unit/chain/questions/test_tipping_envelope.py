"""The upper envelope of lines."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.questions.tipping import Interval, Line, Piece, crossing, intervals, pieces
from tests.support.strategies import fewer_examples

INF = math.inf
NUMBERS = st.integers(-20, 20).map(lambda number: number / 4)


@given(st.lists(st.builds(Line, NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_every_piece_is_the_best_line_and_they_cover_everything(lines):
    found = pieces(lines)
    assert found[0].low == -INF
    assert found[-1].high == INF
    for left, right in pairwise(found):
        assert left.high == right.low
        assert left.slope < right.slope
    for piece in found:
        best = max(line.at(piece.inside) for line in lines)
        assert piece.low < piece.inside < piece.high
        own = max(line.at(piece.inside) for line in lines if line.slope == piece.slope)
        assert own == pytest.approx(best, abs=1e-9)


@fewer_examples
@given(st.lists(st.builds(Line, NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_clipping_keeps_what_is_inside(lines):
    everywhere = pieces(lines)
    clipped = pieces(lines, 0.0, 2.0)
    assert clipped[0].low == 0.0
    assert clipped[-1].high == 2.0
    expected = [piece.slope for piece in everywhere if piece.low < 2.0 and piece.high > 0.0]
    assert [piece.slope for piece in clipped] == expected
    assert [piece.low for piece in clipped[1:]] == [
        piece.low for piece in everywhere if 0.0 < piece.low < 2.0
    ]


def test_a_line_that_only_touches_a_corner_is_left_out():
    lines = [Line(0.0, 0.0), Line(1.0, 0.0), Line(2.0, 0.0)]
    assert pieces(lines) == [Piece(-INF, 0.0, 0.0), Piece(0.0, INF, 2.0)]
    lines[1] = Line(1.0, 1e-14)
    assert len(pieces(lines)) == 2
    lines[1] = Line(1.0, 1e-9)
    assert len(pieces(lines)) == 3


def test_neighbours_with_the_same_path_are_one_interval():
    found = [Piece(-INF, 0.0, 0.0), Piece(0.0, 1.0, 1.0), Piece(1.0, INF, 2.0)]
    assert intervals(found, lambda value: [int(value > 1)]) == [
        Interval(-INF, 1.0, [0]),
        Interval(1.0, INF, [1]),
    ]


def test_lines_cross_where_they_are_equal():
    assert crossing(Line(1.0, 3.0), Line(3.0, -1.0)) == 2.0


def test_a_range_too_narrow_to_tell_lines_apart_has_one_piece():
    assert pieces([Line(0.0, 0.0), Line(1.0, 0.0)], 1.0, 1.0 + 1e-13)[0].slope == 1.0
