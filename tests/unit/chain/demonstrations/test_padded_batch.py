"""Sentences in one padded batch, against enumeration of each."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.demonstrations.forward_variants import padded_batch
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples, random_chain


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
