"""Paths, samples, entropies, pairs of words and the mass of the best paths: by enumeration."""

import math
from collections import Counter
from itertools import accumulate, product

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import k_best, viterbi
from crfviz.chain.distribution import (
    cumulated_mass,
    largest_gap,
    lead,
    pair_marginals,
    position_entropies,
    probability,
    require_path,
    sample,
    sample_counts,
    terms,
)
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = torch.inf


def test_probability_is_never_above_one():
    assert probability(1.0 + 1e-15, 1.0) == 1.0
    assert probability(-INF, 1.0) == 0.0
    assert probability(0.0, 1.0) == pytest.approx(0.36787944117144233, abs=1e-15)


def test_require_path_accepts_a_reachable_end():
    require_path(torch.tensor([[0.0, -INF], [-INF, 0.0]]), torch.tensor([-INF, 0.0]))


def test_error_names_the_position_without_reachable_tags():
    prefixes = torch.tensor([[0.0, 0.0], [-INF, -INF], [-INF, -INF]])
    with pytest.raises(NoPathError, match="position 1"):
        require_path(prefixes, prefixes[-1])


def test_error_reports_that_no_tag_may_end():
    with pytest.raises(NoPathError, match="may end the sentence"):
        require_path(torch.tensor([[0.0, -INF]]), torch.tensor([-INF, -INF]))


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_terms_sum_to_the_score(potentials):
    assume(oracle.allowed(potentials))
    path = viterbi(potentials).path
    parts = terms(potentials, path)
    assert parts.emissions.shape == (potentials.num_tokens,)
    assert parts.transitions.shape == (potentials.num_tokens + 1,)
    assert math.fsum(parts.all()) == pytest.approx(potentials.score(path), abs=1e-9)
    assert parts.score == math.fsum(parts.all())


def test_each_term_is_at_its_position():
    per_step = torch.tensor([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]])
    potentials = Potentials(torch.arange(6.0).view(3, 2), per_step, [0.5, 0.25], [10.0, 20.0])
    parts = terms(potentials, [0, 1, 0])
    assert parts.emissions.tolist() == [0.0, 3.0, 4.0]
    assert parts.transitions.tolist() == [0.5, 1.0, 6.0, 10.0]
    assert terms(potentials, [1, 1, 0]).transitions.tolist() == [0.25, 3.0, 6.0, 10.0]


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_lead_is_the_score_difference_by_word_and_step(potentials):
    allowed = oracle.allowed(potentials)
    assume(allowed)
    path, score = allowed[-1]
    for rival, other in oracle.paths(potentials).items():
        ahead = lead(potentials, path, rival)
        assert ahead.total == pytest.approx(score - other, abs=1e-9)
        assert ahead.emission == pytest.approx(ahead.emission_terms.sum(), abs=1e-9)
        assert ahead.transition == pytest.approx(ahead.transition_terms.sum(), abs=1e-9)
        assert ahead.emission + ahead.transition == pytest.approx(ahead.total, abs=1e-9)


FREE = Potentials(torch.zeros(20, 3), torch.zeros(3, 3))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def paths_of_samples(potentials, n):
    return [path.tags for path in sample(potentials, n, seeded(1))]


def paths_of_a_pile(potentials, n):
    return sample_counts(potentials, n, seed=4).paths.tolist()


@fewer_examples
@given(chains(max_tokens=5, max_tags=4).filter(oracle.allowed))
def test_samples_are_allowed_paths_with_their_scores(potentials):
    scores = dict(oracle.allowed(potentials))
    for path in sample(potentials, 5, seeded()):
        assert path.score == pytest.approx(scores[tuple(path.tags)], abs=1e-9)
        probability = oracle.probability(potentials, path.tags)
        assert path.probability == pytest.approx(probability, abs=1e-9)


@fewer_examples
@given(chains(max_tokens=5, max_tags=4).filter(oracle.allowed))
def test_sample_counts_count_allowed_paths(potentials):
    scores = oracle.paths(potentials)
    found = sample_counts(potentials, 7, seed=2)
    paths = found.paths.tolist()
    T, tags = potentials.num_tokens, range(potentials.num_tags)
    assert all(scores[tuple(path)] > -INF for path in paths)
    for t, k in product(range(T), tags):
        assert found.uses[t, k] == sum(path[t] == k for path in paths)
    for t, j, k in product(range(T - 1), tags, tags):
        assert found.moves[t, j, k] == sum(path[t : t + 2] == [j, k] for path in paths)


@pytest.mark.parametrize("draw", [paths_of_samples, paths_of_a_pile])
@pytest.mark.parametrize("per_step", [False, True], ids=["one matrix", "matrix per step"])
def test_sample_frequencies_equal_the_probabilities(draw, per_step):
    """Within five standard errors of p for each of the 27 paths: wrong by chance once in 60,000."""
    n = 20_000
    generator = seeded(3)
    shapes = [(3, 3), (2, 3, 3) if per_step else (3, 3), (3,), (3,)]
    scores = [torch.randn(shape, generator=generator) for shape in shapes]
    scores[1][..., 0, 1] = -INF
    potentials = Potentials(*scores)
    counts = Counter(map(tuple, draw(potentials, n)))
    assert set(counts) <= {path for path, _ in oracle.allowed(potentials)}
    for path, _ in oracle.allowed(potentials):
        p = oracle.probability(potentials, path)
        assert counts[path] / n == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n))


def test_frequencies_are_counts_over_the_number_of_samples():
    found = sample_counts(FREE, 40, seed=1)
    shares = (found.uses.double() / 40).flatten().tolist()
    assert found.frequencies.flatten().tolist() == pytest.approx(shares)


def test_samples_depend_on_the_generator():
    assert sample(FREE, 3, seeded(1)) == sample(FREE, 3, seeded(1))
    assert sample(FREE, 3, seeded(1)) != sample(FREE, 3, seeded(2))
    generator = seeded(1)
    assert sample(FREE, 3, generator) != sample(FREE, 3, generator)


@pytest.mark.parametrize("more", [1, 10, 17, 400])
def test_more_samples_keep_the_first_ones(more):
    first = sample_counts(FREE, 9, seed=5).paths
    assert torch.equal(sample_counts(FREE, 9 + more, seed=5).paths[:9], first)
    assert not torch.equal(sample_counts(FREE, 9, seed=6).paths, first)


def test_largest_gap_returns_its_position_and_tag():
    gap, position, tag = largest_gap(
        torch.tensor([[0.5, 0.5], [0.0, 1.0]]), torch.tensor([[0.4, 0.6], [0.25, 0.75]])
    )
    assert (gap, position, tag) == (0.25, 1, 0)


def test_sampling_zero_paths_or_a_single_word_works():
    assert sample(FREE, 0, seeded()) == []
    none = sample_counts(FREE, 0, seed=0)
    assert none.paths.shape == (0, 20)
    assert none.uses.sum() == none.moves.sum() == 0
    word = Potentials([[0.0, -INF]], torch.zeros(2, 2))
    assert sample(word, 2, seeded())[1].tags == [0]
    single = sample_counts(word, 3, seed=0)
    assert single.uses.tolist() == [[3, 0]]
    assert single.moves.shape == (0, 2, 2)
    with pytest.raises(CrfvizError, match="0 or more, got -1 and 0"):
        sample_counts(FREE, -1, seed=0)


@given(chains(max_tokens=5, max_tags=4).filter(oracle.allowed))
def test_position_entropies_equal_enumeration(chain):
    tables = forward_backward(chain)
    marginals = oracle.marginals(chain)
    found = position_entropies(tables).tolist()
    for t, entropy in enumerate(found):
        row = [mass for (position, _), mass in marginals.items() if position == t and mass > 0]
        assert entropy == pytest.approx(-math.fsum(p * math.log(p) for p in row), abs=1e-9)
        assert -1e-12 <= entropy <= math.log(chain.num_tags) + 1e-9
    assert tables.entropy <= sum(found) + 1e-9


@given(chains(max_tokens=4, max_tags=3).filter(oracle.allowed), st.integers(1, 50))
def test_cumulated_mass_equals_enumeration(chain, k):
    found = cumulated_mass(k_best(chain, k))
    expected = [oracle.probability(chain, path) for path, _ in oracle.allowed(chain)[:k]]
    assert found == pytest.approx(list(accumulate(expected)), abs=1e-9)
    assert all(0.0 <= mass <= 1.0 for mass in found)


def test_chain_without_a_path_has_zero_entropy():
    dead = Potentials(torch.zeros(2, 2), torch.full((2, 2), -math.inf))
    assert position_entropies(forward_backward(dead)).tolist() == [0.0, 0.0]
    assert cumulated_mass([]) == []


@given(chains(min_tokens=2, max_tokens=4, max_tags=3).filter(oracle.allowed), st.data())
def test_pair_marginals_equal_enumeration(chain, data):
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
def test_positions_out_of_order_are_rejected(first, second):
    tables = forward_backward(Potentials(torch.zeros(5, 3), torch.zeros(3, 3)))
    with pytest.raises(IndexError, match="expected 0 <= first < second < 5"):
        pair_marginals(tables, first, second)
