"""Path probabilities, the terms of a path, and the error where there is no path."""

import math

import pytest
import torch
from hypothesis import assume, given

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.paths import lead, probability, require_path, terms
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = torch.inf


def test_probability_is_never_above_one():
    assert probability(1.0 + 1e-15, 1.0) == 1.0
    assert probability(-INF, 1.0) == 0.0
    assert probability(0.0, 1.0) == pytest.approx(0.36787944117144233, abs=1e-15)


def test_a_reachable_end_is_a_path():
    require_path(torch.tensor([[0.0, -INF], [-INF, 0.0]]), torch.tensor([-INF, 0.0]))


def test_error_says_where_prefixes_break_off():
    prefixes = torch.tensor([[0.0, 0.0], [-INF, -INF], [-INF, -INF]])
    with pytest.raises(NoPathError, match="position 1"):
        require_path(prefixes, prefixes[-1])


def test_error_says_that_no_tag_may_end():
    with pytest.raises(NoPathError, match="may end the sentence"):
        require_path(torch.tensor([[0.0, -INF]]), torch.tensor([-INF, -INF]))


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_terms_add_up_to_the_score(potentials):
    assume(oracle.allowed(potentials))
    path = viterbi(potentials).path
    parts = terms(potentials, path)
    assert parts.emissions.shape == (potentials.num_tokens,)
    assert parts.transitions.shape == (potentials.num_tokens + 1,)
    assert math.fsum(parts.all()) == pytest.approx(potentials.score(path), abs=1e-9)
    assert parts.score == math.fsum(parts.all())


def test_each_term_is_at_its_place():
    per_step = torch.tensor([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]])
    potentials = Potentials(torch.arange(6.0).view(3, 2), per_step, [0.5, 0.25], [10.0, 20.0])
    parts = terms(potentials, [0, 1, 0])
    assert parts.emissions.tolist() == [0.0, 3.0, 4.0]
    assert parts.transitions.tolist() == [0.5, 1.0, 6.0, 10.0]
    assert terms(potentials, [1, 1, 0]).transitions.tolist() == [0.25, 3.0, 6.0, 10.0]


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_a_lead_is_the_difference_of_two_scores_word_by_word_and_step_by_step(potentials):
    allowed = oracle.allowed(potentials)
    assume(allowed)
    path, score = allowed[-1]
    for rival, other in oracle.paths(potentials).items():
        ahead = lead(potentials, path, rival)
        assert ahead.total == pytest.approx(score - other, abs=1e-9)
        assert ahead.emission == pytest.approx(ahead.emission_terms.sum(), abs=1e-9)
        assert ahead.transition == pytest.approx(ahead.transition_terms.sum(), abs=1e-9)
        assert ahead.emission + ahead.transition == pytest.approx(ahead.total, abs=1e-9)
