"""`python -m crfviz compile`: compile the loops of the extra `crfviz[fast]` into Numba's cache.

Every later process of this machine and user loads them in a second. Without the cache NumPy gives
the same results. Set NUMBA_CACHE_DIR to keep the cache elsewhere, as in the image of a container.
"""

import argparse
import sys
import time

from crfviz.chain.engine import kernel_cache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `compile`: none."""


def main(_args: argparse.Namespace) -> int:
    """Compile the loops and return 0.

    Raises:
        CrfvizError: as `crfviz.chain.engine.kernel_cache.fill`.
    """
    begin = time.perf_counter()
    marker = kernel_cache.fill()
    sys.stdout.write(f"Compiled in {time.perf_counter() - begin:.0f} s into {marker.parent}\n")
    return 0
