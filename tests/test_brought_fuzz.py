"""Whatever a file holds, it is understood or refused with a message: no other error comes out."""

import copy
import random

import numpy as np
import pytest
from safetensors.torch import save

from crfviz.chain.crf import CRF
from crfviz.exceptions import FormatError
from tests.brought import (
    DOG,
    FALLS,
    TAGS,
    TRANSITIONS,
    as_checkpoint,
    as_json,
    as_npz,
    as_zip,
    understand,
    zipped_tiny,
)

ODD = (
    None, True, 0, -1, 1e308, 10**400, float("nan"), float("inf"), "", "x", "-inf", "nan",
    [], {}, [[]], [1], [[1]], [[1, 2]], [[[1.0]]], [None], ["a", 1], {"a": 1}, [[1], [1, 2]],
)  # fmt: skip
WHOLE = {
    "tags": TAGS,
    "transitions": TRANSITIONS,
    "start": [0.5, 0.25, 0.25],
    "end": [0.0, 0.0, 0.0],
    "probabilities": False,
    "family": "crf",
    "scheme": None,
    "sentences": [{**DOG, "gold": TAGS, "transitions": [TRANSITIONS] * 2, "end": [1, 2, 3]}, FALLS],
}
READINGS = [
    {},
    {"to_from": True},
    {"normalise": True},
    {"batch_first": False},
    {"bio": True},
    {"normalise": True, "to_from": True},
]


def places(value, path=()):
    """The paths of everything inside."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def replaced(whole, path, odd):
    if not path:
        return odd
    copied = copy.deepcopy(whole)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return copied


def check(*files, **reading):
    try:
        found = understand(*files, **reading)
    except FormatError:
        return 0
    assert found.sentences
    return 1


@pytest.mark.parametrize("reading", READINGS, ids=str)
@pytest.mark.parametrize("probabilities", [False, True])
def test_json_with_something_odd_in_it(reading, probabilities):
    generator = random.Random(str(reading))
    whole = {**WHOLE, "probabilities": probabilities}
    every = [(path, odd) for path in places(whole) for odd in ODD]
    tried = generator.sample(every, 250)
    understood = sum(check(as_json(replaced(whole, *each)), **reading) for each in tried)
    assert understood < 250


ARRAYS = {
    "emissions": np.zeros((2, 3, 3)),
    "transitions": np.full((3, 3), 1 / 3),
    "start": np.full(3, 1 / 3),
    "tags": np.array(TAGS),
    "tokens": np.array([["a", "b", "c"], ["d", "e", ""]]),
    "gold": np.array([TAGS, [*TAGS[:2], ""]]),
    "lengths": np.array([3, 2]),
    "mask": np.array([[1, 1, 1], [1, 1, 0]], dtype=bool),
    "batch_first": np.array([True]),
    "probabilities": np.array([False]),
}
ODD_ARRAYS = (
    np.zeros(()), np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 3, 3, 3)),
    np.zeros((1, 1, 1)), np.array("x"), np.array(["x", "y"]), np.array([b"\xff"]),
    np.array([1 + 2j]), np.array(["2020-01-01"], dtype="datetime64[D]"), np.array([True]),
    np.zeros(2, dtype=[("a", "f8")]), np.full((3, 3), np.nan), np.full((2, 3, 3), np.inf),
    np.zeros((2, 3), dtype=bool), np.zeros((0, 0, 0)), np.array([[""] * 3] * 2),
    np.arange(3, dtype=np.uint8), np.zeros((2, 2, 3), dtype=np.float16),
)  # fmt: skip


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_an_npz_with_something_odd_in_it(reading):
    for name in ARRAYS:
        for odd in (None, *ODD_ARRAYS):
            for told_by in ({"lengths"}, {"mask"}, {"tokens"}, set()):
                hidden = {"lengths", "mask"} - told_by
                kept = {n: a for n, a in ARRAYS.items() if n not in hidden}
                arrays = {n: a for n, a in {**kept, name: odd}.items() if a is not None}
                check(as_npz(**arrays), **reading)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")  # of a pickle that is refused then
@pytest.mark.parametrize("suffix", ["npz", "pt", "zip", "safetensors", "json"])
def test_damaged_bytes(suffix, tmp_path):
    files = {
        "npz": as_npz(emissions=np.zeros((4, 3)), transitions=np.zeros((3, 3))),
        "pt": as_checkpoint(CRF(3).state_dict()),
        "zip": zipped_tiny(tmp_path),
        "safetensors": ("model.safetensors", save(dict(CRF(3).state_dict()))),
        "json": as_json(WHOLE),
    }
    beside = [as_npz(emissions=np.zeros((4, 3)))] if suffix in ("pt", "safetensors") else []
    name, content = files[suffix]
    generator = random.Random(suffix)
    for _ in range(30 if suffix == "zip" else 150):
        broken = bytearray(content)
        for _ in range(generator.randint(1, 6)):
            broken[generator.randrange(len(broken))] = generator.randrange(256)
        check((name, bytes(broken)), *beside)
        check((name, content[: generator.randrange(len(content))]), *beside)


def test_archives_with_names_of_all_kinds():
    for member in ("", "/", "../config.json", "config.json/", "a\\b", "data.pkl", "x.npy"):
        check(as_zip({member or "a": b"{}"}))
