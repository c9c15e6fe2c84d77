"""A tagger with random weights, small enough to create in a test."""

import torch

from crfviz.taggers.neural.network import Network, Sizes, build_vocabulary, initialise
from crfviz.taggers.neural.tagger import Config, NeuralModel, save_model

SENTENCES = [["He", "runs", "to", "Paris", "."], ["@bob", "sees", "2", "dogs"], ["Run", "!"]]
SIZES = Sizes(word=6, character=4, filters=3, shape=2, hidden=5)


def save_tiny(folder, *, architecture="bilstm", tags=("NOUN", "VERB", "X"), scheme=None):
    """Write a model folder, and return its path."""
    vocabulary = build_vocabulary(SENTENCES, min_words=1, min_characters=1)
    network = Network(architecture, SIZES, vocabulary, len(tags))
    initialise(network, torch.Generator().manual_seed(1))
    config = Config(architecture, tuple(tags), scheme, temperature=1.5, sizes=SIZES)
    save_model(folder, NeuralModel(config, vocabulary, network))
    return folder
