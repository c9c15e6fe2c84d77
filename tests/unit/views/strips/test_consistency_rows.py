"""Z read at every word, and what float32 products lose, in the texts that are shown."""

import math
import re

import pytest
import torch
from hypothesis import assume, given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.demonstrations.log_space import underflow
from crfviz.chain.potentials import Potentials
from crfviz.views.frames.log_space import underflow_frame
from crfviz.views.strips.grids import CONVENTIONS, consistency_note, consistency_rows
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf
NOTHING = Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF))


def number(text):
    return -INF if text == "−∞" else float(text.replace("−", "-"))


def products_of(potentials):
    """The table of Log space, where the products are."""
    tables = analyse(potentials).forward_backward
    return underflow_frame(underflow(potentials, tables), ["a"] * potentials.num_tokens)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_every_word_reads_the_log_z_of_enumeration(potentials):
    (log_z,) = consistency_rows(analyse(potentials))
    assert log_z.id == "log_z"
    assert len(log_z.texts) == potentials.num_tokens
    assert log_z.tags is None
    expected = oracle.log_partition(potentials)
    for text in log_z.texts:
        assert number(text) == pytest.approx(expected, abs=0.5e-4 + 1e-9)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_the_note_reads_log_z_in_both_directions(potentials):
    assume(oracle.allowed(potentials))
    text = consistency_note(analyse(potentials))
    from_alpha, from_beta, tokens, deviation = re.fullmatch(
        r"log Z from α (\S+), from β (\S+), and at each of the (\d+) words: "
        r"largest deviation (\S+)\.",
        text,
    ).groups()
    expected = pytest.approx(oracle.log_partition(potentials), abs=0.5e-9 + 1e-9)
    assert number(from_alpha) == expected
    assert number(from_beta) == expected
    assert int(tokens) == potentials.num_tokens
    assert 0.0 <= number(deviation) <= 1e-9


def test_without_a_path_z_is_zero_everywhere():
    (log_z,) = consistency_rows(analyse(NOTHING))
    products = products_of(NOTHING)
    assert log_z.texts == ["−∞"] * 3
    assert products["Σ α, float32"].tolist()[1:] == [0, 0]
    assert products["cells lost"].tolist() == [0, 0, 0]  # forbidden is not lost
    assert consistency_note(analyse(NOTHING)) == (
        "No tag sequence is allowed: Z is 0 however it is read, and log Z is −∞."
    )


def test_products_shrink_by_the_same_factor_and_are_lost_in_the_end():
    """Of K^2 equal moves K lead to each tag: the sums fall as 2^-t, to nothing below 2^-149.

    From 2^-126 on float32 has fewer digits, and how the last of them go is left to the processor.
    """
    uniform = Potentials(torch.zeros(200, 2), torch.zeros(2, 2))
    products = products_of(uniform)
    sums, lost = products["Σ α, float32"].tolist(), products["cells lost"].tolist()
    assert sums[:125] == [2.0**-t for t in range(125)]
    assert lost[:125] == [0] * 125
    assert sums[150:] == [0] * 50
    assert lost[150:] == [2] * 50


def test_a_negative_log_z_has_a_real_minus():
    (log_z,) = consistency_rows(analyse(Potentials([[-1.5]], [[0.0]])))
    assert log_z.texts == ["−1.5000"]


def test_under_the_other_convention_the_row_and_the_note_say_what_is_left_out():
    analysis = analyse(Potentials([[1.0, 0.5], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
    (included,), (message,) = (consistency_rows(analysis, name) for name in CONVENTIONS)
    assert (included.label, message.label) == ("log Σ α·β", "log Σ α·e·β")
    assert included.texts == message.texts
    assert "leaves the emission" in consistency_note(analysis, "message")
    assert "leaves the emission" not in consistency_note(analysis, "included")
