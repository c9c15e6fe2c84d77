"""What a file says, before it is checked: sentences with scores, and what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crfviz.taggers.tagger import CRF

Numbers = Any  # nested lists or an array, not checked yet


@dataclass(frozen=True, eq=False)
class Part:
    """One sentence; what is None is that of the whole file."""

    where: str  # "sentence 3", for messages
    emissions: Numbers  # (T, K)
    transitions: Numbers | None = None  # (K, K) or (T-1, K, K)
    start: Numbers | None = None  # (K,)
    end: Numbers | None = None  # (K,)
    tokens: Sequence[str] | None = None  # T words
    gold: Sequence[str] | None = None  # T tag names


@dataclass(frozen=True, eq=False)
class Weights:
    """What a trained CRF layer says: everything but the emissions."""

    transitions: Numbers  # (K, K) from, to
    start: Numbers | None = None  # (K,)
    end: Numbers | None = None  # (K,)
    tags: Sequence[str] | None = None  # K names
    kind: str = ""  # what it was read from, for people


@dataclass(frozen=True, eq=False)
class Draft:
    """A whole file, or several that belong together."""

    kind: str  # what it is, for people
    parts: Sequence[Part]
    tags: Sequence[str] | None = None  # K names
    transitions: Numbers | None = None
    start: Numbers | None = None
    end: Numbers | None = None
    probabilities: bool = False  # whether the numbers are probabilities, not scores
    family: str = CRF  # what the scores are, where they are no probabilities
    scheme: str | None = None  # "BIO": its rules act in decoding
    notes: Sequence[str] = field(default_factory=tuple)  # what the reader of the file assumed


@dataclass(frozen=True)
class Reading:
    """What a file does not say of itself, and whoever brings it may know."""

    to_from: bool = False  # the rows of the matrices are "to", their columns "from"
    normalise: bool = False  # divide each row of probabilities by its sum
    batch_first: bool = True  # arrays (B, T, K) rather than (T, B, K), where nothing tells
    bio: bool = False  # the rules of BIO act in decoding
