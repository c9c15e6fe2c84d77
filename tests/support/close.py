"""Assertions on nearly equal tensors and on gradients, without SymPy.

`torch.testing` and `torch.autograd.gradcheck` import SymPy, which takes three seconds per process.
"""

from itertools import product

import numpy as np
import pytest
import torch

DEFAULT = {torch.float64: 1e-7, torch.float32: 1e-5}


def assert_close(found, expected, *, rtol=None, atol=None):
    """Assert equal shapes and types, values within rtol and atol, and no NaN."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    near = DEFAULT.get(found.dtype, 0)
    np.testing.assert_allclose(
        found.detach().cpu().numpy(),
        expected.detach().cpu().numpy(),
        rtol=near if rtol is None else rtol,
        atol=near if atol is None else atol,
        equal_nan=False,
    )


def assert_slopes(function, inputs, step=1e-5):
    """Assert that autograd's gradient of a scalar function agrees with central differences."""
    slopes = torch.autograd.grad(function(*inputs), inputs)
    for number, slope in enumerate(slopes):
        for cell in product(*map(range, slope.shape)):
            values = []
            for change in (step, -step):
                moved = [tensor.detach().clone() for tensor in inputs]
                moved[number][cell] += change
                values.append(function(*(tensor.requires_grad_() for tensor in moved)).item())
            expected = (values[0] - values[1]) / (2 * step)
            assert slope[cell].item() == pytest.approx(expected, abs=1e-7)
