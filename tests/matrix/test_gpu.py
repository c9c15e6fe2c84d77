"""A GPU finds what the CPU finds."""

import json

import numpy as np
import pytest
import torch

from crfviz.commands import train
from crfviz.taggers.neural.network import ARCHITECTURES
from crfviz.taggers.neural.tagger import NeuralTagger
from crfviz.taggers.registry import load_tagger
from crfviz.text.formats import read_sentences
from tests.matrix import test_training
from tests.support.close import assert_close
from tests.support.paths import EXCERPT
from tests.support.tiny_tagger import SENTENCES, save_tiny
from tests.unit.chain import test_crf
from tests.unit.chain.engine.test_engine import CLOSE, random_batch
from tests.unit.taggers.neural.test_network import VOCABULARY, emissions, network

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA"),
]
files = test_training.files


def test_gpu_likelihoods_marginals_and_gradients_equal_the_cpu():
    rng = np.random.default_rng(3)
    for _ in range(10):
        crf, words, mask = random_batch(rng, 20)
        tags = torch.zeros(mask.shape, dtype=torch.long)
        expected = crf.log_likelihood(words, tags, mask), crf.marginals(words, mask)
        inputs = words.cuda().requires_grad_(), tags.cuda(), mask.cuda()
        crf.cuda()
        found = crf.log_likelihood(*inputs)
        assert_close(found.cpu(), expected[0], rtol=1e-12, atol=2e-11)
        assert_close(crf.marginals(inputs[0], inputs[2]).cpu(), expected[1], **CLOSE)
        found[torch.isfinite(found)].sum().backward()
        assert torch.isfinite(inputs[0].grad).all()


def test_gpu_float32_layer_decodes_as_the_cpu():
    words, tags, mask = test_crf.batch(dtype=torch.float32)
    crf = test_crf.layer(dtype=torch.float32)
    likelihoods, paths = crf.log_likelihood(words, tags, mask), crf.decode(words, mask)
    marginals = crf.marginals(words, mask)
    crf, words, tags, mask = (x.cuda() for x in (crf, words, tags, mask))
    assert_close(crf.log_likelihood(words, tags, mask).cpu(), likelihoods, rtol=0, atol=1e-4)
    assert_close(crf.marginals(words, mask).cpu(), marginals, rtol=0, atol=1e-4)
    assert crf.decode(words, mask) == paths


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_gpu_networks_and_taggers_equal_the_cpu(architecture, tmp_path):
    made, encoded = network(architecture), VOCABULARY.encode(SENTENCES)
    here = emissions(made, *SENTENCES)
    with torch.inference_mode():
        there = made.cuda().emissions(encoded.to(torch.device("cuda"))).cpu()
    assert_close(there[encoded.mask], here[encoded.mask], rtol=0, atol=1e-4)
    folder = save_tiny(tmp_path / "tiny", architecture=architecture)
    cpu, gpu = (NeuralTagger(folder, torch.device(name)) for name in ("cpu", "cuda"))
    assert gpu.device == "cuda"
    for words in SENTENCES:
        found = gpu.potentials(words).emissions
        assert_close(found, cpu.potentials(words).emissions, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["ner-en", "upos-en", "upos-en-contextfree"])
def test_gpu_shipped_models_equal_the_cpu(name, monkeypatch):
    monkeypatch.setenv("CRFVIZ_DEVICE", "cpu")
    here = load_tagger(name)
    monkeypatch.setenv("CRFVIZ_DEVICE", "cuda")
    there = load_tagger(name)
    for sentence in read_sentences(EXCERPT):
        one, other = here.potentials(sentence.tokens), there.potentials(sentence.tokens)
        assert_close(one.emissions, other.emissions, rtol=0, atol=1e-4)


def test_training_runs_on_the_gpu(files, tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_DEVICE", "cuda")
    train.main(test_training.options(files, tmp_path, "--epochs", "4", "--aux-xpos"))
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    assert record["epochs"][-1]["loss"] < record["epochs"][0]["loss"]
