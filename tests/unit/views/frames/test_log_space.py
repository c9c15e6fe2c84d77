"""Z read in many ways, the other forward table, and the products that underflow."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.demonstrations.log_space import (
    consistency,
    float32_products,
    forward_messages,
    telling_position,
)
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.views.frames.demonstrations import alpha_line
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf


def long_chain(num_tokens=300):
    generator = torch.Generator().manual_seed(0)
    return Potentials(
        torch.randn(num_tokens, 17, generator=generator) * 2,
        torch.randn(17, 17, generator=generator),
    )


@given(chains())
def test_every_reading_of_log_z_equals_enumeration(potentials):
    readings = consistency(potentials, forward_backward(potentials))
    expected = pytest.approx(oracle.log_partition(potentials), abs=1e-9)
    assert readings.from_alpha == expected
    assert readings.from_beta == expected
    assert len(readings.at_positions) == potentials.num_tokens
    assert all(reading == expected for reading in readings.at_positions.tolist())
    assert 0.0 <= readings.largest_deviation <= 1e-9


def test_inconsistent_table_has_a_deviation():
    potentials = long_chain(5)
    tables = forward_backward(potentials)
    tables.log_beta[2] += 0.25
    readings = consistency(potentials, tables)
    assert readings.largest_deviation == pytest.approx(0.25, abs=1e-9)


def test_chain_without_a_path_has_no_deviation():
    potentials = Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF))
    readings = consistency(potentials, forward_backward(potentials))
    assert readings.from_alpha == readings.from_beta == -INF
    assert readings.largest_deviation == 0.0


@fewer_examples
@given(chains())
def test_messages_omit_the_emission_of_the_next_word(potentials):
    tables = forward_backward(potentials)
    messages = forward_messages(potentials, tables)
    assert messages.shape == (potentials.num_tokens - 1, potentials.num_tags)
    arrived = messages + potentials.emissions[1:]
    torch.testing.assert_close(arrived, tables.log_alpha[1:], rtol=0, atol=1e-9)


def test_messages_by_hand():
    potentials = Potentials(
        [[1.0, 2.0], [50.0, 60.0]], [[0.0, 1.0], [2.0, -INF]], [0.5, 0.0], [9.0, 9.0]
    )
    messages = forward_messages(potentials, forward_backward(potentials))
    to_first = math.log(math.exp(1.5 + 0.0) + math.exp(2.0 + 2.0))
    assert messages[0].tolist() == pytest.approx([to_first, 1.5 + 1.0], abs=1e-12)


@fewer_examples
@given(chains(max_tokens=5, forbidden=False))
def test_products_are_proportional_to_alpha_before_underflow(potentials):
    tables = forward_backward(potentials)
    alpha = float32_products(potentials, tables).alpha.double()
    assert alpha.shape == potentials.emissions.shape
    expected = torch.softmax(tables.log_alpha, -1)
    total = alpha.sum(-1, keepdim=True)
    whole = total.squeeze(-1) > 1e-20
    torch.testing.assert_close((alpha / total)[whole], expected[whole], rtol=0, atol=1e-4)


@fewer_examples
@given(chains())
def test_products_stay_in_the_unit_interval(potentials):
    products = float32_products(potentials, forward_backward(potentials))
    assert ((products.alpha >= 0) & (products.alpha <= 1)).all()
    assert not (products.lost & (products.alpha > 0)).any()


def test_products_underflow_on_a_long_sentence():
    potentials = long_chain()
    tables = forward_backward(potentials)
    products = float32_products(potentials, tables)
    assert products.alpha.dtype == torch.float32
    assert not products.lost[0].any()
    assert products.lost[-1].all()
    assert (products.alpha[-1] == 0).all()
    assert torch.isfinite(tables.log_alpha).all()


def test_forbidden_tag_is_not_counted_as_underflow():
    potentials = Potentials(torch.zeros(3, 2), torch.zeros(2, 2)).with_emission(1, 0, -INF)
    products = float32_products(potentials, forward_backward(potentials))
    assert products.alpha[1, 0] == 0
    assert not products.lost.any()


def test_alpha_line_distinguishes_the_sum_from_alpha():
    line = alpha_line(11.93, -2.58, (3, "ADJ"))
    assert line == (
        "This sum is the message passed on to ADJ at word 3. With the emission there, "
        "α(3, ADJ) = 11.9300 − 2.5800 = 9.3500."
    )


def test_telling_position_has_a_sum_of_several_terms():
    """Into word 2 one term counts, into word 3 both do."""
    potentials = Potentials([[9.0, -9.0], [0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    assert telling_position(potentials, forward_backward(potentials), [0, 0, 0]) == 2
    alone = Potentials([[0.0]], [[0.0]])
    assert telling_position(alone, forward_backward(alone), [0]) == 1
