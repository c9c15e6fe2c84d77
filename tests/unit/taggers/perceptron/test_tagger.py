"""A perceptron's features, its folder, and its potentials against sums in plain Python."""

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from crfviz.exceptions import ModelError
from crfviz.taggers.perceptron import (
    NUM_FEATURES,
    Perceptron,
    PerceptronTagger,
    feature_keys,
    load_perceptron,
    pack,
    rows_of,
    save_perceptron,
    unpack,
    word_keys,
)
from crfviz.taggers.storage import read_arrays, write_arrays

WORDS = ["The", "dogs", "ran", "to", "@bob", "."]


def number(text):
    return crc32(text.encode())


@pytest.fixture
def folder(tmp_path):
    """A perceptron of two tags that knows every feature of WORDS, with whole-number weights."""
    generator = np.random.default_rng(3)
    features = np.unique(feature_keys(WORDS))
    words = np.unique(word_keys(WORDS))

    def weights(*shape):
        return generator.integers(-127, 128, size=shape).astype(np.float32)

    model = Perceptron(
        tags=("A", "B"),
        updates="viterbi",
        features=features,
        emissions=weights(len(features) + 1, 2),
        words=words,
        word_transitions=weights(len(words) + 1, 2, 2),
        transitions=weights(2, 2),
        start=weights(2),
        end=weights(2),
    )
    save_perceptron(tmp_path / "two", model)
    return tmp_path / "two"


def test_word_has_features_of_itself_and_its_neighbours():
    keys = feature_keys(WORDS)
    assert keys.shape == (6, NUM_FEATURES)
    neighbours = [
        *("before=the", "after=ran", "two before=", "two after=to"),
        *("before suffix=the", "after suffix=ran", "pair=the dogs", "pair after=dogs ran"),
        *("around=the ran", "shapes=title lower", "shapes after=lower lower"),
    ]
    assert keys[1, -len(neighbours) :].tolist() == [number(text) for text in neighbours]
    assert number("suffix3=ogs") in keys[1]
    assert number("form=@user") in keys[4]
    assert number("form=@bob") not in keys[4]


def test_features_of_a_word_are_distinct():
    for row in feature_keys(["Unbelievably", "long-winded", "4th", "tests"]):
        assert len(set(row)) == NUM_FEATURES


def test_distant_words_change_no_feature():
    one, other = feature_keys(["a", "b", "c", "d"]), feature_keys(["a", "b", "c", "x"])
    assert (one[0] == other[0]).all()
    assert (one[1] != other[1]).any()


def test_unknown_keys_get_the_last_row():
    known = np.array([2, 5, 9], dtype=np.uint32)
    assert rows_of(np.array([5, 1, 9, 10], dtype=np.uint32), known).tolist() == [1, 3, 2, 3]
    assert rows_of(np.array([5], dtype=np.uint32), known[:0]).tolist() == [0]


def test_potentials_are_sums_of_the_weights(folder):
    model, chain = load_perceptron(folder), PerceptronTagger(folder).potentials(WORDS)
    weight = dict(zip(model.features.tolist(), model.emissions.tolist(), strict=False))
    for t, keys in enumerate(feature_keys(WORDS).tolist()):
        for k in range(2):
            expected = sum(weight[key][k] for key in keys if key in weight)
            assert chain.emissions[t, k].item() == pytest.approx(expected, abs=1e-3)
    steps = dict(zip(model.words.tolist(), model.word_transitions, strict=False))
    for t, key in enumerate(word_keys(WORDS).tolist()[1:]):
        expected = model.transitions + steps[key]
        assert chain.transitions[t].numpy() == pytest.approx(expected, abs=1e-5)
    assert chain.start.tolist() == pytest.approx(model.start.tolist(), abs=1e-6)
    assert PerceptronTagger(folder).potentials(["ran"]).transitions.shape == (0, 2, 2)


def test_unknown_word_has_the_shared_transitions(folder):
    model = load_perceptron(folder)
    chain = PerceptronTagger(folder).potentials(["ran", "zebra"])
    assert chain.transitions[0].tolist() == pytest.approx(model.transitions)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("updates", "both", r"config\.json: field 'updates' must be 'viterbi' or 'greedy'"),
        ("tags", ["A"], r"must be .*\(1, 1\)|must be below 1|float32 \(1, 1\)"),
        ("tags", ["A", "A"], r"field 'tags' must not repeat"),
        ("family", "hmm", r"field 'family' must be 'perceptron', got 'hmm'"),
        ("format", 2, r"field 'format' must be 1"),
    ],
)
def test_invalid_field_is_named_in_the_error(folder, field, value, message):
    path = folder / "config.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, field: value}))
    with pytest.raises(ModelError, match=message):
        PerceptronTagger(folder)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("start", lambda a: a * np.float32(np.nan), "'start' holds numbers that are not finite"),
        ("start", lambda a: a[:1], r"'start' must be float32 \(2\), got float32 \(1,\)"),
        ("end", lambda _: None, "'end' is missing"),
        ("features.keys", lambda a: a[::-1], r"'features\.keys' must be in ascending order"),
        ("words.keys", lambda a: a[:-1], r"'words\.counts' must have \d+ numbers to match"),
    ],
)
def test_invalid_tensor_is_named_in_the_error(folder, name, change, message):
    path = folder / "model.safetensors"
    arrays = read_arrays(path)
    arrays[name] = change(arrays[name])
    write_arrays(path, {key: array for key, array in arrays.items() if array is not None})
    with pytest.raises(ModelError, match=message):
        PerceptronTagger(folder)


@pytest.mark.parametrize("content", [b"", b"\x80\x04\x95pickle", b"{}"])
def test_file_that_is_not_safetensors_is_rejected(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match="no safetensors file"):
        PerceptronTagger(folder)


PATH = Path("model.safetensors")


def random_table(rows, columns, seed):
    generator = np.random.default_rng(seed)
    table = generator.normal(scale=3, size=(rows, columns))
    return np.where(generator.random((rows, columns)) < 0.3, table, 0).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1), (40, 17), (5, 289), (0, 3)], ids=str)
def test_packed_table_is_restored_within_half_a_unit(shape):
    table = random_table(*shape, seed=1)
    packed = pack("a", table)
    found = unpack(PATH, packed, "a", shape[1])
    assert np.abs(found[:-1] - table).max(initial=0) <= packed["a.scale"][0] / 2 + 1e-6
    assert not found[-1].any()
    assert not found[:-1][table == 0].any()


def test_packed_numbers_take_one_byte_each():
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
        ({"a.values": np.zeros(2)}, "'a.values' must be int8 or float16, got float64"),
        ({"a.counts": np.zeros((2, 1), np.uint8)}, r"'a.counts' must be uint \(any\), got uint8"),
    ],
    ids=["missing", "length", "column", "nan", "scale", "large scale", "kind", "shape"],
)
def test_inconsistent_packed_parts_are_named_in_the_error(change, message):
    packed = pack("a", np.array([[1, 0], [0, 2]], dtype=np.float32)) | change
    packed = {name: array for name, array in packed.items() if array is not None}
    with pytest.raises(ModelError, match=message):
        unpack(PATH, packed, "a", 2)
