"""Log-sum-exp step by step, and products that underflow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.demonstrations.log_space import cell_inputs, log_sum_exp, underflow
from crfviz.chain.forward_backward import forward_backward
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples, random_chain

INF = math.inf
SCORES = st.lists(st.floats(-2000, 2000) | st.just(-INF), min_size=1, max_size=6)


@given(SCORES)
def test_the_steps_give_the_log_of_the_sum(scores):
    found = log_sum_exp(np.array(scores))
    best = max(scores)
    if best == -INF:
        assert found.result == -INF
        return
    expected = best + math.log(math.fsum(math.exp(a - best) for a in scores))
    assert found.maximum == best
    assert found.result == pytest.approx(expected, abs=1e-9)
    assert found.rest.tolist() == pytest.approx([math.exp(a - best) for a in scores])
    assert 1 <= found.total <= len(scores)
    assert found.shifted["float64"] == pytest.approx(expected, abs=1e-9)
    assert found.shifted["float32"] == pytest.approx(expected, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize(
    ("scores", "precision", "result", "lost", "overflowed"),
    [
        ([89.0, 1.0], "float32", INF, 0, 1),
        ([88.0, 1.0], "float32", 88.0, 0, 0),
        ([89.0, 1.0], "float64", 89.0, 0, 0),
        ([710.0, -INF], "float64", INF, 0, 1),
        ([-105.0, -INF], "float32", -INF, 1, 0),
        ([-105.0, -105.0], "float64", -105 + math.log(2), 0, 0),
        ([-746.0, 0.0], "float64", 0.0, 1, 0),
    ],
)
def test_what_becomes_of_the_sum_without_the_trick(scores, precision, result, lost, overflowed):
    found = log_sum_exp(np.array(scores)).direct[precision]
    assert found.result == pytest.approx(result, rel=1e-6)
    assert (found.lost, found.overflowed) == (lost, overflowed)


@fewer_examples
@given(chains(min_tokens=2))
def test_a_cell_of_alpha_is_the_sum_of_its_inputs(potentials):
    tables = forward_backward(potentials)
    T = potentials.num_tokens
    for t in range(1, T):
        for k in range(potentials.num_tags):
            found = log_sum_exp(cell_inputs(potentials, tables, t, k)).result
            emission = potentials.emissions[t, k].item()
            assert found + emission == pytest.approx(oracle.log_alpha(potentials, t, k), abs=1e-9)
    last = log_sum_exp(cell_inputs(potentials, tables, T, 0)).result
    assert last == pytest.approx(oracle.log_partition(potentials), abs=1e-9)


def test_products_are_their_logarithms_until_they_become_zero():
    found = underflow(potentials := random_chain(0, 60, 17), forward_backward(potentials))
    alive = found.products > 1e-30
    assert np.log(found.products[alive]) == pytest.approx(found.log_sums[alive], rel=1e-4)
    assert alive[:5].all()
    dead = found.log_sums < math.log(1e-46)
    assert dead.any()
    assert (found.products[dead] == 0).all()
    assert (found.lost[dead] == 17).all()


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_log_sums_are_scaled_sums_over_prefixes(potentials):
    found = underflow(potentials, forward_backward(potentials))
    scale = 0.0
    e, w = potentials.emissions.tolist(), potentials.transitions
    for t in range(potentials.num_tokens):
        if t == 0:
            weights = [s + x for s, x in zip(potentials.start.tolist(), e[0], strict=True)]
        else:
            step = w if w.dim() == 2 else w[t - 1]
            weights = [x + e[t][k] for row in step.tolist() for k, x in enumerate(row)]
        top = max(weights)
        if top > -INF:
            scale += top + math.log(math.fsum(math.exp(x - top) for x in weights))
        prefixes = [oracle.log_alpha(potentials, t, k) for k in range(potentials.num_tags)]
        top = max(prefixes)
        total = top if top == -INF else top + math.log(sum(math.exp(x - top) for x in prefixes))
        assert found.log_sums[t] == pytest.approx(total - scale, abs=1e-9)
