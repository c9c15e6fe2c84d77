"""Whatever a file holds, it is understood or refused with a message: no other error comes out."""

import copy
import json
import random
from functools import cache

import numpy as np
import pycrfsuite
import pytest
import torch
from safetensors.torch import save

from crfviz.chain.crf import CRF
from crfviz.corpus.training.hmm import HmmRecipe, count
from crfviz.exceptions import FormatError
from crfviz.taggers.examples import EXAMPLES_FILE, GIVEN, Example, write_examples
from crfviz.taggers.hmm import save_hmm
from crfviz.taggers.perceptron import Perceptron, save_perceptron
from crfviz.text.sentences import Sentence
from tests.support.brought import (
    DOG,
    FALLS,
    TAGS,
    TRANSITIONS,
    as_checkpoint,
    as_json,
    as_npz,
    as_zip,
    understand,
)
from tests.support.fuzz import fuzz
from tests.support.tiny_tagger import save_tiny

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")  # in a mutated archive
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
def test_json_with_an_invalid_value_is_read_or_rejected(reading, probabilities):
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


@cache
def odd_npz():
    """Files with another array in the place of one, or without it; lengths told in each way."""
    files = []
    for name in ARRAYS:
        for odd in (None, *ODD_ARRAYS):
            for told_by in ({"lengths"}, {"mask"}, {"tokens"}, set()):
                hidden = {"lengths", "mask"} - told_by
                kept = {n: a for n, a in ARRAYS.items() if n not in hidden}
                arrays = {n: a for n, a in {**kept, name: odd}.items() if a is not None}
                files.append(as_npz(**arrays))
    return list(dict.fromkeys(files))


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_npz_with_an_invalid_value_is_read_or_rejected(reading):
    for file in odd_npz():
        check(file, **reading)


STATE = {"encoder.weight": torch.zeros(2, 2), **CRF(3).state_dict()}
EMISSIONS = as_npz(emissions=np.zeros((4, 3)))


def test_mutated_json_is_read_or_rejected():
    fuzz("brought JSON", [as_json(WHOLE)[1]], lambda content: understand(("a.json", content)))


def test_mutated_arrays_are_read_or_rejected():
    whole = as_npz(emissions=np.zeros((4, 3)), transitions=np.zeros((3, 3)), tags=np.array(TAGS))
    numbered = {f"emissions_{n}": np.zeros((2, 3)) for n in range(3)}
    words = {f"tokens_{n}": np.array([f"a{n}", "bé"]) for n in range(3)}
    seeds = [whole, as_npz(**ARRAYS), as_npz(transitions=np.zeros((3, 3)), **numbered, **words)]
    fuzz("brought .npz", [s for _, s in seeds], lambda content: understand(("a.npz", content)))


@pytest.mark.parametrize("kind", [".pt", ".safetensors"])
def test_mutated_layers_are_read_or_rejected(kind):
    seeds = {
        ".pt": [as_checkpoint(CRF(3).state_dict())[1], as_checkpoint({"model": STATE})[1]],
        ".safetensors": [save(STATE)],
    }
    fuzz(kind, seeds[kind], lambda content: understand((f"a{kind}", content), EMISSIONS))


def test_mutated_crfsuite_files_are_read_or_rejected(crfsuite):
    line = {"attributes": [["bias"], {"word": "é", "length": 0.5}], "tokens": ["a", "é"]}
    lines = "".join(f"{json.dumps(each)}\n" for each in (line, {"attributes": [[], ["bias"]]}))
    fuzz("attributes", [lines.encode()], lambda text: understand(crfsuite, ("a.jsonl", text)))
    fuzz("CRFsuite", [crfsuite[1]], lambda data: understand(("m", data), ("a", lines.encode())))


@pytest.fixture(scope="module")
def crfsuite(tmp_path_factory):
    path = tmp_path_factory.mktemp("crfsuite") / "small.crfsuite"
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["bias"], {"word": "é", "length": 0.5}], ["O", "B-X"])
    trainer.train(str(path))
    return path.name, path.read_bytes()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A small model folder of each family, as .zip."""
    place = tmp_path_factory.mktemp("folders")
    save_tiny(place / "crf")
    (place / "imported").mkdir()
    understand(as_json()).write(place / "imported")
    tags = ("A", "B")
    lexicon = [Sentence(("a", "b", "ab"), ("A", "B", "A")), Sentence(("b",), ("B",))]
    save_hmm(place / "hmm", count(tags, lexicon, HmmRecipe()))
    zeros = np.zeros((2, 2), dtype=np.float32)
    keys = np.arange(3, dtype=np.uint32)
    perceptron = Perceptron(
        tags=tags,
        updates="viterbi",
        features=keys,
        emissions=np.ones((4, 2), dtype=np.float32),
        words=keys,
        word_transitions=np.ones((4, 2, 2), dtype=np.float32),
        transitions=zeros,
        start=zeros[0],
        end=zeros[0],
    )
    save_perceptron(place / "perceptron", perceptron)
    examples = [Example("a b", ("a", "b"), "one", GIVEN)]
    for folder in place.iterdir():
        write_examples(folder / EXAMPLES_FILE, examples)
    return {
        folder.name: as_zip({path.name: path.read_bytes() for path in folder.iterdir()})[1]
        for folder in place.iterdir()
    }


@pytest.mark.parametrize("family", ["crf", "perceptron", "hmm", "imported"])
def test_mutated_folders_are_read_or_rejected(family, folders):
    fuzz(f"{family} folder", [folders[family]], lambda content: understand(("a.zip", content)))


def test_archives_with_unusual_names_are_read_or_rejected():
    for member in ("", "/", "../config.json", "config.json/", "a\\b", "data.pkl", "x.npy"):
        check(as_zip({member or "a": b"{}"}))
