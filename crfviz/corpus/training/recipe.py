"""Hyperparameters of neural training, with reasons."""

import json
from dataclasses import asdict, dataclass, field

from crfviz.taggers.neural.network import Architecture, Sizes


@dataclass(frozen=True)
class Recipe:
    """Settings of a training run; equal recipes and data give equal weights."""

    architecture: Architecture = "bilstm"
    sizes: Sizes = field(default_factory=Sizes)
    seed: int = 0
    epochs: int = 10  # dev accuracy is flat from here on; more only add overconfidence
    min_words: int = 2  # a word seen once is better represented by its characters
    min_characters: int = 3
    batch_sentences: int = 32
    batch_words: int = 1200  # limits the memory of a batch of long sentences
    learning_rate: float = 3e-3  # peak of the schedule, for AdamW
    momentum: float = 0.9
    second_momentum: float = 0.98  # less than the usual 0.999: a run has only some 4000 steps
    weight_decay: float = 1e-2
    warm_up: float = 0.1  # share of steps with a rising rate; then cosine decay to 0
    clip: float = 1.0  # maximum norm of the gradient of the loss per word
    average: float = 0.998  # decay of the averaged weights, which are evaluated and exported
    word_dropout: float = 0.25  # p(word seen n times becomes unknown) = 0.25 / (0.25 + n)
    drop_characters: float = 0.25  # variational dropout: the same columns for a whole sentence
    drop_inputs: float = 0.4
    drop_outputs: float = 0.5
    lower_case: float = 0.0  # share of sentences in lower case in each epoch
    auxiliary: float = 0.0  # weight of the loss of the second tag column; its layer is not exported

    def as_json(self) -> str:
        """Return the recipe as one line of JSON with sorted keys."""
        return json.dumps(asdict(self), sort_keys=True)


CONTEXTFREE = Recipe(architecture="contextfree", sizes=Sizes(hidden=128))
BILSTM = Recipe()
RECIPES = {"bilstm": BILSTM, "contextfree": CONTEXTFREE}
