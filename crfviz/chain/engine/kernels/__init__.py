"""The loops over one chain as Numba compiles them; `crfviz.chain.engine.compiled` calls them.

They take emissions (T, K), one matrix of transitions (K from, K to), start and end (K,). What they
have to know of the rest of the program they are given: a constant of another module would stay as
it was when a loop was kept.
"""

from crfviz.chain.engine.kernels.paths import best_path, best_paths, k_best
from crfviz.chain.engine.kernels.sums import sweeps, tables

__all__ = ["best_path", "best_paths", "k_best", "sweeps", "tables"]
