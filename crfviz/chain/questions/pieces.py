"""Three ways to read a chain over word pieces, and how pytorch-crf reads a mask with holes.

A subword tokenizer splits a word into pieces, and a network scores each of P pieces. A CRF can read

    first   the first piece of each word: W positions, and steps from word to word only
    all     every piece: P positions. Steps inside a word, such as NOUN → NOUN, count like others
    holes   every piece, but masked ones without emissions: P positions, as many steps as in `all`

Given a mask with holes, pytorch-crf 0.7.2 follows none of these completely. Its sums skip masked
pieces: log Z and the best score are those of `first`. Its path reads the backpointers of the first
W - 1 steps, masked or not, instead of those into words. Its score of a tagging takes
the step into a word from the tag of the piece before, masked or not, and the end score from the tag
at position W - 1.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.distribution import Path, TagIds, probability
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import ArrayLike, Potentials
from crfviz.chain.validation import as_numbers, whole_number
from crfviz.exceptions import CrfvizError, EmptySentenceError, ShapeError
from crfviz.text.files import abbreviate_value


@dataclass(frozen=True)
class Step:
    """A step of a path between two pieces of one word."""

    position: int  # of the second piece, in the reading
    tags: tuple[int, int]  # ids, from and to
    score: float  # of the transition, nats


@dataclass(frozen=True, eq=False, repr=False)
class PieceReading(NotebookRepr):
    """A chain over all pieces, or over the first piece of each word: N positions.

    `words` has the word of each position. The properties with a path raise a NoPathError if no path
    is allowed.
    """

    potentials: Potentials
    words: list[int]

    @property
    def log_partition(self) -> float:
        """Log Z, nats."""
        return log_partition(self.potentials)

    @cached_property
    def best(self) -> Path:
        """The best path, with its score and probability."""
        result = viterbi(self.potentials)
        return Path(result.path, result.score, result.probability)

    @property
    def path(self) -> TagIds:
        """The best path, N tag ids; its `names` are the tags."""
        return TagIds(self.best.tags, self.potentials.tags)

    @property
    def inner_steps(self) -> list[Step]:
        """The steps of the best path between pieces of one word; none in `first`."""
        path, words = self.path, self.words
        places = [t for t in range(1, len(words)) if words[t - 1] == words[t]]
        moves = [(t, (path[t - 1], path[t])) for t in places]
        return [Step(t, move, float(self.potentials.step(t - 1)[move])) for t, move in moves]


@dataclass(frozen=True, eq=False, repr=False)
class Pieces(NotebookRepr):
    """P pieces of W words, read in three ways."""

    first: PieceReading  # W positions
    all: PieceReading  # P positions
    holes: PieceReading  # P positions
    starts: list[int]  # the positions of the W first pieces in `all`

    @property
    def places(self) -> list[int]:
        """The position of each piece's word in `first`, P numbers."""
        begins = (t in self.starts for t in range(len(self.all.words)))
        return [number - 1 for number in accumulate(begins)]

    @cached_property
    def pytorch_crf(self) -> Path:
        """The path that pytorch-crf returns for a mask that is true at first pieces.

        W tag ids, with their score and probability in `first`. These are at most those of the best
        path of `first`, although pytorch-crf computes that path's score.
        """
        best_score = self.first.best.score  # raises if no path is allowed
        emissions, steps, start, end = self.all.potentials.arrays()
        begun = set(self.starts)
        best, pointers = start + emissions[0], list[Any]()
        for t, step in enumerate(steps, start=1):
            candidates = best[:, None] + step + emissions[t]
            pointers.append(candidates.argmax(0))
            if t in begun:
                best = candidates.max(0)
        path = [int((best + end).argmax())]
        for pointer in reversed(pointers[: len(begun) - 1]):
            path.insert(0, int(pointer[path[0]]))
        score = min(best_score, self.first.potentials.score(path))
        tags = TagIds(path, self.first.potentials.tags)
        return Path(tags, score, probability(score, self.first.log_partition))

    def pytorch_crf_log_likelihood(self, tags: Sequence[int | str]) -> float:
        """Return the log-likelihood that pytorch-crf gives a tagging under that mask, nats.

        It depends on the tags of masked pieces, and can be above 0. It is NaN if the emission of a
        masked piece or the step into it is -inf, because pytorch-crf multiplies both by 0.

        Args:
            tags: P, by id or name; pytorch-crf requires them for masked pieces, too.
        """
        total = self.first.log_partition
        if total == -math.inf:
            viterbi(self.first.potentials)  # raises a NoPathError
        chain = self.all.potentials
        ids = chain.path(tags)
        words, moves = chain.terms(ids)
        scores = words + moves[:-1]  # of each piece with the step into it
        masked = np.delete(scores, self.starts)
        end = float(chain.end[ids[len(self.starts) - 1]])
        skipped = math.nan if np.isneginf(masked).any() else 0.0
        return float(scores[self.starts].sum()) + skipped + end - total


def read_pieces(
    potentials: Potentials,
    word_ids: Sequence[int | None] | None = None,
    *,
    mask: ArrayLike | None = None,
) -> Pieces:
    """Read a chain over pieces; arguments and errors are those of `crfviz.pieces`."""
    if (word_ids is None) == (mask is None):
        raise CrfvizError("expected word_ids or mask, one of both")
    ids = _word_ids(word_ids) if word_ids is not None else _masked_ids(mask)
    if len(ids) != potentials.num_tokens:
        name = "word_ids" if mask is None else "mask"
        raise ShapeError(f"{name} must have {potentials.num_tokens} pieces, got {len(ids)}")
    kept_pieces = [t for t, word in enumerate(ids) if word is not None]
    words = [word for word in ids if word is not None]
    if not kept_pieces:
        raise EmptySentenceError("expected at least one piece of a word, got none")
    if len(kept_pieces) <= kept_pieces[-1] - kept_pieces[0]:
        inner = next(t for t in range(kept_pieces[0], kept_pieces[-1]) if ids[t] is None)
        raise ShapeError(
            f"piece {inner} belongs to no word but is between words: "
            "give each sentence of a pair by itself"
        )
    chain = _select(potentials, kept_pieces)
    starts = [t for t, word in enumerate(words) if t == 0 or words[t - 1] != word]
    masked = torch.ones(len(words), 1, dtype=torch.bool)
    masked[starts] = False
    holes = replace(chain, emissions=chain.emissions.masked_fill(masked, 0.0))
    first = PieceReading(_select(chain, starts), [words[t] for t in starts])
    return Pieces(first, PieceReading(chain, words), PieceReading(holes, words), starts)


def _word_ids(word_ids: Sequence[object]) -> list[int | None]:
    if not isinstance(word_ids, Iterable):
        raise ShapeError(f"word_ids must be a list, got {abbreviate_value(word_ids)}")
    ids: list[int | None] = []
    least = 0
    for t, word in enumerate(word_ids):
        if word is not None:
            number = whole_number(word)
            if number is None or number < least:
                raise ShapeError(
                    "word_ids must be None or whole numbers from 0 that never fall, such as "
                    f"[None, 0, 0, 1, None], got {abbreviate_value(word)} at piece {t}"
                )
            least = number
        ids.append(None if word is None else least)
    return ids


def _masked_ids(mask: ArrayLike) -> list[int | None]:
    """Return the word ids of a mask that is true at first pieces."""
    begins = as_numbers("mask", mask)
    if begins.dim() != 1 or not torch.isin(begins, torch.tensor([0.0, 1.0])).all():
        raise ShapeError(f"mask must be (P,) true or false, got {abbreviate_value(mask)}")
    return [word - 1 if word else None for word in begins.long().cumsum(0).tolist()]


def _select(potentials: Potentials, places: Sequence[int]) -> Potentials:
    """Return the chain of some positions; each keeps the transitions of the step into it."""
    tokens, steps = potentials.tokens, potentials.transitions
    return replace(
        potentials,
        emissions=potentials.emissions[list(places)],
        transitions=steps if potentials.homogeneous else steps[[t - 1 for t in places[1:]]],
        tokens=tokens and tuple(tokens[t] for t in places),
    )
