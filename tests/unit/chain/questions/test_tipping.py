"""Tipping points against enumeration, and again against a fine grid."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.tipping import tipping_points
from crfviz.exceptions import CrfvizError, NoPathError, ShapeError, UnknownTagError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples
from tests.support.weights import all_weights, breakpoints, changed, lines, uses

INF = math.inf
COIN = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]], tags=["A", "B"])


@st.composite
def chains_with_weight(draw, **sizes):
    chain = draw(chains(**sizes))
    weight = draw(st.sampled_from(list(all_weights(chain))), label="weight")
    return chain, weight


@given(chains_with_weight(max_tokens=5, max_tags=4))
def test_breakpoints_equal_enumeration(chain_and_weight):
    chain, weight = chain_and_weight
    expected = lines(chain, weight)
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
def test_paths_are_the_best_by_enumeration_and_viterbi_finds_them(chain_and_weight):
    chain, weight = chain_and_weight
    assume(lines(chain, weight))
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
@given(chains_with_weight(max_tokens=4, max_tags=3, forbidden=False))
def test_a_fine_grid_agrees(chain_and_weight):
    chain, weight = chain_and_weight
    found = tipping_points(chain, weight)
    corners = np.array([interval.low for interval in found[1:]])
    middle, reach = (corners.mean(), np.ptp(corners) + 1.0) if len(corners) else (0.0, 10.0)
    for value in np.linspace(middle - reach, middle + reach, 21):
        if len(corners) and np.abs(corners - value).min() < 1e-6:
            continue
        interval = found[np.searchsorted(corners, value)]
        assert viterbi(changed(chain, weight, value)).path == interval.path


@fewer_examples
@given(chains_with_weight(max_tokens=4, max_tags=3))
def test_the_value_it_has_now_does_not_matter(chain_and_weight):
    chain, weight = chain_and_weight
    assume(lines(chain, weight))
    found = tipping_points(chain, weight)
    assert tipping_points(changed(chain, weight, 4.5), weight) == found
    assert tipping_points(changed(chain, weight, -INF), weight) == found


def test_names_do_as_well_as_ids():
    assert tipping_points(COIN, ("transition", "A", "B")) == tipping_points(
        COIN, ("transition", 0, 1)
    )


def test_one_line_for_each_number_of_uses():
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


def test_a_weight_that_every_path_uses_changes_nothing():
    potentials = Potentials(torch.zeros(3, 1), [[2.0]])
    for weight in all_weights(potentials):
        assert tipping_points(potentials, weight) == [(-INF, INF, [0, 0, 0])]


def test_one_word_uses_no_transition():
    potentials = Potentials([[1.0, 3.0]], torch.zeros(0, 2, 2))
    assert tipping_points(potentials, ("transition", 0, 1)) == [(-INF, INF, [1])]


def test_a_forbidden_weight_can_be_allowed_but_others_stay_forbidden():
    potentials = Potentials(torch.zeros(2, 2), [[-INF, -INF], [-INF, 0.0]])
    assert tipping_points(potentials, ("transition", 0, 1)) == [
        (-INF, 0.0, [1, 1]),
        (0.0, INF, [0, 1]),
    ]


def test_the_value_of_a_transition_goes_into_every_step():
    steps = torch.tensor([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 2.0], [0.0, 5.0]]])
    potentials = Potentials(torch.zeros(3, 2), steps)
    for low, high, path in tipping_points(potentials, ("transition", 1, 1)):
        value = max(low, -100.0) / 2 + min(high, 100.0) / 2
        assert viterbi(potentials.with_transition(1, 1, value)).path == path


def test_nothing_allowed_whatever_the_value():
    potentials = Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF))
    with pytest.raises(NoPathError, match="forbidden, whatever the value of the weight"):
        tipping_points(potentials, ("emission", 0, 0))
    assert tipping_points(potentials, ("transition", 0, 0)) == [(-INF, INF, [0, 0, 0])]


def test_bad_weights_are_refused():
    with pytest.raises(CrfvizError, match="weight must be"):
        tipping_points(COIN, ("middle", 0))
    with pytest.raises(UnknownTagError, match="expected one of the tags"):
        tipping_points(COIN, ("start", "C"))
    with pytest.raises(ShapeError, match="position must be 0 to 1, got 7"):
        tipping_points(COIN, ("emission", 7, "A"))
