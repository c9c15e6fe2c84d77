"""Log-sum-exp step by step, products that underflow, and variants of the forward table."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.demonstrations.log_space import (
    cell_inputs,
    log_sum_exp,
    padded_batch,
    smooth_maximum,
    soft_forward,
    underflow,
)
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import forward, maximum
from crfviz.exceptions import CrfvizError
from tests.support import oracle
from tests.support.close import assert_close
from tests.support.strategies import chains, fewer_examples, random_chain

INF = math.inf
SCORES = st.lists(st.floats(-2000, 2000) | st.just(-INF), min_size=1, max_size=6)


@given(SCORES)
def test_log_sum_exp_steps_give_the_log_of_the_sum(scores):
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
def test_direct_sum_underflows_or_overflows(scores, precision, result, lost, overflowed):
    found = log_sum_exp(np.array(scores)).direct[precision]
    assert found.result == pytest.approx(result, rel=1e-6)
    assert (found.lost, found.overflowed) == (lost, overflowed)


@fewer_examples
@given(chains(min_tokens=2))
def test_cell_inputs_sum_to_alpha(potentials):
    tables = forward_backward(potentials)
    T = potentials.num_tokens
    for t in range(1, T):
        for k in range(potentials.num_tags):
            found = log_sum_exp(cell_inputs(potentials, tables, t, k)).result
            emission = potentials.emissions[t, k].item()
            assert found + emission == pytest.approx(oracle.log_alpha(potentials, t, k), abs=1e-9)
    last = log_sum_exp(cell_inputs(potentials, tables, T, 0)).result
    assert last == pytest.approx(oracle.log_partition(potentials), abs=1e-9)


def test_products_match_log_sums_until_they_underflow():
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
def test_log_sums_equal_scaled_sums_over_prefixes(potentials):
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
def test_soft_forward_equals_enumeration(chain, temperature):
    expected = soft_sum(list(oracle.paths(chain).values()), temperature)
    assert soft_forward(chain, temperature).value == pytest.approx(expected, abs=1e-9)


@given(chains())
def test_temperature_one_is_the_sum_and_zero_the_maximum(chain):
    tables = forward_backward(chain)
    warm = soft_forward(chain, 1.0)
    assert_close(warm.table, tables.log_alpha, atol=1e-9, rtol=1e-12)
    assert warm.value == pytest.approx(tables.log_partition, abs=1e-9)
    cold = soft_forward(chain, 0)
    best = forward(chain.emissions, chain.transitions, chain.start, reduce=maximum)
    assert torch.equal(cold.table, best)
    assert cold.value == (best[-1] + chain.end).max().item()


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-12])
def test_temperature_near_zero_is_almost_the_maximum_without_overflow(temperature):
    scores = np.array([[900.0, -900.0, 900.0 - 1e-3], [-INF, -INF, -INF]])
    found = smooth_maximum(scores, -1, temperature)
    assert found[0] == pytest.approx(900.0, abs=1e-9)
    assert found[1] == -INF


@fewer_examples
@given(st.lists(chains(max_tokens=5, max_tags=3), min_size=1, max_size=4))
def test_padded_batch_equals_its_sentences(sentences):
    K = sentences[0].num_tags
    sentences = [one for one in sentences if one.num_tags == K]
    batch = padded_batch(sentences)
    assert batch.lengths == [one.num_tokens for one in sentences]
    assert batch.mask.sum(1).tolist() == batch.lengths
    assert batch.largest_difference <= 1e-9
    for b, one in enumerate(sentences):
        assert batch.log_partitions[b].item() == pytest.approx(oracle.log_partition(one), abs=1e-9)
        for t in range(one.num_tokens):
            for k in range(K):
                assert batch.log_alpha[b, t, k].item() == pytest.approx(
                    oracle.log_alpha(one, t, k), abs=1e-9
                )
        last = batch.log_alpha[b, one.num_tokens - 1]
        assert (batch.log_alpha[b, one.num_tokens :] == last).all()
        assert (batch.emissions[b, one.num_tokens :] == 0).all()


def test_batch_that_is_empty_or_mixes_tag_sets_is_rejected():
    with pytest.raises(CrfvizError, match="at least one sentence"):
        padded_batch([])
    with pytest.raises(CrfvizError, match="expected 17 tags"):
        padded_batch([random_chain(0, 3, 17), Potentials(torch.zeros(2, 3), torch.zeros(3, 3))])
