"""The likeliest tag of each word."""

import math

import torch
from hypothesis import assume, given

from crfviz.chain.decoding.decoders import likeliest, max_marginal
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from tests.support import oracle
from tests.support.strategies import chains

INF = math.inf


@given(chains(max_tokens=4, max_tags=3))
def test_each_tag_has_the_largest_marginal(potentials):
    assume(oracle.allowed(potentials))
    path = max_marginal(potentials)
    assert len(path) == potentials.num_tokens
    marginals = oracle.marginals(potentials)
    for t, tag in enumerate(path):
        largest = max(marginals[t, k] for k in range(potentials.num_tags))
        assert marginals[t, tag] >= largest - 1e-9


def test_it_may_be_a_forbidden_path():
    """Tag 0 has half of the probability at each word, but never at both."""
    joint = torch.tensor([[0.0, 0.25, 0.25], [0.26, 0.0, 0.0], [0.24, 0.0, 0.0]])
    potentials = Potentials(torch.zeros(2, 3), joint.log())
    assert viterbi(potentials).path == [1, 0]
    assert max_marginal(potentials) == [0, 0]
    assert potentials.score([0, 0]) == -INF


def test_a_tie_goes_to_the_lowest_tag_even_if_the_last_bit_says_no():
    marginals = torch.tensor([[0.1, 0.45, 0.45 + 1e-16], [0.5, 0.5, 0.0]], dtype=torch.float64)
    assert likeliest(marginals) == [1, 0]
    assert max_marginal(Potentials(torch.zeros(5, 3), torch.zeros(3, 3))) == [0] * 5
