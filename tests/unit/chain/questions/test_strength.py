"""Flips along the strength of the CRF, against enumeration."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.tipping import strength_intervals
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf


def lines(chain):
    """(slope, intercept) of every allowed path: the score at strength 0, and what 1 adds to it."""
    flat = oracle.paths(chain.scale_transitions(0.0))
    return {path: (score - flat[path], flat[path]) for path, score in oracle.allowed(chain)}


@given(chains(max_tokens=5, max_tags=4))
def test_the_flips_equal_enumeration(chain):
    paths = lines(chain)
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


def test_the_word_that_flips_is_between_its_neighbours():
    chain = Potentials([[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]], [[0.0, -1.0], [-1.0, 0.0]])
    assert strength_intervals(chain) == [(0.0, 0.5, [0, 1, 0]), (0.5, 2.0, [0, 0, 0])]
    assert strength_intervals(chain, highest=0.25) == [(0.0, 0.25, [0, 1, 0])]


@fewer_examples
@given(chains(min_tokens=2, max_tokens=4, max_tags=3), st.data())
def test_edited_scores_and_pins_do_not_scale(chain, data):
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


def test_no_strength_is_one_point():
    chain = Potentials([[0.0, 1.0]], torch.zeros(2, 2))
    assert strength_intervals(chain, highest=0) == [(0.0, 0.0, [1])]
