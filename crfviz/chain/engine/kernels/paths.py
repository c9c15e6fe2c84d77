"""Compiled best paths: Viterbi for one chain (T, K), for packed rows (N, K), and k-best.

The k-best search is that of `crfviz.chain.decoding.viterbi`, with arrays instead of lists.
"""

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from crfviz.chain.engine.kernels import (
    CHAIN,
    IDS,
    TABLE,
    Ids,
    Pairs,
    Row,
    Table,
    Tags,
    compiled,
    copy_row,
    fill,
    helper,
)


@helper
def _reach(word: Row, before: Row, transitions: Table, out: Row) -> None:
    """Fill `out` with the best scores that reach the next word, from those at the word before."""
    fill(out, -math.inf)
    for j in range(len(word)):
        for k in range(len(out)):
            way = (transitions[j, k] + word[j]) + before[j]
            out[k] = way if way > out[k] else out[k]


@helper
def _extend(best: Row, transitions: Table, word: Row, out: Row) -> None:
    """Return the best prefixes up to the next word, from four previous tags at a time."""
    K = len(best)
    fill(out, -math.inf)
    for j in range(0, K - 3, 4):
        a, b, c, d = best[j], best[j + 1], best[j + 2], best[j + 3]
        for k in range(K):
            p, q = transitions[j, k] + a, transitions[j + 1, k] + b
            r, s = transitions[j + 2, k] + c, transitions[j + 3, k] + d
            p = p if p > q else q
            r = r if r > s else s
            p = p if p > r else r
            out[k] = p if p > out[k] else out[k]
    for j in range(K // 4 * 4, K):
        for k in range(K):
            p = transitions[j, k] + best[j]
            out[k] = p if p > out[k] else out[k]
    for k in range(K):
        out[k] += word[k]


@helper
def _tie_bound(best: float, tolerance: float) -> float:
    """Return the lowest score that ties with the best one."""
    return best - tolerance * max(abs(best), 1.0)


@helper
def _last(scores: Row, end: Row, tolerance: float) -> tuple[int, float, int]:
    """Return the lowest tag that ties with the best, its score, and the number of ties."""
    best = -math.inf
    for k in range(len(end)):
        best = max(best, scores[k] + end[k])
    bound, tag, near = _tie_bound(best, tolerance), 0, 0
    for k in range(len(end) - 1, -1, -1):
        if scores[k] + end[k] >= bound:
            tag, near = k, near + 1
    return tag, scores[tag] + end[tag], near


@compiled(*CHAIN, types.float64)
def best_path(
    emissions: Table, transitions: Table, start: Row, end: Row, tolerance: float
) -> tuple[float, bool, Ids, Table, Ids]:
    """Run Viterbi on one chain.

    Returns:
        The score of the best path, whether another path ties, the (T,) path, and (T, K) best
        prefixes and backpointers.
    """
    T, K = emissions.shape
    best, arriving = np.empty((T, K)), np.empty((T, K))
    pointers, near = np.full((T, K), -1), np.zeros((T, K), np.int64)
    copy_row(start, arriving[0])
    bound = np.empty(K)
    for t in range(T):
        if t > 0:
            word, before, here = emissions[t - 1], arriving[t - 1], arriving[t]
            _reach(word, before, transitions, here)
            for k in range(K):
                bound[k] = _tie_bound(here[k], tolerance)
            pointer, ties = pointers[t], near[t]
            for j in range(K - 1, -1, -1):
                for k in range(K):
                    ties_here = (transitions[j, k] + word[j]) + before[j] >= bound[k]
                    pointer[k] = j if ties_here else pointer[k]
                    ties[k] += ties_here
        for k in range(K):
            best[t, k] = arriving[t, k] + emissions[t, k]
    path = np.empty(T, np.int64)
    path[-1], score, others = _last(best[-1], end, tolerance)
    for t in range(T - 1, 0, -1):
        others += near[t, path[t]] - 1
        path[t - 1] = pointers[t, path[t]]
    return score, others > 1, path, best, pointers


@compiled(TABLE, TABLE, TABLE, TABLE, IDS, IDS, types.float64)
def best_paths(
    emissions: Table,
    into: Table,
    start: Table,
    end: Table,
    columns: Ids,
    lengths: Ids,
    tolerance: float,
) -> tuple[Ids, NDArray[np.bool_]]:
    """Run Viterbi on packed sentences; see `crfviz.chain.engine.packing`.

    Args:
        emissions: (N, K) in rows.
        into: (K to, K from) transitions.
        start: (B, K) of each place, or (1, K).
        end: the same.
        columns: (T,) the first row of each position.
        lengths: (B,) number of words of each place.
        tolerance: relative tolerance of ties.

    Returns:
        (N,) the tag of each row, and (B,) whether each place has an allowed path.
    """
    K = emissions.shape[1]
    best, transitions = np.empty((len(columns), K)), np.ascontiguousarray(into.T)
    tags, allowed = np.empty(len(emissions), np.int64), np.empty(len(lengths), np.bool_)
    for place in range(len(lengths)):
        own = place if len(start) > 1 else 0
        for k in range(K):
            best[0, k] = start[own, k] + emissions[columns[0] + place, k]
        for t in range(1, lengths[place]):
            _extend(best[t - 1], transitions, emissions[columns[t] + place], best[t])
        onward = end[own]
        for t in range(lengths[place] - 1, -1, -1):
            tag, score, _ = _last(best[t], onward, tolerance)
            tags[columns[t] + place], onward = tag, into[tag]
            if t == lengths[place] - 1:
                allowed[place] = score > -math.inf
    return tags, allowed


@helper
def _next(numbers: Row, begin: int, value: float, place: int) -> int:
    """Return the place, from `begin` on, of the next number in order of (value, place), or -1."""
    chosen = -1
    for i in range(begin, len(numbers)):
        number = numbers[i]
        later = number > value or (number == value and i > place)
        if later and number < math.inf and (chosen < 0 or number < numbers[chosen]):
            chosen = i
    return chosen


@helper
def _weigh(ways: Row, tolerance: float, losses: Row) -> int:
    """Fill `losses` with each way's loss against the best; return the lowest tag without loss."""
    best, first = -math.inf, 0
    for way in ways:
        best = max(best, way)
    bound = _tie_bound(best, tolerance)
    for j in range(len(ways) - 1, -1, -1):
        near = ways[j] >= bound
        losses[j] = 0.0 if near else best - ways[j]
        first = j if near else first
    return first


@helper
def _choices(
    emissions: Table, transitions: Table, start: Row, end: Row, tolerance: float
) -> tuple[Pairs, Tags, float]:
    """Return the loss of each previous tag, the best one, and the score of the best path.

    Rows run from the end: row 0 chooses the last tag, row s the tag before word T-s.
    """
    T, K = emissions.shape
    losses, first = np.empty((T, K, K)), np.zeros((T, K), np.int64)
    before, ways = start.copy(), np.empty(K)
    for t in range(T - 1):
        for to in range(K):
            for j in range(K):
                ways[j] = (transitions[j, to] + emissions[t, j]) + before[j]
            first[T - 1 - t, to] = _weigh(ways, tolerance, losses[T - 1 - t, to])
        _reach(emissions[t], before, transitions, ways)
        before, ways = ways, before
    for j in range(K):
        ways[j] = before[j] + emissions[-1, j] + end[j]
    first[0, 0] = _weigh(ways, tolerance, losses[0, 0])
    return losses, first, ways[first[0, 0]]


@helper
def _walk(losses: Pairs, first: Tags, begin: int, path: Ids, leaving: Row) -> None:
    for s in range(len(first)):
        here = path[s]
        if s >= begin:
            path[s + 1] = first[s, here]
        after = _next(losses[s, here], 0, 0.0, first[s, here])
        leaving[s] = losses[s, here, after] if after >= 0 else math.inf


@helper
def _other(losses: Pairs, first: Tags, path: Ids, at: int, tag: int) -> int:
    """Return the next best choice at a step after `tag` (-1: after the best); -1 if none."""
    if at < 0:
        return -1
    here = path[at]
    last = tag if tag >= 0 else first[at, here]
    return int(_next(losses[at, here], 0, losses[at, here, last], last))


@compiled(*CHAIN, types.float64, types.int64)
def k_best(
    emissions: Table, transitions: Table, start: Row, end: Row, tolerance: float, k: int
) -> tuple[float, Row, Tags]:
    """Run the k-best search of `crfviz.chain.decoding.viterbi`, with the same order of ties.

    Returns:
        The score of the best path, the loss of each path against it, at most (k,), and the paths
        from the last word to the first, (k, T).
    """
    losses, first, score = _choices(emissions, transitions, start, end, tolerance)
    T = len(emissions)
    paths, lost = np.zeros((k, T + 1), np.int64), np.empty(k)
    leaving, begin = np.empty((k, T)), np.zeros(k, np.int64)  # where a detour may start
    loss_of, detours = np.full(3 * k, math.inf), np.zeros((3 * k, 4), np.int64)
    size, chosen = 0, -1
    most = k if score > -math.inf else 0
    for found in range(most):
        parent, step, cheapest = 0, -1, -1
        lost[found] = 0.0
        if found > 0:
            chosen = _next(loss_of[:size], 0, -math.inf, -1)
            if chosen < 0:
                return score, lost[:found], paths[:found, 1:]
            parent, step, cheapest = detours[chosen, 0], detours[chosen, 1], detours[chosen, 3]
            for s in range(step + 1):
                paths[found, s] = paths[parent, s]
            paths[found, step + 1] = detours[chosen, 2]
            lost[found], loss_of[chosen], begin[found] = loss_of[chosen], math.inf, step + 1
        _walk(losses, first, step + 1, paths[found], leaving[found])
        for option in range(2 + cheapest):
            whose, at = found if option == 0 else parent, step
            if option != 1:
                done, last = (-math.inf, -1) if option == 0 else (leaving[parent, step], step)
                at = _next(leaving[whose], begin[whose], done, last)
            tag = detours[chosen, 2] if option == 1 else -1
            then = _other(losses, first, paths[whose], at, tag)
            if then >= 0:
                loss_of[size] = lost[whose] + losses[at, paths[whose, at], then]
                detours[size, 0], detours[size, 1], detours[size, 2] = whose, at, then
                detours[size, 3] = option != 1
                size += 1
    return score, lost[:most], paths[:most, 1:]
