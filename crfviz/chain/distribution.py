"""Paths with their scores, and the distribution over them: samples, entropies, pair marginals.

Samples are drawn by inversion, each from its own random numbers, so the first samples of a seed do
not depend on the number of samples. The share of samples with a tag approaches its marginal; the
gap shrinks like 1 / sqrt(n). The sum of the words' entropies is at least the entropy of the paths.

Source: Scott, "Bayesian Methods for Hidden Markov Models" (2002), for drawing backwards along α;
Devroye, "Non-Uniform Random Variate Generation" (1986), chapter II.2, for inversion; Cover and
Thomas, "Elements of Information Theory" (2006), theorem 2.6.6, for entropies.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from operator import neg

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import ForwardBackward, log_partition
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import products
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError, NoPathError


class TagIds(list[int]):
    """A list of T tag ids with their names.

    Args:
        ids: the tag ids.
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
        """T tag names; the ids as text if the names are unknown."""
        return self.tags.names if isinstance(self.tags, TagIds) else list(map(str, self.tags))


def probability(score: float, log_partition: float) -> float:
    """Return exp(score - log Z), at most 1 despite rounding."""
    return math.exp(min(0.0, score - log_partition))


def require_path(prefixes: Tensor, final: Tensor) -> None:
    """Raise NoPathError if every path is forbidden; the message says where the last prefix ends.

    Args:
        prefixes: (T, K) summed or best score of the prefixes that end in tag k at t.
        final: (K,) the last row of `prefixes` plus the end scores.
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
    """The terms of a path's score, in nats."""

    emissions: Array  # (T,)
    transitions: Array  # (T+1,) start, the T-1 steps, end

    def all(self) -> list[float]:
        """Return the 2T+1 terms in one list: emissions, start, steps, end."""
        return [*self.emissions.tolist(), *self.transitions.tolist()]

    @property
    def score(self) -> float:
        """The sum of all terms, rounded once; -inf for a forbidden path."""
        return math.fsum(self.all())


def terms(potentials: Potentials, path: Sequence[int]) -> Terms:
    """Return the terms of a path of tag ids; -inf where it is forbidden."""
    return Terms(*potentials.terms(path))


@dataclass(frozen=True, eq=False)
class Lead:
    """The terms in which two paths differ, in nats; positive terms favour the first path.

    If the other path is forbidden, the lead is infinite. Sums are rounded once, so they are
    bit-identical for the same two paths.
    """

    winner: Terms
    rival: Terms

    @property
    def total(self) -> float:
        """Score of the first path minus that of the other."""
        return _less(self.winner.all(), self.rival.all())

    @property
    def emission(self) -> float:
        return _less(self.winner.emissions.tolist(), self.rival.emissions.tolist())

    @property
    def transition(self) -> float:
        return _less(self.winner.transitions.tolist(), self.rival.transitions.tolist())

    @property
    def emission_terms(self) -> Array:
        """(T,) the emission term of each word."""
        return self.winner.emissions - self.rival.emissions

    @property
    def transition_terms(self) -> Array:
        """(T+1,) the term of each step: start first, end last."""
        return self.winner.transitions - self.rival.transitions


def lead(potentials: Potentials, winner: Sequence[int], rival: Sequence[int]) -> Lead:
    """Return the lead of an allowed path over another one, both of tag ids."""
    return Lead(terms(potentials, winner), terms(potentials, rival))


def _less(first: Iterable[float], second: Iterable[float]) -> float:
    return math.fsum(chain(first, map(neg, second)))


@dataclass(frozen=True, eq=False)
class SampleCounts:
    """Samples, with counts of each tag and transition."""

    paths: Tensor  # (n, T) long, in the order they were drawn
    uses: Tensor  # (T, K) long, number of samples with a tag at a word; each row sums to n
    moves: Tensor  # (T-1, K, K) long, number of samples per step, [from, to]; sums to n

    @property
    def frequencies(self) -> Tensor:
        """The share of samples with each tag at each word, (T, K) in [0, 1]; NaN if n is 0."""
        return self.uses.double() / len(self.paths)


def sample(potentials: Potentials, n: int, generator: torch.Generator) -> list[Path]:
    """Draw paths independently from p(y | x), by forward filtering and backward sampling.

    The last tag is drawn from p(y_T | x), then each tag before it from p(y_t | y_{t+1}, x), which
    is proportional to exp(α_t(y_t) + w(y_t, y_{t+1})). The generator must be on the CPU.

    Raises:
        CrfvizError: `n` is negative or no whole number.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> [f"{path.probability:.3f}" for path in sample(coin, 2, torch.Generator())]
        ['0.125', '0.125']
    """
    n = require_count("n", n, at_least=0)

    def draw(chances: Tensor) -> Tensor:
        return torch.multinomial(chances.expand(n, -1), 1, generator=generator).squeeze(-1)

    tags = _draw_paths(potentials, partial(torch.softmax, dim=-1), draw)
    total = log_partition(potentials)
    with torch.no_grad():
        scores = (potentials.emissions, potentials.transitions, potentials.start, potentials.end)
        of_paths = recursions.path_score(*scores, tags).tolist()
    return [
        Path(TagIds(path, potentials.tags), score, probability(score, total))
        for path, score in zip(tags.tolist(), of_paths, strict=True)
    ]


def sample_counts(potentials: Potentials, n: int, seed: int) -> SampleCounts:
    """Return the first n samples of a seed, in O(n T K + T K^2).

    Raises:
        CrfvizError: `n` or `seed` is negative.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> (
        ...     sample_counts(coin, 2, seed=1).paths == sample_counts(coin, 5, seed=1).paths[:2]
        ... ).all().item()
        True
    """
    if n < 0 or seed < 0:
        raise CrfvizError(f"n and seed must be 0 or more, got {n} and {seed}")
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.rand(n, potentials.num_tokens, generator=generator, dtype=torch.float64)
    columns = iter(numbers.flip(-1).unbind(-1))  # one number per tag, the last word first
    paths = _draw_paths(potentials, _cumulative, lambda chances: _tag_for(chances, next(columns)))
    return counted(paths, potentials.num_tags)


def counted(paths: Tensor, num_tags: int) -> SampleCounts:
    """Count the tags and transitions of samples, (n, T) tag ids."""
    T, K = paths.shape[1], num_tags
    words = torch.arange(T)
    uses = torch.bincount((words * K + paths).flatten(), minlength=T * K)
    steps = (words[:-1] * K + paths[:, :-1]) * K + paths[:, 1:]
    moves = torch.bincount(steps.flatten(), minlength=(T - 1) * K * K)
    return SampleCounts(paths, uses.view(T, K), moves.view(T - 1, K, K))


def largest_gap(frequencies: Tensor, marginals: Tensor) -> tuple[float, int, int]:
    """Return the largest difference of two (T, K) tables, with its position and tag id."""
    gaps = (frequencies - marginals).abs()
    place = int(gaps.argmax())
    position, tag = divmod(place, gaps.shape[1])
    return gaps[position, tag].item(), position, tag


def _draw_paths(
    potentials: Potentials, chances: Callable[[Tensor], Tensor], choose: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return (n, T) tags, drawn from the last word to the first."""
    with torch.no_grad():
        transitions = potentials.transitions
        log_alpha = recursions.forward(potentials.emissions, transitions, potentials.start)
        final = log_alpha[-1] + potentials.end
        require_path(log_alpha, final)
        before = chances(recursions.leading(log_alpha, transitions))
        return torch.stack(recursions.walk_back(chances(final), before, choose), -1)


def _cumulative(log_weights: Tensor) -> Tensor:
    """Return cumulative distributions along the last dimension; the last value is exactly 1."""
    sums = torch.softmax(log_weights, -1).cumsum(-1)
    return sums / sums[..., -1:]


def _tag_for(cumulated: Tensor, numbers: Tensor) -> Tensor:
    """Return the first tag whose cumulative probability exceeds a number; never one with p = 0."""
    return (cumulated <= numbers[:, None]).sum(-1)


def position_entropies(tables: ForwardBackward) -> Tensor:
    """Return the entropy of each word's tag, from 0 (certain) to log K (all tags alike).

    The result is (T,) nats, zeros if no path is allowed.
    """
    entropies: Tensor = torch.special.entr(tables.marginals).sum(-1)
    return entropies


def cumulated_mass(paths: Iterable[Path]) -> list[float]:
    """Return the cumulative probability of the first one, two, ... paths: rising, in [0, 1]."""
    return [min(1.0, mass) for mass in accumulate(path.probability for path in paths)]


def pair_marginals(tables: ForwardBackward, first: int, second: int) -> Tensor:
    """Return p(y_first = j, y_second = k | x), in O((second - first) K^3).

    The (K, K) probabilities sum to 1, or to 0 if no path is allowed. Given the sentence, the tags
    form a Markov chain, so its transition probabilities are multiplied:
    p(y_{t+1} | y_t, x) = p(y_t, y_{t+1} | x) / p(y_t | x).

    Raises:
        IndexError: not 0 <= first < second < T.
    """
    num_tokens = tables.marginals.shape[0]
    if not 0 <= first < second < num_tokens:
        raise IndexError(
            f"expected 0 <= first < second < {num_tokens}, got first {first} and second {second}"
        )
    given = tables.marginals[first + 1 : second, :, None]
    conditionals = torch.where(given > 0, tables.edge_marginals[first + 1 : second] / given, 0.0)
    return products(tables.edge_marginals[first], conditionals)[-1]
