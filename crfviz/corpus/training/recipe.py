"""Hyperparameters of neural training, each with its reason."""

import json
from dataclasses import asdict, dataclass, field

from crfviz.taggers.neural.network import Architecture, Sizes


@dataclass(frozen=True)
class Recipe:
    """Settings of a training run; equal recipes and data give equal weights."""

    architecture: Architecture = "bilstm"
    sizes: Sizes = field(default_factory=Sizes)
    seed: int = 0
    epochs: int = 10  # dev accuracy is flat from here on; more buy nothing but overconfidence
    min_words: int = 2  # a word seen once is better read by its characters
    min_characters: int = 3
    batch_sentences: int = 32
    batch_words: int = 1200  # bounds the memory of a batch of long sentences
    learning_rate: float = 3e-3  # AdamW, at the top of the schedule
    momentum: float = 0.9
    second_momentum: float = 0.98  # shorter memory than 0.999: the run is only some 4000 steps
    weight_decay: float = 1e-2
    warm_up: float = 0.1  # share of the steps with a rising rate; a cosine takes it to 0 after that
    clip: float = 1.0  # norm of the gradient of the loss per word
    average: float = 0.998  # decay of the averaged weights that are judged and shipped
    word_dropout: float = 0.25  # a word seen n times goes unknown in 0.25 / (0.25 + n) of cases
    drop_characters: float = 0.25  # dropout is variational: the same columns for a whole sentence
    drop_inputs: float = 0.4
    drop_outputs: float = 0.5
    lower_case: float = 0.0  # share of the sentences that an epoch shows in lower case
    auxiliary: float = 0.0  # weight of the second tag column's loss; its head is not shipped

    def as_json(self) -> str:
        """Return one line that tells two recipes apart."""
        return json.dumps(asdict(self), sort_keys=True)


CONTEXTFREE = Recipe(architecture="contextfree", sizes=Sizes(hidden=128))
BILSTM = Recipe()
RECIPES = {"bilstm": BILSTM, "contextfree": CONTEXTFREE}
