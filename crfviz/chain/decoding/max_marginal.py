"""Max-marginal decoding: the likeliest tag of each word, taken alone."""

from torch import Tensor

from crfviz.chain.engine.arrays import lowest_best
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.paths import require_path
from crfviz.chain.potentials import Potentials


def max_marginal(potentials: Potentials) -> list[int]:
    """T tag ids, each the argmax of its marginals; a tie goes to the lowest id.

    It makes the expected number of right tags largest. The tags need not fit together: the path as
    a whole may be forbidden.
    """
    tables = forward_backward(potentials)
    require_path(tables.log_alpha, tables.log_alpha[-1] + potentials.end)
    return likeliest(tables.marginals)


def likeliest(marginals: Tensor) -> list[int]:
    """The argmax of each row of (T, K) marginals; a tie goes to the lowest id."""
    path: list[int] = lowest_best(marginals.detach().numpy()).tolist()
    return path
