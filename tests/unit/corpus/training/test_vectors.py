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


def test_a_word_has_the_mean_of_its_pieces_up_to_one_shift_and_scale(encoder, table):
    words = ["the", "müller", "x'x", "qqq"]
    rows = table.half().double().numpy()
    means = np.array([rows[1], (rows[5] + rows[6]) / 2, (2 * rows[8] + rows[7]) / 3, rows[0]])
    means -= means.mean(axis=0)
    found = read_vectors(encoder, words).numpy()
    assert np.array_equal(found[:2], np.zeros((2, 5)))
    np.testing.assert_allclose(found[2:] / found[2, 0], means / means[0, 0], rtol=1e-4)
    assert np.sqrt((found[2:] ** 2).mean()) == pytest.approx(vectors.SCALE)


def test_the_table_is_what_training_saw():
    words = Projected(torch.randn(6, 5), 3)
    ids = torch.arange(PADDING + 1, 6)
    assert torch.allclose(words.table()(ids), words(ids))
    assert not words.table()(torch.tensor(PADDING)).any()


def test_only_the_projection_is_learnt_and_saved():
    words = Projected(torch.randn(6, 5), 3)
    assert set(words.state_dict()) == {"projection.weight", "projection.bias"}
    assert {name for name, _ in words.named_parameters()} == set(words.state_dict())


def test_training_takes_words_along_that_no_sentence_has(tmp_path, encoder):
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
def test_a_folder_without_pieces_is_named(encoder, content):
    (encoder / "tokenizer.json").write_text(content)
    with pytest.raises(ModelError, match=r"tokenizer\.json: expected model\.vocab"):
        read_vectors(encoder, ["the"])


@pytest.mark.parametrize("break_it", ["remove", "rename", "damage"])
def test_a_folder_without_the_table_is_named(encoder, table, break_it):
    path = encoder / "model.safetensors"
    if break_it == "remove":
        path.unlink()
    elif break_it == "rename":
        save_file({"other": table}, path)
    else:
        path.write_bytes(b"no tensors")
    with pytest.raises(ModelError, match=r"model\.safetensors: expected a tensor embeddings"):
        read_vectors(encoder, ["the"])
