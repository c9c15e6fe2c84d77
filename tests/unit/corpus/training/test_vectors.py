"""Word vectors of an encoder, against sums done by hand, and a run that starts from them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from crfviz.corpus.training import vectors
from crfviz.corpus.training.labelled import Sources
from crfviz.corpus.training.neural import train_neural
from crfviz.corpus.training.recipe import CONTEXTFREE
from crfviz.corpus.training.vectors import Projected, read_vectors
from crfviz.exceptions import ModelError
from crfviz.taggers.neural.network import PADDING
from crfviz.taggers.neural.tagger import NeuralTagger

PIECES = ("[UNK]", "the", "dog", "nokia", "oslo", "mull", "##er", "'", "x")
SEEN = "the\tO\ndog\tO\n\nBonn\tB-LOC\n\n"


@pytest.fixture
def table():
    return torch.randn(len(PIECES), 5, generator=torch.Generator().manual_seed(3))


@pytest.fixture
def encoder(tmp_path, table):
    folder = tmp_path / "encoder"
    folder.mkdir()
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}))
    save_file({vectors.TABLE: table.half()}, folder / "model.safetensors")
    return folder


def test_word_vector_is_the_scaled_mean_of_its_pieces(encoder, table):
    words = ["the", "müller", "x'x", "qqq"]
    rows = table.half().double().numpy()
    means = np.array([rows[1], (rows[5] + rows[6]) / 2, (2 * rows[8] + rows[7]) / 3, rows[0]])
    means -= means.mean(axis=0)
    found = read_vectors(encoder, words).numpy()
    assert np.array_equal(found[:2], np.zeros((2, 5)))
    np.testing.assert_allclose(found[2:] / found[2, 0], means / means[0, 0], rtol=1e-4)
    assert np.sqrt((found[2:] ** 2).mean()) == pytest.approx(vectors.SCALE)


def test_encoder_layer_appends_its_normalised_output(tmp_path):
    """torch's own layer is the oracle, with the same weights."""
    size, heads = 6, 3
    torch.manual_seed(5)
    layer = torch.nn.TransformerEncoderLayer(
        size, heads, 12, dropout=0.0, activation="gelu", layer_norm_eps=1e-12, batch_first=True
    ).eval()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    state = {name: value.detach() for name, value in layer.state_dict().items()}
    names = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    tensors = {}
    for end in ("weight", "bias"):
        for torchs, berts in names.items():
            tensors[f"encoder.layer.0.{berts}.{end}"] = state[f"{torchs}.{end}"]
        parts = state[f"self_attn.in_proj_{end}"].chunk(3)
        for name, part in zip(("query", "key", "value"), parts, strict=True):
            tensors[f"encoder.layer.0.attention.self.{name}.{end}"] = part.clone()
    pieces = [*PIECES, "[CLS]", "[SEP]"]
    table, places, segments = (
        torch.randn(len(pieces), size),
        torch.randn(9, size),
        torch.randn(2, size),
    )
    norm = torch.nn.LayerNorm(size, eps=1e-12)
    tensors |= {
        vectors.TABLE: table,
        "embeddings.position_embeddings.weight": places,
        "embeddings.token_type_embeddings.weight": segments,
        "embeddings.LayerNorm.weight": norm.weight.detach(),
        "embeddings.LayerNorm.bias": norm.bias.detach(),
    }
    numbered = {piece: number for number, piece in enumerate(pieces)}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": numbered}}))
    (tmp_path / "config.json").write_text(json.dumps({"num_attention_heads": heads}))
    save_file(tensors, tmp_path / "model.safetensors")

    rows = [[9, 1, 10], [9, 5, 6, 10], [9, 4, 10]]  # [CLS], the pieces of the word, [SEP]
    expected = []
    for row in rows:
        with torch.no_grad():
            mean = layer(norm(table[row] + places[: len(row)] + segments[0])[None])[0].mean(dim=0)
        expected.append(mean / mean.norm())
    wanted = torch.stack(expected) - torch.stack(expected).mean(dim=0)
    found = read_vectors(tmp_path, ["the", "müller", "oslo"])[2:]
    assert found.shape == (3, 2 * size)
    scale = wanted.square().mean().sqrt() / vectors.SCALE
    assert torch.allclose(found[:, size:], wanted / scale, atol=1e-5)


@pytest.mark.parametrize("heads", [None, 0, 4, "3"])
def test_layers_without_a_fitting_number_of_heads_are_rejected(encoder, table, heads):
    (encoder / "config.json").write_text(json.dumps({"num_attention_heads": heads}))
    save_file(
        {vectors.TABLE: table, "encoder.layer.0.output.dense.bias": torch.zeros(5)},
        encoder / "model.safetensors",
    )
    with pytest.raises(ModelError, match=r"config\.json: num_attention_heads must divide 5, got"):
        read_vectors(encoder, ["the"])


def test_exported_table_equals_the_projected_vectors():
    words = Projected(torch.randn(6, 5), 3)
    ids = torch.arange(PADDING + 1, 6)
    assert torch.allclose(words.table()(ids), words(ids))
    assert not words.table()(torch.tensor(PADDING)).any()


def test_only_the_projection_is_trained_and_saved():
    words = Projected(torch.randn(6, 5), 3)
    assert set(words.state_dict()) == {"projection.weight", "projection.bias"}
    assert {name for name, _ in words.named_parameters()} == set(words.state_dict())


def test_training_adds_vocabulary_words_from_the_encoder(tmp_path, encoder):
    path = tmp_path / "seen.conll"
    path.write_text(SEEN, encoding="utf-8")
    recipe = replace(CONTEXTFREE, epochs=2, min_words=1, min_characters=1)
    sources = Sources((path,), (path,), vectors=encoder)
    train_neural(recipe, sources, tmp_path / "run", tmp_path / "model")
    stored = NeuralTagger(tmp_path / "model").model
    assert set(stored.vocabulary.words) == {"the", "dog", "bonn", "nokia", "oslo", "mull"}
    rows = [stored.vocabulary.word_ids[word] for word in ("nokia", "oslo")]
    one, other = stored.network.words.weight[rows]
    assert not torch.equal(one, other)


@pytest.mark.parametrize("content", ["{}", '{"model": {"vocab": ["the"]}}', '{"model": 1}'])
def test_tokenizer_without_a_vocabulary_is_rejected(encoder, content):
    (encoder / "tokenizer.json").write_text(content)
    with pytest.raises(ModelError, match=r"tokenizer\.json: expected model\.vocab"):
        read_vectors(encoder, ["the"])


@pytest.mark.parametrize("break_it", ["remove", "rename", "damage"])
def test_encoder_without_an_embedding_table_is_rejected(encoder, table, break_it):
    path = encoder / "model.safetensors"
    if break_it == "remove":
        path.unlink()
    elif break_it == "rename":
        save_file({"other": table}, path)
    else:
        path.write_bytes(b"no tensors")
    with pytest.raises(ModelError, match=r"model\.safetensors: expected a tensor embeddings"):
        read_vectors(encoder, ["the"])
