"""Joint marginals of two positions against enumeration of all paths."""

import math
from itertools import pairwise, product

import pytest
import torch

from crfviz.chain.demonstrations.distribution import pair_marginals
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials


def random_chain(seed, tokens, tags):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64) * 2

    transitions = draw(tags, tags)
    transitions[0, 1] = -math.inf
    return Potentials(draw(tokens, tags), transitions, draw(tags), draw(tags))


def enumerated(chain, first, second):
    """The same table by adding up every path in plain Python."""
    emissions, transitions = chain.emissions.tolist(), chain.transitions.tolist()
    start, end = chain.start.tolist(), chain.end.tolist()
    tokens, tags = len(emissions), len(start)
    table = [[0.0] * tags for _ in range(tags)]
    for path in product(range(tags), repeat=tokens):
        score = start[path[0]] + end[path[-1]] + sum(emissions[t][k] for t, k in enumerate(path))
        score += sum(transitions[a][b] for a, b in pairwise(path))
        table[path[first]][path[second]] += math.exp(score)
    total = sum(map(sum, table))
    return [[value / total for value in row] for row in table]


@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 4), (1, 3), (3, 4)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pair_marginals_equal_enumeration(seed, first, second):
    chain = random_chain(seed, 5, 3)
    table = pair_marginals(forward_backward(chain), first, second)
    for row, expected in zip(table.tolist(), enumerated(chain, first, second), strict=True):
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 1), (-1, 2), (0, 5)])
def test_positions_out_of_order_are_refused(first, second):
    tables = forward_backward(random_chain(0, 5, 3))
    with pytest.raises(IndexError, match="expected 0 <= first < second < 5"):
        pair_marginals(tables, first, second)
