"""When two scores count as equal, and which of them wins.

Two products that are equal on paper differ in the last bit once they are sums of float64 logarithms
taken in another order (the ice-cream diary of Eisner, 2002, has two best paths that differ so).
Scores that are closer than `TOLERANCE`, relative to the best one, are therefore a tie, and a tie
goes to the lowest tag id. A sum of T rounded terms is off by about T * 1e-16 of its size, so the
tolerance holds for sentences of some thousand words; in float32 it finds exact ties only.
"""

from torch import Tensor, uint8

TOLERANCE = 1e-12  # times the size of the best score; scores below 1 count as 1


def near_best(scores: Tensor, dim: int) -> Tensor:
    """True where a score along `dim` ties with the best one, in the shape of `scores`."""
    best = scores.amax(dim, keepdim=True)
    return scores >= best - TOLERANCE * best.abs().clamp(min=1.0)


def lowest_best(scores: Tensor, dim: int) -> Tensor:
    """The lowest index along `dim` whose score ties with the best one; 0 where all are -inf."""
    return near_best(scores, dim).to(uint8).argmax(dim)
