"""Simulation of a full disk by a limit on file sizes."""

import resource
from contextlib import contextmanager


@contextmanager
def small_disk(most):
    """Limit every written file to `most` bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
