"""The loops over one chain as Numba compiles them; `crfviz.chain.engine.compiled` calls them.

They do what `exponentials`, `sweeps`, `tables`, `best` and `best_alone` beside them do by arrays,
and what the search of `crfviz.chain.decoding.k_best` does by lists, for emissions (T, K), one
matrix of transitions (K from, K to), start and end (K,). What they have to know of the rest of the
program they are given: a constant of another module would stay as it was when a loop was kept.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

Table = NDArray[np.float64]
Row = NDArray[np.float64]
Pairs = NDArray[np.float64]
Ids = NDArray[np.int64]
Tags = NDArray[np.int64]
Loop = TypeVar("Loop", bound=Callable[..., Any])

TABLE, ROW = (types.Array(types.float64, n, "C", readonly=True) for n in (2, 1))
IDS = types.Array(types.int64, 1, "C", readonly=True)
CHAIN = (TABLE, TABLE, ROW, ROW)


def helper(loop: Loop) -> Loop:
    """Compile it into the loops that call it."""
    found: Loop = njit(nogil=True, error_model="numpy")(loop)
    return found


def compiled(*arguments: types.Type) -> Callable[[Loop], Loop]:
    """Compile at once, or take what was compiled before from where Numba may write, if anywhere."""

    def compile_it(loop: Loop) -> Loop:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        try:
            found: Loop = njit(arguments, cache=True, **options)(loop)
        except (RuntimeError, OSError):  # no folder can be written to, or the disk is full
            found = njit(arguments, **options)(loop)
        return found

    return compile_it


@helper
def _put(row: Row, here: Row) -> None:
    for k in range(len(here)):  # to assign a slice takes seconds to compile
        here[k] = row[k]


@helper
def _fill(row: Row, number: float) -> None:
    for k in range(len(row)):
        row[k] = number


@helper
def _highest(row: Row) -> float:
    found = -math.inf
    for score in row:
        found = max(found, score)
    return found


@helper
def _below(rows: Table, best: Row) -> tuple[float, bool]:
    """Replace rows by the exponentials of what each lies below its best.

    Returns:
        The lowest of what is finite there, and whether a score is forbidden.
    """
    lowest, forbidden = 0.0, False
    for t in range(len(rows)):
        for k in range(rows.shape[1]):
            score = rows[t, k] - best[t]
            rows[t, k] = math.exp(score)
            forbidden |= score == -math.inf
            lowest = min(lowest, score if score > -math.inf else 0.0)
    return lowest, forbidden


@helper
def _product(before: Row, step: Table, here: Row) -> None:
    """A row times a matrix, four rows of that at a time."""
    K = len(before)
    _fill(here, 0.0)
    for j in range(0, K - 3, 4):
        a, b, c, d = before[j], before[j + 1], before[j + 2], before[j + 3]
        for k in range(K):
            p, q = a * step[j, k] + b * step[j + 1, k], c * step[j + 2, k] + d * step[j + 3, k]
            here[k] += p + q
    for j in range(K // 4 * 4, K):
        for k in range(K):
            here[k] += before[j] * step[j, k]


@helper
def _products(one: Row, two: Row, step: Table, left: Row, right: Row) -> None:
    """The same for two rows, which take of the matrix what is read once."""
    K = len(one)
    _fill(left, 0.0)
    _fill(right, 0.0)
    for j in range(0, K - 3, 4):
        a, b, c, d = one[j], one[j + 1], one[j + 2], one[j + 3]
        e, f, g, h = two[j], two[j + 1], two[j + 2], two[j + 3]
        for k in range(K):
            p, q, r, s = step[j, k], step[j + 1, k], step[j + 2, k], step[j + 3, k]
            left[k] += (a * p + b * q) + (c * r + d * s)
            right[k] += (e * p + f * q) + (g * r + h * s)
    for j in range(K // 4 * 4, K):
        for k in range(K):
            left[k] += one[j] * step[j, k]
            right[k] += two[j] * step[j, k]


@helper
def _times(row: Row, word: Row, here: Row) -> None:
    for k in range(len(here)):
        here[k] = row[k] * word[k]


@helper
def _least(table: Table) -> float:
    """The least positive number."""
    least = math.inf
    for row in table:
        for number in row:
            least = number if 0.0 < number < least else least
    return least


@helper
def _divided(row: Row) -> float:
    """Divide a row by its sum, if it is not 0; the logarithm of that."""
    total = 0.0
    for share in row:
        total += share
    if total == 0.0:
        return 0.0
    for k in range(len(row)):
        row[k] /= total
    return math.log(total)


@helper
def _sweep(  # noqa: PLR0913 - what it reads, and where it writes
    words: Table,
    steps: Table,
    begin: Table,
    columns: Ids,
    lengths: Ids,
    stride: int,
    order: int,
    arriving: Table,
    reached: Table,
    divided: Row,
) -> None:
    """One direction, forward if `order` is 1, back if it is -1, as `sweeps` does both."""
    T = len(columns) - 1
    for i in range(T):
        t = i if order == 1 else T - 1 - i
        here, size = columns[t], columns[t + 1] - columns[t]
        before, going = here, 0  # where the words before stand, and how many there are
        if i > 0:
            before = columns[t - order]
            going = min(size, columns[t - order + 1] - before)
        for p in range(0, going - 1, 2):
            q, r = before + p, here + p
            _products(reached[q], reached[q + 1], steps, arriving[r], arriving[r + 1])
        if going % 2:
            _product(reached[before + going - 1], steps, arriving[here + going - 1])
        for p in range(going, size):
            _put(begin[p if len(begin) > 1 else 0], arriving[here + p])
        for p in range(size):
            _times(arriving[here + p], words[here + p], reached[here + p])
            divided[here + p] = divided[before + p] if p < going else 0.0
            if (t + 1 if order == 1 else lengths[p] - t) % stride == 0:
                divided[here + p] += _divided(reached[here + p])


@compiled(TABLE, TABLE, TABLE, TABLE, IDS, IDS, types.int64)
def sweeps(  # noqa: PLR0913 - a batch is four tables, and where they have what
    words: Table,
    steps: Table,
    start: Table,
    end: Table,
    columns: Ids,
    lengths: Ids,
    stride: int,
) -> tuple[Table, Table, Table, Table]:
    """Both of packed sentences: see `crfviz.chain.engine.sweeps` and `packed`.

    Args:
        words: (N, K) in rows.
        steps: (K from, K to).
        start: (B, K) of each place, or (1, K).
        end: the same.
        columns: (T+1,) the first row of each, and N.
        lengths: (B,) words of each place, the most first.
        stride: after how many steps a row is to be divided by its sum.

    Returns:
        Prefixes, what arrives from the end and suffixes, (N, K), and the logarithms of what
        prefixes and suffixes were divided by, (2, N).
    """
    arriving, prefixes, suffixes = (
        np.empty(words.shape),
        np.empty(words.shape),
        np.empty(words.shape),
    )
    ahead, back, divided = steps.copy(), steps.T.copy(), np.empty((2, len(words)))
    _sweep(words, ahead, start, columns, lengths, stride, 1, arriving, prefixes, divided[0])
    _sweep(words, back, end, columns, lengths, stride, -1, arriving, suffixes, divided[1])
    return prefixes, arriving, suffixes, divided


@helper
def _logarithms(table: Table, lacking: Row) -> None:
    """Replace shares by what they are in nats; what each row lacks is given."""
    for t in range(len(table)):
        for k in range(table.shape[1]):
            table[t, k] = math.log(table[t, k]) + lacking[t]


@helper
def _meet(
    prefixes: Table, arriving: Table, suffixes: Table, moves: Table
) -> tuple[int, float, Table, Pairs]:
    """From both sweeps: how many words have a path, Z at the last, and all marginals."""
    T, K = prefixes.shape
    marginals, pairs = np.empty((T, K)), np.empty((T - 1, K, K))
    alive, total = 0, 0.0
    for t in range(T):
        total = 0.0
        for k in range(K):
            total += prefixes[t, k] * arriving[t, k]
        alive += total > 0.0
        for j in range(K):
            share = prefixes[t, j] / total if total > 0.0 else 0.0
            marginals[t, j] = min(share * arriving[t, j], 1.0)  # no rounding above
            if t < T - 1:
                for k in range(K):
                    pairs[t, j, k] = min(share * moves[j, k] * suffixes[t + 1, k], 1.0)
    return alive, total, marginals, pairs


@compiled(*CHAIN, types.float64, types.float64)
def tables(
    emissions: Table, transitions: Table, start: Row, end: Row, widest: float, half: float
) -> tuple[bool, float, Table, Table, Table, Pairs]:
    """Both sweeps by products with the checks of `exponentials`, before and after.

    Returns:
        Whether products are exact; if so log Z, log α, log β, (T, K) marginals and (T-1, K, K)
        those of pairs.
    """
    T, K = emissions.shape
    words, moves, best = emissions.copy(), np.empty((K + 2, K)), np.empty(T)
    for j in range(K + 2):
        _put(transitions[j] if j < K else (start if j == K else end), moves[j])
    best_move = max(_highest(moves.ravel()), -1e300)
    for t in range(T):
        top = _highest(words[t])
        best[t] = top if top > -math.inf else 0.0
    lowest_word, forbidden_word = _below(words, best)
    lowest_move, forbidden_move = _below(moves, np.full(K + 2, best_move))
    spread = -lowest_word - lowest_move
    if not spread <= widest:
        return False, 0.0, words, words, words, np.empty((0, K, K))
    stride = int(half / max(-lowest_move, math.log(K), 1e-6))

    columns, length = np.arange(T + 1), np.array([T])
    alpha, beta, suffixes, divided = sweeps(
        words, moves[:K], moves[K : K + 1], moves[K + 1 :], columns, length, stride
    )
    alive, total, marginals, pairs = _meet(alpha, beta, suffixes, moves)
    exact = alive == T
    if forbidden_word or forbidden_move:
        least = min(_least(alpha), _least(suffixes))
        exact = (exact or alive == 0) and least >= math.exp(spread - half)
    ahead, behind = divided[0] + np.cumsum(best + best_move), np.empty(T)
    carried = best_move
    for t in range(T - 1, -1, -1):
        behind[t] = carried + (divided[1, t + 1] if t < T - 1 else 0.0)
        carried += best[t] + best_move
    _logarithms(alpha, ahead)
    _logarithms(beta, behind)
    for k in range(K):  # as they are, to the last bit
        alpha[0, k], beta[-1, k] = start[k] + emissions[0, k], end[k]
    log_partition = math.log(total) + (ahead[-1] + best_move)
    return exact, log_partition, alpha, beta, marginals, pairs


@helper
def _reach(word: Row, before: Row, transitions: Table, found: Row) -> None:
    """What arrives at the next word, from the last one and what arrived there, by maxima."""
    _fill(found, -math.inf)
    for j in range(len(word)):
        for k in range(len(found)):
            way = (transitions[j, k] + word[j]) + before[j]
            found[k] = way if way > found[k] else found[k]


@helper
def _extend(best: Row, transitions: Table, word: Row, found: Row) -> None:
    """The best prefixes up to the next word, from four tags before it at a time."""
    K = len(best)
    _fill(found, -math.inf)
    for j in range(0, K - 3, 4):
        a, b, c, d = best[j], best[j + 1], best[j + 2], best[j + 3]
        for k in range(K):
            p, q = transitions[j, k] + a, transitions[j + 1, k] + b
            r, s = transitions[j + 2, k] + c, transitions[j + 3, k] + d
            p = p if p > q else q
            r = r if r > s else s
            p = p if p > r else r
            found[k] = p if p > found[k] else found[k]
    for j in range(K // 4 * 4, K):
        for k in range(K):
            p = transitions[j, k] + best[j]
            found[k] = p if p > found[k] else found[k]
    for k in range(K):
        found[k] += word[k]


@helper
def _tie_bound(best: float, tolerance: float) -> float:
    """From where on a score ties with the best one."""
    return best - tolerance * max(abs(best), 1.0)


@helper
def _last(scores: Row, end: Row, tolerance: float) -> tuple[int, float, int]:
    """The lowest tag that ties with the best one, the score there, and how many do."""
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
    """Viterbi.

    Returns:
        The score of the best path, whether another one is as good, the (T,) path, and (T, K) best
        prefixes and backpointers.
    """
    T, K = emissions.shape
    best, arriving = np.empty((T, K)), np.empty((T, K))
    pointers, near = np.full((T, K), -1), np.zeros((T, K), np.int64)
    _put(start, arriving[0])
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
def best_paths(  # noqa: PLR0913 - a batch is four tables, and where they have what
    emissions: Table,
    into: Table,
    start: Table,
    end: Table,
    columns: Ids,
    lengths: Ids,
    tolerance: float,
) -> tuple[Ids, NDArray[np.bool_]]:
    """Those of packed sentences: see `crfviz.chain.engine.packed`.

    Args:
        emissions: (N, K) in rows.
        into: (K to, K from) transitions.
        start: (B, K) of each place, or (1, K).
        end: the same.
        columns: (T,) the first row of each.
        lengths: (B,) words of each place.
        tolerance: of ties.

    Returns:
        (N,) tag of each row, and (B,) whether a path of each place is allowed.
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
    """From `begin` on, the place of the next larger number, among equals the next; -1 if none."""
    found = -1
    for i in range(begin, len(numbers)):
        number = numbers[i]
        later = number > value or (number == value and i > place)
        if later and number < math.inf and (found < 0 or number < numbers[found]):
            found = i
    return found


@helper
def _weigh(ways: Row, tolerance: float, losses: Row) -> int:
    """What each way loses against the best one, and the lowest tag that loses nothing."""
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
    """What each choice of a tag before loses, the best one, and the score of the best path.

    From the end on: row 0 chooses the last tag, from no tag in particular, row s that before word
    T-s.
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
    """Take the best choices from step `begin` on, and note the cheapest detour at every step."""
    for s in range(len(first)):
        here = path[s]
        if s >= begin:
            path[s + 1] = first[s, here]
        after = _next(losses[s, here], 0, 0.0, first[s, here])
        leaving[s] = losses[s, here, after] if after >= 0 else math.inf


@helper
def _other(losses: Pairs, first: Tags, path: Ids, at: int, tag: int) -> int:
    """The next best choice at a step, after `tag`, or if that is -1 after the best; -1 if none."""
    if at < 0:
        return -1
    here = path[at]
    last = tag if tag >= 0 else first[at, here]
    return int(_next(losses[at, here], 0, losses[at, here, last], last))


@compiled(*CHAIN, types.float64, types.int64)
def k_best(
    emissions: Table, transitions: Table, start: Row, end: Row, tolerance: float, k: int
) -> tuple[float, Row, Tags]:
    """The search of `crfviz.chain.decoding.k_best`, step by step and in its order.

    Returns:
        The score of the best path, what each path loses against it, at most (k,), and the paths
        from their ends on, (k, T).
    """
    losses, first, score = _choices(emissions, transitions, start, end, tolerance)
    T = len(emissions)
    paths, lost = np.zeros((k, T + 1), np.int64), np.empty(k)
    leaving, begin = np.empty((k, T)), np.zeros(k, np.int64)  # where a detour may leave a path
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
