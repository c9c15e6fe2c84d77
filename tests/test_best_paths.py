"""The best path, its terms, and the best path through every tag, against enumeration."""

import math

import pytest
import torch
from hypothesis import assume, given

from crfviz.chain.decoding.best_paths import best_path, best_through, terms
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError
from tests import oracle
from tests.icecream import ice_cream
from tests.strategies import chains, fewer_examples


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


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_terms_add_up_to_the_score(potentials):
    assume(oracle.allowed(potentials))
    path = viterbi(potentials).path
    parts = terms(potentials, path)
    assert parts.emissions.shape == (potentials.num_tokens,)
    assert parts.transitions.shape == (potentials.num_tokens + 1,)
    assert math.fsum(parts.all()) == pytest.approx(potentials.score(path), abs=1e-9)


def test_each_term_is_at_its_place():
    per_step = torch.tensor([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]])
    potentials = Potentials(torch.arange(6.0).view(3, 2), per_step, [0.5, 0.25], [10.0, 20.0])
    parts = terms(potentials, [0, 1, 0])
    assert parts.emissions.tolist() == [0.0, 3.0, 4.0]
    assert parts.transitions.tolist() == [0.5, 1.0, 6.0, 10.0]
    assert terms(potentials, [1, 1, 0]).transitions.tolist() == [0.25, 3.0, 6.0, 10.0]
