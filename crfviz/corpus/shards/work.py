"""Shards given out, and what comes of them in the order of the file."""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from crfviz.corpus.shards.crew import Crew
from crfviz.corpus.shards.cutting import Shard
from crfviz.corpus.shards.kept import Kept
from crfviz.exceptions import CrfvizError

AHEAD = 8  # shards for each worker that may be begun before one that comes earlier is done


def worked(
    shards: Iterator[Shard],
    crew: Crew,
    kept: Kept | None = None,
    done: Callable[[Shard], None] = lambda _: None,
) -> Generator[bytes, None, None]:
    """What comes of every shard, in the order of the file, whoever is done first.

    After an error no shard is begun any more, and those under way are waited for: of two errors
    the one that comes first in the file is raised, as if one had worked alone.

    Args:
        shards: of a file.
        crew: who works; stopped at the end, however it comes.
        kept: where finished shards are kept, and where those are that were finished before.
        done: told of each shard that is finished.

    Raises:
        CrfvizError: a shard or the model is of no use, or nothing can be written.
    """
    desk = _Desk(shards, crew, kept, done)
    try:
        while True:
            desk.give()
            yield from desk.in_order()
            if desk.under_way:
                desk.take()
            elif desk.errors:
                raise desk.errors[min(desk.errors)]
            elif desk.ended:
                return
    finally:
        crew.stop()


@dataclass
class _Desk:
    """Who has which shard, and what came back."""

    shards: Iterator[Shard]
    crew: Crew
    kept: Kept | None
    done: Callable[[Shard], None]
    errors: dict[int, CrfvizError] = field(default_factory=dict)  # by the number of the shard
    finished: dict[int, bytes] = field(default_factory=dict)  # what was not handed on yet
    begun: int = 0  # shards
    handed_on: int = 0  # shards
    under_way: int = 0  # shards
    ended: bool = False  # there are no more shards

    def give(self) -> None:
        """Begin as many shards as the crew can work at."""
        with suppress(StopIteration):
            while self._room():
                self._begin(next(self.shards))
            return
        self.ended = True

    def _room(self) -> bool:
        ahead = self.begun - self.handed_on
        free = self.under_way < self.crew.size and ahead < AHEAD * self.crew.size
        return free and not self.errors and not self.ended

    def _begin(self, shard: Shard) -> None:
        self.begun += 1
        before = self.kept.get(shard) if self.kept else None
        if before is None:
            self.crew.give(shard)
            self.under_way += 1
        else:
            self._finish(shard, before)

    def in_order(self) -> Iterator[bytes]:
        """What is finished and next in the file."""
        while self.handed_on in self.finished:
            yield self.finished.pop(self.handed_on)
            self.handed_on += 1

    def take(self) -> None:
        """Wait for a shard."""
        shard, outcome = self.crew.next()
        self.under_way -= 1
        if isinstance(outcome, CrfvizError):
            self.errors[shard.number] = outcome
            return
        if self.kept:
            self.kept.put(shard, outcome)
        self._finish(shard, outcome)

    def _finish(self, shard: Shard, content: bytes) -> None:
        self.finished[shard.number] = content
        self.done(shard)
