"""The best path and the k best: against enumeration, and what happens at a tie."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import best_path, best_paths, best_through, k_best, viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError
from tests.support import oracle
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, random_chain

INF = math.inf


@given(chains())
def test_best_path_equals_enumeration(potentials):
    assume(oracle.best_score(potentials) > -INF)
    best = viterbi(potentials)
    assert best.score == pytest.approx(oracle.best_score(potentials), abs=1e-9)
    assert best.probability == pytest.approx(oracle.probability(potentials, best.path), abs=1e-9)
    ties = oracle.best_paths(potentials)
    assert tuple(best.path) == min(ties, key=lambda path: path[::-1])
    assert best.ties == (len(ties) > 1)
    assert best_path(potentials) == best.path


@given(chains(max_tokens=4, max_tags=4))
def test_backpointers_lead_to_the_best_prefixes(potentials):
    assume(oracle.best_score(potentials) > -INF)
    best = viterbi(potentials)
    table, pointers = best.best.tolist(), best.backpointers.tolist()
    steps = potentials.steps.tolist()
    assert pointers[0] == [-1] * potentials.num_tags
    for t in range(1, potentials.num_tokens):
        for k, before in enumerate(pointers[t]):
            reached = table[t - 1][before] + steps[t - 1][before][k]
            expected = reached + potentials.emissions[t, k].item()
            assert table[t][k] == pytest.approx(expected, abs=1e-9)
    for t, row in enumerate(table):
        expected = [oracle.best_prefix(potentials, t, k) for k in range(potentials.num_tags)]
        assert row == pytest.approx(expected, abs=1e-9)


def test_two_best_weeks_of_the_ice_cream_diary_tie():
    """Both are hot 13 days, then cold 13 or 14 days; the lowest tag, cold, wins day 27."""
    best = viterbi(ice_cream())
    assert best.path == best_path(ice_cream()) == [1] * 13 + [0] * 14 + [1] * 6
    assert best.ties
    assert math.exp(best.score) == pytest.approx(1.011487e-19, rel=1e-6)


@pytest.mark.parametrize("position", ["1", "end"])
def test_no_path_error_names_the_position(position):
    walls = torch.full((2, 2), -INF) if position == "1" else torch.zeros(2, 2)
    chain = Potentials(torch.zeros(3, 2), walls, end=[-INF, -INF])
    message = f"position {position}" if position == "1" else "may end"
    for decode in (viterbi, best_path):
        with pytest.raises(NoPathError, match=message):
            decode(chain)


def test_viterbi_decodes_ten_thousand_words():
    emissions = torch.zeros(10_000, 3)
    emissions[:, 1] = 1000.0
    best = viterbi(Potentials(emissions, torch.zeros(3, 3)))
    assert best.path == [1] * 10_000
    assert best.score == 1e7
    assert not best.ties


@given(chains(max_tokens=5, max_tags=4))
def test_best_through_equals_enumeration(potentials):
    through = best_through(potentials)
    paths = oracle.paths(potentials)
    for t in range(potentials.num_tokens):
        for k in range(potentials.num_tags):
            expected = max(score for path, score in paths.items() if path[t] == k)
            assert through[t, k].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("words", [1, 2])
def test_paths_within_rounding_tie_to_the_lowest_tag(words):
    """0.1 + 0.2 is more than 0.3 in floats; a plain argmax would follow the last bit."""
    emissions = [[0.0, 0.2], [0.0, -9.0]][:words]
    chain = Potentials(emissions, [[0.0, 0.0], [0.0, 0.0]], start=[0.3, 0.1])
    lowest = [0] * words
    assert (viterbi(chain).path, viterbi(chain).ties) == (lowest, True)
    assert best_path(chain) == k_best(chain, 1)[0].tags == lowest
    assert best_paths([chain, chain]) == [lowest, lowest]


def test_batch_breaks_a_tie_within_rounding_by_lowest_tag():
    chain = Potentials([[1.0, math.nextafter(1.0, 2.0)]], [[0.0, 0.0], [0.0, 0.0]])
    assert best_paths([chain, chain.with_emission(0, 1, 2.0)]) == [[0], [1]]


@given(chains(max_tokens=4, max_tags=4), st.integers(1, 60) | st.just(1000))
def test_k_best_are_sorted_distinct_and_equal_enumeration(potentials, k):
    every = oracle.allowed(potentials)
    assume(every)
    found, scores = k_best(potentials, k), dict(every)
    assert [path.score for path in found] == pytest.approx([score for _, score in every[:k]])
    assert all(a.score >= b.score for a, b in pairwise(found))
    assert len({tuple(path.tags) for path in found}) == len(found)
    assert found[0].tags == viterbi(potentials).path
    for path in found:
        assert path.score == pytest.approx(scores[tuple(path.tags)], abs=1e-9)
        probability = oracle.probability(potentials, path.tags)
        assert path.probability == pytest.approx(probability, abs=1e-9)


def test_k_best_returns_both_tied_paths_with_viterbi_first():
    diary = ice_cream()
    first, second, third = k_best(diary, 3)
    assert first.tags == viterbi(diary).path
    assert second.tags == [1] * 13 + [0] * 13 + [1] * 7
    assert second.score == pytest.approx(first.score, abs=1e-9)
    assert third.score < second.score - 0.01


def test_fifty_best_paths_of_a_long_sentence_have_their_scores():
    potentials = random_chain(0, 40, 17)
    found = k_best(potentials, 50)
    assert len({tuple(path.tags) for path in found}) == 50
    for path in found:
        assert path.score == pytest.approx(potentials.score(path.tags), abs=1e-9)
