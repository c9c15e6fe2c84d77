"""Recursions that count uses, against enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.questions.viterbi_with_uses import best_by_uses, best_with_change
from tests import oracle
from tests.strategies import chains
from tests.weights import lines, uses


@given(chains(max_tokens=5, max_tags=4), st.data())
def test_best_by_uses_equals_enumeration(potentials, data):
    tags = st.integers(0, potentials.num_tags - 1)
    before, after = data.draw(tags), data.draw(tags)
    expected = lines(potentials, ("transition", before, after))
    found = best_by_uses(potentials, before, after).tolist()
    assert len(found) == potentials.num_tokens
    for count, score in enumerate(found):
        assert score == pytest.approx(expected.get(count, -math.inf), abs=1e-9)


@given(chains(max_tokens=4, max_tags=3), st.floats(-10, 10))
def test_best_with_change_equals_enumeration(potentials, change):
    if potentials.transitions.dim() == 3:
        return
    moves = np.argwhere(np.ones((potentials.num_tags,) * 2))
    found = best_with_change(potentials, moves, np.full(len(moves), change))
    for (before, after), score, count in zip(moves.tolist(), found.score, found.uses, strict=True):
        value = potentials.transitions[before, after].item() + change
        best = oracle.best_score(potentials.with_transition(before, after, value))
        assert score == pytest.approx(best, abs=1e-9)
        if best > -math.inf:
            counts = {
                uses(("transition", before, after), path)
                for path in oracle.best_paths(potentials.with_transition(before, after, value))
            }
            assert count in counts
