"""Samples: of allowed paths only, as often as their probability says, and repeatable."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import assume, given

from crfviz.chain.potentials import Potentials
from crfviz.chain.sampling import sample
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_samples_are_allowed_paths_with_their_scores(potentials):
    scores = dict(oracle.allowed(potentials))
    assume(scores)
    for path in sample(potentials, 5, seeded()):
        assert path.score == pytest.approx(scores[tuple(path.tags)], abs=1e-9)
        assert path.probability == pytest.approx(
            oracle.probability(potentials, path.tags), abs=1e-9
        )


@pytest.mark.parametrize("per_step", [False, True], ids=["one matrix", "matrix per step"])
def test_frequencies_are_the_probabilities(per_step):
    """Within five standard errors of p for each of the 27 paths: wrong by chance once in 60,000."""
    n = 20_000
    generator = seeded(1)
    transitions = torch.randn((2, 3, 3) if per_step else (3, 3), generator=generator)
    transitions[..., 0, 1] = -INF
    potentials = Potentials(
        torch.randn(3, 3, generator=generator),
        transitions,
        torch.randn(3, generator=generator),
        torch.randn(3, generator=generator),
    )
    counts = Counter(tuple(path.tags) for path in sample(potentials, n, generator))
    assert set(counts) <= {path for path, _ in oracle.allowed(potentials)}
    for path, _ in oracle.allowed(potentials):
        p = oracle.probability(potentials, path)
        assert counts[path] / n == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n))


def test_the_generator_decides():
    potentials = Potentials(torch.zeros(20, 3), torch.zeros(3, 3))
    assert sample(potentials, 3, seeded(1)) == sample(potentials, 3, seeded(1))
    assert sample(potentials, 3, seeded(1)) != sample(potentials, 3, seeded(2))
    generator = seeded(1)
    assert sample(potentials, 3, generator) != sample(potentials, 3, generator)


def test_one_word_and_one_tag():
    assert sample(Potentials([[0.0, -INF]], torch.zeros(2, 2)), 2, seeded())[1].tags == [0]
    assert sample(Potentials([[1.0], [2.0]], [[3.0]]), 1, seeded())[0].tags == [0, 0]


def test_no_samples():
    assert sample(Potentials(torch.zeros(2, 2), torch.zeros(2, 2)), 0, seeded()) == []
    with pytest.raises(CrfvizError, match="n must be at least 0, got -1"):
        sample(Potentials(torch.zeros(2, 2), torch.zeros(2, 2)), -1, seeded())


def test_nothing_allowed():
    with pytest.raises(NoPathError, match="forbidden"):
        sample(Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF)), 1, seeded())
