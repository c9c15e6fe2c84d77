"""Tensors that are nearly equal."""

import numpy as np
import torch

DEFAULT = {torch.float64: 1e-7, torch.float32: 1e-5}


def assert_close(found, expected, *, rtol=None, atol=None):
    """Assert equal shapes and types, and values within rtol and atol (NaN nowhere).

    Does what `torch.testing.assert_close` does, which imports SymPy: three seconds in each process.
    """
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
