"""Labelled sentences as batches of similar length, in an order that only the generator decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.corpus.training.recipe import Recipe
from crfviz.taggers.neural.vocabulary import Batch, Vocabulary

NO_TAG = -100  # what cross entropy leaves out, unless it is told otherwise


@dataclass(frozen=True)
class Labelled:
    """One sentence with its tag ids, of one or both tag columns."""

    tokens: tuple[str, ...]
    tags: tuple[int, ...] | None
    auxiliary: tuple[int, ...] | None = None  # ids of the second tag column


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """B sentences as ids with their tags."""

    inputs: Batch
    tags: Tensor  # (B, T) long, NO_TAG where padding is and where nobody tagged the sentence
    auxiliary: Tensor  # (B, T) long, likewise

    @property
    def tagged(self) -> Tensor:
        """Whether a sentence has tags in the first column: (B,) bool."""
        return self.tags[:, 0] != NO_TAG

    def to(self, device: torch.device) -> LabelledBatch:
        """The same batch on another device."""
        return LabelledBatch(
            self.inputs.to(device), self.tags.to(device), self.auxiliary.to(device)
        )


def collate(sentences: Sequence[Labelled], vocabulary: Vocabulary) -> LabelledBatch:
    """Sentences as one padded batch."""
    width = max(len(sentence.tokens) for sentence in sentences)
    return LabelledBatch(
        inputs=vocabulary.encode([sentence.tokens for sentence in sentences]),
        tags=_padded([sentence.tags or () for sentence in sentences], width),
        auxiliary=_padded([sentence.auxiliary or () for sentence in sentences], width),
    )


def bucket(
    sentences: Sequence[Labelled], recipe: Recipe, generator: torch.Generator | None = None
) -> list[list[Labelled]]:
    """Sentences of similar length together, the groups in random order.

    Without a generator: sorted by length, for evaluation.

    Args:
        sentences: any number of them.
        recipe: how large a batch may be.
        generator: decides ties of length and the order of the batches.
    """
    lengths = torch.tensor([len(sentence.tokens) for sentence in sentences], dtype=torch.float64)
    if generator is not None:  # up to a word of noise, so that batches differ from epoch to epoch
        lengths = lengths + torch.rand(len(sentences), generator=generator, dtype=torch.float64)
    groups: list[list[Labelled]] = [[]]
    for index in lengths.argsort(stable=True).tolist():
        sentence = sentences[index]
        size = (len(groups[-1]) + 1) * len(sentence.tokens)
        if len(groups[-1]) == recipe.batch_sentences or (groups[-1] and size > recipe.batch_words):
            groups.append([])
        groups[-1].append(sentence)
    if generator is None:
        return groups
    return [groups[index] for index in torch.randperm(len(groups), generator=generator).tolist()]


def _padded(rows: Sequence[Sequence[int]], width: int) -> Tensor:
    return torch.tensor([[*row, *[NO_TAG] * (width - len(row))] for row in rows])
