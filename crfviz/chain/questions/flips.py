"""The smallest change of a single weight that changes the decision.

`flip_candidates` bounds the size of every change from below; the intervals of `tipping` then say
what exactly the best candidates do. The change at which path y' draws level with path y is

    (score(y) - score(y')) / (uses(y') - uses(y))

Source: the inverse view of Macherey, Och, Thayer and Uszkoreit (2008), see `tipping`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from itertools import pairwise

from crfviz.chain.arguments import require_position
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.paths import lead
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.questions.conditioning import forbid
from crfviz.chain.questions.flip_candidates import (
    SLACK,
    UP,
    Candidate,
    Direction,
    crossings,
    gaps,
    gaps_between,
    make_candidate,
    score_range,
)
from crfviz.chain.questions.tipping import best_by_value
from crfviz.chain.questions.weights import WeightId, uses, value_of
from crfviz.exceptions import CrfvizError, NoPathError


@dataclass(frozen=True)
class Flip:
    """A change of one weight, and what it does to the best path."""

    weight: WeightId  # ("transition", from, to), ...; in tag ids
    trained: float  # the weight's value in the chain, nats
    value: float  # the breakpoint: here `path` draws level, beyond it wins; nats
    change: float  # `value` - `trained`, nats; 0 if it ties already
    path: list[int]  # T tag ids, the best path just beyond `value`
    changed: list[int]  # the positions whose tags differ from the best path now


def smallest_flips(potentials: Potentials, limit: int) -> list[Flip]:
    """The smallest changes of one weight each that change the best path, smallest first.

    Looks at every transition, start, end and emission weight, up and down. Forbidden weights stay
    forbidden. Several weights can flip to the same path with the same change; then transitions come
    first, then start, end and emissions, each in the order of ids.

    Args:
        potentials: scores of one sentence; transitions (K, K), or the same matrix for each step.
        limit: how many changes to return, at least 1; there may be fewer.

    Returns:
        O(K^2) Viterbi recursions at once, a few times, and the intervals of `limit` weights.

    Raises:
        NoPathError: every path is forbidden.
        CrfvizError: `limit` is less than 1, or the transitions differ from step to step.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> for flip in smallest_flips(potentials, 3):
        ...     print(flip.weight, flip.change, flip.path, flip.changed)
        ('transition', 0, 0) -0.5 [0, 1] [1]
        ('transition', 0, 1) 0.5 [0, 1] [1]
        ('transition', 1, 1) 0.5 [1, 1] [0, 1]
    """
    if limit < 1:
        raise CrfvizError(f"limit must be at least 1, got {limit}")
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
    """The smallest change of one weight that puts `tag` on the best path at `position`.

    None if the tag is on the best path already. Else there always is one: raising the tag's own
    emission score. Ties between weights are broken as in `smallest_flips`.

    Raises:
        NoPathError: no allowed path has the tag there.
        UnknownTagError: the chain has no such tag.
        ShapeError: the sentence has no such position.
        CrfvizError: the transitions differ from step to step.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> flip = smallest_change_for(potentials, 0, 1)
        >>> flip.weight, flip.change, flip.path
        (('transition', 1, 1), 0.5, [1, 1])
    """
    position, tag = require_position(potentials, position), potentials.tag_id(tag)
    potentials = _with_one_matrix(potentials)
    best = best_path(potentials)
    if best[position] == tag:
        return None
    having, lacking = potentials.pin({position: tag}), forbid(potentials, [(position, tag)])
    heap = list(gaps_between(having, lacking))
    if not heap:
        name = potentials.tag_names[tag]
        raise NoPathError(f"no allowed path has the tag {name} at position {position}")
    reach = min(heap).size
    heap += crossings(potentials, best, reach + SLACK * (1 + reach), having, lacking)
    # Where paths with the tag tie with others over a whole interval, the candidate's size is only a
    # lower bound: the rule for ties may give the tag no place there.
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
    wanted: Callable[[list[int]], bool],
) -> Flip | None:
    """The first piece in the candidate's direction whose path is another one, and wanted."""
    weight, direction = candidate.weight, candidate.direction
    used, trained = uses(weight, best), value_of(potentials, weight)
    nearest = candidate.size - SLACK * (1 + candidate.size)
    envelope = best_by_value(potentials, weight)
    for before, after in pairwise(envelope.pieces[::direction]):
        far = after.high if direction == UP else after.low
        if direction * (after.slope - used) <= 0 or direction * (far - trained) <= nearest:
            continue
        path = envelope.path_at(after.inside)
        if wanted(path):
            left = best if before.slope == used else envelope.path_at(before.inside)
            change = lead(potentials, left, path).total / (after.slope - before.slope)
            change = direction * max(0.0, direction * change)
            differs = [t for t, tag in enumerate(path) if tag != best[t]]
            return Flip(weight, trained, trained + change, change, path, differs)
    return None


def _with_one_matrix(potentials: Potentials) -> Potentials:
    """The same with transitions (K, K), if all steps share them."""
    transitions = potentials.transitions
    if potentials.homogeneous or len(transitions) == 0:
        return potentials
    if (transitions != transitions[0]).any():
        raise CrfvizError(
            "expected the same transitions at each step, got a matrix for each:"
            " a single transition then has no one value to change"
        )
    return replace(potentials, transitions=transitions[0])
