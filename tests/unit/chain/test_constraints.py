"""What BIO forbids."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.constraints import constrain, illegal_positions, scheme_automaton
from crfviz.chain.potentials import Potentials

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def test_bio_rules_allow_or_forbid_each_transition():
    rules = scheme_automaton(TAGS).product
    assert rules.start.tolist() == [True, True, False, True, False]
    assert rules.transitions.tolist() == [
        [True, True, False, True, False],  # from O
        [True, True, True, True, False],  # from B-PER
        [True, True, True, True, False],  # from I-PER
        [True, True, False, True, True],  # from B-LOC
        [True, True, False, True, True],  # from I-LOC
    ]


def test_tags_outside_bio_are_unconstrained():
    rules = scheme_automaton(("NOUN", "INTJ", "I")).product
    assert rules.start.tolist() == [True, True, False]
    assert rules.transitions[:, :2].all()


@pytest.mark.parametrize("shape", [(5, 5), (3, 5, 5)], ids=["one matrix", "matrix per step"])
def test_constrain_forbids_illegal_transitions_and_keeps_other_scores(shape):
    potentials = Potentials(torch.ones(4, 5), torch.full(shape, 2.0), torch.ones(5), tags=TAGS)
    after = constrain(potentials)
    rules = scheme_automaton(TAGS).product
    expected = torch.where(rules.transitions, 2.0, -math.inf).double()
    assert (after.transitions == expected).all()
    assert after.start.tolist() == [1.0, 1.0, -math.inf, 1.0, -math.inf]
    assert (after.emissions == 1.0).all()
    assert after.tags == TAGS


@given(st.lists(st.sampled_from(TAGS), min_size=1, max_size=8))
def test_illegal_positions_equal_the_forbidden_transitions(tags):
    potentials = constrain(Potentials(torch.zeros(len(tags), 5), torch.zeros(5, 5), tags=TAGS))
    assert (illegal_positions(tags) == []) == (potentials.score(tags) == 0.0)
    for position in illegal_positions(tags):
        before = tags[:position] or ["O"]
        assert tags[position].startswith("I-")
        assert before[-1][1:] != tags[position][1:]


def test_illegal_positions_by_hand():
    assert illegal_positions([]) == []
    assert illegal_positions(["B-PER", "I-PER", "I-PER", "O", "B-LOC", "B-LOC"]) == []
    assert illegal_positions(["I-PER", "I-PER", "I-LOC", "O", "I-LOC"]) == [0, 2, 4]
