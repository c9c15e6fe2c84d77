"""Worker pool on an existing Dask cluster, which is given by its scheduler's address.

Workers receive the bytes of a shard. Of this machine's files they need only the model, at the same
path.
Dask reassigns the shards of workers that die. `distributed` is imported only on request.
"""

import logging
import re
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from crfviz.corpus.shards.shard import Shard
from crfviz.corpus.shards.workers import Job, Outcome, attempt
from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate

if TYPE_CHECKING:
    from distributed import Future

TIMEOUT = 20.0  # seconds to wait for the scheduler, or for a worker
SHARDS_PER_THREAD = 2  # one running, one waiting
ADDRESS = re.compile(r"[a-z]+://\S+:\d+")


class Cluster:
    """Worker pool of all workers of a cluster.

    Args:
        job: the work on every shard.
        address: address of the scheduler, such as `tcp://host:8786`.

    Raises:
        CrfvizError: `distributed` is not installed, no scheduler answers, or there is no worker.
    """

    def __init__(self, job: Job, address: str) -> None:
        if not ADDRESS.fullmatch(address):  # a Client would leave its threads running
            raise _no_scheduler(address, "it is no such address")
        try:
            from distributed import Client
        except ImportError as error:
            raise CrfvizError(
                f"--scheduler: expected the package distributed ({error}): "
                f"pip install 'crfviz[cluster]'"
            ) from error
        _silence_logs()
        try:
            self._client = Client(address, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise _no_scheduler(address, str(error)) from error
        self._job = job
        self._address = address
        self._shards: dict[Future, Shard] = {}
        threads = sum(self._client.nthreads().values())
        self.size = SHARDS_PER_THREAD * threads
        if not threads:
            self.stop()
            raise CrfvizError(f"--scheduler: expected workers at {address}, got none")

    def submit(self, shard: Shard) -> None:
        """Submit a shard to the scheduler."""
        try:
            future = self._client.submit(attempt, self._job, shard, pure=False)
        except OSError as error:
            raise self._gone() from error
        self._shards[future] = shard

    def next_result(self) -> tuple[Shard, Outcome]:
        """Wait until a worker finishes a shard, and return its result."""
        future = self._first()
        shard = self._shards.pop(future)
        if future.status == "finished":
            try:
                outcome: Outcome = future.result()
            except (OSError, CancelledError) as error:  # the scheduler ended meanwhile
                raise self._gone() from error
            return shard, outcome
        return shard, self._failed(future, shard)

    def _first(self) -> "Future":
        from distributed import wait

        alone = 0  # consecutive timeouts without a worker
        while True:
            try:
                with self._client.as_current():
                    ended = wait(list(self._shards), TIMEOUT, "FIRST_COMPLETED").done
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
        """Cancel pending shards and close the client; running ones finish on their own."""
        self._client.cancel(list(self._shards), force=True)
        self._client.close(timeout=TIMEOUT)


def _silence_logs() -> None:
    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _no_scheduler(address: str, why: str) -> CrfvizError:
    return CrfvizError(
        f"--scheduler: expected the address of a Dask scheduler, such as tcp://HOST:8786; nobody "
        f"answers at {abbreviate(address)} ({why[:80]})"
    )
