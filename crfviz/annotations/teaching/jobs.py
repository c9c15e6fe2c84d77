"""Long work beside the app: a command of crfviz in a process of its own, watched and cancelled.

    jobs = Jobs()                       # one for the server, shared by all its sessions
    job = jobs.start("Teach upos-en", ["teach", ...])
    job.status                          # any session, any time: never blocks
    job.cancel()

The command writes JSON lines to standard output, as `progress_line` and `result_line` make them.
What it writes to standard error becomes the message when it fails.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from crfviz.exceptions import CrfvizError

MOST_KEPT = 20  # jobs that are over
PATIENCE = 10.0  # seconds between the request to stop and the end by force
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Status:
    """How far a job is."""

    state: Literal["running", "done", "failed", "cancelled"] = "running"
    progress: float = 0.0  # in [0, 1]
    message: str = "starting"  # what it does now, or why it failed
    result: Mapping[str, Any] | None = None  # when it is done


def progress_line(share: float, message: str) -> str:
    """A line that says how far a command is."""
    return json.dumps({"progress": share, "message": message}) + "\n"


def result_line(result: Mapping[str, Any]) -> str:
    """The last line of a command."""
    return json.dumps({"result": result}) + "\n"


class Job:
    """One command at work, by the arguments of `python -m crfviz` and its standard input."""

    def __init__(self, title: str, arguments: Sequence[str], given: bytes = b"") -> None:
        self.title = title
        self._status = Status()
        self._cancelled = False
        self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - lives as long as the process
        known = os.environ.get("PYTHONPATH", "")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crfviz", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), known)))},
        )
        self._watcher = threading.Thread(target=self._watch, args=(given,), daemon=True)
        self._watcher.start()

    @property
    def status(self) -> Status:
        """How far it is; does not wait."""
        return self._status

    def cancel(self) -> None:
        """Ask it to stop, and end it by force if it does not; one that is over stays as it is."""
        if self._process.poll() is None:
            self._cancelled = True
            self._process.terminate()
            threading.Thread(target=self._end_by_force, daemon=True).start()

    def wait(self, seconds: float | None = None) -> Status:
        """How it ended, or how far it is after so many seconds."""
        self._watcher.join(seconds)
        return self._status

    def _end_by_force(self) -> None:
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _watch(self, given: bytes) -> None:
        """Whatever happens to the command, the errors that it wrote are closed and a status set."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with self._errors, process.stdout as lines:
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:  # it may be dead
                pipe.write(given)
            for line in lines:
                with contextlib.suppress(ValueError, TypeError):  # a line that is not ours
                    self._status = replace(self._status, **json.loads(line))
            self._status = self._ended(process.wait())

    def _ended(self, code: int) -> Status:
        """A result counts even where somebody cancelled too late: the model is there."""
        if code == 0 and self._status.result is not None:
            return replace(self._status, state="done", progress=1.0)
        if self._cancelled:
            return replace(self._status, state="cancelled", message="cancelled; nothing was saved")
        return replace(self._status, state="failed", message=self._reason(code))

    def _reason(self, code: int) -> str:
        self._errors.seek(0)
        said = [line.strip() for line in self._errors if line.strip()]
        if code == 2 and said:
            return said[-1].removeprefix("crfviz: ")
        last = f" It said: {said[-1]}" if said else ""
        how = f"was ended by signal {-code}" if code < 0 else f"stopped with exit code {code}"
        return f"The work {how} and nothing was saved; please start it again.{last}"


class Jobs:
    """The jobs of a server: one at a time runs, so that the pages still answer."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Lock()

    def start(self, title: str, arguments: Sequence[str], given: bytes = b"") -> Job:
        """Start a command; see `Job`.

        Raises:
            CrfvizError: another job is running.
        """
        with self._lock:
            for job in self._jobs:
                if job.status.state == "running":
                    raise CrfvizError(
                        f"“{job.title}” is running; wait until it is done, or cancel it"
                    )
            job = Job(title, arguments, given)
            self._jobs = [job, *self._jobs[:MOST_KEPT]]
            return job

    @property
    def all(self) -> list[Job]:
        """The newest first."""
        with self._lock:
            return list(self._jobs)
