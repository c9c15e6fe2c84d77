"""Arguments that are checked in many places."""

import math

import numpy as np
import pytest
import torch

from crfviz.chain.arguments import require_number, require_position
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ShapeError

THREE_WORDS = Potentials(torch.zeros(3, 2), torch.zeros(2, 2))


@pytest.mark.parametrize("position", [2, np.int64(2), torch.tensor(2)])
def test_whole_numbers_are_positions(position):
    assert require_position(THREE_WORDS, position) == 2


@pytest.mark.parametrize("position", [-1, 3, 1.0, "1", None])
def test_other_things_are_not(position):
    with pytest.raises(ShapeError, match=f"position must be 0 to 2, got {position!r}"):
        require_position(THREE_WORDS, position)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0)])
def test_finite_numbers_pass(value):
    assert require_number("size", value) == 2.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "2", None, [2.0]])
def test_anything_else_is_no_number(value):
    with pytest.raises(CrfvizError, match="size must be a finite number, got"):
        require_number("size", value)


def test_a_bound_is_in_the_message():
    with pytest.raises(CrfvizError, match="size must be a finite number of at least 0, got -1"):
        require_number("size", -1, at_least=0.0)
