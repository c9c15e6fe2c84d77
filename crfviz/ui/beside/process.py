"""Heavy work beside the server, in a process that has a lock of Python's of its own.

    BESIDE.ready(partial(load, model))           # the process begins to start; nobody waits
    found = BESIDE.do(partial(work, model), report)

One piece of work is done at a time: who asks has a turn, see `crfviz.ui.session.turns`. The process
keeps what it loaded, and ends when nobody asked for a while, or when the server is gone. What is to
be done and what comes of it are pickles in a folder that nobody else may read. They are written and
read in pieces, between which other sessions have the lock.
"""

import atexit
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, Protocol, TypeVar

from crfviz.exceptions import CrfvizError
from crfviz.ui.beside.worker import FIRST, FOUND
from crfviz.ui.session.floor import FLOOR

KEEP = 300.0  # seconds without work until the process ends, and its memory is free again
LOOK = 0.25  # seconds between two looks at whether whoever asked still waits
WORKER = "crfviz.ui.beside.worker"
ASKED = "asked"  # a file of its folder
ROOT = Path(__file__).resolve().parents[3]

Report = Callable[[int, int], None]  # told how much is done, and of how much; may raise to stop
Made = TypeVar("Made", covariant=True)


class Work(Protocol[Made]):
    """What is to be done; it can be pickled, and so can what it makes."""

    def __call__(self, *, report: Report) -> Made:
        """Do it.

        Raises:
            CrfvizError: as the work says.
        """


class LostError(CrfvizError):
    """The process ended before its work did; the message says how."""


class Beside:
    """A process for work, started when there is some.

    Args:
        keep: seconds after which it ends if there is no more.
    """

    def __init__(self, keep: float = KEEP) -> None:
        self._keep = keep
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._at_work = False
        self._end: threading.Timer | None = None

    def ready(self, first: Work[object]) -> None:
        """Have it start if it has not, and do `first` before all else; nobody waits for that."""
        with self._lock, suppress(LostError):
            if not self._at_work:
                self._started(first)
                self._end_later()

    def do(
        self, work: Work[Made], report: Report, *, pause: Callable[[], object] = lambda: None
    ) -> Made:
        """What comes of the work.

        What `report` or `pause` raises ends the process. `report` is told again and again how far
        the work is, `pause` called whenever others may go first.

        Raises:
            CrfvizError: the work raised it.
            LostError: the process died, or cannot be started.
        """
        with self._lock:
            process = self._started()
            self._at_work = True
        try:
            good, made = process.do(work, report, pause)
        except BaseException as error:
            process.end()
            if isinstance(error, OSError):
                raise _not_possible(error) from error
            raise
        finally:
            with self._lock:
                self._at_work = False
                self._end_later()
        if not good:
            raise made
        return made  # type: ignore[no-any-return]  # what was pickled there

    @property
    def pid(self) -> int | None:
        """Of the process, where it runs."""
        process = self._process
        return process.pid if process is not None and process.runs else None

    def end(self) -> None:
        """End the process, if it runs and does nothing."""
        with self._lock:
            if self._process is not None and not self._at_work:
                self._process.end()
                self._process = None
            if self._end is not None:
                self._end.cancel()

    def _started(self, first: Work[object] | None = None) -> "_Process":
        if self._end is not None:
            self._end.cancel()
        if self._process is None or not self._process.runs:
            if self._process is not None:
                self._process.end()  # its folder is left
                self._process = None
            try:
                self._process = _Process()
                if first is not None:
                    self._process.begin_with(first)
            except OSError as error:
                raise _not_possible(error) from error
        return self._process

    def _end_later(self) -> None:
        if self._end is not None:
            self._end.cancel()
        self._end = threading.Timer(self._keep, self.end)
        self._end.daemon = True
        self._end.start()


def _not_possible(error: OSError) -> LostError:
    return LostError(f"This run needs a process beside the server: {error.strerror}. Try again.")


class _Process:
    """The process with its folder, and what it says."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="crfviz-", ignore_cleanup_errors=True)
        known = os.environ.get("PYTHONPATH", "")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", WORKER, self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), known)))},
            )
        except BaseException:
            self._folder.cleanup()
            raise
        self._said: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def begin_with(self, first: Work[object]) -> None:
        self._path(FIRST).write_bytes(pickle.dumps(first))
        self._tell(FIRST)

    def do(
        self, work: Work[object], report: Report, pause: Callable[[], object]
    ) -> tuple[bool, Any]:
        """Whether it went well, and what was made, or the error."""
        with self._path(ASKED).open("wb") as file:
            pickle.Pickler(_InPieces(file, pause)).dump(work)
        self._tell(ASKED)
        so_far: tuple[int, int] | None = None
        while True:
            pause()
            said = self._next()
            if said is None:
                raise LostError(self._how_it_ended())
            if "good" in said:
                break
            so_far = said.get("so_far", so_far)
            if so_far is not None:
                report(*so_far)
        with self._path(FOUND).open("rb") as file:
            made = pickle.Unpickler(_InPieces(file, pause)).load()  # noqa: S301 - of our process
        self._path(FOUND).unlink()
        return said["good"], made

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.kill()
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()

    def _path(self, name: str) -> Path:
        return Path(self._folder.name, name)

    def _tell(self, name: str) -> None:
        """Name the file in which work is; one that has died says nothing any more, and ends."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(f"{name}\n")
            self._process.stdin.flush()

    def _next(self) -> dict[str, Any] | None:
        """What it says next, nothing new where it works on; None when it has ended."""
        with FLOOR.aside():
            try:
                return self._said.get(timeout=LOOK)
            except Empty:
                return {}

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._said.put(json.loads(line))
        self._said.put(None)

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"stopped with exit code {code}"
        return (
            f"The process of this run {how}, and its results are lost. There may be too little "
            "memory on this server. Start the run again."
        )


class _InPieces:
    """A file of a pickle, with a pause at each piece of some 64 KB."""

    def __init__(self, file: IO[bytes], pause: Callable[[], object]) -> None:
        self._file, self._pause = file, pause

    def write(self, content: bytes) -> int:
        self._pause()
        return self._file.write(content)

    def read(self, size: int) -> bytes:
        self._pause()
        return self._file.read(size)

    def readline(self) -> bytes:
        return self._file.readline()


BESIDE = Beside()  # of this server
atexit.register(BESIDE.end)
