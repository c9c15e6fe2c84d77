"""How much probability a chain gives to tag sequences that BIO forbids.

    illegal mass = 1 - Z_legal / Z

The subtraction would lose all digits of a small mass. But every illegal path has a first illegal
move, so the mass is a sum of positive terms: legal up to a word, one illegal move, then anything.
In probability space, with I for illegal and α' for the forward table of legal prefixes alone,

    illegal mass = [ Σ_{k in I} s(k) e_1(k) β_1(k)
                     + Σ_t Σ_{(j,k) in I} α'_t(j) w(j, k) e_{t+1}(k) β_{t+1}(k) ] / Z

Source: forward and backward as in Sutton and McCallum (2012), section 4.1; the rules are those of
`crfviz.chain.constraints`.
"""

import math
from dataclasses import dataclass

import numpy as np

from crfviz.chain import recursions
from crfviz.chain.constraints import bio_rules, constrain
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import NoPathError


@dataclass(frozen=True)
class ConstraintEffect:
    """What the BIO constraints do to one sentence."""

    mass: float  # probability of illegal paths without them, in [0, 1]
    free: list[int]  # T tag ids, the best path without them
    constrained: list[int] | None  # T tag ids, the best with them; None if no legal path is allowed
    changed: list[int]  # the positions where the two differ


def illegal_mass(potentials: Potentials) -> float:
    """The probability of all paths that break BIO by the names of the tags, in O(T K^2).

    The chain is one without the constraints. Exact also where it is tiny; exactly 0 if every
    illegal move is forbidden already, and for tags that are not BIO.

    Example:
        >>> free = Potentials([[0.0, 0.0, 0.0]], [[0.0] * 3] * 3, tags=["O", "B-PER", "I-PER"])
        >>> round(illegal_mass(free), 3)
        0.333
    """
    emissions, steps, start, end = potentials.arrays()
    rules = bio_rules(potentials.tag_names)
    legal_start, legal_moves = rules.start.numpy(), rules.transitions.numpy()
    beta = recursions.backward(emissions, steps, end)
    total = float(recursions.logsumexp(start + emissions[0] + beta[0], -1))
    if total == -math.inf:
        best_path(potentials)  # says where the last prefix breaks off
    legal = recursions.forward(
        emissions,
        np.where(legal_moves, steps, -np.inf),
        np.where(legal_start, start, -np.inf),
    )
    starts = (start + emissions[0] + beta[0])[~legal_start]
    moves = legal[:-1, :, None] + steps + (emissions + beta)[1:, None, :]  # (T-1, K, K)
    first_faults = np.concatenate([starts, moves[:, ~legal_moves].ravel()])
    return min(1.0, math.fsum(np.exp(first_faults - total)))


def constraint_effect(potentials: Potentials) -> ConstraintEffect:
    """Decoding with and without the BIO constraints, for a chain without them, in O(T K^2)."""
    free = best_path(potentials)
    try:
        constrained = best_path(constrain(potentials))
    except NoPathError:
        return ConstraintEffect(illegal_mass(potentials), free, None, [])
    changed = [t for t, tag in enumerate(free) if tag != constrained[t]]
    return ConstraintEffect(illegal_mass(potentials), free, constrained, changed)
