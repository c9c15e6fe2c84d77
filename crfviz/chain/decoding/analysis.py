"""Decoders, every decoder and table of one chain, computed once, and two such chains compared.

Beam search extends each surviving prefix by every tag. Of the prefixes that end in the same tag
only the best survives, and of these the `width` best. The end score counts at the last word. So
width K is Viterbi, and width 1 greedy decoding. Source: Lowerre, "The Harpy Speech Recognition
System" (1976), chapter 3; merging prefixes is Viterbi's (1967).

Letters: `T` tokens, `K` tags. One call runs every decoder and table on the same potentials, so that
no two pictures of a sentence can disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.decoding.viterbi import Viterbi, best_prefixes, k_best, viterbi
from crfviz.chain.distribution import (
    Path,
    SampleCounts,
    TagIds,
    pair_marginals,
    require_path,
    sample,
    sample_counts,
)
from crfviz.chain.engine.packing import ChainBatch, ChainsOrBatch, Packed, chain_batch, lowest_best
from crfviz.chain.forward_backward import ForwardBackward, forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError, NoPathError

How = Literal["independent", "left_to_right"]
MAX_SCORES = 2**16  # scores of steps between all tags that are compared in one call
FEW_TAGS = 40  # up to here, comparing the steps from all tags is faster than a loop


def greedy(potentials: Potentials, how: How = "independent") -> TagIds:
    """Return a list of tag ids, each decided for good at once; a tie goes to the lowest id.

    "independent" takes the best emission of each word. "left_to_right" commits to each tag in turn
    by emission plus transition from the tag just chosen, with start at the first word and end at
    the last. If every such choice is forbidden, it takes the best emission of the word, because it
    cannot go back; the path may then be forbidden. Greedy decoding never raises `NoPathError`.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> greedy(potentials), greedy(potentials, "left_to_right")
        ([0, 1], [0, 0])
    """
    return TagIds(greedy_paths([potentials], how)[0], potentials.tags)


def greedy_paths(chains: ChainsOrBatch, how: How = "independent") -> list[list[int]]:
    """Return the greedy paths of chains with the same tags, vectorised over the chains."""
    if how not in get_args(How):
        raise CrfvizError(f"how must be one of {get_args(How)}, got {how!r}")
    batch = chain_batch(chains)
    tags = lowest_best(batch.emissions) if how == "independent" else _left_to_right(batch)
    return [path.tolist() for path in batch.split(tags)]


def _left_to_right(batch: ChainBatch) -> NDArray[np.int64]:
    """Return (N,) tags of the rows, each the best after the one chosen before it."""
    packed, emissions = batch.packed, batch.emissions
    gains = emissions.copy()
    gains[packed.last] += batch.end
    gains[packed.first] += batch.start
    if len(gains[packed.first]) == 1 and gains.shape[1] <= FEW_TAGS:
        return _one_left_to_right(batch, gains)
    tags = np.empty(len(gains), np.int64)
    tags[packed.first] = _choose(gains[packed.first], emissions[packed.first])
    for before, here in zip(packed.previous, packed.columns[1:], strict=True):
        tag = tags[before]
        shared = batch.steps.ndim == 2
        ways = batch.steps[tag] if shared else batch.steps[here][np.arange(len(tag)), tag]
        tags[here] = _choose(ways + gains[here], emissions[here])
    return tags


def _one_left_to_right(batch: ChainBatch, gains: Array) -> NDArray[np.int64]:
    """Return the tags of a single sentence.

    It finds the best successor of every tag for many words in one call. This is faster than a loop
    over the words, because NumPy takes as long for one row of tags as for hundreds.
    """
    emissions, steps, num_tags = batch.emissions, batch.steps, gains.shape[1]
    tags = [int(_choose(gains[:1], emissions[:1])[0])]
    most = max(1, MAX_SCORES // num_tags**2)
    for begin in range(1, len(gains), most):
        here = slice(begin, begin + most)
        ways = (steps if steps.ndim == 2 else steps[here]) + gains[here, None]
        alone = np.broadcast_to(emissions[here, None], ways.shape)
        after = _choose(ways.reshape(-1, num_tags), alone.reshape(-1, num_tags))
        for best in after.reshape(-1, num_tags).tolist():
            tags.append(best[tags[-1]])
    return np.array(tags)


def _choose(scores: Array, emissions: Array) -> NDArray[np.int64]:
    """Return the best of each row of scores (n, K), or of emissions where all scores are -inf."""
    dead = np.isneginf(scores.max(1))
    if dead.any():
        scores = np.where(dead[:, None], emissions, scores)
    tags: NDArray[np.int64] = lowest_best(scores)
    return tags


def beams(chains: ChainsOrBatch, width: int) -> list[list[int]]:
    """Return the best surviving path of beam search for each chain, in O(T width K).

    All chains have the same tags; ties go to the lowest tag id. If every extension is forbidden,
    the search continues the best prefix with the best emissions of the word, as `greedy` does,
    because it cannot go back; the path may then be forbidden. Beam search never raises
    `NoPathError`. A width above K counts as K.

    Raises:
        CrfvizError: `width` is less than 1.

    Example:
        >>> potentials = Potentials([[1.0, 0.9], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]])
        >>> beams([potentials], 1), beams([potentials], 2)
        ([[0, 0]], [[1, 1]])
    """
    width = require_count("width", width)
    batch = chain_batch(chains)
    emissions, columns = batch.emissions, batch.packed.columns
    gains = emissions.copy()
    gains[batch.packed.last] += batch.end
    scores = np.empty_like(gains)
    pointers = np.zeros(gains.shape, np.intp)
    first = columns[0]
    scores[first] = _alive(batch.start + gains[first], emissions[first])
    for before, here in pairwise(columns):
        leaving = scores[before][: here.stop - here.start]
        kept = _best(leaving, width)
        ways = batch.steps[kept] if batch.steps.ndim == 2 else _rows(batch.steps[here], kept)
        candidates = _rows(leaving, kept)[..., None] + ways + gains[here][:, None]  # (n, width, K)
        reached = candidates.max(1)
        choice = np.where(np.isneginf(reached).all(1, keepdims=True), 0, candidates.argmax(1))
        pointers[here] = _rows(kept, choice)  # if all extensions are forbidden: the best prefix
        scores[here] = _alive(reached, emissions[here])
    tags = _backtrace(scores, pointers, batch.packed)
    return [path.tolist() for path in batch.split(tags)]


def _backtrace(scores: Array, pointers: NDArray[np.intp], packed: Packed) -> NDArray[np.int64]:
    tags = np.empty(len(scores), np.int64)
    tag, rows = scores[packed.last].argmax(1), packed.last
    tags[rows] = tag
    for here in packed.columns[1:]:
        size = here.stop - here.start
        tag = pointers[rows[:size], tag[:size]]
        rows = packed.mirrored[here]
        tags[rows] = tag
    return tags


def _best(scores: Array, width: int) -> NDArray[np.intp]:
    """Return the ids of the best scores, (n, width), best first; ties by lowest id."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :width]


def _rows(table: NDArray[Any], ids: NDArray[np.intp]) -> NDArray[Any]:
    """Select from each row of a table (n, K, ...) the entries with ids (n, m): (n, m, ...)."""
    return table[np.arange(len(ids))[:, None], ids]


def _alive(scores: Array, emissions: Array) -> Array:
    """Return the scores (n, K), or the emissions alone in rows where all scores are -inf."""
    return np.where(np.isneginf(scores).all(1, keepdims=True), emissions, scores)


def max_marginal(potentials: Potentials) -> TagIds:
    """Return a list of T tag ids, each the argmax of its marginals; a tie goes to the lowest id.

    These tags maximise the expected number of correct tags. Together they may form a forbidden
    path.
    """
    tables = forward_backward(potentials)
    require_path(tables.log_alpha, tables.log_alpha[-1] + potentials.end)
    return TagIds(likeliest(tables.marginals), potentials.tags)


def likeliest(marginals: Tensor) -> list[int]:
    """Return the argmax of each row of (T, K) marginals; a tie goes to the lowest id."""
    path: list[int] = lowest_best(marginals.detach().numpy()).tolist()
    return path


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(ShortRepr):
    """One sentence's potentials with all tables and decoded paths."""

    potentials: Potentials
    forward_backward: ForwardBackward
    viterbi: Viterbi | None  # None when every path is forbidden
    best: Tensor  # (T, K) Viterbi's table, also if every path is forbidden
    backpointers: Tensor  # (T, K) long, also if every path is forbidden; row 0 is -1
    greedy: list[int]  # T tag ids, the argmax of each word's emissions
    left_to_right: list[int]  # T tag ids, greedy from left to right
    max_marginal: list[int] | None  # T tag ids; None when every path is forbidden
    whole: "Analysis | None" = None  # analysis of the whole sentence, if this is a window
    first: int = 0  # position of the window's first word in the sentence

    @property
    def sentence(self) -> "Analysis":
        """The analysis of the whole sentence, which Z, entropy and path scores refer to."""
        return self.whole or self

    def window(self, first: int, length: int) -> Self:
        """Return a window of `length` words from position `first`, with the sentence's numbers.

        Tables, marginals and paths are slices. `potentials` hold only the scores to show; further
        computations use `sentence`.
        """
        span, steps = slice(first, first + length), slice(first, first + length - 1)
        chain, tables, best = self.potentials, self.forward_backward, self.viterbi
        return replace(
            self,
            potentials=chain.words_in(first, first + length),
            forward_backward=ForwardBackward(
                log_alpha=tables.log_alpha[span],
                log_beta=tables.log_beta[span],
                log_partition=tables.log_partition,
                marginals=tables.marginals[span],
                edge_marginals=tables.edge_marginals[steps],
            ),
            viterbi=best
            and replace(
                best,
                best=best.best[span],
                backpointers=best.backpointers[span],
                path=TagIds(best.path[span], chain.tags),
            ),
            best=self.best[span],
            backpointers=self.backpointers[span],
            greedy=self.greedy[span],
            left_to_right=self.left_to_right[span],
            max_marginal=self.max_marginal and self.max_marginal[span],
            whole=self,
            first=first,
        )

    @property
    def tags(self) -> tuple[str, ...]:
        return self.potentials.tag_names

    @property
    def words(self) -> tuple[str, ...]:
        """T words; their numbers in the sentence if the potentials have no words."""
        numbers = range(self.first + 1, self.first + self.potentials.num_tokens + 1)
        return self.potentials.tokens or tuple(map(str, numbers))

    @property
    def paths(self) -> Mapping[str, list[int] | None]:
        """T tag ids by decoder; None if a decoder finds no path."""
        return {
            "greedy": self.greedy,
            "left_to_right": self.left_to_right,
            "viterbi": None if self.viterbi is None else self.viterbi.path,
            "max_marginal": self.max_marginal,
        }

    @property
    def entropy(self) -> float:
        """Entropy of the distribution over the sentence's paths, nats."""
        return self.sentence.forward_backward.entropy

    def k_best(self, k: int) -> list[Path]:
        """Return the k best paths of the sentence, as `k_best` does."""
        return k_best(self.sentence.potentials, k)

    def sample(self, n: int, seed: int) -> list[Path]:
        """Return n paths of the sentence, as `sample` does; the seed fixes them."""
        return sample(self.sentence.potentials, n, torch.Generator().manual_seed(seed))

    def sample_counts(self, n: int, seed: int) -> SampleCounts:
        """Return n paths and their counts of tags and transitions, as `sample_counts` does."""
        return sample_counts(self.sentence.potentials, n, seed)

    def pairs(self, first: int, second: int) -> Tensor:
        """Return the (K, K) joint probabilities of the tags of two words, as `pair_marginals`."""
        return pair_marginals(self.forward_backward, first, second)

    @property
    def reached_backpointers(self) -> Tensor:
        """(T, K) backpointers for drawing: -1 also in cells that no allowed prefix reaches."""
        return self.backpointers.masked_fill(self.best == -torch.inf, -1)


def analyse(potentials: Potentials) -> Analysis:
    """Run every table and decoder on one sentence in O(T K^2).

    A chain without an allowed path raises no error, so that a page can still draw its tables.
    """
    tables = forward_backward(potentials)
    try:
        decoded = viterbi(potentials)
        best, backpointers = decoded.best, decoded.backpointers
    except NoPathError:
        decoded = None
        best, backpointers = best_prefixes(potentials)
    alone = chain_batch([potentials])
    return Analysis(
        potentials=potentials,
        forward_backward=tables,
        viterbi=decoded,
        best=best,
        backpointers=backpointers,
        greedy=greedy_paths(alone, how="independent")[0],
        left_to_right=greedy_paths(alone, how="left_to_right")[0],
        max_marginal=None if decoded is None else likeliest(tables.marginals),
    )


@dataclass(frozen=True, eq=False, repr=False)
class TwoChains(ShortRepr):
    """Two chains with the same tags; tags of the second are reordered to match the first."""

    first: Analysis
    second: Analysis
    order: list[int]  # K tag ids of the second, by tag id of the first

    @property
    def in_order(self) -> bool:
        """Return whether both chains have their tags in the same order."""
        return self.order == sorted(self.order)

    def second_tags(self, tags: Sequence[int]) -> list[int]:
        """Convert tag ids of the second chain to ids of the same tags in the first."""
        return [self.order.index(tag) if tag >= 0 else -1 for tag in tags]

    def change(self) -> Tensor:
        """Return (T, K) marginals of the second minus those of the first."""
        second = self.second.forward_backward.marginals[:, self.order]
        return second - self.first.forward_backward.marginals

    def distances(self) -> list[float]:
        """Return the total variation distance between the marginals of each word, in [0, 1]."""
        distances: list[float] = (self.change().abs().sum(-1) / 2).tolist()
        return distances


def compare(first: Analysis, second: Analysis) -> TwoChains | None:
    """Return the comparison of two chains over the same words.

    None if the two have different tags, so that they cannot be compared.
    """
    if set(first.tags) != set(second.tags):
        return None
    return TwoChains(first, second, [second.tags.index(tag) for tag in first.tags])
