"""Taggers for documents that define their own tags, with or without a model's scores.

A blank tagger scores every tag 0. Its best path is the first tag throughout, as ties go to the
lowest id: `O` for BIO tags, `UNSET` for others. So it proposes nothing until a tag is set.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from crfviz.chain.potentials import Potentials
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.tagger import CRF, Tagger
from crfviz.text.schemes import OUTSIDE, begin, inside, is_bio, scheme_of

MARGIN = 10.0  # nats that separate a new tag from the least likely old one
UNSET = "_"  # tag of a word that is not annotated yet, as in CoNLL


def bio_tags(types: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of entity types.

    >>> bio_tags(["PER"])
    ('O', 'B-PER', 'I-PER')
    """
    return (OUTSIDE, *(make(kind) for kind in types for make in (begin, inside)))


class BlankTagger(SentenceTagger):
    """A tagger that scores every tag 0; tags that are not BIO get `UNSET` as the first tag."""

    family = CRF
    probabilistic = False

    def __init__(self, tags: Sequence[str]) -> None:
        names = tuple(tags) if is_bio(tags) else (UNSET, *tags)
        super().__init__(Path(), names, scheme_of(tags))
        self.name = ""  # not in the list of models

    def _score(self, words: tuple[str, ...]) -> Potentials:
        K = len(self.tags)
        zeros = torch.zeros(len(words), K, dtype=torch.float64)
        return Potentials(zeros, torch.zeros(K, K), tags=self.tags, tokens=words)


class GivenTagger(SentenceTagger):
    """A tagger of one sentence: it always returns the given chain."""

    family = CRF
    probabilistic = True

    def __init__(self, chain: Potentials) -> None:
        super().__init__(Path(), chain.tag_names, None)
        self.name, self.chain = "given", chain

    def _score(self, _words: tuple[str, ...]) -> Potentials:
        return self.chain


class RetaggedTagger(SentenceTagger):
    """A model adapted to a document whose tags were added or removed after training.

    At each word a new tag scores far less than any old tag, and its transitions are 0. So it is
    never proposed. A removed tag is dropped from all tables.
    """

    def __init__(self, base: Tagger, tags: Sequence[str]) -> None:
        kept = [tag for tag in base.tags if tag in tags]
        new = [tag for tag in tags if tag not in base.tags]
        super().__init__(base.folder, (*kept, *new), base.scheme)
        self.name, self.base = base.name, base
        self.family, self.probabilistic = base.family, base.probabilistic
        self._kept = torch.tensor([base.tags.index(tag) for tag in kept])

    def _score(self, words: tuple[str, ...]) -> Potentials:
        chain, kept = self.base.potentials(words, constrained=False), self._kept
        emissions = chain.emissions[:, kept]
        transitions = chain.transitions[..., kept, :][..., kept]  # (K, K) or (T-1, K, K)
        start, end = chain.start[kept], chain.end[kept]
        more = len(self.tags) - len(kept)
        moves = torch.cat([transitions.flatten(), start, end])
        most = 3 * moves[moves.isfinite()].abs().max()  # more than any two moves
        least = torch.where(emissions.isfinite(), emissions, torch.inf).amin(dim=1, keepdim=True)
        lowest = least.nan_to_num(posinf=0.0) - 2 * most - MARGIN
        return Potentials(
            torch.cat([emissions, lowest.expand(-1, more)], dim=1),
            _padded(transitions, more, dims=2),
            _padded(start, more, dims=1),
            _padded(end, more, dims=1),
            tags=self.tags,
            tokens=words,
        )


@lru_cache(maxsize=64)
def document_tagger(tags: tuple[str, ...], base: Tagger | None, *, own: bool = False) -> Tagger:
    """Return the tagger that proposes tags in a document.

    Args:
        tags: the document's tags.
        base: a model. None gives a blank tagger; so does a model with other tags, unless it is
            `own` and shares at least two of them.
        own: whether the model was trained on this document, whose tags may have changed since.
    """
    if base is not None and set(base.tags) == set(tags):
        return base
    if base is not None and own and len(set(base.tags) & set(tags)) > 1:
        return RetaggedTagger(base, tags)
    return BlankTagger(tags)


def _padded(table: Tensor, more: int, dims: int) -> Tensor:
    """Pad the last `dims` axes with `more` zeros."""
    return torch.nn.functional.pad(table, (0, more) * dims)
