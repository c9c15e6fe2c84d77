import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from crfviz.exceptions import ModelError
from crfviz.taggers.neural.tagger import load_model
from tests.support.tiny_tagger import save_tiny


@pytest.fixture
def folder(tmp_path):
    return save_tiny(tmp_path / "tiny")


def change(path, **fields):
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_saved_model_is_restored(folder):
    stored = load_model(folder)
    assert stored.config.tags == ("NOUN", "VERB", "X")
    assert stored.config.temperature == 1.5
    for name, tensor in load_file(folder / "model.safetensors").items():
        assert tensor.dtype == torch.float16
        assert torch.equal(stored.network.get_parameter(name), tensor.float()), name


def test_loaded_network_requires_no_gradient(folder):
    network = load_model(folder).network
    assert not network.training
    assert not any(weights.requires_grad for weights in network.parameters())


def test_missing_folder_is_named_in_the_error(tmp_path):
    with pytest.raises(ModelError, match="nowhere: there is no such folder"):
        load_model(tmp_path / "nowhere")


@pytest.mark.parametrize("size", [0, 7, 300, -1], ids=["empty", "no header", "header", "last byte"])
def test_truncated_weights_are_rejected(folder, size):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ModelError, match=r"model\.safetensors: is damaged"):
        load_model(folder)


def test_pickle_is_rejected(folder):
    torch.save({"words.weight": torch.zeros(2)}, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"model\.safetensors: is damaged or no safetensors"):
        load_model(folder)


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
def test_missing_or_malformed_file_is_named_in_the_error(folder, name):
    for content, message in (
        (b"{", "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[]", "must hold a JSON object, got list"),
    ):
        if name.endswith(".json"):
            (folder / name).write_bytes(content)
            with pytest.raises(ModelError, match=f"{name}: {message}"):
                load_model(folder)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: the file is missing"):
        load_model(folder)


FIELDS = [  # a field of config.json, an odd value, and what is said
    ("format", 2, "'format' must be 1, got 2"),
    ("architecture", "rnn", "'architecture' must be one of bilstm, contextfree, got 'rnn'"),
    ("architecture", ["bilstm"], "'architecture' must be one of"),
    ("scheme", "IOB", "'scheme' must be null or \"BIO\", got 'IOB'"),
    ("temperature", 0, "'temperature' must be a positive number, got 0"),
    ("temperature", "1", "'temperature' must be a positive number"),
    ("temperature", True, "'temperature' must be a positive number"),
    ("temperature", float("nan"), "'temperature' must be a positive number"),
    ("tags", [], "'tags' must hold at least 1"),
    ("tags", "NOUN", "'tags' must be a list of non-empty strings"),
    ("tags", ["NOUN", 3, "X"], "'tags' must be a list of non-empty strings"),
    ("tags", ["X", "VERB", "X"], "'tags' must not repeat a name, got 'X' twice"),
    ("sizes", None, "'sizes' must be an object"),
    ("sizes", {"word": 6}, "'sizes' must have the keys word, character"),
]
SIZES = {
    "hidden": ([0, -3, 1.5, "6", True, None, 10**9, [6]], "1 to 4096"),
    "widths": ([[], 3, "234", [2, 0]], "1 to 4096, a list"),
}


@pytest.mark.parametrize(("field", "value", "message"), FIELDS)
def test_invalid_config_field_is_named_in_the_error(folder, field, value, message):
    change(folder / "config.json", **{field: value})
    with pytest.raises(ModelError, match=rf"config\.json: field {message}"):
        load_model(folder)


@pytest.mark.parametrize("name", SIZES)
def test_invalid_size_is_named_in_the_error(folder, name):
    sizes = json.loads((folder / "config.json").read_text())["sizes"]
    values, message = SIZES[name]
    for value in values:
        change(folder / "config.json", sizes={**sizes, name: value})
        with pytest.raises(ModelError, match=rf"field 'sizes\.{name}' must be {message}"):
            load_model(folder)


@pytest.mark.parametrize("field", ["words", "characters"])
def test_invalid_vocabulary_field_is_named_in_the_error(folder, field):
    change(folder / "vocabulary.json", **{field: ["a", 1]})
    with pytest.raises(ModelError, match=rf"vocabulary\.json: field '{field}' must be a list"):
        load_model(folder)


@pytest.mark.parametrize(
    ("file", "fields", "message"),
    [
        ("config.json", {"tags": ["NOUN", "VERB"]}, r"'crf\.\w+' must be \(2"),
        ("vocabulary.json", {"words": ["a"]}, r"'words\.weight' must be \(3, 6\) to match"),
    ],
)
def test_names_that_do_not_fit_the_weights_are_rejected(folder, file, fields, message):
    change(folder / file, **fields)
    with pytest.raises(ModelError, match=rf"model\.safetensors: tensor {message}"):
        load_model(folder)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("output.bias", torch.zeros(3, dtype=torch.int32), "must be float, got torch.int32"),
        ("output.bias", torch.tensor([0.0, torch.nan, 0.0]), "holds numbers that are not finite"),
        ("output.bias", torch.zeros(4), r"must be \(3,\) to match"),
        ("crf.transitions", None, "is missing"),
        ("extra", torch.zeros(1), "belongs to no part of this model"),
    ],
    ids=["type", "nan", "shape", "missing", "one too many"],
)
def test_invalid_tensor_is_named_in_the_error(folder, name, value, message):
    tensors = load_file(folder / "model.safetensors")
    tensors[name] = value
    kept = {key: tensor for key, tensor in tensors.items() if tensor is not None}
    save_file(kept, folder / "model.safetensors")
    with pytest.raises(ModelError, match=rf"model\.safetensors: tensor '{name}' {message}"):
        load_model(folder)
