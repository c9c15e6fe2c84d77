"""The workers of a Dask cluster that is there already, by the address of its scheduler.

They are given a shard as it is and need no file of this machine but the model, at the same place.
Of workers that die Dask gives what they worked at to others. `distributed`, the package, is
imported only here, and only when somebody asks for a cluster.
"""

import logging
import re
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from crfviz.corpus.shards.crew import Job, Outcome, attempt
from crfviz.corpus.shards.cutting import Shard
from crfviz.exceptions import CrfvizError
from crfviz.text.lines import shown

if TYPE_CHECKING:
    from distributed import Future

PATIENCE = 20.0  # seconds until a scheduler has to answer, or a worker to come
EACH = 2  # shards for each thread of the cluster: one to work at, one to begin when that is done


ADDRESS = re.compile(r"[a-z]+://\S+:\d+")


class Cluster:
    """All workers of a cluster.

    Args:
        job: what is to be done with every shard.
        address: of the scheduler, such as `tcp://host:8786`.

    Raises:
        CrfvizError: `distributed` is not installed, nobody answers, or there is no worker.
    """

    def __init__(self, job: Job, address: str) -> None:
        if not ADDRESS.fullmatch(address):  # a client would not be rid of what it began
            raise _nobody(address, "it is no such address")
        try:
            from distributed import Client
        except ImportError as error:
            raise CrfvizError(
                f"--scheduler: expected the package distributed ({error}): "
                f"pip install 'crfviz[cluster]'"
            ) from error
        _hush()
        try:
            self._client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise _nobody(address, str(error)) from error
        self._job = job
        self._address = address
        self._shards: dict[Future, Shard] = {}
        threads = sum(self._client.nthreads().values())
        self.size = EACH * threads
        if not threads:
            self.stop()
            raise CrfvizError(f"--scheduler: expected workers at {address}, got none")

    def give(self, shard: Shard) -> None:
        """Give a shard to the scheduler."""
        try:
            future = self._client.submit(attempt, self._job, shard, pure=False)
        except OSError as error:
            raise self._gone() from error
        self._shards[future] = shard

    def next(self) -> tuple[Shard, Outcome]:
        """Wait until a worker is done with its shard."""
        future = self._first()
        shard = self._shards.pop(future)
        if future.status == "finished":
            outcome: Outcome = future.result()
            return shard, outcome
        return shard, self._failed(future, shard)

    def _first(self) -> "Future":
        from distributed import wait

        alone = 0  # times that nobody was there
        while True:
            try:
                with self._client.as_current():
                    ended = wait(list(self._shards), PATIENCE, "FIRST_COMPLETED").done
                return next(future for future in self._shards if future in ended)
            except TimeoutError:
                alone = 0 if self._workers() else alone + 1
            except CancelledError as error:
                raise self._gone() from error
            if alone == 2:
                raise CrfvizError(f"no worker is left at {self._address}")

    def _workers(self) -> int:
        try:
            return len(self._client.nthreads())
        except OSError as error:
            raise self._gone() from error

    def _failed(self, future: "Future", shard: Shard) -> CrfvizError:
        """What went wrong with a shard, other than what a job itself would say."""
        from distributed import KilledWorker

        if future.status != "error":
            return self._gone()
        error = future.exception()
        lines = f"lines {shard.first_line} to {shard.first_line + shard.lines}"
        if isinstance(error, KilledWorker):
            return CrfvizError(
                f"workers at {lines} died again and again: there may be too little memory for them"
            )
        return CrfvizError(
            f"a worker of {self._address} cannot do the work at {lines}: expected the same crfviz "
            f"there as here, got {type(error).__name__}: {str(error)[:80]}"
        )

    def _gone(self) -> CrfvizError:
        return CrfvizError(f"the scheduler at {self._address} is gone")

    def stop(self) -> None:
        """Take back what nobody has begun; what is under way ends by itself, and nobody asks."""
        self._client.cancel(list(self._shards), force=True)
        self._client.close(timeout=PATIENCE)


def _hush() -> None:
    """Let the package not log what goes wrong, with traces: what matters is said here."""
    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _nobody(address: str, why: str) -> CrfvizError:
    return CrfvizError(
        f"--scheduler: expected the address of a Dask scheduler, such as tcp://HOST:8786; nobody "
        f"answers at {shown(address)} ({why[:80]})"
    )
