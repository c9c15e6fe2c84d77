"""The forward table at a temperature: the sum over paths at 1, the best path at 0."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.demonstrations.forward_variants import smooth_maximum, soft_forward
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.recursions import forward, maximum
from tests.support import oracle
from tests.support.close import assert_close
from tests.support.strategies import chains

INF = math.inf
TEMPERATURES = st.sampled_from([0.01, 0.3, 1.0, 2.5])


def soft_sum(scores, temperature):
    """τ log Σ exp(score / τ) in plain Python."""
    best = max(scores)
    if best == -INF:
        return -INF
    return best + temperature * math.log(
        math.fsum(math.exp((score - best) / temperature) for score in scores)
    )


@given(chains(max_tokens=5, max_tags=4), TEMPERATURES)
def test_the_value_equals_enumeration(chain, temperature):
    expected = soft_sum(list(oracle.paths(chain).values()), temperature)
    assert soft_forward(chain, temperature).value == pytest.approx(expected, abs=1e-9)


@given(chains())
def test_one_is_the_sum_and_zero_exactly_the_maximum(chain):
    tables = forward_backward(chain)
    warm = soft_forward(chain, 1.0)
    assert_close(warm.table, tables.log_alpha, atol=1e-9, rtol=1e-12)
    assert warm.value == pytest.approx(tables.log_partition, abs=1e-9)
    cold = soft_forward(chain, 0)
    best = forward(chain.emissions, chain.transitions, chain.start, reduce=maximum)
    assert torch.equal(cold.table, best)
    assert cold.value == (best[-1] + chain.end).max().item()


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-12])
def test_almost_zero_is_almost_the_maximum_and_nothing_overflows(temperature):
    scores = np.array([[900.0, -900.0, 900.0 - 1e-3], [-INF, -INF, -INF]])
    found = smooth_maximum(scores, -1, temperature)
    assert found[0] == pytest.approx(900.0, abs=1e-9)
    assert found[1] == -INF
