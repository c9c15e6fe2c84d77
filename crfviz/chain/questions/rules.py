"""Probability and cost of a rule over the tags: the sum and the best of the paths that match it.

A rule is a regular expression (`crfviz.chain.patterns`), so it has an automaton. A chain times an
automaton is a chain. Its tags are pairs of a tag k and the state s of the automaton after that tag.
A path of pairs is one path of tags that the automaton can read. The recursions are therefore the
usual ones, over the pairs (j, r) from which k leads to s:

    α_t(k, s) = e_t(k) + ⊕_{(j, r)} [α_{t-1}(j, r) + w(j, k)]        Z_rule = Σ of those that accept

    P(rule | x) = Z_rule / Z

The sum over j is one matrix product for all states. So a sweep takes O(T S K^2); a matrix of all
pairs would take O(T (S K)^2). The automaton is deterministic: a pair in state s has one edge for
each tag that leads on from s. The product therefore has E <= S K^2 edges a step. For `.* A .{5}`
(S = 64) with K = 17 it has 9,248 of at most 18,496 edges. A matrix of the 544 pairs that occur
would have 295,936 cells.

Source: Allauzen, Mohri and Rastogi, "General Algorithms for Testing the Ambiguity of Finite
Automata" (2008), section 2, on products of weighted automata; the sums are forward-backward of
Sutton and McCallum (2012), section 4.1.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis, analyse, greedy_paths, likeliest
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.distribution import Path, SampleCounts, TagIds, counted, lead, probability
from crfviz.chain.engine.packing import chain_batch, log, lowest_finite, tie_bound
from crfviz.chain.forward_backward import ForwardBackward, forward_backward, log_partition
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.patterns import Automaton, automaton
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import NoPathError

UNDERFLOW = -700.0  # nats; exp of smaller numbers loses digits
Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Match(NotebookRepr):
    """The paths that match a rule, compared with all paths."""

    probability: float  # of the rule, in [0, 1]
    log_partition: float  # log-sum of the matching paths, nats
    path: list[int]  # T tag ids, the best matching path
    score: float  # of `path`, nats
    cost: float  # best score of all paths - `score`, nats, at least 0
    marginals: Tensor  # (T, K) p(y_t = k | rule, x); each row sums to 1
    states: Tensor  # (T, S) probability of each state of the automaton after each word


def match(potentials: Potentials, pattern: str) -> Match:
    """Return the numbers of the paths that match a rule with S states, in O(T S K^2).

    Ties go to the lowest tag ids, as in `viterbi`.

    Raises:
        FormatError, UnknownTagError, CrfvizError: the rule cannot be read or has more than 64
            states, see `crfviz.chain.patterns.automaton`.
        NoPathError: no allowed path matches it.

    Example:
        >>> coin = Potentials([[0.0, 1.0]] * 3, [[0.0, 0.0]] * 2, tags=["A", "B"])
        >>> found = match(coin, "B* A B*")
        >>> round(found.probability, 4), found.path, found.cost
        (0.4312, [1, 1, 0], 1.0)
    """
    rule = automaton(pattern, potentials.tag_names)
    path, best = best_match(potentials, pattern), best_path(potentials)
    emissions, steps, _, end = potentials.arrays()
    alpha = _prefixes(potentials, rule, _log_product, np.logaddexp.reduceat)
    final = np.where(rule.accepting[:, None], end, -np.inf)
    table = [final]
    for emission, step in zip(emissions[:0:-1], steps[::-1], strict=True):
        following = np.take_along_axis(table[-1] + emission, rule.next, 0)  # -1: masked below
        table.append(_log_product(np.where(rule.next < 0, -np.inf, following), step.T))
    weights = alpha + np.stack(table[::-1])
    pairs = np.exp(weights - weights.max((1, 2), keepdims=True))  # (T, S, K)
    pairs /= pairs.sum((1, 2), keepdims=True)
    total = float(np.logaddexp.reduce(alpha[-1] + final, None))
    ahead = lead(potentials, best, path)
    return Match(
        probability=probability(total, log_partition(potentials)),
        log_partition=total,
        path=TagIds(path, potentials.tags),
        score=ahead.rival.score,
        cost=max(0.0, ahead.total),
        marginals=torch.from_numpy(pairs.sum(1)),
        states=torch.from_numpy(pairs.sum(2)),
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ruled(Analysis):
    """Analysis of a sentence under a rule: only the paths that match it count.

    Log Z, marginals, paths and the results of the methods come from the chain of copies, with each
    copy read as its tag. Under a rule the tags alone do not form a chain: α, β and `best` are NaN,
    and all backpointers are -1. `potentials` and both greedy paths ignore the rule. `copies` covers
    the whole sentence, even if this analysis is a window of it.
    """

    pattern: str
    copies: Analysis  # of `Potentials.constrained`
    of: Tensor  # (K',) long, tag id of each copy

    @property
    def entropy(self) -> float:
        """Entropy of the matching paths, nats."""
        return self.copies.entropy

    def k_best(self, k: int) -> list[Path]:
        """Return the k best matching paths; their probabilities are conditional on the rule."""
        return self._read(self.copies.k_best(k))

    def sample(self, n: int, seed: int) -> list[Path]:
        """Return n random matching paths; the same seed gives the same paths."""
        return self._read(self.copies.sample(n, seed))

    def sample_counts(self, n: int, seed: int) -> SampleCounts:
        """Draw n matching paths, and count how often they use each weight."""
        return counted(self.of[self.copies.sample_counts(n, seed).paths], len(self.tags))

    def pairs(self, first: int, second: int) -> Tensor:
        """Return the (K, K) joint probabilities of the tags of two words, given the rule."""
        joint = self.copies.pairs(self.first + first, self.first + second)
        return _by_tags(joint, self.of, len(self.tags))

    def _read(self, paths: list[Path]) -> list[Path]:
        of, names = self.of.tolist(), self.potentials.tags
        return [
            replace(path, tags=TagIds([of[copy] for copy in path.tags], names)) for path in paths
        ]


def analyse_match(potentials: Potentials, pattern: str) -> Ruled:
    """Return the tables and paths of a sentence given a rule with K' copies of tags, in O(T K'^2).

    Like `analyse`, it raises no error if no path is possible.

    Raises:
        FormatError, UnknownTagError, CrfvizError: as `match` does.
    """
    copies, (T, K) = analyse(potentials.constrained(pattern)), potentials.emissions.shape
    of = torch.from_numpy(automaton(pattern, potentials.tag_names).copies[:, 0])
    sums, best, nothing = copies.forward_backward, copies.viterbi, torch.full((T, K), torch.nan)
    marginals, pointers = _by_tag(sums.marginals, of, K), torch.full((T, K), -1)
    if best is not None:
        path = TagIds(best_match(potentials, pattern), potentials.tags)
        best = replace(best, best=nothing, backpointers=pointers, path=path)
    batch = chain_batch([potentials])
    return Ruled(
        potentials=potentials,
        forward_backward=ForwardBackward(
            log_alpha=nothing,
            log_beta=nothing,
            log_partition=sums.log_partition,
            marginals=marginals,
            edge_marginals=_by_tags(sums.edge_marginals, of, K),
        ),
        viterbi=best,
        best=nothing,
        backpointers=pointers,
        greedy=greedy_paths(batch, how="independent")[0],
        left_to_right=greedy_paths(batch, how="left_to_right")[0],
        max_marginal=None if best is None else likeliest(marginals),
        pattern=pattern,
        copies=copies,
        of=of,
    )


def _by_tag(values: Tensor, of: Tensor, num_tags: int) -> Tensor:
    """Return (..., K') values as (..., K): the sum over the copies of each tag."""
    return values.new_zeros(*values.shape[:-1], num_tags).index_add_(-1, of, values)


def _by_tags(values: Tensor, of: Tensor, num_tags: int) -> Tensor:
    """Return (..., K', K') values as (..., K, K), summed over the copies of both tags."""
    return _by_tag(_by_tag(values, of, num_tags).mT, of, num_tags).mT


def best_match(potentials: Potentials, pattern: str) -> list[int]:
    """Return the best path that matches a rule, T tag ids; raises as `match` does."""
    rule = automaton(pattern, potentials.tag_names)
    _, steps, _, end = potentials.arrays()
    best = _prefixes(potentials, rule, _best_product, np.maximum.reduceat)
    candidates = best[-1][rule.accepting] + end
    if not candidates.max(initial=-np.inf) > -np.inf:
        raise NoPathError(_fault(potentials, rule))
    states, path = np.flatnonzero(rule.accepting), list[int]()
    for prefix, step in zip(best[-2::-1], steps[::-1], strict=True):
        states = _choose(candidates, states, path)
        # Tied prefixes may end in several states of the automaton: follow all of them.
        states = np.flatnonzero(np.isin(rule.next[:, path[-1]], states))
        candidates = prefix[states] + step[:, path[-1]]
    _choose(candidates, states, path)
    return path[::-1]


def best_given(potentials: Potentials, rule: str | None) -> list[int]:
    """Return the best path that matches a rule, or the best of all paths if it is None."""
    return best_path(potentials) if rule is None else best_match(potentials, rule)


def marginals_given(potentials: Potentials, rule: str | None) -> Tensor:
    """Return the (T, K) marginals given a rule, or of all paths if it is None."""
    if rule is None:
        return forward_backward(potentials).marginals
    return match(potentials, rule).marginals


def _choose(candidates: Array, states: Ids, path: list[int]) -> Ids:
    """Append the lowest of the best tags; return the states that tie for the best with it.

    The candidates are (n, K), a row for each of n states.
    """
    ties = candidates >= tie_bound(candidates.max())
    path.append(int(ties.any(0).argmax()))
    chosen: Ids = states[ties[:, path[-1]]]
    return chosen


def _prefixes(
    potentials: Potentials,
    rule: Automaton,
    product: Callable[[Array, Array], Array],
    reduce: Callable[[Array, Ids], Array],
) -> Array:
    """Return the sum or the best of the prefixes by word, state after it, and tag; (T, S, K)."""
    emissions, steps, start, _ = potentials.arrays()
    shape, tags = rule.next.shape, np.arange(len(start))
    # Moves (state before, tag), and the cells (state after, tag) that they lead to, sorted by cell.
    moves = np.flatnonzero(rule.next >= 0)
    cells = rule.next.ravel()[moves] * len(tags) + moves % len(tags)
    order = np.argsort(cells, kind="stable")
    moves, (cells, begins) = moves[order], np.unique(cells[order], return_index=True)
    first = np.full(shape, -np.inf)
    begun = rule.next[0] >= 0
    first[rule.next[0, begun], tags[begun]] = (start + emissions[0])[begun]
    table = [first]
    for emission, step in zip(emissions[1:], steps, strict=True):
        reached = np.full(first.size, -np.inf)
        reached[cells] = reduce(product(table[-1], step).ravel()[moves], begins)
        table.append(reached.reshape(shape) + emission)
    return np.stack(table)


def _best_product(left: Array, right: Array) -> Array:
    """Return the best sum for each state and tag, of (S, J) and (J, K) nats; (S, K)."""
    return np.asarray((left[:, :, None] + right).max(1))


def _log_product(left: Array, right: Array) -> Array:
    """Return the log of the product of exp of (S, J) and exp of (J, K) nats; (S, K).

    Each state has its own scale. If a factor would still lose digits, the sum uses logarithms.
    """
    scales = left.max(1, keepdims=True)
    scales = np.where(scales > -np.inf, scales, 0.0)
    top = max(float(right.max()), lowest_finite(right)[0])
    scaled, weights = left - scales, right - top
    if lowest_finite(scaled)[0] + lowest_finite(weights)[0] < UNDERFLOW:
        return np.asarray(np.logaddexp.reduce(left[:, :, None] + right, 1))
    return np.asarray(log(np.exp(scaled) @ np.exp(weights)) + scales + top)


def _fault(potentials: Potentials, rule: Automaton) -> str:
    """Return the reason why no path matches; raise if the chain itself has no path."""
    best_path(potentials)
    states = np.array([0])
    for _ in range(potentials.num_tokens):
        states = np.unique(rule.next[states])
        states = states[states >= 0]
    if not rule.accepting[states].any():
        return f"no sentence of {potentials.num_tokens} words can match the rule {rule.pattern}"
    return f"every path that matches the rule {rule.pattern} is forbidden"
