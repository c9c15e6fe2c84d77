"""The scores of one sentence under a linear-chain CRF, validated once, at construction.

A path y has the score start[y_1] + Σ_t emissions[t, y_t] + Σ_t transitions[y_t, y_{t+1}] +
end[y_T], in nats. Transitions are [from, to]. Only -inf means forbidden.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from crfviz.chain import validation
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.patterns import Product, automaton
from crfviz.chain.validation import as_numbers
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    ScoreError,
    ShapeError,
)
from crfviz.text.files import abbreviate_value

LARGEST = 1e100  # of a finite score: sums over a sentence must not overflow to -inf

Array = NDArray[np.float64]
ArrayLike = Any  # numbers in nested lists, a NumPy array or a tensor
Tag = int | str  # by id or by name


class Scores(Tensor):
    """A tensor that NumPy 2 reads without a warning; operations on it return plain tensors."""

    # mypy: torch documents it as an opt-out
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 - as NumPy calls it
        """Return the scores as a NumPy array."""
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Scores":
        """Return a copy that shares no memory."""
        return self.clone().as_subclass(Scores)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Potentials(NotebookRepr):
    """All scores of one sentence. Methods that change something return a new object.

    Functions on chains take tags by id or name, and positions from 0. Public ones take the tables
    instead of a chain, as in `crfviz.viterbi(emissions, transitions)`. They raise an
    UnknownTagError for an unknown tag, and a ShapeError for a position outside the sentence or a
    path without exactly T tags. Functions that return a path or a probability raise a NoPathError
    if every path is forbidden.

    Args:
        emissions: (T, K) score of each tag at each word.
        transitions: (K, K), or one matrix for each step, (T-1, K, K); from and to; zeros if None.
        start: (K,) score of beginning with a tag; zeros if None.
        end: (K,) score of ending with a tag; zeros if None.
        tags: K names, or `id2label` of Hugging Face; "0", "1", ... if None.
        tokens: T words, used only by the pictures.

    Raises:
        EmptySentenceError: there is no word.
        ShapeError: a shape does not match the emissions.
        ScoreError: a score is NaN, +inf, or finite beyond `LARGEST`.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> potentials.score([0, 1])
        0.5
    """

    emissions: Tensor  # (T, K); all tables are float64 on the CPU
    transitions: Tensor  # (K, K) or (T-1, K, K)
    start: Tensor  # (K,)
    end: Tensor  # (K,)
    tags: tuple[str, ...] | None  # K names
    tokens: tuple[str, ...] | None  # T words

    def __init__(
        self,
        emissions: ArrayLike,
        transitions: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        *,
        tags: Sequence[str] | Mapping[Any, Any] | None = None,
        tokens: Sequence[str] | None = None,
    ) -> None:
        scores = as_numbers("emissions", emissions)
        if scores.dim() > 0 and scores.shape[0] == 0:
            raise EmptySentenceError("expected a sentence of at least one word, got none")
        if scores.dim() != 2 or scores.shape[1] == 0:
            raise ShapeError(f"emissions must be (T, K), got {tuple(scores.shape)}")
        num_tags = scores.shape[1]
        zeros = scores.new_zeros(num_tags)
        tables = {
            "emissions": scores,
            "transitions": (
                scores.new_zeros(num_tags, num_tags)
                if transitions is None
                else as_numbers("transitions", transitions)
            ),
            "start": zeros if start is None else as_numbers("start", start),
            "end": zeros.clone() if end is None else as_numbers("end", end),
        }
        vars(self).update(
            {name: table.as_subclass(Scores) for name, table in tables.items()},
            tags=None if tags is None else validation.names("tags", tags),
            tokens=None if tokens is None else validation.words(tokens),
        )
        self._check_shapes()
        self._check_names()
        self._check_scores()

    @property
    def num_tokens(self) -> int:
        """T."""
        return self.emissions.shape[0]

    @property
    def num_tags(self) -> int:
        """K."""
        return self.emissions.shape[1]

    @property
    def tag_names(self) -> tuple[str, ...]:
        """K names, in id order: `tags`, or the ids as text if `tags` is None."""
        return tuple(map(str, range(self.num_tags))) if self.tags is None else self.tags

    @property
    def homogeneous(self) -> bool:
        """Return whether all steps share one matrix of transitions."""
        return self.transitions.dim() == 2

    @property
    def steps(self) -> Tensor:
        """(T-1, K, K) one matrix per step, also if all steps share one; a read-only view."""
        return self.transitions.expand(self.num_tokens - 1, -1, -1)

    def step(self, t: int) -> Tensor:
        """Return (K, K) transitions from word t to word t+1.

        With one matrix per step, a single word has no step; the result is then NaN.
        """
        if self.homogeneous:
            return self.transitions
        if self.num_tokens == 1:
            return self.transitions.new_full((self.num_tags, self.num_tags), torch.nan)
        return self.transitions[t]

    def scores(self) -> tuple[Array, Array, Array, Array]:
        """Return emissions, transitions, start and end as NumPy views; do not write to them."""
        return self._scores

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Return the same as `scores`, with one transition matrix for each step."""
        return self._arrays

    @cached_property
    def _scores(self) -> tuple[Array, Array, Array, Array]:
        emissions, transitions = _view(self.emissions), _view(self.transitions)
        return emissions, transitions, _view(self.start), _view(self.end)

    @cached_property
    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        emissions, _, start, end = self._scores
        return emissions, _view(self.steps), start, end

    def first_words(self, n: int) -> "Potentials":
        """Return the chain of the first `n` words, with the end scores at word `n`."""
        return self.words_in(0, n)

    def words_in(self, first: int, stop: int) -> "Potentials":
        """Return the chain of the words from position `first` to before `stop`."""
        steps = self.transitions if self.homogeneous else self.transitions[first : stop - 1]
        tokens = None if self.tokens is None else self.tokens[first:stop]
        emissions = self.emissions[first:stop]
        return replace(self, emissions=emissions, transitions=steps, tokens=tokens)

    def tag_id(self, tag: Tag) -> int:
        """Return the id of a tag given by name or by id."""
        return validation.tag_id(tag, self.tag_names)

    def position(self, position: int) -> int:
        """Validate the position of a word, from 0 to T-1; return it as a plain integer."""
        return validation.position_in(position, self.num_tokens)

    def with_transition(self, from_tag: Tag, to_tag: Tag, score: float) -> "Potentials":
        """Return a new chain with this score for one transition, at every step."""
        cell = (..., self.tag_id(from_tag), self.tag_id(to_tag))
        return self._with("transitions", cell, score)

    def with_emission(self, position: int, tag: Tag, score: float) -> "Potentials":
        """Return a new chain with this score for one tag at one word."""
        return self._with("emissions", (self.position(position), self.tag_id(tag)), score)

    def with_start(self, tag: Tag, score: float) -> "Potentials":
        """Return a new chain with this score for beginning with `tag`."""
        return self._with("start", (self.tag_id(tag),), score)

    def with_end(self, tag: Tag, score: float) -> "Potentials":
        """Return a new chain with this score for ending with `tag`."""
        return self._with("end", (self.tag_id(tag),), score)

    def pin(self, pins: Mapping[int, Tag]) -> "Potentials":
        """Return the chain conditioned on tags: others are forbidden at the pinned positions."""
        if not isinstance(pins, Mapping):
            raise ShapeError(
                f"pins must map positions to tags, such as {{0: {self.tag_names[0]!r}}}, "
                f"got {abbreviate_value(pins)}"
            )
        allowed = torch.ones_like(self.emissions, dtype=torch.bool)
        for position, tag in pins.items():
            allowed[self.position(position)] = torch.arange(self.num_tags) == self.tag_id(tag)
        return self.allow(allowed)

    def allow(self, allowed: Tensor) -> "Potentials":
        """Return a new chain that forbids all other tags; `allowed` is (T, K) bool.

        It equals `times` for an automaton whose state is the position, but needs no copies.
        """
        return self.altered(emissions=_forbid(self.emissions, allowed))

    def constrained(self, pattern: str) -> "Potentials":
        """Return the chain whose paths are those that match a rule of `crfviz.chain.patterns`.

        A tag has a copy for each state of the rule's automaton that it leads to, named with the
        state if there are several, such as `DET·0`. Paths keep their scores; others are forbidden.

        Raises:
            FormatError, UnknownTagError, CrfvizError: as `crfviz.chain.patterns.automaton` does.

        Example:
            >>> potentials = Potentials([[1.0, 0.0]] * 2, [[0.0, 0.0]] * 2, tags=["A", "B"])
            >>> potentials.constrained("B*").tags, potentials.constrained("A*").end.tolist()
            (('A', 'B'), [0.0, -inf])
            >>> potentials.constrained(".* B .*").tags
            ('A·0', 'A·1', 'B')
        """
        return self.times(automaton(pattern, self.tag_names).product)

    def times(self, copies: Product) -> "Potentials":
        """Return the chain of K' copies of the tags whose paths are those of a product."""
        names, tags = copies.names(self.tag_names), torch.from_numpy(copies.tags)
        moves = self.transitions[..., tags, :][..., tags]
        return Potentials(
            self.emissions[:, tags],
            _forbid(moves, copies.transitions),
            _forbid(self.start[tags], copies.start),
            _forbid(self.end[tags], copies.end),
            tags=self.tags if names == self.tag_names else names,
            tokens=self.tokens,
        )

    def scale_transitions(self, strength: float) -> "Potentials":
        """Return the chain with transitions, start and end times `strength` (1: as trained).

        What is forbidden stays forbidden at every strength.

        Raises:
            ScoreError: `strength` is negative or not finite.
        """
        strength = validation.require_strength(strength)

        def scaled(scores: Tensor) -> Tensor:
            return torch.where(torch.isneginf(scores), scores, scores * strength)

        return self.altered(
            transitions=scaled(self.transitions), start=scaled(self.start), end=scaled(self.end)
        )

    def altered(self, **tables: Tensor) -> "Potentials":
        """Return a new chain with other tables; the caller must not change these afterwards.

        The tables have the original shapes and types, so only the scores are validated.

        Raises:
            ScoreError: as for a new chain.
        """
        copy = object.__new__(type(self))
        same = {each.name: vars(self)[each.name] for each in fields(self)}
        given = {name: table.as_subclass(Scores) for name, table in tables.items()}
        vars(copy).update(same | given)
        copy._check_scores()
        return copy

    def path(self, path: Sequence[Tag]) -> list[int]:
        """Return the ids of a path of T tags, by id or by name."""
        return validation.tag_ids(path, self.tag_names, self.num_tokens)

    def score(self, path: Sequence[Tag]) -> float:
        """Return the score of a path of T tags, by id or name, in nats; -inf if forbidden."""
        words, moves = self.terms(self.path(path))
        return float(moves[0] + words.sum() + moves[1:-1].sum() + moves[-1])

    def terms(self, path: Sequence[int]) -> tuple[Array, Array]:
        """Return the terms of the score of a path of T tag ids, in nats; -inf if forbidden.

        Returns:
            (T,) emissions; (T+1,) the start score of the first tag, the scores of the T-1 steps,
            and the end score of the last tag.
        """
        emissions, transitions, start, end = self.scores()
        positions, tags = np.arange(len(path)), np.asarray(path)
        step = (tags[:-1], tags[1:])
        moves = np.empty(len(tags) + 1)
        moves[0], moves[-1] = start[tags[0]], end[tags[-1]]
        moves[1:-1] = transitions[step if self.homogeneous else (positions[:-1], *step)]
        return emissions[positions, tags], moves

    def _with(self, name: str, cell: tuple[Any, ...], score: float) -> "Potentials":
        scores: Tensor = getattr(self, name).clone()
        scores[cell] = validation.score("score", score)
        return self.altered(**{name: scores})

    def _check_shapes(self) -> None:
        T, K = self.emissions.shape
        expected: dict[str, list[tuple[int, ...]]] = {
            "transitions": [(K, K), (T - 1, K, K)],
            "start": [(K,)],
            "end": [(K,)],
        }
        for name, shapes in expected.items():
            actual = tuple(getattr(self, name).shape)
            if actual not in shapes:
                wanted = " or ".join(map(str, shapes))
                raise ShapeError(
                    f"{name} must be {wanted} to match emissions {(T, K)}, got {actual}"
                )

    def _check_names(self) -> None:
        for name, expected in (("tags", self.num_tags), ("tokens", self.num_tokens)):
            actual = getattr(self, name)
            if actual is not None and len(actual) != expected:
                raise ShapeError(f"expected {expected} {name}, got {len(actual)}: {actual}")
        if self.tags is not None and len(set(self.tags)) < len(self.tags):
            raise CrfvizError(f"expected tags with different names, got {self.tags}")

    def _check_scores(self) -> None:
        flat = [scores.ravel() for scores in self.scores()]
        if sum(np.einsum("i,i", scores, scores) for scores in flat) <= LARGEST**2:
            return  # the common case: all scores are finite
        for name, scores in zip(
            ("emissions", "transitions", "start", "end"), self.scores(), strict=True
        ):
            fine = (scores <= LARGEST) & ((scores >= -LARGEST) | (scores == -np.inf))
            if not fine.all():
                cell = np.argwhere(~fine)[0].tolist()
                raise ScoreError(
                    f"{name}{cell} must be -inf (forbidden) or a number within"
                    f" ±{LARGEST:g}, got {scores[tuple(cell)].item()}"
                )


def _forbid(scores: Tensor, allowed: Tensor) -> Tensor:
    return scores.masked_fill(~allowed, -torch.inf)


def _view(scores: Tensor) -> Array:
    view: Array = (scores.detach() if scores.requires_grad else scores).numpy()
    return view
