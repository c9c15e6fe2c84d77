"""Shifts that change nothing, against enumeration of all paths."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.edits import Edits
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gauge import compare, leaving, shift_tag, shift_word
from crfviz.exceptions import CrfvizError
from tests.support import oracle
from tests.support.icecream import ice_cream
from tests.support.strategies import chains

CHAIN = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.5, 0.0]], tags=["A", "B"])
AMOUNTS = st.sampled_from([1.0, -0.5, 2.25])


def one_matrix(potentials):
    return potentials.transitions.dim() == 2


def compared(before, after):
    return compare(forward_backward(before), forward_backward(after))


@given(chains(max_tags=3), AMOUNTS, st.data())
def test_shifting_a_word_adds_c_to_every_path(potentials, amount, data):
    position = data.draw(st.integers(0, potentials.num_tokens - 1))
    shifted = shift_word(potentials, Edits(), position, amount).apply(potentials)
    after = oracle.paths(shifted)
    for path, score in oracle.paths(potentials).items():
        moved = after[path]
        assert moved == score if math.isinf(score) else moved == pytest.approx(score + amount)


@given(chains(max_tags=3).filter(one_matrix), AMOUNTS, st.data())
def test_shifting_a_tag_changes_no_path_score(potentials, amount, data):
    tag = data.draw(st.integers(0, potentials.num_tags - 1))
    shifted = shift_tag(potentials, Edits(), tag, amount).apply(potentials)
    after = oracle.paths(shifted)
    for path, score in oracle.paths(potentials).items():
        moved = after[path]
        assert moved == score if math.isinf(score) else moved == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("tag", ["C", "H"])
def test_shifts_keep_the_marginals_of_the_diary(tag):
    diary = ice_cream()
    edits = shift_tag(diary, Edits(), tag, 1.5)
    edits = shift_word(edits.apply(diary), edits, 3, -2.0)
    found = compared(diary, edits.apply(diary))
    assert found.largest_change <= 1e-12
    assert found.log_partition_change == pytest.approx(-2.0, abs=1e-9)
    assert found.same


def test_tiny_edit_is_not_mistaken_for_a_shift():
    edited = CHAIN.with_transition("A", "B", -1.0 + 1e-6)
    found = compared(CHAIN, edited)
    assert not found.same
    before, after = oracle.edge_marginals(CHAIN), oracle.edge_marginals(edited)
    expected = max(abs(after[cell] - before[cell]) for cell in before)
    assert found.largest_change == pytest.approx(expected, rel=1e-6)


def test_equal_tag_marginals_do_not_hide_changed_pairs():
    even = Potentials(torch.zeros(2, 2), [[0.0, 0.0], [0.0, 0.0]])
    paired = Potentials(torch.zeros(2, 2), [[1.0, 0.0], [0.0, 1.0]])
    assert not compared(even, paired).same


def test_shifts_preserve_other_edits():
    edits = Edits({("B", "B"): 3.0}, {(1, "A"): 2.0})
    shifted = shift_word(edits.apply(CHAIN), edits, 0, 1.0)
    assert shifted.transitions == {("B", "B"): 3.0}
    assert shifted.emissions == {(1, "A"): 2.0, (0, "A"): 2.0, (0, "B"): 1.0}


def test_shifting_a_tag_with_transitions_per_step_is_rejected():
    steps = Potentials(torch.zeros(3, 2), torch.zeros(2, 2, 2))
    with pytest.raises(CrfvizError, match="one transition matrix for all steps"):
        shift_tag(steps, Edits(), 0, 1.0)


def test_leaving_mass_of_an_hmm_is_one_until_shifted():
    diary = ice_cream()
    assert leaving(diary, with_end=True).tolist() == pytest.approx([1, 1, 1])
    assert leaving(diary, with_end=False).tolist() == pytest.approx([1, 0.9, 0.9])
    shifted = shift_tag(diary, Edits(), "H", 1.0).apply(diary)
    expected = [0.5 + 0.5 * math.e, 0.8 + 0.1 * math.e + 0.1, 0.8 + 0.2 / math.e]
    assert leaving(shifted, with_end=True).tolist() == pytest.approx(expected)


def test_leaving_mass_of_a_single_word_is_nan():
    single = Potentials(torch.zeros(1, 2), torch.zeros(0, 2, 2))
    assert leaving(single, with_end=True).isnan().tolist() == [False, True, True]
