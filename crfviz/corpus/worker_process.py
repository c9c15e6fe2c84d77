"""A worker process that runs picklable functions one after another and reports their progress.

    messages = SimpleQueue()
    worker = WorkerProcess(messages.put)
    worker.send(encode(partial(evaluate, model)))  # called there with a report function
    messages.get().value()

The process is `python -m crfviz.corpus.worker_process`. It uses one thread, ignores Ctrl+C and ends
with its parent. Pickles go through its standard input and output; output that the work prints goes
to standard error. SIGTERM raises a KeyboardInterrupt in the work, so that it can clean up. During
an import, or if Python ignored that exception, the next report raises it.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import IO, Any, Literal

from crfviz.exceptions import CrfvizError
from crfviz.settings import environment

GRACE = 10.0  # seconds from SIGTERM until the process is killed
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1"}  # NumPy's threads would wait for each other
ROOT = Path(__file__).resolve().parents[2]

_stopped = threading.Event()  # in the worker process: set on SIGTERM

Report = Callable[..., None]  # called with the work's progress
Work = Callable[[Report], object]


def _no_pause() -> None:
    return


def encode(work: Work, pause: Callable[[], object] = _no_pause) -> bytes:
    """Return the pickle of some work; `pause` is called about every 64 KB."""
    file = BytesIO()
    pickle.Pickler(_InPieces(file, pause)).dump(work)
    return file.getvalue()


@dataclass(frozen=True)
class Message:
    """A message of a worker process about its work."""

    number: int  # number of the work, from 1
    kind: Literal["progress", "result", "error"]  # an error is a CrfvizError
    content: bytes  # a pickle

    def value(self, pause: Callable[[], object] = _no_pause) -> Any:  # noqa: ANN401 - any result
        """Return the unpickled content; `pause` is called about every 64 KB."""
        return pickle.Unpickler(_InPieces(BytesIO(self.content), pause)).load()  # noqa: S301 - from our process


class WorkerProcess:
    """A worker process, which receives work through pipes.

    Args:
        deliver: called in another thread with each message, and with None once the process ended.
        niceness: nice value of the process; a higher one means a lower priority.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, deliver: Callable[[Message | None], object], *, niceness: int = 0) -> None:
        variables = environment()
        paths = filter(None, (str(ROOT), variables.get("PYTHONPATH", "")))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crfviz.corpus.worker_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**variables, **ONE_CORE, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl+C is for the parent
        )
        if niceness and hasattr(os, "setpriority"):
            with suppress(OSError):  # the process may have ended
                os.setpriority(os.PRIO_PROCESS, self.pid, niceness)
        self._sent = 0
        threading.Thread(target=self._listen, args=(deliver,), daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def send(self, content: bytes) -> int:
        """Send encoded work and return its number. If the process is dead, `deliver` gets None."""
        assert self._process.stdin is not None
        self._sent += 1
        with suppress(OSError, ValueError):  # broken or closed
            pickle.dump(content, self._process.stdin)
            self._process.stdin.flush()
        return self._sent

    def interrupt(self) -> None:
        """Ask the work to stop, and kill the process if it does not."""
        self._process.terminate()
        timer = threading.Timer(GRACE, self._process.kill)
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def exit_text(self) -> str:
        """Wait for the process to end, and describe how: "was ended by signal 9"."""
        return exit_text(self._process.wait())

    def _listen(self, deliver: Callable[[Message | None], object]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._process.stdout as pipe, suppress(EOFError, pickle.UnpicklingError):
            while True:
                deliver(Message(*pickle.load(pipe)))  # noqa: S301 - from our process
        with suppress(OSError):  # flushing may fail
            self._process.stdin.close()
        deliver(None)


def exit_text(code: int) -> str:
    """Describe how a process ended: "was ended by signal 9"."""
    return f"was ended by signal {-code}" if code < 0 else f"stopped with exit code {code}"


def unexpected_error(error: Exception) -> CrfvizError:
    """Return the error for the user, and log the traceback without the message."""
    kind = type(error).__name__
    traceback.print_tb(error.__traceback__)
    sys.stderr.write(f"{kind}; its message is left out, as it may quote what somebody typed\n")
    return CrfvizError(f"This run failed ({kind}). The log of the server has the trace.")


class _InPieces:
    """A file for pickles that calls `pause` at each read and write."""

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


def main() -> None:
    """Run work in the worker process until the parent closes the pipe or sends SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    works: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(works,), daemon=True).start()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        import torch

        torch.set_num_threads(1)  # the tensors of one sentence are so small that threads only wait
        for number in count(1):
            _require_running()
            _run(number, works.get(), answers)
    os._exit(0)


def _stop(_signal: int, frame: FrameType | None) -> None:
    """Interrupt the work, but not an import, whose callbacks ignore exceptions."""
    _stopped.set()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _require_running() -> None:
    if _stopped.is_set():
        raise KeyboardInterrupt


def _receive(works: "SimpleQueue[bytes]") -> None:
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            works.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from the parent
    os.kill(os.getpid(), signal.SIGTERM)  # the work under way cleans up
    time.sleep(GRACE)
    os._exit(1)


def _run(number: int, content: bytes, answers: IO[bytes]) -> None:
    def send(kind: str, value: object) -> None:
        pickle.dump((number, kind, pickle.dumps(value)), answers)
        answers.flush()

    def report(*progress: object) -> None:
        _require_running()
        send("progress", progress)

    try:
        work = pickle.loads(content)  # noqa: S301 - from the parent
        send("result", work(report))
    except BrokenPipeError:
        raise
    except CrfvizError as error:
        send("error", error.with_traceback(None))
    except Exception as error:  # noqa: BLE001 - the parent gets the kind, the log the trace
        send("error", unexpected_error(error))


if __name__ == "__main__":
    main()
