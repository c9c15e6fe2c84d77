"""Two chains whose words are aligned."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz import Potentials, ShapeError
from crfviz.chain.questions.aligned_chains import (
    emission_changes,
    flips,
    largest_changes,
    largest_step_changes,
)
from tests.support.strategies import chains

FREE = [[0.0, 0.0], [0.0, 0.0]]


def test_flips_follow_aligned_words_not_positions():
    assert flips([0, 1, 0], [1, 0], [1, 2]) == []
    assert flips([0, 1, 0], [1, 1], [1, 2]) == [1]


@given(chains(), st.floats(-5, 5))
def test_constant_added_to_a_word_is_no_emission_change(chain, number):
    moved = Potentials(chain.emissions + number, chain.transitions, chain.start, chain.end)
    origins = range(chain.num_tokens)
    assert emission_changes(chain, moved, origins).abs().max() < 1e-9
    assert largest_changes(chain, moved, origins, 5, 1e-9) == []


def test_emission_changes_by_hand():
    before = Potentials([[1.0, 2.0], [0.0, 0.0]], FREE)
    after = Potentials([[5.0, 5.0], [1.0, 5.0]], FREE)
    change = emission_changes(before, after, [None, 0])
    assert change.tolist() == [[0.0, 0.0], [-1.5, 1.5]]  # 0 and 3, mean 1.5
    first, second = largest_changes(before, after, [None, 0], 5)
    assert {(m.position, m.tag, m.before, m.after, m.change) for m in (first, second)} == {
        (1, 0, 1.0, 1.0, -1.5),
        (1, 1, 2.0, 5.0, 1.5),
    }


def test_only_newly_forbidden_scores_count_as_changes():
    before = Potentials([[-math.inf, 2.0, 0.0]], [[0.0] * 3] * 3)
    after = Potentials([[-math.inf, 3.0, -math.inf]], [[0.0] * 3] * 3)
    assert emission_changes(before, after, [0]).tolist() == [[0.0, 0.0, -math.inf]]


def test_shared_matrix_has_no_step_changes():
    chain = Potentials([[0.0, 0.0]] * 2, FREE)
    assert largest_step_changes(chain, chain, [0, 1], 5) == []


def test_step_changes_compare_words_that_were_neighbours():
    steps = torch.zeros(2, 2, 2)
    before = Potentials([[0.0, 0.0]] * 3, steps)
    other = steps.clone()
    other[1, 0, 1] = 2.5
    after = Potentials([[0.0, 0.0]] * 3, other)
    (moved,) = largest_step_changes(before, after, [0, 1, 2], 5)
    assert (moved.position, moved.before_tag, moved.tag, moved.change) == (2, 0, 1, 2.5)
    assert largest_step_changes(before, after, [0, None, 1], 5) == []


@pytest.mark.parametrize(
    ("origins", "message"), [([0], "a place for each of 2 words, got 1"), ([0, 7], "0 to 1, got 7")]
)
def test_alignment_of_the_wrong_shape_is_rejected(origins, message):
    with pytest.raises(ShapeError, match=message):
        flips([0, 1], [0, 1], origins)
