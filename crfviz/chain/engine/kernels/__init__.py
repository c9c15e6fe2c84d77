"""Numba decorators, signatures, shared helpers, and the compiled sums over all paths.

Kernels take emissions (T, K), one matrix of transitions (K from, K to), start and end (K,).
Constants are arguments, because Numba freezes the globals of other modules. It caches a kernel by
the kernel's own file, so clear the cache after changing a helper in this file.
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
    """Compile a helper inline into the loops that call it."""
    compiled_loop: Loop = njit(nogil=True, error_model="numpy")(loop)
    return compiled_loop


def compiled(*arguments: types.Type) -> Callable[[Loop], Loop]:
    """Load from Numba's cache, or compile eagerly and cache; see `kernel_cache`."""
    compile_it: Callable[[Loop], Loop] = njit(
        arguments, cache=True, nogil=True, error_model="numpy"
    )
    return compile_it


@helper
def copy_row(row: Row, here: Row) -> None:
    for k in range(len(here)):  # a slice assignment takes seconds to compile
        here[k] = row[k]


@helper
def fill(row: Row, number: float) -> None:
    for k in range(len(row)):
        row[k] = number


@helper
def _highest(row: Row) -> float:
    highest = -math.inf
    for score in row:
        highest = max(highest, score)
    return highest


@helper
def _below(rows: Table, best: Row) -> tuple[float, bool]:
    """Replace each row by exp(score - best score of the row).

    Returns:
        The lowest finite difference, and whether a score is forbidden.
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
    K = len(before)
    fill(here, 0.0)
    for j in range(0, K - 3, 4):
        a, b, c, d = before[j], before[j + 1], before[j + 2], before[j + 3]
        for k in range(K):
            p, q = a * step[j, k] + b * step[j + 1, k], c * step[j + 2, k] + d * step[j + 3, k]
            here[k] += p + q
    for j in range(K // 4 * 4, K):
        for k in range(K):
            here[k] += before[j] * step[j, k]


@helper
def _products(rows: Table, before: int, step: Table, out: Table, here: int, count: int) -> None:
    """Multiply rows from `before` on by a matrix, two at a time, into rows from `here` on.

    It indexes with two indices, because a view of each row would take as long as the products.
    """
    K = len(step)
    for p in range(0, count - 1, 2):
        q, r = before + p, here + p
        for k in range(K):
            out[r, k] = out[r + 1, k] = 0.0
        for j in range(0, K - 3, 4):
            a, b, c, d = rows[q, j], rows[q, j + 1], rows[q, j + 2], rows[q, j + 3]
            e, f, g, h = rows[q + 1, j], rows[q + 1, j + 1], rows[q + 1, j + 2], rows[q + 1, j + 3]
            for k in range(K):
                w, x, y, z = step[j, k], step[j + 1, k], step[j + 2, k], step[j + 3, k]
                out[r, k] += (a * w + b * x) + (c * y + d * z)
                out[r + 1, k] += (e * w + f * x) + (g * y + h * z)
        for j in range(K // 4 * 4, K):
            for k in range(K):
                out[r, k] += rows[q, j] * step[j, k]
                out[r + 1, k] += rows[q + 1, j] * step[j, k]
    if count % 2:
        _product(rows[before + count - 1], step, out[here + count - 1])


@helper
def _least(table: Table) -> float:
    least = math.inf
    for row in table:
        for number in row:
            least = number if 0.0 < number < least else least
    return least


@helper
def _divided(row: Row) -> float:
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
    """Sweep in one direction, forward if `order` is 1, backward if -1, as in `sweeps`."""
    T = len(columns) - 1
    for i in range(T):
        t = i if order == 1 else T - 1 - i
        here, size = columns[t], columns[t + 1] - columns[t]
        before, going = here, 0  # first row and number of the words before
        if i > 0:
            before = columns[t - order]
            going = min(size, columns[t - order + 1] - before)
        _products(reached, before, steps, arriving, here, going)
        for p in range(going, size):
            copy_row(begin[p if len(begin) > 1 else 0], arriving[here + p])
        for row in range(here, here + size):
            for k in range(words.shape[1]):
                reached[row, k] = arriving[row, k] * words[row, k]
        for p in range(size):
            divided[here + p] = divided[before + p] if p < going else 0.0
            if (t + 1 if order == 1 else lengths[p] - t) % stride == 0:
                divided[here + p] += _divided(reached[here + p])


@compiled(TABLE, TABLE, TABLE, TABLE, IDS, IDS, types.int64)
def sweeps(
    words: Table,
    steps: Table,
    start: Table,
    end: Table,
    columns: Ids,
    lengths: Ids,
    stride: int,
) -> tuple[Table, Table, Table, Table]:
    """Return both sweeps of packed sentences; see `crfviz.chain.engine.sweeps` and `packing`.

    Args:
        words: (N, K) in rows.
        steps: (K from, K to).
        start: (B, K) of each place, or (1, K).
        end: the same.
        columns: (T+1,) the first row of each position, and N.
        lengths: (B,) number of words of each place, longest first.
        stride: number of steps after which a row is divided by its sum.

    Returns:
        Prefixes, incoming sums from the end and suffixes, (N, K), and the log divisors of prefixes
        and suffixes, (2, N).
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
    """Convert to logs in place, adding each row's offset `lacking`, in nats."""
    for t in range(len(table)):
        for k in range(table.shape[1]):
            table[t, k] = math.log(table[t, k]) + lacking[t]


@helper
def _meet(
    prefixes: Table, arriving: Table, suffixes: Table, moves: Table
) -> tuple[int, float, Table, Pairs]:
    """Combine both sweeps: number of words with a path, Z at the last word, and marginals."""
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
            marginals[t, j] = min(share * arriving[t, j], 1.0)  # rounding must not exceed 1
            if t < T - 1:
                for k in range(K):
                    pairs[t, j, k] = min(share * moves[j, k] * suffixes[t + 1, k], 1.0)
    return alive, total, marginals, pairs


@compiled(*CHAIN, types.float64, types.float64)
def tables(
    emissions: Table, transitions: Table, start: Row, end: Row, widest: float, half: float
) -> tuple[bool, float, Table, Table, Table, Pairs]:
    """Return both sweeps by products, with the checks of `crfviz.chain.engine.sweeps`.

    Returns:
        Whether products are exact; if so log Z, log α, log β, (T, K) marginals and (T-1, K, K)
        pair marginals.
    """
    T, K = emissions.shape
    words, moves, best = emissions.copy(), np.empty((K + 2, K)), np.empty(T)
    for j in range(K + 2):
        copy_row(transitions[j] if j < K else (start if j == K else end), moves[j])
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
    for k in range(K):  # exact copies, bit by bit
        alpha[0, k], beta[-1, k] = start[k] + emissions[0, k], end[k]
    log_partition = math.log(total) + (ahead[-1] + best_move)
    return exact, log_partition, alpha, beta, marginals, pairs


@compiled(TABLE, IDS, IDS)
def below_best(padded: Table, tags: Ids, cells: Ids) -> tuple[float, Table, Row, Ids]:
    """Pack a batch (B * T, K) with its tags, and subtract each word's best score.

    Returns:
        The lowest number of the rows, -inf if a score is not finite or a tag is unknown; the rows
        (N, K), their best scores (N,) and their tags (N,).
    """
    K = padded.shape[1]
    rows, best, own = (
        np.empty((len(cells), K)),
        np.empty(len(cells)),
        np.empty(len(cells), np.int64),
    )
    lowest, valid = 0.0, True
    for r in range(len(cells)):
        word, row = padded[cells[r]], rows[r]
        best[r], own[r] = _highest(word), tags[cells[r]]
        valid &= 0 <= own[r] < K
        for k in range(K):
            row[k] = word[k] - best[r]
            valid &= row[k] > -math.inf  # nor NaN
            lowest = row[k] if row[k] < lowest else lowest
    return (lowest if valid else -math.inf), rows, best, own


@compiled(TABLE, IDS, IDS, TABLE, TABLE, TABLE, ROW, IDS, IDS)
def likelihoods(  # noqa: PLR0913 - a batch, its sweeps, and where they have what
    padded: Table,
    tags: Ids,
    cells: Ids,
    moves: Table,
    prefixes: Table,
    arriving: Table,
    removed: Row,
    columns: Ids,
    lengths: Ids,
) -> tuple[Row, Row]:
    """Return the log-likelihood of each place, (B,), and the sums of both sweeps, (N,).

    The batch is (B * T, K) nats, its words at the indices `cells`; `moves` are transitions, start
    and end, (K + 2, K) nats. `removed` (N,) are the nats that were subtracted before the products:
    at each row its best score and move, at a last word also the log divisor. Other arguments are as
    in `sweeps`.
    """
    K = prefixes.shape[1]
    values, totals = np.zeros(len(lengths)), np.zeros(len(cells))
    for t in range(len(columns) - 1):
        for place in range(columns[t + 1] - columns[t]):
            r = columns[t] + place
            for k in range(K):
                totals[r] += prefixes[r, k] * arriving[r, k]
            before = K if t == 0 else tags[columns[t - 1] + place]
            values[place] += padded[cells[r], tags[r]] + moves[before, tags[r]] - removed[r]
            if t == lengths[place] - 1:
                values[place] += moves[K + 1, tags[r]] - math.log(totals[r])
    return values, totals


@compiled(TABLE, TABLE, ROW, ROW, IDS, IDS, IDS, IDS, types.int64)
def slopes(  # noqa: PLR0913 - both sweeps, the weights, and where they have what
    prefixes: Table,
    arriving: Table,
    totals: Row,
    weights: Row,
    tags: Ids,
    cells: Ids,
    columns: Ids,
    lengths: Ids,
    size: int,
) -> tuple[Table, Table, Table]:
    """Return the gradient of the weighted sum of `likelihoods`, without expected transitions.

    Returns:
        (size, K) for the padded batch; (K + 2, K) for transitions, start and end; and (N-B, K), for
        each word except first ones, the prefix before it divided by Z, times minus the weight.
    """
    K = prefixes.shape[1]
    padded, moves = np.zeros((size, K)), np.zeros((K + 2, K))
    ahead = np.empty((len(cells) - len(lengths), K))
    for t in range(len(columns) - 1):
        for place in range(columns[t + 1] - columns[t]):
            r, weight = columns[t] + place, weights[place]
            row, share = padded[cells[r]], -weight / totals[r]
            for k in range(K):
                row[k] = prefixes[r, k] * share * arriving[r, k]
            row[tags[r]] += weight
            if t < lengths[place] - 1:
                later = ahead[columns[t + 1] + place - len(lengths)]
                for k in range(K):
                    later[k] = prefixes[r, k] * share
            if t > 0:
                moves[tags[columns[t - 1] + place], tags[r]] += weight
            for k in range(K):
                moves[K, k] += row[k] if t == 0 else 0.0
                moves[K + 1, k] += row[k] if t == lengths[place] - 1 else 0.0
    return padded, moves, ahead
