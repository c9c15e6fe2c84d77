"""Every decoder and table of one chain, computed once.

Letters: `T` tokens, `K` tags. One call runs every decoder and table on the same potentials, so that
no two pictures of a sentence can disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain.decoding.decoders import greedy_paths, likeliest
from crfviz.chain.decoding.viterbi import Viterbi, best_prefixes, viterbi
from crfviz.chain.engine.packing import chain_batch
from crfviz.chain.forward_backward import ForwardBackward, forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError


@dataclass(frozen=True, eq=False)
class Analysis:
    """One sentence's potentials with all tables and decoded paths."""

    potentials: Potentials
    forward_backward: ForwardBackward
    viterbi: Viterbi | None  # None when every path is forbidden
    best: Tensor  # (T, K) Viterbi's table, there even when every path is forbidden
    backpointers: Tensor  # (T, K) long, likewise; row 0 is -1
    greedy: list[int]  # T tag ids, each word alone
    left_to_right: list[int]  # T tag ids, committing in turn
    max_marginal: list[int] | None  # T tag ids; None when every path is forbidden

    @property
    def tags(self) -> tuple[str, ...]:
        """K names."""
        return self.potentials.tag_names

    @property
    def words(self) -> tuple[str, ...]:
        """T words, or their numbers where the potentials carry none."""
        numbers = range(1, self.potentials.num_tokens + 1)
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
