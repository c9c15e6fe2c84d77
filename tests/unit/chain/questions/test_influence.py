"""How far a nudge reaches, against enumeration and Eisner's homework question."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import influence
from tests.support import oracle
from tests.support.icecream import COLD, HOT, ice_cream
from tests.support.strategies import chains

INF = math.inf
STAY = Potentials([[0.0, 0.0]] * 9, [[1.0, 0.0], [0.0, 1.0]], tags=["A", "B"])


@given(chains(max_tokens=4, max_tags=3).filter(oracle.allowed), st.floats(-3.0, 3.0), st.data())
def test_changes_equal_enumeration(chain, delta, data):
    position = data.draw(st.integers(0, chain.num_tokens - 1))
    found = influence(chain, position, delta)
    assert found.tag == viterbi(chain).path[position]
    score = chain.emissions[position, found.tag].item() + delta
    before = oracle.marginals(chain)
    after = oracle.marginals(chain.with_emission(position, found.tag, score))
    for t in range(chain.num_tokens):
        moved = 0.0
        for k in range(chain.num_tags):
            expected = after.get((t, k), 0.0) - before.get((t, k), 0.0)
            assert found.change[t, k].item() == pytest.approx(expected, abs=1e-9)
            moved += abs(expected) / 2
        assert found.reach[t].item() == pytest.approx(moved, abs=1e-9)


def test_one_ice_cream_on_the_first_day_reaches_as_far_as_in_the_spreadsheet():
    """Only the ratio p(1 | C) / p(1 | H) = 7 in place of 1 counts, so one emission is enough."""
    diary = ice_cream()
    found = influence(diary, 0, math.log(7.0), COLD)
    hot = forward_backward(diary).marginals[:3, HOT]
    assert hot.tolist() == pytest.approx([0.8709, 0.9769, 0.9893], abs=5e-5)
    assert (hot + found.change[:3, HOT]).tolist() == pytest.approx(
        [0.4909, 0.9176, 0.9749], abs=5e-5
    )


def test_the_horizon_is_the_farthest_word_that_notices():
    found = influence(STAY, 4, 1.0, "A")
    assert found.reach[4] == found.reach.max()
    assert found.horizon(4, noticeable=1.0) == 0
    assert found.horizon(4, noticeable=0.0) == 4
    reach = found.reach.tolist()
    assert found.horizon(4, noticeable=reach[2]) == 2
    assert influence(STAY, 0, 1.0, "A").horizon(0, noticeable=0.0) == 8


def test_no_nudge_moves_nothing():
    found = influence(STAY, 3, 0)
    assert not found.change.any()
    assert found.horizon(3) == 0
