"""Entropies of single words, pairs of words, and the mass of the best paths."""

import math
from itertools import accumulate, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.distribution import cumulated_mass, pair_marginals, position_entropies
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from tests.support import oracle
from tests.support.strategies import chains


@given(chains(max_tokens=5, max_tags=4).filter(oracle.allowed))
def test_entropies_equal_enumeration(chain):
    tables = forward_backward(chain)
    marginals = oracle.marginals(chain)
    found = position_entropies(tables).tolist()
    for t, entropy in enumerate(found):
        row = [mass for (position, _), mass in marginals.items() if position == t and mass > 0]
        assert entropy == pytest.approx(-math.fsum(p * math.log(p) for p in row), abs=1e-9)
        assert -1e-12 <= entropy <= math.log(chain.num_tags) + 1e-9
    assert tables.entropy <= sum(found) + 1e-9


@given(chains(max_tokens=4, max_tags=3).filter(oracle.allowed), st.integers(1, 50))
def test_mass_equals_enumeration(chain, k):
    found = cumulated_mass(k_best(chain, k))
    expected = [oracle.probability(chain, path) for path, _ in oracle.allowed(chain)[:k]]
    assert found == pytest.approx(list(accumulate(expected)), abs=1e-9)
    assert all(0.0 <= mass <= 1.0 for mass in found)


def test_nothing_allowed_has_no_entropy():
    dead = Potentials(torch.zeros(2, 2), torch.full((2, 2), -math.inf))
    assert position_entropies(forward_backward(dead)).tolist() == [0.0, 0.0]
    assert cumulated_mass([]) == []


@given(chains(min_tokens=2, max_tokens=4, max_tags=3).filter(oracle.allowed), st.data())
def test_pairs_equal_enumeration(chain, data):
    first = data.draw(st.integers(0, chain.num_tokens - 2))
    second = data.draw(st.integers(first + 1, chain.num_tokens - 1))
    table = pair_marginals(forward_backward(chain), first, second)
    for j, k in product(range(chain.num_tags), repeat=2):
        expected = math.fsum(
            oracle.probability(chain, path)
            for path, _ in oracle.allowed(chain)
            if (path[first], path[second]) == (j, k)
        )
        assert table[j, k].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 1), (-1, 2), (0, 5)])
def test_positions_out_of_order_are_refused(first, second):
    tables = forward_backward(Potentials(torch.zeros(5, 3), torch.zeros(3, 3)))
    with pytest.raises(IndexError, match="expected 0 <= first < second < 5"):
        pair_marginals(tables, first, second)
