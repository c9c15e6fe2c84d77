"""Cause of a wrong decision, and the smallest change that corrects it.

The best path y* is compared with a target y, the path that should have won. Their gap is the sum of
two parts: the emissions of the words, and the transitions of the steps, with start and end.

    gap = score(y*) - score(y) = emission gap + transition gap

| kind       | when                                                                           |
|------------|--------------------------------------------------------------------------------|
| constraint | the target is forbidden: its score is -inf, and no change of finite scores helps |
| near tie   | gap < NEAR_TIE                                                                 |
| emission   | emission gap > 0 >= transition gap: the steps favour the target, the words do not |
| transition | transition gap > 0 >= emission gap: the words favour the target, the steps do not |
| both       | both > 0: words and steps favour the wrong path                                |

So an emission fault is corrected by emissions that score both paths equally, but not by transitions
that score both paths equally. For a transition fault it is the other way round.

**The smallest change of a kind** is the least number a such that the target is a best path of all
after changing scores of that kind alone, each by at most a (the L-infinity norm). There
is one emission score for each word and tag, and one step score for each step and pair of tags, even
if the chain has one matrix for all steps. The strongest change raises all scores on the target and
lowers all others. A rival y' then loses 2a wherever it differs. Hence

    a = max over y' != y of (score(y') - score(y)) / 2 d(y', y)

with d the number of words (of steps) at which the two differ. All rivals count, not only y*. The
maximum of these ratios is found by Dinkelbach's method: Viterbi on the changed chain finds the
rival with the worst ratio, until none is better than the target. At exactly a the target ties.
The kind of an error depends on the two gaps, not on the sizes of these changes.

Source: Dinkelbach, "On Nonlinear Fractional Programming" (1967); the changed chain is the
loss-augmented decoding of Taskar, Guestrin and Koller, "Max-Margin Markov Networks" (2003).
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import ne, or_
from typing import Literal

import numpy as np
import torch

from crfviz.chain.distribution import Lead, lead, terms
from crfviz.chain.engine.packing import Ids
from crfviz.chain.engine.viterbi import Scores
from crfviz.chain.potentials import Potentials
from crfviz.chain.recursions import TOLERANCE

Part = Literal["emission", "transition"]
Kind = Literal["emission", "transition", "both", "near tie", "constraint"]
KINDS: tuple[Kind, ...] = ("emission", "transition", "both", "near tie", "constraint")
NEAR_TIE = 0.1  # nats: the wrong path is at most 1.11 times as probable as the right one


@dataclass(frozen=True)
class Triage:
    """The cause of one wrong decision; all numbers are in nats."""

    kind: Kind
    gap: float  # best score - target's score; inf if the target is forbidden
    emission_gap: float  # of the words; inf if one of the target's emissions is -inf
    transition_gap: float  # of start, steps and end; inf if one of the target's is -inf
    emission_change: float  # the smallest change of emissions; inf if the target is forbidden
    transition_change: float  # the smallest change of steps; inf if the target is forbidden


def triage(potentials: Potentials, target: Sequence[int], best: Sequence[int]) -> Triage:
    """Return the cause of an error, and the sizes of the smallest corrections.

    `best` is the path of `best_path`, and `target` is another path. Takes a few times O(T K^2).

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> verdict = triage(potentials, [0, 1], [0, 0])
        >>> verdict.kind, verdict.gap, verdict.emission_gap, verdict.transition_gap
        ('transition', 0.5, -0.5, 1.0)
        >>> verdict.emission_change, verdict.transition_change  # one word differs, and two steps
        (0.25, 0.125)
    """
    return triages([(potentials, target, best)])[0]


def triages(cases: Sequence[tuple[Potentials, Sequence[int], Sequence[int]]]) -> list[Triage]:
    """Run `triage` on many chains with their targets and best paths, as one batch."""
    asked = [_Case(chain, chain.path(target), chain.path(best)) for chain, target, best in cases]
    allowed = [case for case in asked if case.ahead.total < math.inf]
    words = dict(zip(map(id, allowed), _smallest(allowed, "emission"), strict=True))
    steps = dict(zip(map(id, allowed), _smallest(allowed, "transition"), strict=True))
    return [
        _verdict(case.ahead, words.get(id(case), math.inf), steps.get(id(case), math.inf))
        for case in asked
    ]


def changed(potentials: Potentials, target: Sequence[int], part: Part, size: float) -> Potentials:
    """Return the chain with every score of a kind moved in favour of the target.

    The scores on the target rise by `size` nats, and all others of the kind fall by `size` nats.
    Forbidden scores stay forbidden. Changed transitions have one matrix for each step.
    """
    words, tags = np.arange(potentials.num_tokens), np.asarray(target)
    emissions, steps, start, end = potentials.arrays()
    if part == "emission":
        emissions = emissions - size
        emissions[words, tags] += 2 * size
        return replace(potentials, emissions=torch.from_numpy(emissions))
    steps, start, end = steps - size, start - size, end - size
    steps[words[:-1], tags[:-1], tags[1:]] += 2 * size
    start[tags[0]] += 2 * size
    end[tags[-1]] += 2 * size
    moved = [torch.from_numpy(scores) for scores in (steps, start, end)]
    return replace(potentials, transitions=moved[0], start=moved[1], end=moved[2])


def wrong_runs(best: Sequence[int], gold: Sequence[int]) -> list[range]:
    """Return the errors of a sentence: the longest runs of adjacent words with wrong tags.

    The gaps of the errors add up to the gap of the sentence, because no step belongs
    to two errors.

    Example:
        >>> wrong_runs([0, 1, 1, 0, 2], [0, 0, 0, 0, 1])
        [range(1, 3), range(4, 5)]
    """
    runs: list[range] = []
    for t, (tag, right) in enumerate(zip(best, gold, strict=True)):
        if tag == right:
            continue
        first = runs.pop().start if runs and runs[-1].stop == t else t
        runs.append(range(first, t + 1))
    return runs


def put_right(best: Sequence[int], gold: Sequence[int], run: range) -> list[int]:
    """Return the best path with one error corrected."""
    return [*best[: run.start], *gold[run.start : run.stop], *best[run.stop :]]


@dataclass(frozen=True, eq=False)
class _Case:
    """A chain with a target and the path that won."""

    potentials: Potentials
    target: list[int]
    best: list[int]

    @cached_property
    def ahead(self) -> Lead:
        return lead(self.potentials, self.best, self.target)

    def ahead_of_target(self, rival: Sequence[int]) -> Lead:
        return Lead(terms(self.potentials, rival), self.ahead.rival)

    @property
    def slack(self) -> float:
        """Score difference that rounding may cause, nats."""
        largest = max(1.0, *map(abs, self.ahead.rival.all()))
        return TOLERANCE * largest * (len(self.target) + 1)

    @cached_property
    def shared(self) -> Hashable:
        """A key that is equal for chains with equal transitions, start and end."""
        if not self.potentials.homogeneous:
            return id(self)
        return tuple(scores.tobytes() for scores in self.potentials.scores()[1:])


def _verdict(ahead: Lead, emission_change: float, transition_change: float) -> Triage:
    gap, emission_gap, transition_gap = ahead.total, ahead.emission, ahead.transition
    return Triage(
        kind=_kind(gap, emission_gap, transition_gap),
        gap=max(0.0, gap),  # rounding may make the gap of a tie negative
        emission_gap=emission_gap,
        transition_gap=transition_gap,
        emission_change=emission_change,
        transition_change=transition_change,
    )


def _kind(gap: float, emission_gap: float, transition_gap: float) -> Kind:
    if gap == math.inf:
        return "constraint"
    if gap < NEAR_TIE:
        return "near tie"
    if transition_gap <= 0:
        return "emission"
    return "transition" if emission_gap <= 0 else "both"


def _smallest(cases: Sequence[_Case], part: Part) -> list[float]:
    """Run Dinkelbach's method for each case, starting from the ratio of the best path."""
    sizes = [0.0] * len(cases)
    going = [(i, case.best, case.ahead.total) for i, case in enumerate(cases)]
    while going:
        worse = []
        for i, rival, ahead in going:
            places = _places(rival, cases[i].target, part)
            if places and ahead - 2 * sizes[i] * places > cases[i].slack:
                sizes[i] = ahead / (2 * places)
                worse.append(i)
        going = [
            (i, rival, cases[i].ahead_of_target(rival).total)
            for i, rival in _rivals(cases, worse, part, sizes)
        ]
    return sizes


def _rivals(
    cases: Sequence[_Case], asked: Sequence[int], part: Part, sizes: Sequence[float]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the index and the best path of each case in `asked`, `changed` by its size.

    Lowering all scores of a kind lowers all paths equally. So it is enough to raise the scores on
    the target, by twice the size.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for i in asked:
        groups[cases[i].shared].append(i)
    for group in groups.values():
        emissions = [cases[i].potentials.scores()[0] for i in group]
        _, *others = cases[group[0]].potentials.scores()
        batch = LossAugmentedViterbi(emissions, [cases[i].target for i in group], *others)
        raised = np.array([2 * sizes[i] for i in group])
        both = (raised, 0 * raised) if part == "emission" else (0 * raised, raised)
        yield from zip(group, batch.best_paths(*both), strict=True)


def _places(path: Sequence[int], target: Sequence[int], part: Part) -> int:
    """Count the words, or steps with start and end, at which two paths differ."""
    differs = list(map(ne, path, target))
    if part == "emission":
        return sum(differs)
    return sum(map(or_, [False, *differs], [*differs, False]))


class LossAugmentedViterbi:
    """Viterbi on N chains at once, with a bonus for the scores on each chain's target.

    Args:
        emissions: of each chain, (T, K).
        targets: of each chain, T tag ids.
        transitions: (K, K), or (T-1, K, K) for one chain.
        start: (K,).
        end: (K,).
    """

    def __init__(
        self,
        emissions: Sequence[Scores],
        targets: Sequence[Sequence[int]],
        transitions: Scores,
        start: Scores,
        end: Scores,
    ) -> None:
        self._order = sorted(range(len(targets)), key=lambda i: -len(targets[i]))
        self._lengths = np.array([len(targets[i]) for i in self._order])
        self._rows = np.arange(len(targets))
        alive = np.bincount(self._lengths)[::-1].cumsum()[
            ::-1
        ]  # number of chains with at least each length
        self._alive = alive[1:].tolist()  # how many chains have a word at t
        self._steps, self._start, self._end = transitions, start, end
        size = (self._lengths[0], len(targets))
        self._words = np.zeros((*size, emissions[0].shape[1]))
        self._targets = np.zeros(size, np.int64)
        for place, i in enumerate(self._order):
            self._words[: len(targets[i]), place] = emissions[i]
            self._targets[: len(targets[i]), place] = targets[i]

    def best_paths(self, on_words: Scores, on_steps: Scores) -> list[list[int]]:
        """Return the best path of each chain, in the given order, with bonuses on its target.

        Args:
            on_words: (N,) nats for each emission of the target.
            on_steps: (N,) nats for each step of the target, including start and end.
        """
        bonus = on_steps[self._order]
        best = self._best_prefixes(on_words[self._order], bonus)
        tags = self._walked_back(best, bonus)
        paths: list[list[int]] = [[]] * len(self._order)
        for place, i in enumerate(self._order):
            paths[i] = tags[: self._lengths[place], place].tolist()
        return paths

    def _best_prefixes(self, on_words: Scores, bonus: Scores) -> Scores:
        """Return the best prefixes, (T, N, K) nats; unused after the end of a chain."""
        best = self._words.copy()
        words = np.arange(len(best))[:, None]
        best[words, self._rows, self._targets] += on_words
        best[0] += self._start
        best[0, self._rows, self._targets[0]] += bonus
        for t in range(1, len(best)):
            n, step = self._alive[t], self._step(t)
            rows, before, tag = self._rows[:n], self._targets[t - 1, :n], self._targets[t, :n]
            ways = (best[t - 1, :n].T[:, :, None] + step[:, None]).max(0)  # from, chain, to
            favoured = best[t - 1, rows, before] + step[before, tag] + bonus[:n]
            ways[rows, tag] = np.maximum(ways[rows, tag], favoured)
            best[t, :n] += ways
        return best

    def _walked_back(self, best: Scores, bonus: Scores) -> Ids:
        """Return the tags of the best paths, (T, N); unused after the end of a chain."""
        tags: Ids = np.zeros(self._targets.shape, np.int64)
        last = self._lengths - 1
        ways = best[last, self._rows] + self._end
        ways[self._rows, self._targets[last, self._rows]] += bonus
        tags[last, self._rows] = ways.argmax(1)
        for t in range(len(best) - 1, 0, -1):
            n, step = self._alive[t], self._step(t)
            ways = best[t - 1, :n] + step[:, tags[t, :n]].T
            on_target = tags[t, :n] == self._targets[t, :n]
            ways[self._rows[:n], self._targets[t - 1, :n]] += np.where(on_target, bonus[:n], 0.0)
            tags[t - 1, :n] = ways.argmax(1)
        return tags

    def _step(self, t: int) -> Scores:
        """Return (K, K) transitions to the word at t."""
        return self._steps if self._steps.ndim == 2 else self._steps[t - 1]
