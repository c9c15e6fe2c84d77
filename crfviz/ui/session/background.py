"""A worker process for heavy work that would otherwise hold the server's GIL.

    BACKGROUND.prepare(partial(load, model))     # starts the process and returns at once
    result = BACKGROUND.run(partial(work, model), report)

The worker runs one job at a time. Callers must wait for their turn, see
`crfviz.ui.session.scheduling`. The process keeps loaded models in memory, and ends after five
minutes without work.
"""

import atexit
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

from crfviz.corpus.worker_process import Message, WorkerProcess, encode
from crfviz.exceptions import CrfvizError
from crfviz.ui.session.scheduling import SCRIPT_LOCK

IDLE_TIMEOUT = 300.0  # seconds without work until the process ends and frees its memory
POLL_INTERVAL = 0.25  # seconds between two checks whether the caller still waits

Report = Callable[[int, int], None]  # gets the amounts done and in total; may raise to stop
Result = TypeVar("Result", covariant=True)


class Work(Protocol[Result]):
    """A picklable function with a picklable result."""

    def __call__(self, report: Report, /) -> Result:
        """Do the work, call `report` with the progress, and return the result.

        Raises:
            CrfvizError: the work failed; the caller's `run` raises the same error.
        """


class LostError(CrfvizError):
    """The worker process ended before its job, or could not start; the message has the reason."""


class BackgroundWorker:
    """A worker process that starts on demand.

    Args:
        idle_timeout: seconds without work after which it ends.
    """

    def __init__(self, idle_timeout: float = IDLE_TIMEOUT) -> None:
        self._idle_timeout = idle_timeout
        self._lock = threading.Lock()
        self._messages: SimpleQueue[Message | None] = SimpleQueue()
        self._worker: WorkerProcess | None = None
        self._busy = False
        self._timer: threading.Timer | None = None

    def prepare(self, first: Work[object]) -> None:
        """Start the process with `first` as its first job, unless it runs already.

        Returns at once; the result of `first` is discarded.
        """
        with self._lock:
            if self._busy or self.pid is not None:
                return
            try:
                self._started().send(encode(first))
            except OSError:
                return  # `run` retries and reports the error
            self._end_later()

    def run(
        self, work: Work[Result], report: Report, *, pause: Callable[[], object] = lambda: None
    ) -> Result:
        """Run a job in the worker process, and return its result.

        `report` is called with the progress, and `pause` to let other scripts run. An exception in
        either kills the process.

        Raises:
            CrfvizError: the work raised it.
            LostError: the process died, or cannot be started.

        """
        with self._lock:
            try:
                worker = self._started()
            except OSError as error:
                why = error.strerror
                raise LostError(
                    f"This run needs a process beside the server: {why}. Try again."
                ) from error
            self._busy = True
        try:
            answer = self._answer(worker, work, report, pause)
            value = answer.value(pause)
        except BaseException:
            worker.kill()
            raise
        finally:
            with self._lock:
                self._busy = False
                self._end_later()
        if answer.kind == "error":
            raise value
        return value  # type: ignore[no-any-return]  # unpickled, so its type is unknown

    def _answer(
        self, worker: WorkerProcess, work: Work[object], report: Report, pause: Callable[[], object]
    ) -> Message:
        content = encode(work, pause)
        with SCRIPT_LOCK.released():
            number = worker.send(content)
        progress: tuple[int, int] | None = None
        while True:
            pause()
            try:
                with SCRIPT_LOCK.released():
                    message = self._messages.get(timeout=POLL_INTERVAL)
            except Empty:
                pass
            else:
                if message is None:
                    raise LostError(
                        f"The process of this run {worker.exit_text()}, and its results are lost. "
                        "There may be too little memory on this server. Start the run again."
                    )
                if message.number == number:
                    if message.kind != "progress":
                        return message
                    progress = message.value()
            if progress is not None:
                report(*progress)

    @property
    def pid(self) -> int | None:
        """The process id; None if the process does not run."""
        worker = self._worker
        return worker.pid if worker is not None and worker.runs else None

    def end(self) -> None:
        """End the process unless it is working."""
        with self._lock:
            if self._worker is not None and not self._busy:
                self._worker.kill()
                self._worker = None
            if self._timer is not None:
                self._timer.cancel()

    def _started(self) -> WorkerProcess:
        if self._timer is not None:
            self._timer.cancel()
        if self._worker is None or not self._worker.runs:
            self._messages = SimpleQueue()
            self._worker = WorkerProcess(self._messages.put)
        return self._worker

    def _end_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(self._idle_timeout, self.end)
        self._timer.daemon = True
        self._timer.start()


BACKGROUND = BackgroundWorker()  # of this server
atexit.register(BACKGROUND.end)
