"""Which changes of one weight could change the decision, each with a lower bound for its size.

For a start, end or emission weight the size is a gap between max-marginals: a tag that lost needs
what the best path through it lacks, and a tag that won gives way when it has lost its lead.

A transition may be used several times, n* times by the best path y*. With a change d, y* scores
the line s* + n* d, and the rivals' best score is a convex function of d. It draws level with the
line at the root that Newton's method from beyond finds in a few steps, each a Viterbi recursion,
taken for all transitions at once:

    d <- d - (rival(d) - (s* + n* d)) / (n - n*)    where the best rival at d uses it n times

If only some paths count as rivals, others may have overtaken y* at that d. Then the best of these
takes the place of y*, and the search goes on from there, until a rival is the best of all.

Source: Dinkelbach, "On Nonlinear Fractional Programming" (1967), for the iteration, which is
d <- (s* - c) / (n - n*) if the rival scores c without the change; max-marginals as in `viterbi`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.decoding.viterbi import best_through
from crfviz.chain.paths import terms
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.questions.viterbi_with_uses import Ids, best_with_change
from crfviz.chain.questions.weights import WeightId
from crfviz.chain.ties import TOLERANCE

SLACK = 1e-9  # nats; sizes that are this close to each other count as ties
KINDS = ["transition", "start", "end", "emission"]  # of equal sizes, in this order

Bools = NDArray[np.bool_]
Direction = Literal[1, -1]
UP: Final = 1
DOWN: Final = -1


class Candidate(NamedTuple):
    """A weight to push up or down; compares by size, then kind, then ids."""

    rounded: float  # so that equal sizes do not differ in the last bit
    kind: int
    weight: WeightId
    direction: Direction
    size: float  # of the change, nats, at least 0


def make_candidate(size: float, weight: WeightId, direction: Direction) -> Candidate:
    """A candidate with its sort key; a size below 0 is rounding, and is 0."""
    return Candidate(round(size, 9), KINDS.index(weight[0]), weight, direction, max(0.0, size))


def gaps(potentials: Potentials, best: list[int]) -> Iterator[Candidate]:
    """What start, end and emission weights need for another best path."""
    through = best_through(potentials).numpy()
    lacks = through.max() - through  # (T, K)
    lead = through.max() - _best_other(through)
    wins = np.arange(through.shape[1]) == np.array(best)[:, None]
    yield from _cells(np.where(wins, np.inf, lacks), UP)
    yield from _cells(np.where(wins, lead, np.inf), DOWN)


def gaps_between(having: Potentials, lacking: Potentials) -> Iterator[Candidate]:
    """What start, end and emission weights need for a best path of one chain, not the other.

    Weights are used once or not at all. More of a weight helps if the best path with it is one of
    `having`: it must catch up with the best path of `lacking` without it. Less of it is the same,
    the other way round.
    """
    with_tag, rival = best_through(having).numpy(), best_through(lacking).numpy()
    with_tag_unused, rival_unused = _best_other(with_tag), _best_other(rival)
    slack = SLACK * (1 + np.abs(rival.max()))
    with np.errstate(invalid="ignore"):  # inf - inf is no candidate either
        up = np.where(with_tag >= rival - slack, rival_unused - with_tag, np.inf)
        down = np.where(with_tag_unused >= rival_unused - slack, rival - with_tag_unused, np.inf)
    yield from _cells(up, UP)
    yield from _cells(down, DOWN)


def _best_other(through: Array) -> Array:
    """For each tag, the best path at that position through another tag, (T, K)."""
    is_best = np.arange(through.shape[1]) == through.argmax(-1)[:, None]
    second = np.where(is_best, -np.inf, through).max(-1, keepdims=True)
    others: Array = np.where(is_best, second, through.max(-1, keepdims=True))
    return others


def _cells(sizes: Array, direction: Direction) -> Iterator[Candidate]:
    """One candidate for each finite size (T, K): the emission, and start or end at the edges."""
    last = len(sizes) - 1
    for t, k in np.argwhere(np.isfinite(sizes)).tolist():
        size = float(sizes[t, k])
        yield make_candidate(size, ("emission", t, k), direction)
        if t == 0:
            yield make_candidate(size, ("start", k), direction)
        if t == last:
            yield make_candidate(size, ("end", k), direction)


def crossings(
    potentials: Potentials,
    best: list[int],
    reach: float,
    rivals: Potentials,
    others: Potentials | None = None,
) -> Iterator[Candidate]:
    """Where, changing one transition by less than `reach`, a rival draws level with the best path.

    Lowering helps rivals only if the best path uses the transition: else it costs them alone.

    Args:
        potentials: the chain, with one matrix for all steps.
        best: its best path.
        reach: the largest change to look at, nats.
        rivals: the chain restricted to the paths that may win.
        others: the chain restricted to those that may not; None if that is the best path alone.
    """
    if potentials.num_tokens == 1:
        return
    moves = np.argwhere(potentials.transitions.detach().numpy() > -np.inf)
    steps = list(pairwise(best))
    used = np.array([steps.count((before, after)) for before, after in moves.tolist()])
    score = np.full(len(moves), terms(potentials, best).score)
    for direction in (UP, DOWN):
        chosen = used > 0 if direction == DOWN else used >= 0
        search = _Search(rivals, others, moves[chosen], direction)
        sizes = search.run(score[chosen], used[chosen], reach).tolist()
        for (before, after), size in zip(moves[chosen].tolist(), sizes, strict=True):
            if size < math.inf:
                yield make_candidate(size, ("transition", before, after), direction)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for the change of each of B transitions with which a rival wins."""

    rivals: Potentials
    others: Potentials | None
    moves: Ids  # (B, 2) from and to
    direction: Direction

    def run(self, score: Array, used: Ids, reach: float) -> Array:
        """The sizes (B,) in nats; inf where there is none before `reach`.

        Args:
            score: (B,) of the path to beat, without change.
            used: (B,) how often it uses the transition.
            reach: where to begin to come down from.
        """
        roots = np.full(len(self.moves), np.inf)
        score, used = score.copy(), used.copy()
        active = np.arange(len(self.moves))
        while len(active):
            sizes = self._newton(active, score[active], used[active], reach)
            sizes, active = sizes[sizes < np.inf], active[sizes < np.inf]
            if self.others is None:
                roots[active] = sizes
                break
            changes = self.direction * sizes
            other = best_with_change(self.others, self.moves[active], changes)
            ahead = _beats(other.score, score[active] + used[active] * changes)
            roots[active[~ahead]] = sizes[~ahead]
            reach = min(reach, roots.min() + SLACK * (1 + reach))
            further = ahead & (sizes < reach)  # the root is beyond `size`
            active = active[further]
            score[active] = (other.score - other.uses * changes)[further]
            used[active] = other.uses[further]
        return roots

    def _newton(self, batch: Ids, score: Array, used: Ids, reach: float) -> Array:
        """Where the best rival crosses the lines; inf where it is below them at `reach`."""
        roots = np.full(len(batch), np.inf)
        sizes = np.full(len(batch), reach)
        active = np.arange(len(batch))
        while len(active):
            changes = self.direction * sizes[active]
            rival = best_with_change(self.rivals, self.moves[batch[active]], changes)
            line = score[active] + used[active] * changes
            above = _beats(rival.score, line)
            slopes = np.maximum(1, self.direction * (rival.uses - used[active]))
            active = active[above]
            sizes[active] -= ((rival.score - line) / slopes)[above]
            roots[active] = sizes[active]
        return roots


def _beats(score: Array, other: Array) -> Bools:
    """Whether scores are larger by more than a tie."""
    return score > other + TOLERANCE * np.maximum(1.0, np.abs(other))


def score_range(potentials: Potentials) -> float:
    """More than the scores of two allowed paths can differ, in nats."""
    emissions, steps, start, end = potentials.arrays()
    return (
        1.0
        + sum(map(_spread, emissions))
        + len(steps) * _spread(steps)
        + _spread(start)
        + _spread(end)
    )


def _spread(scores: Array) -> float:
    """Largest less smallest of the finite scores."""
    finite = scores[scores > -np.inf]
    return float(finite.max() - finite.min()) if len(finite) else 0.0
