"""The mass of illegal paths, against enumeration."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.constraints import constrain
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.entities import constraint_effect, illegal_mass
from tests.support import oracle
from tests.support.bio import bio_chains, is_legal
from tests.support.strategies import chains, fewer_examples

INF = math.inf
NAMES = ["O", "B-PER", "I-PER"]


@given(bio_chains())
def test_the_mass_equals_enumeration(chain):
    expected = math.fsum(
        oracle.probability(chain, path)
        for path, _ in oracle.allowed(chain)
        if not is_legal([chain.tags[k] for k in path])
    )
    assert illegal_mass(chain) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(bio_chains())
def test_a_constrained_chain_has_exactly_none(chain):
    legal = constrain(chain)
    if oracle.allowed(legal):
        assert illegal_mass(legal) == 0.0
    else:
        assert illegal_mass(chain) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("score", [-30.0, -45.0, -300.0])
def test_a_tiny_mass_keeps_its_digits(score):
    """One illegal path, whose weight is far below the last digit of 1."""
    transitions = torch.full((3, 3), -INF)
    transitions[0, 0], transitions[0, 2] = 0.0, score
    chain = Potentials(torch.zeros(2, 3), transitions, [0.0, -INF, -INF], tags=NAMES)
    assert illegal_mass(chain) == pytest.approx(math.exp(score), rel=1e-12)


@fewer_examples
@given(bio_chains())
def test_the_effect_is_that_of_decoding_twice(chain):
    found = constraint_effect(chain)
    assert found.free == viterbi(chain).path
    assert found.mass == illegal_mass(chain)
    if not oracle.allowed(constrain(chain)):
        assert found.constrained is None
        assert found.changed == []
        return
    assert found.constrained == viterbi(constrain(chain)).path
    assert is_legal([chain.tags[k] for k in found.constrained])
    both = list(zip(found.free, found.constrained, strict=True))
    assert found.changed == [t for t, (before, after) in enumerate(both) if before != after]


@fewer_examples
@given(chains(max_tokens=4).filter(oracle.allowed))
def test_other_tags_have_no_rules(chain):
    assert illegal_mass(chain) == 0.0
    assert constraint_effect(chain).changed == []
