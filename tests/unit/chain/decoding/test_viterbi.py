"""The best path: against enumeration, and what happens at a tie."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import best_path, best_paths, best_through, viterbi
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError
from tests.support import oracle
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, fewer_examples

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


@given(chains(max_tokens=4, max_tags=4))
def test_tables_equal_enumeration(potentials):
    assume(oracle.best_score(potentials) > -INF)
    best = viterbi(potentials)
    for t in range(potentials.num_tokens):
        for k in range(potentials.num_tags):
            expected = oracle.best_prefix(potentials, t, k)
            assert best.best[t, k].item() == pytest.approx(expected, abs=1e-9)


@fewer_examples
@given(chains())
def test_backpointers_lead_to_the_best_prefixes(potentials):
    assume(oracle.best_score(potentials) > -INF)
    best = viterbi(potentials)
    table, pointers = best.best.tolist(), best.backpointers.tolist()
    steps = potentials.transitions.expand(
        potentials.num_tokens - 1, potentials.num_tags, potentials.num_tags
    ).tolist()
    assert pointers[0] == [-1] * potentials.num_tags
    for t in range(1, potentials.num_tokens):
        for k, before in enumerate(pointers[t]):
            reached = table[t - 1][before] + steps[t - 1][before][k]
            expected = reached + potentials.emissions[t, k].item()
            assert table[t][k] == pytest.approx(expected, abs=1e-9)


@fewer_examples
@given(chains(forbidden=False))
def test_score_is_that_of_the_path_and_below_log_partition(potentials):
    best = viterbi(potentials)
    assert best.score == pytest.approx(potentials.score(best.path), abs=1e-9)
    assert best.score <= log_partition(potentials) + 1e-9
    assert 0.0 < best.probability <= 1.0


@fewer_examples
@given(chains(forbidden=False), st.data())
def test_a_constant_at_one_word_moves_the_score_and_nothing_else(potentials, data):
    t = data.draw(st.integers(0, potentials.num_tokens - 1))
    emissions = potentials.emissions.clone()
    emissions[t] += 2.5
    moved = viterbi(Potentials(emissions, potentials.transitions, potentials.start, potentials.end))
    best = viterbi(potentials)
    assert moved.path == best.path
    assert moved.score == pytest.approx(best.score + 2.5, abs=1e-9)
    assert moved.probability == pytest.approx(best.probability, abs=1e-9)


@fewer_examples
@given(chains(forbidden=False))
def test_without_transitions_every_word_decides_alone(potentials):
    alone = viterbi(potentials.scale_transitions(0.0))
    assert alone.path == potentials.emissions.argmax(-1).tolist()


def test_a_tie_goes_to_the_lowest_tag():
    best = viterbi(Potentials(torch.zeros(4, 3), torch.zeros(3, 3)))
    assert best.path == [0, 0, 0, 0]
    assert best.backpointers[1:].tolist() == [[0, 0, 0]] * 3
    assert best.ties


def test_a_tie_off_the_best_path_is_none():
    potentials = Potentials([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]], torch.zeros(3, 3), [0.0, 0.0, 5.0])
    best = viterbi(potentials.with_transition(0, 0, 1.0).with_transition(1, 0, 1.0))
    assert best.path == [2, 2]
    assert not best.ties


@pytest.mark.parametrize("tag", [0, 1])
def test_one_word_ties(tag):
    potentials = Potentials([[1.0, 1.0]], torch.zeros(2, 2))
    assert viterbi(potentials).ties
    nudged = potentials.with_emission(0, tag, 1.0 + 1e-6)
    assert viterbi(nudged).path == [tag]
    assert not viterbi(nudged).ties


def test_forbidden_rivals_are_no_ties():
    potentials = Potentials([[0.0, -INF], [0.0, 0.0]], [[0.0, -INF], [0.0, 0.0]])
    best = viterbi(potentials)
    assert best.path == [0, 0]
    assert not best.ties


def test_two_best_weeks_of_the_ice_cream_diary_differ_in_the_last_bit_only():
    """Both are hot 13 days, then cold 13 or 14 days; the lowest tag, cold, wins day 27."""
    best = viterbi(ice_cream())
    assert best.path == [1] * 13 + [0] * 14 + [1] * 6
    assert best.ties
    assert math.exp(best.score) == pytest.approx(1.011487e-19, rel=1e-6)


def test_scores_that_break_every_scaled_implementation():
    emissions = [[100.0, 0.0]] * 8 + [[0.0, 100.0]] * 16
    best = viterbi(Potentials(emissions, [[0.0, -INF], [-INF, 0.0]]))
    assert best.path == [1] * 24
    assert best.score == 1600.0


def test_one_tag():
    best = viterbi(Potentials([[1.0], [2.0]], [[4.0]]))
    assert (best.path, best.score, best.probability, best.ties) == ([0, 0], 7.0, 1.0, False)


def test_nothing_allowed():
    with pytest.raises(NoPathError, match="position 1"):
        viterbi(Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF)))
    with pytest.raises(NoPathError, match="may end"):
        viterbi(Potentials(torch.zeros(3, 2), torch.zeros(2, 2), end=[-INF, -INF]))


def test_ten_thousand_words():
    emissions = torch.zeros(10_000, 3)
    emissions[:, 1] = 1000.0
    best = viterbi(Potentials(emissions, torch.zeros(3, 3)))
    assert best.path == [1] * 10_000
    assert best.score == 1e7
    assert not best.ties


@given(chains())
def test_the_path_is_viterbis(potentials):
    try:
        expected = viterbi(potentials).path
    except NoPathError as error:
        with pytest.raises(NoPathError, match=str(error)):
            best_path(potentials)
    else:
        assert best_path(potentials) == expected


def test_a_tie_that_differs_in_the_last_bit_goes_to_the_lowest_tag():
    assert best_path(ice_cream()) == viterbi(ice_cream()).path
    assert viterbi(ice_cream()).ties


@given(chains(max_tokens=5, max_tags=4))
def test_best_through_equals_enumeration(potentials):
    through = best_through(potentials)
    paths = oracle.paths(potentials)
    for t in range(potentials.num_tokens):
        for k in range(potentials.num_tags):
            expected = max(score for path, score in paths.items() if path[t] == k)
            assert through[t, k].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("words", [1, 2])
def test_paths_that_tie_but_for_the_last_bit_go_to_the_lowest_tag(words):
    """0.1 + 0.2 is more than 0.3 in floats; a plain argmax would follow the last bit."""
    emissions = [[0.0, 0.2], [0.0, -9.0]][:words]
    chain = Potentials(emissions, [[0.0, 0.0], [0.0, 0.0]], start=[0.3, 0.1])
    lowest = [0] * words
    assert (viterbi(chain).path, viterbi(chain).ties) == (lowest, True)
    assert best_path(chain) == k_best(chain, 1)[0].tags == lowest
    assert best_paths([chain, chain]) == [lowest, lowest]
