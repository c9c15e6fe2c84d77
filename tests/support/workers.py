"""A worker pool for tests that finishes shards in random order, in this process, and its jobs."""

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from crfviz.corpus.shards.workers import attempt
from crfviz.exceptions import FormatError


class Shuffled:
    """A pool of `size` shards at a time; which one finishes next is random."""

    def __init__(self, job, size, seed=0):
        self.job, self.size = job, size
        self.dice = random.Random(seed)
        self.given = []
        self.most = 0
        self.stopped = False

    def submit(self, shard):
        self.given.append(shard)
        self.most = max(self.most, len(self.given))
        assert len(self.given) <= self.size

    def next_result(self):
        shard = self.given.pop(self.dice.randrange(len(self.given)))
        return shard, attempt(self.job, shard)

    def stop(self):
        self.stopped = True


@dataclass(frozen=True)
class Upper:
    """A job for tests that returns bytes in capitals; some shards fail, some kill the worker."""

    bad: tuple[int, ...] = ()  # numbers of the shards that raise a FormatError
    deadly: tuple[int, ...] = ()  # shards that kill the worker: once with `notes`, else always
    notes: Path | None = None

    key = "upper"

    def __call__(self, shard, share=None):  # noqa: ARG002 - as a work is called
        if self.notes is not None:
            note = self.notes / f"{shard.number}-{time.monotonic_ns()}"
            note.write_text(str(os.getpid()))
        tries = len(list(self.notes.glob(f"{shard.number}-*"))) if self.notes else 1
        if shard.number in self.deadly and (tries == 1 or self.notes is None):
            os.kill(os.getpid(), signal.SIGKILL)
        if shard.number in self.bad:
            raise FormatError(f"f, line {shard.first_line}: bad")
        return shard.content.upper()
