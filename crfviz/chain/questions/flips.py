"""The smallest change of a single weight that changes the decision.

Every weight has a candidate for each direction, with a lower bound of the size of its change. The
intervals of `tipping` then give the exact change for the best candidates. The change at which path
y' ties with path y is

    (score(y) - score(y')) / (uses(y') - uses(y))

For a start, end or emission weight the size is a gap between max-marginals. A tag off the best path
must gain the score that the best path through it lacks. A tag on the best path must lose its lead
over the best path through another tag.

A path may use a transition several times; the best path y* uses it n* times. After a change d, y*
scores s* + n* d, which is a line. The best score of the rivals is a convex function of d. Newton's
method finds where it crosses the line: it starts beyond the crossing and needs a few steps. Each
step is a Viterbi recursion for all transitions at once:

    d <- d - (rival(d) - (s* + n* d)) / (n - n*)    where the best rival at d uses it n times

If only some paths count as rivals, other paths may have overtaken y* at that d. The best of these
then replaces y*, and the search continues from there until a rival is the best of all paths.

Source: the inverse view of Macherey, Och, Thayer and Uszkoreit (2008), see `tipping`;
Dinkelbach, "On Nonlinear Fractional Programming" (1967), for the iteration, which is
d <- (s* - c) / (n - n*) if the rival scores c without the change; max-marginals as in `viterbi`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.decoding.viterbi import best_path, best_through
from crfviz.chain.distribution import lead, terms
from crfviz.chain.edits import Kind, WeightId, uses, value_of
from crfviz.chain.potentials import Array, Potentials, Tag
from crfviz.chain.questions.conditioning import restrict
from crfviz.chain.questions.tipping import best_by_value
from crfviz.chain.recursions import TOLERANCE, Changed, Ids, best_with_change
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError, NoPathError

SLACK = 1e-9  # nats; sizes this close to each other are ties
KINDS = get_args(Kind)  # the order of weights with equal sizes

Bools = NDArray[np.bool_]
Direction = Literal[1, -1]
UP: Final = 1
DOWN: Final = -1


@dataclass(frozen=True)
class Flip:
    """A change of one weight, and its effect on the best path."""

    weight: WeightId  # ("transition", from, to), ...; in tag ids
    trained: float  # the weight's value in the chain, nats
    value: float  # the breakpoint: `path` ties at it and wins beyond it; nats
    change: float  # `value` - `trained`, nats; 0 if it ties already
    path: list[int]  # T tag ids, the best path just beyond `value`
    changed: list[int]  # the positions whose tags differ from the current best path


class Candidate(NamedTuple):
    """A weight to raise or lower; sorted by size, then kind, then ids."""

    rounded: float  # `size`, rounded so that equal sizes compare as equal
    kind: int
    weight: WeightId
    direction: Direction
    size: float  # of the change, nats, at least 0; a lower bound


def smallest_flips(potentials: Potentials, limit: int) -> list[Flip]:
    """Return the smallest changes of one weight each that change the best path, smallest first.

    Looks at every transition, start, end and emission weight, up and down. Forbidden weights stay
    forbidden. All paths count, without a rule over the tags: in a chain of `Potentials.constrained`
    a weight belongs to one copy of its tags. Several weights can flip to the same path with the
    same change; then transitions come first, then start, end and emissions, each in order of ids.

    The list has at most `limit` changes. The cost is a few batches of O(K^2) Viterbi recursions,
    and the intervals of `limit` weights.

    Raises:
        CrfvizError: `limit` is less than 1 or not a whole number, or the transitions differ from
            step to step.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> for flip in smallest_flips(potentials, 3):
        ...     print(flip.weight, flip.change, flip.path, flip.changed)
        ('transition', 0, 0) -0.5 [0, 1] [1]
        ('transition', 0, 1) 0.5 [0, 1] [1]
        ('transition', 1, 1) 0.5 [1, 1] [0, 1]
    """
    limit = require_count("limit", limit)
    potentials = _with_one_matrix(potentials)
    best = best_path(potentials)
    candidates = sorted(gaps(potentials, best))
    reach = candidates[limit - 1].size if len(candidates) >= limit else score_range(potentials)
    candidates += crossings(potentials, best, reach + SLACK * (1 + reach), potentials)
    flips = [
        flip
        for candidate in sorted(candidates)[:limit]
        if (flip := _flip(potentials, best, candidate, lambda _: True))
    ]
    return sorted(flips, key=lambda flip: abs(flip.change))


def smallest_change_for(potentials: Potentials, position: int, tag: Tag) -> Flip | None:
    """Return the smallest change of one weight that puts `tag` on the best path at `position`.

    None if the tag is on the best path already. Otherwise a change always exists, because raising
    the tag's own emission score is one. As in `smallest_flips`, all paths count, and ties between
    weights are broken by kind and ids.

    Raises:
        NoPathError: no allowed path has the tag there.
        CrfvizError: the transitions differ from step to step.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> flip = smallest_change_for(potentials, 0, 1)
        >>> flip.weight, flip.change, flip.path
        (('transition', 1, 1), 0.5, [1, 1])
    """
    position, tag = potentials.position(position), potentials.tag_id(tag)
    potentials = _with_one_matrix(potentials)
    best = best_path(potentials)
    if best[position] == tag:
        return None
    having, lacking = potentials.pin({position: tag}), restrict(potentials, {}, [(position, tag)])
    heap = list(gaps_between(having, lacking))
    if not heap:
        name = potentials.tag_names[tag]
        raise NoPathError(f"no allowed path has the tag {name} at position {position}")
    reach = min(heap).size
    heap += crossings(potentials, best, reach + SLACK * (1 + reach), having, lacking)
    # Paths with and without the tag may tie over a whole interval, and the rule for ties may choose
    # a path without it. The candidate's size is then only a lower bound.
    exact: dict[tuple[WeightId, Direction], Flip | None] = {}
    heapify(heap)
    while True:
        candidate = heap[0]
        key = (candidate.weight, candidate.direction)
        if key not in exact:
            exact[key] = _flip(potentials, best, candidate, lambda path: path[position] == tag)
        flip = exact[key]
        if flip is None:
            heappop(heap)
        elif abs(flip.change) <= candidate.size + SLACK * (1 + candidate.size):
            return flip
        else:
            heapreplace(heap, make_candidate(abs(flip.change), *key))


def _flip(
    potentials: Potentials,
    best: list[int],
    candidate: Candidate,
    accepts: Callable[[list[int]], bool],
) -> Flip | None:
    """Return the nearest flip in the candidate's direction to a path that `accepts` allows."""
    weight, direction = candidate.weight, candidate.direction
    used, trained = uses(weight, best), value_of(potentials, weight)
    nearest = candidate.size - SLACK * (1 + candidate.size)
    envelope = best_by_value(potentials, weight)
    for before, after in pairwise(envelope.pieces[::direction]):
        far = after.high if direction == UP else after.low
        if direction * (after.slope - used) <= 0 or direction * (far - trained) <= nearest:
            continue
        path = envelope.path_at(after.inside)
        if accepts(path):
            left = best if before.slope == used else envelope.path_at(before.inside)
            change = lead(potentials, left, path).total / (after.slope - before.slope)
            change = direction * max(0.0, direction * change)
            differs = [t for t, tag in enumerate(path) if tag != best[t]]
            return Flip(weight, trained, trained + change, change, path, differs)
    return None


def _with_one_matrix(potentials: Potentials) -> Potentials:
    transitions = potentials.transitions
    if potentials.homogeneous or len(transitions) == 0:
        return potentials
    if (transitions != transitions[0]).any():
        raise CrfvizError(
            "expected the same transitions at each step, got a matrix for each:"
            " a single transition then has no one value to change"
        )
    return replace(potentials, transitions=transitions[0])


def make_candidate(size: float, weight: WeightId, direction: Direction) -> Candidate:
    """Return a candidate with its sort key; a negative size is a rounding error and becomes 0."""
    return Candidate(round(size, 9), KINDS.index(weight[0]), weight, direction, max(0.0, size))


def gaps(potentials: Potentials, best: list[int]) -> Iterator[Candidate]:
    """Yield the changes of start, end and emission weights that change the best path."""
    through = best_through(potentials).numpy()
    lacks = through.max() - through  # (T, K)
    lead = through.max() - _best_other(through)
    wins = np.arange(through.shape[1]) == np.array(best)[:, None]
    yield from _cells(np.where(wins, np.inf, lacks), UP)
    yield from _cells(np.where(wins, lead, np.inf), DOWN)


def gaps_between(having: Potentials, lacking: Potentials) -> Iterator[Candidate]:
    """Yield the changes of start, end and emission weights that let a path of `having` win.

    A path uses such a weight once or not at all. Raising a weight helps if the best path with it is
    in `having`; that path must catch up with the best path of `lacking` without it. Lowering a
    weight helps if the best path without it is in `having`.
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
    """Return the best score through any other tag at the same position, for each tag, (T, K)."""
    is_best = np.arange(through.shape[1]) == through.argmax(-1)[:, None]
    second = np.where(is_best, -np.inf, through).max(-1, keepdims=True)
    others: Array = np.where(is_best, second, through.max(-1, keepdims=True))
    return others


def _cells(sizes: Array, direction: Direction) -> Iterator[Candidate]:
    """Yield a candidate for each finite size (T, K): emission, and start or end at the edges."""
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
    """Yield changes of one transition, below `reach`, at which a rival ties with the best path.

    Lowering helps rivals only if the best path uses the transition; otherwise only rivals lose
    score. The chain has one matrix for all steps. `rivals` is the chain restricted to the paths
    that may win. `others` is the chain restricted to the paths that may not; None if only the best
    path may not.
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
    """The search for the change of each of B transitions at which a rival wins."""

    rivals: Potentials
    others: Potentials | None
    moves: Ids  # (B, 2) from and to
    direction: Direction

    def run(self, score: Array, used: Ids, reach: float) -> Array:
        """Return the sizes (B,) in nats; inf where there is none before `reach`.

        Args:
            score: (B,) of the path to beat, without change.
            used: (B,) how often that path uses the transition.
            reach: the largest size; the search starts there and goes down.
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
            other = _best_with_change(self.others, self.moves[active], changes)
            ahead = _beats(other.score, score[active] + used[active] * changes)
            roots[active[~ahead]] = sizes[~ahead]
            reach = min(reach, roots.min() + SLACK * (1 + reach))
            further = ahead & (sizes < reach)  # the root is beyond `size`
            active = active[further]
            score[active] = (other.score - other.uses * changes)[further]
            used[active] = other.uses[further]
        return roots

    def _newton(self, batch: Ids, score: Array, used: Ids, reach: float) -> Array:
        """Return where the best rival crosses the lines; inf where it is below them at `reach`."""
        roots = np.full(len(batch), np.inf)
        sizes = np.full(len(batch), reach)
        active = np.arange(len(batch))
        while len(active):
            changes = self.direction * sizes[active]
            rival = _best_with_change(self.rivals, self.moves[batch[active]], changes)
            line = score[active] + used[active] * changes
            above = _beats(rival.score, line)
            slopes = np.maximum(1, self.direction * (rival.uses - used[active]))
            active = active[above]
            sizes[active] -= ((rival.score - line) / slopes)[above]
            roots[active] = sizes[active]
        return roots


def _best_with_change(potentials: Potentials, moves: Ids, changes: Array) -> Changed:
    emissions, _, start, end = potentials.arrays()
    matrix = potentials.step(0).detach().numpy()
    return best_with_change(emissions, matrix, start, end, moves, changes)


def _beats(score: Array, other: Array) -> Bools:
    return score > other + TOLERANCE * np.maximum(1.0, np.abs(other))


def score_range(potentials: Potentials) -> float:
    """Return an upper bound of the score difference between two allowed paths, in nats."""
    emissions, steps, start, end = potentials.arrays()
    return (
        1.0
        + sum(map(_spread, emissions))
        + len(steps) * _spread(steps)
        + _spread(start)
        + _spread(end)
    )


def _spread(scores: Array) -> float:
    """Return the largest finite score minus the smallest."""
    finite = scores[scores > -np.inf]
    return float(finite.max() - finite.min()) if len(finite) else 0.0
