"""The weights of a small chain, and path scores as lines in one weight, by enumeration."""

import math
from itertools import combinations, pairwise

from tests.support import oracle


def all_weights(chain):
    """Return the names of all transition, start, end and emission weights, by tag ids."""
    tags = range(chain.num_tags)
    yield from (("transition", j, k) for j in tags for k in tags)
    yield from (("start", k) for k in tags)
    yield from (("end", k) for k in tags)
    yield from (("emission", t, k) for t in range(chain.num_tokens) for k in tags)


def uses(weight, path):
    kind, *cell = weight
    if kind == "transition":
        return list(pairwise(path)).count(tuple(cell))
    position = {"start": 0, "end": -1}.get(kind, cell[0])
    return int(path[position] == cell[-1])


def changed(chain, weight, value):
    kind, *cell = weight
    change = {
        "transition": chain.with_transition,
        "start": chain.with_start,
        "end": chain.with_end,
        "emission": chain.with_emission,
    }[kind]
    return change(*cell, value)


def lines(chain, weight):
    """Return {uses: best score of a path with so many uses, without the weight's own share}."""
    best = {}
    for path, score in oracle.allowed(changed(chain, weight, 0.0)):
        count = uses(weight, path)
        best[count] = max(best.get(count, -math.inf), score)
    return best


def breakpoints(best):
    """Return where two of the lines {slope: intercept} cross above all others, in order."""
    found = []
    for (flat, low), (steep, high) in combinations(sorted(best.items()), 2):
        value = (low - high) / (steep - flat)
        top = max(intercept + slope * value for slope, intercept in best.items())
        if low + flat * value >= top - 1e-9:
            found.append(value)
    return sorted(found)
