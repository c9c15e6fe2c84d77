"""Sets of paths near the best one, and calibrated sets that hold the gold path at a given rate.

The set of a distance d has all paths whose score is at most d nats below the best. The best path
through a tag or a step is the best prefix before it plus the best suffix after it, so max-sums tell
which tags and steps the set uses, even if it has too many paths to list.

`crfviz.corpus.tables.coverage` chooses the threshold of a `Calibration` from gold sentences.

Source: Wainwright and Jordan, "Graphical Models, Exponential Families, and Variational Inference"
(2008), chapter 8, for max-marginals.
"""

import math
import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crfviz.chain import recursions
from crfviz.chain.array_arguments import chain_of
from crfviz.chain.decoding.viterbi import k_best
from crfviz.chain.distribution import Path, TagIds
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import TOLERANCE, maximum
from crfviz.chain.validation import require_number
from crfviz.exceptions import NoPathError

MAX_PATHS = 50  # paths of a set that are listed

Unit = Literal["sentences", "words"]


@dataclass(frozen=True, eq=False, repr=False)
class PathSet(ShortRepr):
    """The paths near the best one, and the sub-lattice that they use."""

    paths: list[Path]  # best first, at most `MAX_PATHS`
    num_paths: int | None  # number of paths in the set; None if these are more than `MAX_PATHS`
    tags: list[TagIds]  # of each of the T words, the tag ids that the paths use, lowest first
    steps: list[list[tuple[int, int]]]  # of each of the T-1 steps, the tag ids (from, to) used


@dataclass(frozen=True, eq=False, repr=False)
class Sets(ShortRepr):
    """The calibrated set of a sentence."""

    tags: list[TagIds]  # of each of the T words, the tag ids in its set, lowest first
    paths: list[Path]  # of these tags, best first, at most `MAX_PATHS`
    abstains: bool  # whether a set of paths has more than can be listed


@dataclass(frozen=True)
class Calibration:
    """A threshold at which the sets of new sentences hold gold at a given rate.

    For sentences a set has all paths within `threshold` nats of the best; for words all tags with
    a marginal of at least `threshold`, and may then be empty.
    """

    level: float  # the rate that is promised, in (0, 1)
    of: Unit
    threshold: float  # nats for sentences, a marginal for words
    sentences: int  # number of gold sentences that it comes from

    def sets(self, potentials: Potentials) -> Sets:
        """Return the set of a sentence, whose chain comes from the tagger of the calibration.

        For words, `paths` are those through the tags of the sets, and it never abstains.

        Raises:
            NoPathError: every path is forbidden.
        """
        potentials = chain_of(potentials)
        if self.of == "sentences":
            near = path_set(potentials, self.threshold)
            return Sets(near.tags, near.paths, abstains=near.num_paths is None)
        kept = forward_backward(potentials).marginals >= self.threshold
        try:
            paths = k_best(potentials.allow(kept), MAX_PATHS)
        except NoPathError:
            k_best(potentials, 1)  # raises if there is no path without the sets
            paths = []
        return Sets(_ids(kept.numpy(), potentials.tags), paths, abstains=False)


def path_set(potentials: Potentials, within: float) -> PathSet:
    """Return the paths whose score is at most `within` nats below the best, in O(T K^2).

    `tags` and `steps` are exactly those of all these paths, also of those that are not listed.
    Scores that tie (`crfviz.chain.recursions`) with the last of them belong to the set.

    Raises:
        CrfvizError: `within` is negative or no number; it may be inf.

    Example:
        >>> chain = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> near = path_set(chain, 0.5)
        >>> near.num_paths, near.tags, near.steps
        (3, [[0, 1], [0, 1]], [[(0, 0), (0, 1), (1, 1)]])
    """
    within = _distance(within)
    paths = near_best_paths(potentials, within)
    emissions, steps, start, end = potentials.arrays()
    prefixes = recursions.forward(emissions, steps, start, reduce=maximum)
    suffixes = recursions.backward(emissions, steps, end, reduce=maximum)
    least = _least(paths[0].score, within)
    arriving = (emissions + suffixes)[1:, None, :]
    moves = prefixes[:-1, :, None] + steps + arriving >= least  # (T-1, K from, K to)
    return PathSet(
        paths=paths[:MAX_PATHS],
        num_paths=len(paths) if len(paths) <= MAX_PATHS else None,
        tags=_ids(prefixes + suffixes >= least, potentials.tags),
        steps=[[(int(j), int(k)) for j, k in np.argwhere(step)] for step in moves],
    )


def near_best_paths(potentials: Potentials, within: float) -> list[Path]:
    """Return the paths of `path_set`, one more than are listed if there are too many."""
    paths = k_best(potentials, MAX_PATHS + 1)
    least = _least(paths[0].score, within)
    return [path for path in paths if path.score >= least]


def _distance(within: object) -> float:
    if isinstance(within, float) and within == math.inf:
        return within
    return require_number("within", within, at_least=0.0)


def _least(best: float, within: float) -> float:
    """Return the score of the last path in the set, less what counts as a tie."""
    return max(best - within - slack(best, within), -sys.float_info.max)  # never forbidden ones


def slack(best: float, within: float) -> float:
    """Return how far below the last score a score still ties with it, nats."""
    return TOLERANCE * max(1.0, abs(best), within)


def _ids(kept: NDArray[np.bool_], tags: tuple[str, ...] | None) -> list[TagIds]:
    return [TagIds(np.flatnonzero(row).tolist(), tags) for row in kept]
