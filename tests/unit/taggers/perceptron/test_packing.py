"""Packed tables against the tables they were packed from."""

from pathlib import Path

import numpy as np
import pytest

from crfviz.exceptions import ModelError
from crfviz.taggers.perceptron.tagger import pack, unpack

PATH = Path("model.safetensors")


def random_table(rows, columns, seed):
    generator = np.random.default_rng(seed)
    table = generator.normal(scale=3, size=(rows, columns))
    return np.where(generator.random((rows, columns)) < 0.3, table, 0).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1), (40, 17), (5, 289), (0, 3)], ids=str)
def test_a_table_comes_back_within_half_a_unit(shape):
    table = random_table(*shape, seed=1)
    packed = pack("a", table)
    found = unpack(PATH, packed, "a", shape[1])
    assert np.abs(found[:-1] - table).max(initial=0) <= packed["a.scale"][0] / 2 + 1e-6
    assert not found[-1].any()
    assert not found[:-1][table == 0].any()


def test_what_is_stored_is_one_byte_a_number():
    packed = pack("a", random_table(100, 17, seed=2))
    assert {packed[f"a.{part}"].dtype.itemsize for part in ("counts", "columns", "values")} == {1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a.values": None}, "tensor 'a.values' is missing"),
        (
            {"a.values": np.zeros(3, np.int8)},
            "must have 2 numbers to match 'a.counts', got 2 and 3",
        ),
        ({"a.columns": np.array([0, 9], np.uint8)}, "'a.columns' must be below 2, got 9"),
        (
            {"a.scale": np.array([np.nan], np.float32)},
            "'a.scale' holds numbers that are not finite",
        ),
        ({"a.scale": np.array([0], np.float32)}, "'a.scale' must be one positive number"),
        ({"a.scale": np.array([1e35], np.float32)}, r"one positive number below 1e\+30"),
        ({"a.values": np.zeros(2)}, r"'a.values' must be int8 \(any\), got float64"),
        ({"a.counts": np.zeros((2, 1), np.uint8)}, r"'a.counts' must be uint \(any\), got uint8"),
    ],
    ids=["missing", "length", "column", "nan", "scale", "large scale", "kind", "shape"],
)
def test_parts_that_do_not_fit_are_named(change, message):
    packed = pack("a", np.array([[1, 0], [0, 2]], dtype=np.float32)) | change
    packed = {name: array for name, array in packed.items() if array is not None}
    with pytest.raises(ModelError, match=message):
        unpack(PATH, packed, "a", 2)
