"""Greedy decoding, both kinds."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.decoders import greedy
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from tests.support.strategies import chains

INF = math.inf


def in_turn(potentials):
    """Left to right as one would do it by hand: (path, True if it never ran into a wall)."""
    T, K = potentials.num_tokens, potentials.num_tags
    emissions = potentials.emissions.tolist()
    steps = potentials.transitions.expand(T - 1, K, K).tolist()
    path, free = [], True
    for t in range(T):
        arriving = steps[t - 1][path[-1]] if path else potentials.start.tolist()
        scores = [arriving[k] + emissions[t][k] for k in range(K)]
        if t == T - 1:
            scores = [scores[k] + potentials.end[k].item() for k in range(K)]
        if max(scores) == -INF:
            scores, free = emissions[t], False
        path.append(min(k for k in range(K) if scores[k] >= max(scores) - 1e-9))
    return path, free


@given(chains())
def test_independent_takes_the_best_emission_of_each_word(potentials):
    for scores, tag in zip(potentials.emissions.tolist(), greedy(potentials), strict=True):
        assert scores[tag] == max(scores)
        assert all(score < max(scores) for score in scores[:tag])


@given(chains())
def test_left_to_right_commits_to_each_tag_in_turn(potentials):
    path, free = in_turn(potentials)
    assert greedy(potentials, how="left_to_right") == path
    if free:
        assert potentials.score(path) > -INF


@pytest.mark.parametrize("how", ["independent", "left_to_right"])
@pytest.mark.parametrize("score", [0.0, -INF])
def test_tied_and_forbidden_scores_go_to_the_lowest_tag(how, score):
    assert greedy(Potentials(torch.full((3, 2), score), torch.zeros(2, 2)), how) == [0, 0, 0]


def test_unknown_kinds_are_named():
    with pytest.raises(CrfvizError, match=r"independent.*left_to_right.*got 'best'"):
        greedy(Potentials([[0.0]], [[0.0]]), "best")
