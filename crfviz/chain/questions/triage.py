"""Why the wrong path won: what is to blame, and the smallest change that would put it right.

The best path y* is set against a target y, the path that should have won. Their gap falls into what
the words said and what the steps (start and end among them) said:

    gap = score(y*) - score(y) = emission gap + transition gap

| kind       | when                                                                           |
|------------|--------------------------------------------------------------------------------|
| constraint | the target is forbidden: its score is -inf, and no change of finite scores helps |
| near tie   | gap < NEAR_TIE                                                                 |
| emission   | emission gap > 0 >= transition gap: the steps were for the target, the words not |
| transition | transition gap > 0 >= emission gap: the words were for the target, the steps not |
| both       | both > 0: each kind of score was for the wrong path                            |

So in an emission fault, changing emissions until they are impartial between the two paths is more
than enough, and changing transitions until they are impartial does nothing; and so on.

**The smallest change of a kind** is the least number a such that the target is a best path of all
after changing scores of that kind alone, each by at most a (the L-infinity norm). Emission scores
are one number a word and tag; step scores one number a step and pair of tags, each step on its own.
The most that such changes can do is to raise all scores on the target and lower all others: a rival
y' then loses 2a wherever it differs. Hence

    a = max over y' != y of (score(y') - score(y)) / 2 d(y', y)

with d the number of words (of steps) at which the two differ. All rivals count, not only y*. The
maximum of these ratios is found by Dinkelbach's method: Viterbi on the changed chain finds the
rival with the worst ratio, until none is better than the target. At exactly a the target ties.
The sizes do not decide the kind: a nat is a nat, wherever it is added.

Source: Dinkelbach, "On Nonlinear Fractional Programming" (1967); the changed chain is the
loss-augmented decoding of Taskar, Guestrin and Koller, "Max-Margin Markov Networks" (2003).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from crfviz.chain.decoding.viterbi import best_path_of
from crfviz.chain.paths import lead, terms
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import TOLERANCE

Part = Literal["emission", "transition"]
Kind = Literal["emission", "transition", "both", "near tie", "constraint"]
KINDS: tuple[Kind, ...] = ("emission", "transition", "both", "near tie", "constraint")
NEAR_TIE = 0.1  # nats: the wrong path is at most 1.11 times as probable as the right one


@dataclass(frozen=True)
class Triage:
    """What is to blame for one wrong decision; all numbers are in nats."""

    kind: Kind
    gap: float  # best score - target's score; inf if the target is forbidden
    emission_gap: float  # of the words; inf if one of the target's emissions is -inf
    transition_gap: float  # of start, steps and end; inf if one of the target's is -inf
    emission_change: float  # the smallest change of emissions; inf if the target is forbidden
    transition_change: float  # the smallest change of steps; inf if the target is forbidden


def triage(potentials: Potentials, target: Sequence[int], best: Sequence[int]) -> Triage:
    """The verdict on a target that is not the path of `best_path`, in a few times O(T K^2).

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> verdict = triage(potentials, [0, 1], [0, 0])
        >>> verdict.kind, verdict.gap, verdict.emission_gap, verdict.transition_gap
        ('transition', 0.5, -0.5, 1.0)
        >>> verdict.emission_change, verdict.transition_change  # one word differs, and two steps
        (0.25, 0.125)
    """
    target, best = potentials.path(target), potentials.path(best)
    ahead = lead(potentials, best, target)
    gap, emission_gap, transition_gap = ahead.total, ahead.emission, ahead.transition
    if gap == math.inf:
        return Triage("constraint", gap, emission_gap, transition_gap, math.inf, math.inf)
    return Triage(
        kind=_kind(gap, emission_gap, transition_gap),
        gap=max(0.0, gap),  # of two that tie, the target may be better in the last bit
        emission_gap=emission_gap,
        transition_gap=transition_gap,
        emission_change=_smallest(potentials, target, best, "emission"),
        transition_change=_smallest(potentials, target, best, "transition"),
    )


def changed(potentials: Potentials, target: Sequence[int], part: Part, size: float) -> Potentials:
    """The chain with every score of a kind moved in favour of the target.

    The scores on the target rise by `size` nats and all others fall by it. What is forbidden stays
    forbidden. Transitions become one matrix for each step.
    """
    emissions, steps, start, end = map(torch.from_numpy, _changed(potentials, target, part, size))
    return replace(potentials, emissions=emissions, transitions=steps, start=start, end=end)


def _changed(
    potentials: Potentials, target: Sequence[int], part: Part, size: float
) -> tuple[Array, Array, Array, Array]:
    """Emissions, transitions, start and end of `changed`."""
    words, tags = np.arange(potentials.num_tokens), np.asarray(target)
    emissions, transitions, start, end = potentials.scores()
    if part == "emission":
        emissions = emissions - size
        emissions[words, tags] += 2 * size
        return emissions, transitions, start, end
    _, steps, _, _ = potentials.arrays()
    steps, start, end = steps - size, start - size, end - size
    steps[words[:-1], tags[:-1], tags[1:]] += 2 * size
    start[tags[0]] += 2 * size
    end[tags[-1]] += 2 * size
    return emissions, steps, start, end


def wrong_runs(best: Sequence[int], gold: Sequence[int]) -> list[range]:
    """The errors of a sentence: longest runs of words whose tags differ.

    The gaps of the errors add up to the gap of the sentence, because no step touches two of them.

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
    """The best path with one error put right, and nothing else."""
    return [*best[: run.start], *gold[run.start : run.stop], *best[run.stop :]]


def _kind(gap: float, emission_gap: float, transition_gap: float) -> Kind:
    if gap < NEAR_TIE:
        return "near tie"
    if transition_gap <= 0:
        return "emission"
    return "transition" if emission_gap <= 0 else "both"


def _smallest(
    potentials: Potentials, target: Sequence[int], rival: Sequence[int], part: Part
) -> float:
    """Dinkelbach's method, from the ratio of one rival upwards."""
    slack = TOLERANCE * max(1.0, *map(abs, terms(potentials, target).all())) * (len(target) + 1)
    size = 0.0
    while True:
        ahead = lead(potentials, rival, target).total
        places = _places(rival, target, part)
        if places == 0 or ahead - 2 * size * places <= slack:
            return size
        size = ahead / (2 * places)
        rival = best_path_of(*_changed(potentials, target, part, size))


def _places(path: Sequence[int], target: Sequence[int], part: Part) -> int:
    """At how many words, or steps with start and end, two paths differ."""
    differs = np.asarray(path) != np.asarray(target)
    if part == "emission":
        return int(differs.sum())
    return int((np.append(differs, False) | np.append(False, differs)).sum())
