"""The loops over time of a linear-chain CRF, for one sentence and for padded batches.

With emissions e_t(k), transitions w(j, k) from j to k, start s(k) and end f(k), in nats:

    forward    α_1(k) = s(k) + e_1(k)      α_t(k) = e_t(k) + ⊕_j [α_{t-1}(j) + w(j, k)]
    backward   β_T(j) = f(j)               β_t(j) = ⊕_k [w(j, k) + e_{t+1}(k) + β_{t+1}(k)]
    total      ⊕_k [α_T(k) + f(k)]

⊕ is log-sum-exp for sums over paths and max for the best path: one recursion, two readings.

Emissions are (..., T, K), transitions (K, K) or (T-1, K, K), from and to, start and end (K,). A
`...` is nothing for one sentence and B for a batch. In a batch, `mask` (B, T) is True at words and
False at padding, and words come first (`crfviz.chain.crf` checks this); a padded column repeats the
column before it, so the last one always holds the result. All functions can be differentiated,
and no gradient is NaN where scores are -inf. `forward` and `backward` also take one sentence as
NumPy arrays, without mask and gradient: the same loop at a third of the time a step.

Two products that are equal on paper differ in the last bit once they are sums of float64 logarithms
taken in another order (the ice-cream diary of Eisner, 2002, has two best paths that differ so).
Scores that are closer than `TOLERANCE`, relative to the best one, are therefore a tie, and a tie
goes to the lowest tag id (`crfviz.chain.engine.packing.lowest_best`). A sum of T rounded terms is
off by about T * 1e-16 of its size, so the tolerance holds for sentences of some thousand words; in
float32 it finds exact ties only.

Source: Sutton and McCallum, "An Introduction to Conditional Random Fields" (2012), section 4.1.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

TOLERANCE = 1e-12  # times the size of the best score; scores below 1 count as 1

Array = TypeVar("Array", Tensor, NDArray[np.float64], NDArray[np.float32])
Ids = NDArray[np.int64]
Scores = NDArray[np.float64]
Tags = TypeVar("Tags", int, Tensor)  # one tag, or N of them


def logsumexp(scores: Array, dim: int) -> Array:
    """Like torch.logsumexp, but an all -inf row has gradient 0 instead of NaN."""
    if not isinstance(scores, Tensor):
        return np.asarray(np.logaddexp.reduce(scores, dim))
    if not scores.requires_grad:
        return torch.logsumexp(scores, dim)
    dead = torch.isneginf(scores).all(dim)
    alive = scores.masked_fill(dead.unsqueeze(dim), 0.0)
    return torch.logsumexp(alive, dim).masked_fill(dead, -torch.inf)


def maximum(scores: Array, dim: int) -> Array:
    """Return the largest score along `dim`."""
    if not isinstance(scores, Tensor):
        return np.asarray(np.maximum.reduce(scores, dim))
    return scores.amax(dim)


def forward(
    emissions: Array,
    transitions: Array,
    start: Array,
    mask: Tensor | None = None,
    reduce: Callable[[Array, int], Array] = logsumexp,
) -> Array:
    """Return the table of prefixes: α_t(k), or with `reduce=maximum` the best one ending in k at t.

    It is (..., T, K), emission at t and start included.
    """
    columns = _columns(emissions)
    table = [start + columns[0]]
    for t, step in enumerate(_steps(transitions, len(columns)), start=1):
        candidates = table[-1][..., :, None] + step  # (..., K from, K to)
        reached = reduce(candidates, -2) + columns[t]
        table.append(_where(mask, t, reached, table[-1]))
    return _table(table)


def backward(
    emissions: Array,
    transitions: Array,
    end: Array,
    mask: Tensor | None = None,
    reduce: Callable[[Array, int], Array] = logsumexp,
) -> Array:
    """Return the table of suffixes: β_t(j), or with `reduce=maximum` the best one after j at t.

    It is (..., T, K), emission at t excluded and end included; at padding `end` itself.
    """
    columns = _columns(emissions)
    steps = _steps(transitions, len(columns))
    table = [end]
    if isinstance(end, Tensor):
        table = [end.expand_as(columns[-1])]
    for t in range(len(columns) - 1, 0, -1):
        arriving = columns[t] + table[-1]
        left = reduce(steps[t - 1] + arriving[..., None, :], -1)  # (..., K from, K to)
        table.append(_where(mask, t, left, table[-1]))
    return _table(table[::-1])


def log_partition(
    emissions: Array, transitions: Array, start: Array, end: Array, mask: Tensor | None = None
) -> Array:
    """Return log Z in nats, shape (...); -inf if no path is allowed."""
    log_alpha = forward(emissions, transitions, start, mask)
    return logsumexp(log_alpha[..., -1, :] + end, -1)


def path_score(
    emissions: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    tags: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """Score of paths: start, emissions, transitions and end added up; -inf for a forbidden path.

    `tags` are (..., T) long, one path for each sentence, or (N, T), N paths of one sentence; at
    padding any valid tag id. The scores are (...) or (N,) nats.
    """
    num_tokens = tags.shape[-1]
    emissions = emissions.expand(*tags.shape, -1)
    here = emissions.gather(-1, tags.unsqueeze(-1)).squeeze(-1)
    before, after = tags[..., :-1], tags[..., 1:]
    if transitions.dim() == 2:
        move = transitions[before, after]
    else:
        move = transitions[torch.arange(num_tokens - 1, device=tags.device), before, after]
    last = tags[..., -1]
    if mask is not None:
        here = torch.where(mask, here, 0.0)
        move = torch.where(mask[:, 1:], move, 0.0)
        last = tags.gather(-1, mask.sum(-1, keepdim=True) - 1).squeeze(-1)
    return start[tags[..., 0]] + here.sum(-1) + move.sum(-1) + end[last]


def follow(first: int, rows: Iterable[Sequence[int]]) -> list[int]:
    """Walk along pointers: each row names the next tag for every tag one can be at.

    Example:
        >>> follow(0, [[2, 0, 1], [0, 0, 1]])
        [0, 2, 1]
    """
    path = [first]
    for row in rows:
        path.append(row[path[-1]])
    return path


def leading(table: Array, transitions: Array) -> Array:
    """Return the scores of the prefixes that lead to each tag, from the table of `forward`.

    It is table_t(j) + w(j, k), nats, (T-1, K to, K from): a row for each tag one may come to.
    """
    return (table[:-1, :, None] + transitions).swapaxes(-1, -2)


def walk_back(last: Array, before: Array, choose: Callable[[Array], Tags]) -> list[Tags]:
    """Choose the last tag of one sentence, then each tag before it by the row of the one after.

    With the best choice among scores of best prefixes this is the best path, with a random choice
    by probabilities a sample.

    Args:
        last: (K,) of ending with a tag.
        before: (T-1, K to, K from), as from `leading`.
        choose: a tag by (K,) numbers, or N tags by (K,) or (N, K) numbers.

    Returns:
        T tags, or T times N tags, first word first.
    """
    tags = [choose(last)]
    for t in range(len(before) - 1, -1, -1):
        tags.append(choose(before[t][tags[-1]]))
    return tags[::-1]


def products(first: Tensor, weights: Tensor) -> Tensor:
    """Return the forward recursion without logarithms: each row is the row before times a matrix.

    From row 0, (K,), or several of them, (..., K), and weights (T-1, K, K) to (T, ..., K).
    """
    table = [first]
    for step in weights:
        table.append(table[-1] @ step)
    return torch.stack(table)


def best_by_uses(
    emissions: Scores, transitions: Scores, start: Scores, end: Scores, before: int, after: int
) -> Scores:
    """Return the best score among the paths with exactly n uses of a transition, for every n.

    The number of uses n joins the state. For the transition a -> b,

        best_t(k, n) = e_t(k) + max( max_{(j,k) != (a,b)} [best_{t-1}(j, n) + w(j, k)],
                                     best_{t-1}(a, n-1)  if k = b )

    so that its own value counts in n and not in the score: it is left out, even where it is -inf.
    O(T^2 K^2), vectorised over tags and counts. `before` and `after` are the ids of a and b, the
    transitions are (T-1, K, K).

    Returns:
        (T,) nats for n from 0 to T-1; -inf where no allowed path has n uses.
    """
    num_tokens, num_tags = emissions.shape
    others = transitions.copy()
    others[:, before, after] = -np.inf
    table = np.full((num_tags, num_tokens), -np.inf)  # (K, n)
    table[:, 0] = start + emissions[0]
    for t in range(1, num_tokens):
        here = table[:, : t + 1]  # more than t uses are not possible yet
        reached = (here[:, None, :] + others[t - 1, :, :, None]).max(0)  # (K to, t+1)
        reached[after, 1:] = np.maximum(reached[after, 1:], here[before, :-1])
        table[:, : t + 1] = reached + emissions[t, :, None]
    best: Scores = (table + end[:, None]).max(0)
    return best


@dataclass(frozen=True, eq=False)
class Changed:
    """The best score under each of B changes of one transition, and a path that has it."""

    score: Scores  # (B,) nats
    uses: Ids  # (B,) how often that path uses the changed transition


def best_with_change(
    emissions: Scores, matrix: Scores, start: Scores, end: Scores, moves: Ids, changes: Scores
) -> Changed:
    """Run Viterbi's recursion for B chains that differ from one in one transition each.

    B comes last, where NumPy is fast: `forward` and `walk_back` take three times as long. One
    `matrix` (K, K) is for all steps; `moves` (B, 2) are the tag ids, from and to, of the transition
    to which `changes` (B,) are added, in nats.
    """
    batch = np.arange(len(moves))
    before, after = moves.T
    changed = np.repeat(matrix[:, :, None], len(moves), -1)  # (K from, K to, B)
    changed[before, after, batch] += changes
    table = [np.repeat((start + emissions[0])[:, None], len(moves), -1)]  # (K, B) each
    for emission in emissions[1:]:
        table.append((table[-1][:, None, :] + changed).max(0) + emission[:, None])
    final = table[-1] + end[:, None]
    tag = final.argmax(0)
    score = final[tag, batch]
    uses = np.zeros(len(moves), np.int64)
    for best in reversed(table[:-1]):
        previous = (best + changed[:, tag, batch]).argmax(0)
        uses += (previous == before) & (tag == after)
        tag = previous
    return Changed(score=score, uses=uses)


def _columns(table: Array) -> Sequence[Array]:
    """Return the (..., K) columns of a (..., T, K) table."""
    if isinstance(table, Tensor):
        return table.unbind(-2)
    return list(table)


def _table(columns: list[Array]) -> Array:
    """Return the (..., T, K) table of (..., K) columns."""
    if isinstance(columns[0], Tensor):
        return torch.stack(columns, -2)
    return np.stack(columns, -2)


def _steps(transitions: Array, num_tokens: int) -> Sequence[Array]:
    """Return one (K, K) matrix for each of the T-1 steps between words."""
    if transitions.ndim == 2:
        return [transitions] * (num_tokens - 1)
    return list(transitions)


def _where(mask: Tensor | None, t: int, word: Array, padding: Array) -> Array:
    """Return `word` in the sentences of a batch that have a word at t, else `padding`."""
    if mask is None or not isinstance(word, Tensor):
        return word
    return torch.where(mask[:, t, None], word, padding)
