"""Tipping points of weights and of the strength, against enumeration."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.tipping import (
    Interval,
    Line,
    Piece,
    crossing,
    intervals,
    pieces,
    strength_intervals,
    tipping_points,
)
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples
from tests.support.weights import all_weights, breakpoints, changed, uses
from tests.support.weights import lines as weight_lines

INF = math.inf
COIN = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]], tags=["A", "B"])


@st.composite
def chains_with_weight(draw, **sizes):
    chain = draw(chains(**sizes))
    weight = draw(st.sampled_from(list(all_weights(chain))), label="weight")
    return chain, weight


@given(chains_with_weight(max_tokens=5, max_tags=4))
def test_tipping_points_equal_enumeration(chain_and_weight):
    chain, weight = chain_and_weight
    expected = weight_lines(chain, weight)
    assume(expected)
    found = tipping_points(chain, weight)
    assert found[0].low == -INF
    assert found[-1].high == INF
    assert all(left.high == right.low for left, right in pairwise(found))
    corners = breakpoints(expected)
    assert len(corners) >= len(found) - 1
    for interval in found[1:]:
        assert min(abs(interval.low - corner) for corner in corners) <= 1e-9
    for corner in corners:
        assert min(abs(interval.low - corner) for interval in found[1:]) <= 1e-9


@given(chains_with_weight(max_tokens=5, max_tags=4))
def test_interval_paths_are_best_by_enumeration_and_viterbi(chain_and_weight):
    chain, weight = chain_and_weight
    assume(weight_lines(chain, weight))
    found = tipping_points(chain, weight)
    counts = [uses(weight, interval.path) for interval in found]
    assert counts == sorted(set(counts))
    for low, high, path in found:
        for value in (max(low, high - 3.0), (max(low, -500.0) + min(high, 500.0)) / 2):
            if low < value < high:
                there = changed(chain, weight, value)
                best = oracle.best_score(there)
                assert oracle.paths(there)[tuple(path)] == pytest.approx(best, abs=1e-9)
                assert viterbi(there).path == path


@fewer_examples
@given(chains_with_weight(max_tokens=4, max_tags=3))
def test_tipping_points_ignore_the_current_value(chain_and_weight):
    chain, weight = chain_and_weight
    assume(weight_lines(chain, weight))
    found = tipping_points(chain, weight)
    assert tipping_points(changed(chain, weight, 4.5), weight) == found
    assert tipping_points(changed(chain, weight, -INF), weight) == found


def test_tipping_points_cover_each_possible_number_of_uses():
    """A tag that costs more at each word, and what staying on it may earn at each of the steps."""
    emissions = torch.tensor([[0.0, -cost] for cost in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)])
    potentials = Potentials(emissions, torch.zeros(2, 2))
    found = tipping_points(potentials, ("transition", 1, 1))
    assert [(low, high) for low, high, _ in found] == [
        (-INF, 3.0),
        (3.0, 4.0),
        (4.0, 8.0),
        (8.0, 16.0),
        (16.0, 32.0),
        (32.0, INF),
    ]
    assert [path.count(1) for _, _, path in found] == [0, 2, 3, 4, 5, 6]


def test_weight_used_by_every_path_has_no_tipping_point():
    potentials = Potentials(torch.zeros(3, 1), [[2.0]])
    for weight in all_weights(potentials):
        assert tipping_points(potentials, weight) == [(-INF, INF, [0, 0, 0])]


def test_transition_of_a_single_word_has_no_tipping_point():
    potentials = Potentials([[1.0, 3.0]], torch.zeros(0, 2, 2))
    assert tipping_points(potentials, ("transition", 0, 1)) == [(-INF, INF, [1])]


def test_tipping_points_without_any_path_raise_no_path_error():
    potentials = Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF))
    with pytest.raises(NoPathError, match="forbidden, whatever the value of the weight"):
        tipping_points(potentials, ("emission", 0, 0))
    assert tipping_points(potentials, ("transition", 0, 0)) == [(-INF, INF, [0, 0, 0])]


def test_unknown_weight_kind_is_rejected():
    with pytest.raises(CrfvizError, match="weight must be"):
        tipping_points(COIN, ("middle", 0))


INF = math.inf
NUMBERS = st.integers(-20, 20).map(lambda number: number / 4)


@given(st.lists(st.builds(Line, NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_pieces_are_the_highest_lines_and_cover_the_axis(lines):
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
def test_clipping_preserves_the_inner_pieces(lines):
    everywhere = pieces(lines)
    clipped = pieces(lines, 0.0, 2.0)
    assert clipped[0].low == 0.0
    assert clipped[-1].high == 2.0
    expected = [piece.slope for piece in everywhere if piece.low < 2.0 and piece.high > 0.0]
    assert [piece.slope for piece in clipped] == expected
    assert [piece.low for piece in clipped[1:]] == [
        piece.low for piece in everywhere if 0.0 < piece.low < 2.0
    ]


def test_line_touching_only_a_corner_is_dropped():
    lines = [Line(0.0, 0.0), Line(1.0, 0.0), Line(2.0, 0.0)]
    assert pieces(lines) == [Piece(-INF, 0.0, 0.0), Piece(0.0, INF, 2.0)]
    lines[1] = Line(1.0, 1e-14)
    assert len(pieces(lines)) == 2
    lines[1] = Line(1.0, 1e-9)
    assert len(pieces(lines)) == 3


def test_adjacent_pieces_with_the_same_path_are_merged():
    found = [Piece(-INF, 0.0, 0.0), Piece(0.0, 1.0, 1.0), Piece(1.0, INF, 2.0)]
    assert intervals(found, lambda value: [int(value > 1)]) == [
        Interval(-INF, 1.0, [0]),
        Interval(1.0, INF, [1]),
    ]


def test_lines_cross_where_they_are_equal():
    assert crossing(Line(1.0, 3.0), Line(3.0, -1.0)) == 2.0


def test_narrow_range_has_one_piece():
    assert pieces([Line(0.0, 0.0), Line(1.0, 0.0)], 1.0, 1.0 + 1e-13)[0].slope == 1.0


def strength_lines(chain):
    """(slope, intercept) of every allowed path: the score at strength 0, and what 1 adds to it."""
    flat = oracle.paths(chain.scale_transitions(0.0))
    return {path: (score - flat[path], flat[path]) for path, score in oracle.allowed(chain)}


@given(chains(max_tokens=5, max_tags=4))
def test_strength_intervals_equal_enumeration(chain):
    paths = strength_lines(chain)
    assume(paths)
    found = strength_intervals(chain)
    assert found[0].low == 0.0
    assert found[-1].high == 2.0
    assert all(a.high == b.low and a.path != b.path for a, b in pairwise(found))
    for low, high, path in found:
        slope, intercept = paths[tuple(path)]
        for value in (low, (low + high) / 2, high):
            best = max(other + rise * value for rise, other in paths.values())
            assert intercept + slope * value == pytest.approx(best, rel=1e-11, abs=1e-9)
    # No flip is missed: where two neighbours' slopes differ, the corner is where they cross.
    for left, right in pairwise(found):
        (flat, low), (steep, high) = paths[tuple(left.path)], paths[tuple(right.path)]
        assert left.high == pytest.approx((low - high) / (steep - flat), abs=1e-9)


def test_strength_intervals_by_hand():
    chain = Potentials([[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]], [[0.0, -1.0], [-1.0, 0.0]])
    assert strength_intervals(chain) == [(0.0, 0.5, [0, 1, 0]), (0.5, 2.0, [0, 0, 0])]
    assert strength_intervals(chain, highest=0.25) == [(0.0, 0.25, [0, 1, 0])]


@fewer_examples
@given(chains(min_tokens=2, max_tokens=4, max_tags=3), st.data())
def test_strength_leaves_edited_scores_and_pins_unscaled(chain, data):
    tags = st.sampled_from(chain.tag_names)
    scores = st.sampled_from([-2.0, -0.5, 0.0, 1.5, -INF])
    moves = st.sampled_from([(a, b) for a in chain.tag_names for b in chain.tag_names])
    edits = Edits(
        transitions=data.draw(st.dictionaries(moves, scores, max_size=2)),
        emissions={(1, data.draw(tags)): data.draw(scores)},
        strength=data.draw(st.sampled_from([0.5, 1.0])),
    )
    pins = data.draw(st.dictionaries(st.integers(0, 1), tags, max_size=1))

    def at(strength):
        return replace(edits, strength=strength).apply(chain).pin(pins)

    paths = oracle.allowed(at(1.0))
    assume(paths)
    found = strength_intervals(chain, edits=edits, pins=pins)
    for low, high, path in found:
        for strength in (low, (low + high) / 2, high):
            now = dict(oracle.allowed(at(strength)))
            assert now[tuple(path)] == pytest.approx(max(now.values()), rel=1e-11, abs=1e-9)
    assert all(a.high == b.low and a.path != b.path for a, b in pairwise(found))


def test_strength_range_of_zero_is_one_point():
    chain = Potentials([[0.0, 1.0]], torch.zeros(2, 2))
    assert strength_intervals(chain, highest=0) == [(0.0, 0.0, [1])]
