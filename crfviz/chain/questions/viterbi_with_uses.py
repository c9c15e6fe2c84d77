"""Best paths that know how often they use a transition: the loops over time behind tipping points.

`best_by_uses` adds the number of uses n to the state of Viterbi's recursion. For the weight a -> b,

    best_t(k, n) = e_t(k) + max( max_{(j,k) != (a,b)} [best_{t-1}(j, n) + w(j, k)],
                                 best_{t-1}(a, n-1)  if k = b )

so that the weight itself counts in n and not in the score. `best_with_change` does not separate the
counts but changes one weight by a given number, for many weights at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Array, Potentials

Ids = NDArray[np.int64]


def best_by_uses(potentials: Potentials, before: int, after: int) -> Array:
    """The best score among the paths with exactly n uses of a transition, for every n.

    The value of the transition itself is left out, even where it is -inf. O(T^2 K^2), vectorised
    over tags and counts.

    Returns:
        (T,) nats for n from 0 to T-1; -inf where no allowed path has n uses.
    """
    emissions, steps, start, end = potentials.arrays()
    num_tokens, num_tags = emissions.shape
    others = steps.copy()
    others[:, before, after] = -np.inf
    table = np.full((num_tags, num_tokens), -np.inf)  # (K, n)
    table[:, 0] = start + emissions[0]
    for t in range(1, num_tokens):
        here = table[:, : t + 1]  # more than t uses are not possible yet
        reached = (here[:, None, :] + others[t - 1, :, :, None]).max(0)  # (K to, t+1)
        reached[after, 1:] = np.maximum(reached[after, 1:], here[before, :-1])
        table[:, : t + 1] = reached + emissions[t, :, None]
    best: Array = (table + end[:, None]).max(0)
    return best


@dataclass(frozen=True, eq=False)
class Changed:
    """The best score under each of B changes of one transition, and a path that has it."""

    score: Array  # (B,) nats
    uses: Ids  # (B,) how often that path uses the changed transition


def best_with_change(potentials: Potentials, moves: Ids, changes: Array) -> Changed:
    """Viterbi's recursion for B chains that differ from one chain in one transition each.

    Args:
        potentials: the chain, with one matrix for all steps.
        moves: (B, 2) tag ids, from and to.
        changes: (B,) nats to add to the transition.
    """
    emissions, _, start, end = potentials.arrays()
    transitions = potentials.transitions.detach().numpy()
    batch = np.arange(len(moves))
    before, after = moves.T
    changed = np.repeat(transitions[:, :, None], len(moves), -1)  # (K from, K to, B)
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
