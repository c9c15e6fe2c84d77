"""Every decoder and table of one chain, computed once, and two such chains compared.

Letters: `T` tokens, `K` tags. One call runs every decoder and table on the same potentials, so that
no two pictures of a sentence can disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from crfviz.chain.decoding.decoders import greedy_paths, likeliest
from crfviz.chain.decoding.viterbi import Viterbi, best_prefixes, k_best, viterbi
from crfviz.chain.distribution import (
    Path,
    SampleCounts,
    TagIds,
    pair_marginals,
    sample,
    sample_counts,
)
from crfviz.chain.engine.packing import chain_batch
from crfviz.chain.forward_backward import ForwardBackward, forward_backward
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(ShortRepr):
    """One sentence's potentials with all tables and decoded paths."""

    potentials: Potentials
    forward_backward: ForwardBackward
    viterbi: Viterbi | None  # None when every path is forbidden
    best: Tensor  # (T, K) Viterbi's table, there even when every path is forbidden
    backpointers: Tensor  # (T, K) long, likewise; row 0 is -1
    greedy: list[int]  # T tag ids, each word alone
    left_to_right: list[int]  # T tag ids, committing in turn
    max_marginal: list[int] | None  # T tag ids; None when every path is forbidden
    whole: "Analysis | None" = None  # of the sentence, where this is a window of it
    first: int = 0  # position of the window's first word in the sentence

    @property
    def sentence(self) -> "Analysis":
        """The whole sentence: Z, entropy and the scores of paths are its alone."""
        return self.whole or self

    def window(self, first: int, length: int) -> "Analysis":
        """Return the numbers of `length` words from position `first` on, which stay the sentence's.

        Tables, marginals and paths are cut out. `potentials` hold the scores to be shown: whatever
        is computed is computed from `sentence`.
        """
        span, steps = slice(first, first + length), slice(first, first + length - 1)
        chain, tables, best = self.potentials, self.forward_backward, self.viterbi
        return Analysis(
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
        """K names."""
        return self.potentials.tag_names

    @property
    def words(self) -> tuple[str, ...]:
        """T words, or their numbers in the sentence where the potentials carry none."""
        numbers = range(self.first + 1, self.first + self.potentials.num_tokens + 1)
        return self.potentials.tokens or tuple(map(str, numbers))

    @property
    def paths(self) -> Mapping[str, list[int] | None]:
        """T tag ids by decoder; None for those that give none when every path is forbidden."""
        return {
            "greedy": self.greedy,
            "left_to_right": self.left_to_right,
            "viterbi": None if self.viterbi is None else self.viterbi.path,
            "max_marginal": self.max_marginal,
        }

    @property
    def entropy(self) -> float:
        """Of the paths of the sentence, nats."""
        return self.sentence.forward_backward.entropy

    def k_best(self, k: int) -> list[Path]:
        """Return the k best paths of the sentence, as `k_best` does."""
        return k_best(self.sentence.potentials, k)

    def sample(self, n: int, seed: int) -> list[Path]:
        """Return n paths of the sentence, as `sample` does; the seed fixes them."""
        return sample(self.sentence.potentials, n, torch.Generator().manual_seed(seed))

    def sample_counts(self, n: int, seed: int) -> SampleCounts:
        """Return n paths of the sentence and what they use, as `sample_counts` does."""
        return sample_counts(self.sentence.potentials, n, seed)

    def pairs(self, first: int, second: int) -> Tensor:
        """(K, K) joint probabilities of the tags of two words, as `pair_marginals` gives them."""
        return pair_marginals(self.forward_backward, first, second)

    @property
    def reached_backpointers(self) -> Tensor:
        """(T, K) backpointers, -1 also in cells that no prefix reaches: what a picture draws."""
        return self.backpointers.masked_fill(self.best == -torch.inf, -1)


def analyse(potentials: Potentials) -> Analysis:
    """Run every table and decoder on one sentence in O(T K^2).

    A chain without an allowed path raises nothing, so that a page can still draw what there is.
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
    """Two chains with the same tags; those of the second in the order of the first."""

    first: Analysis
    second: Analysis
    order: list[int]  # K tag ids of the second, by tag id of the first

    @property
    def in_order(self) -> bool:
        """Whether both chains number their tags alike."""
        return self.order == sorted(self.order)

    def second_tags(self, tags: Sequence[int]) -> list[int]:
        """Return tag ids of the second chain as those of the first with the same name."""
        return [self.order.index(tag) if tag >= 0 else -1 for tag in tags]

    def change(self) -> Tensor:
        """(T, K) marginals of the second minus those of the first."""
        second = self.second.forward_backward.marginals[:, self.order]
        return second - self.first.forward_backward.marginals

    def distances(self) -> list[float]:
        """Total variation distance between the marginals of each word, in [0, 1]."""
        distances: list[float] = (self.change().abs().sum(-1) / 2).tolist()
        return distances


def compare(first: Analysis, second: Analysis) -> TwoChains | None:
    """Return the comparison of two chains over the same words.

    None where the two have different tags, so that their tags mean different things.
    """
    if set(first.tags) != set(second.tags):
        return None
    return TwoChains(first, second, [second.tags.index(tag) for tag in first.tags])
