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


def change(folder, **fields):
    path = folder / "config.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, **fields}))


def change_words(folder, **fields):
    path = folder / "vocabulary.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, **fields}))


def change_tensors(folder, edit):
    tensors = load_file(folder / "model.safetensors")
    edit(tensors)
    save_file(tensors, folder / "model.safetensors")


def test_a_saved_model_comes_back_as_it_was(folder):
    stored = load_model(folder)
    assert stored.config.tags == ("NOUN", "VERB", "X")
    assert stored.config.temperature == 1.5
    for name, tensor in load_file(folder / "model.safetensors").items():
        assert tensor.dtype == torch.float16
        assert torch.equal(stored.network.get_parameter(name), tensor.float()), name


def test_a_loaded_network_wants_no_gradient(folder):
    network = load_model(folder).network
    assert not network.training
    assert not any(weights.requires_grad for weights in network.parameters())


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelError, match="nowhere: there is no such folder"):
        load_model(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: the file is missing"):
        load_model(folder)


@pytest.mark.parametrize("size", [0, 7, 300, -1], ids=["empty", "no header", "header", "last byte"])
def test_truncated_weights_are_refused(folder, size):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ModelError, match=r"model\.safetensors: is damaged"):
        load_model(folder)


def test_a_pickle_is_refused(folder):
    torch.save({"words.weight": torch.zeros(2)}, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"model\.safetensors: is damaged or no safetensors"):
        load_model(folder)


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[]", "must hold a JSON object, got list"),
    ],
    ids=["cut off", "no text", "a list"],
)
def test_broken_json_is_named(folder, name, content, message):
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name}: {message}"):
        load_model(folder)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
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
    ],
)
def test_a_bad_config_field_is_named(folder, field, value, message):
    change(folder, **{field: value})
    with pytest.raises(ModelError, match=rf"config\.json: field {message}"):
        load_model(folder)


@pytest.mark.parametrize("size", [0, -3, 1.5, "6", True, None, 10**9, [6]])
def test_a_bad_size_is_named(folder, size):
    sizes = json.loads((folder / "config.json").read_text())["sizes"]
    change(folder, sizes={**sizes, "hidden": size})
    with pytest.raises(ModelError, match=r"config\.json: field 'sizes\.hidden' must be 1 to 4096"):
        load_model(folder)


@pytest.mark.parametrize("widths", [[], 3, "234", [2, 0]])
def test_bad_widths_are_named(folder, widths):
    sizes = json.loads((folder / "config.json").read_text())["sizes"]
    change(folder, sizes={**sizes, "widths": widths})
    with pytest.raises(ModelError, match=r"field 'sizes\.widths' must be 1 to 4096, a list"):
        load_model(folder)


@pytest.mark.parametrize("field", ["words", "characters"])
def test_a_bad_vocabulary_field_is_named(folder, field):
    change_words(folder, **{field: ["a", 1]})
    with pytest.raises(ModelError, match=rf"vocabulary\.json: field '{field}' must be a list"):
        load_model(folder)


def test_a_tag_list_of_the_wrong_length_does_not_fit_the_weights(folder):
    change(folder, tags=["NOUN", "VERB"])
    with pytest.raises(ModelError, match=r"model\.safetensors: tensor 'crf\.\w+' must be \(2"):
        load_model(folder)


def test_a_vocabulary_of_the_wrong_length_does_not_fit_the_weights(folder):
    change_words(folder, words=["a"])
    with pytest.raises(ModelError, match=r"tensor 'words\.weight' must be \(3, 6\) to match"):
        load_model(folder)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.zeros(3, dtype=torch.int32), "must be float, got torch.int32"),
        (torch.tensor([0.0, torch.nan, 0.0]), "holds numbers that are not finite"),
        (torch.zeros(4), r"must be \(3,\) to match"),
    ],
    ids=["type", "nan", "shape"],
)
def test_a_bad_tensor_is_named(folder, value, message):
    change_tensors(folder, lambda tensors: tensors.update({"output.bias": value}))
    with pytest.raises(ModelError, match=rf"model\.safetensors: tensor 'output\.bias' {message}"):
        load_model(folder)


def test_a_missing_tensor_is_named(folder):
    change_tensors(folder, lambda tensors: tensors.pop("crf.transitions"))
    with pytest.raises(ModelError, match=r"tensor 'crf\.transitions' is missing"):
        load_model(folder)


def test_a_tensor_too_many_is_named(folder):
    change_tensors(folder, lambda tensors: tensors.update({"extra": torch.zeros(1)}))
    with pytest.raises(ModelError, match="tensor 'extra' belongs to no part of this model"):
        load_model(folder)
