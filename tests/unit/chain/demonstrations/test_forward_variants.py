"""The forward table at a temperature, and of a padded batch, against enumeration."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.demonstrations.forward_variants import padded_batch, smooth_maximum, soft_forward
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import forward, maximum
from crfviz.exceptions import CrfvizError
from tests.support import oracle
from tests.support.close import assert_close
from tests.support.strategies import chains, fewer_examples, random_chain

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


@fewer_examples
@given(st.lists(chains(max_tokens=5, max_tags=3), min_size=1, max_size=4))
def test_a_batch_equals_its_sentences_and_is_held_still(sentences):
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


def test_a_batch_without_sentences_or_of_two_tag_sets_is_refused():
    with pytest.raises(CrfvizError, match="at least one sentence"):
        padded_batch([])
    with pytest.raises(CrfvizError, match="expected 17 tags"):
        padded_batch([random_chain(0, 3, 17), Potentials(torch.zeros(2, 3), torch.zeros(3, 3))])
