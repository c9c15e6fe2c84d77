"""A tag sequence with its score, term by term, and the error where there is none."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import neg

import torch
from torch import Tensor

from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import NoPathError


class TagIds(list[int]):
    """T tag ids, a list that knows their names.

    Args:
        ids: of the tags.
        tags: K names; "0", "1", ... if None.
    """

    def __init__(self, ids: Iterable[int], tags: tuple[str, ...] | None) -> None:
        super().__init__(ids)
        self._tags = tags

    @property
    def names(self) -> list[str]:
        """T tag names."""
        return [str(tag) if self._tags is None else self._tags[tag] for tag in self]


@dataclass(frozen=True, repr=False)
class Path(NotebookRepr):
    """One tag sequence of a sentence."""

    tags: list[int]  # T tag ids
    score: float  # nats, unnormalised
    probability: float  # given the sentence, in [0, 1]

    @property
    def names(self) -> list[str]:
        """T tag names; the ids as text if these are all that is known."""
        return self.tags.names if isinstance(self.tags, TagIds) else list(map(str, self.tags))


def probability(score: float, log_partition: float) -> float:
    """exp(score - log Z), kept from rounding above 1."""
    return math.exp(min(0.0, score - log_partition))


def require_path(prefixes: Tensor, final: Tensor) -> None:
    """Raise a NoPathError, which says where the last prefix breaks off, unless a path is allowed.

    Args:
        prefixes: (T, K) summed or best score of the prefixes that end in tag k at t.
        final: (K,) the last row of it with the end scores added.
    """
    blocked = torch.isneginf(prefixes).all(-1)
    if blocked.any():
        position = int(blocked.to(torch.uint8).argmax())
        raise NoPathError(f"every path is forbidden: no tag can be reached at position {position}")
    if torch.isneginf(final).all():
        raise NoPathError(
            "every path is forbidden: no tag that can be reached may end the sentence"
        )


@dataclass(frozen=True, eq=False)
class Terms:
    """What a path's score is made of, in nats."""

    emissions: Array  # (T,)
    transitions: Array  # (T+1,) start first, end last, and between them the T-1 steps

    def all(self) -> list[float]:
        """Return the 2T+1 terms in one list: emissions, start, steps, end."""
        return [*self.emissions.tolist(), *self.transitions.tolist()]

    @property
    def score(self) -> float:
        """Their sum, rounded once; -inf for a forbidden path."""
        return math.fsum(self.all())


def terms(potentials: Potentials, path: Sequence[int]) -> Terms:
    """Return the terms of a path of tag ids; -inf where it is forbidden."""
    return Terms(*potentials.terms(path))


@dataclass(frozen=True, eq=False)
class Lead:
    """What one path has that another lacks, in nats: positive where it speaks for the first.

    The other path may be forbidden: then it is infinite. Sums are rounded once, so that for the
    same two paths they have the same bits.
    """

    winner: Terms
    rival: Terms

    @property
    def total(self) -> float:
        """Score of the first path less that of the other."""
        return _less(self.winner.all(), self.rival.all())

    @property
    def emission(self) -> float:
        """What the words say for the first path."""
        return _less(self.winner.emissions.tolist(), self.rival.emissions.tolist())

    @property
    def transition(self) -> float:
        """What start, steps and end say for it."""
        return _less(self.winner.transitions.tolist(), self.rival.transitions.tolist())

    @property
    def emission_terms(self) -> Array:
        """(T,) what each word says for it."""
        return self.winner.emissions - self.rival.emissions

    @property
    def transition_terms(self) -> Array:
        """(T+1,) what each step says for it: start first, end last."""
        return self.winner.transitions - self.rival.transitions


def lead(potentials: Potentials, winner: Sequence[int], rival: Sequence[int]) -> Lead:
    """Return what an allowed path has over another one, both of tag ids."""
    return Lead(terms(potentials, winner), terms(potentials, rival))


def _less(first: Iterable[float], second: Iterable[float]) -> float:
    return math.fsum(chain(first, map(neg, second)))
