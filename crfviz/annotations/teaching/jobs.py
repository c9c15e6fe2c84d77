"""Long work beside the app: a command of crfviz in a process of its own, watched and cancelled.

    jobs = Jobs()                       # one for the server, shared by all its sessions
    job = jobs.start("Teach upos-en", ["teach", ...], visitor="whoever asks")
    jobs.ahead(job)                     # how many come before
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from crfviz.exceptions import CrfvizError

MOST_KEPT = 20  # jobs that are over
PATIENCE = 10.0  # seconds between the request to stop and the end by force
CANCELLED = "cancelled; nothing was saved"
NICE = 5  # of a process beside the app: so much sooner than it the app has a core
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1"}  # NumPy's threads would wait for each other
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Status:
    """How far a job is."""

    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    progress: float = 0.0  # in [0, 1]
    message: str = "starting"  # what it does now, or why it failed
    result: Mapping[str, Any] | None = None  # when it is done

    @property
    def over(self) -> bool:
        """Whether nothing comes any more."""
        return self.state not in ("waiting", "running")


def progress_line(share: float, message: str) -> str:
    """A line that says how far a command is."""
    return json.dumps({"progress": share, "message": message}) + "\n"


def result_line(result: Mapping[str, Any]) -> str:
    """The last line of a command."""
    return json.dumps({"result": result}) + "\n"


def give_way(process: "subprocess.Popen[Any]") -> None:
    """Have a process that has just begun work only where nobody waits for a page."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it may be over
            os.setpriority(os.PRIO_PROCESS, process.pid, NICE)


class Job:
    """One command, by the arguments of `python -m crfviz` and its standard input.

    Args:
        title: what it does, for people.
        arguments: of the command.
        given: its standard input.
        visitor: whoever asked for it.
        about: what it is for; the result is shown there.
        at_end: called once it is over.
    """

    def __init__(
        self,
        title: str,
        arguments: Sequence[str],
        given: bytes = b"",
        *,
        visitor: str = "",
        about: str = "",
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.title = title
        self.visitor, self.subject = visitor, about
        self._arguments, self._given, self._at_end = arguments, given, at_end
        self._lock = threading.Lock()  # of the step from waiting to running, or to cancelled
        self._status = Status()
        self._cancelled = False
        self._over = threading.Event()

    def begin(self) -> None:
        """Start its process, if it still waits."""
        with self._lock:
            if self._status.state != "waiting":
                return
            self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - lives as long as the process
            paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))
            self._process = subprocess.Popen(
                [sys.executable, "-m", "crfviz", *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **ONE_CORE, "PYTHONPATH": os.pathsep.join(paths)},
            )
            give_way(self._process)
            self._status = replace(self._status, state="running")
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def status(self) -> Status:
        """How far it is; does not wait."""
        return self._status

    def cancel(self) -> None:
        """Ask it to stop, and end it by force if it does not; one that is over stays as it is."""
        with self._lock:
            waited = self._status.state == "waiting"
            if waited:
                self._status = replace(self._status, state="cancelled", message=CANCELLED)
        if waited:
            self._end()
        elif self._status.state == "running" and self._process.poll() is None:
            self._cancelled = True
            self._process.terminate()
            threading.Thread(target=self._end_by_force, daemon=True).start()

    def wait(self, seconds: float | None = None) -> Status:
        """How it ended, or how far it is after so many seconds."""
        self._over.wait(seconds)
        return self._status

    def _end(self) -> None:
        self._given = b""
        self._over.set()
        self._at_end()

    def _end_by_force(self) -> None:
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _watch(self) -> None:
        """Whatever happens to the command, the errors that it wrote are closed and a status set."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with self._errors, process.stdout as lines:
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:  # it may be dead
                pipe.write(self._given)
            for line in lines:
                with contextlib.suppress(ValueError, TypeError):  # a line that is not ours
                    self._status = replace(self._status, **json.loads(line))
            self._status = self._ended(process.wait())
        self._end()

    def _ended(self, code: int) -> Status:
        """A result counts even where somebody cancelled too late: the model is there."""
        if code == 0 and self._status.result is not None:
            return replace(self._status, state="done", progress=1.0)
        if self._cancelled:
            return replace(self._status, state="cancelled", message=CANCELLED)
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
    """The jobs of a server: one at a time runs, so that the pages still answer; the others wait."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Lock()

    def start(
        self,
        title: str,
        arguments: Sequence[str],
        given: bytes = b"",
        *,
        visitor: str = "",
        about: str = "",
    ) -> Job:
        """Put a command into the line, or start it where nobody waits; see `Job`.

        Raises:
            CrfvizError: this visitor has a job already that is not over.
        """
        with self._lock:
            for job in self._jobs:
                if job.visitor == visitor and not job.status.over:
                    raise CrfvizError(
                        f"your “{job.title}” is not over; wait until it is done, or cancel it"
                    )
            job = Job(title, arguments, given, visitor=visitor, about=about, at_end=self._next)
            over = [each for each in self._jobs if each.status.over]
            waiting = [each for each in self._jobs if not each.status.over]
            self._jobs = [job, *waiting, *over[:MOST_KEPT]]
        self._next()
        return job

    def ahead(self, job: Job) -> int:
        """How many others come before a job that waits; the one that runs counts, too."""
        before = [each for each in self._line() if not each.status.over]
        return before.index(job) if job in before else 0

    @property
    def all(self) -> list[Job]:
        """The newest first."""
        with self._lock:
            return list(self._jobs)

    def shown_to(self, visitor: str, about: str) -> Job | None:
        """The newest of this visitor about something, or one that is not over; else of others."""
        every = [job for job in self.all if job.subject == about or not job.status.over]
        own = [job for job in every if job.visitor == visitor]
        running = [job for job in every if job.status.state == "running"]
        return next(iter([*own, *running, *every]), None)

    def about(self, subject: str) -> Job | None:
        """The newest job about something."""
        return next((job for job in self.all if job.subject == subject), None)

    def _line(self) -> list[Job]:
        """The oldest first."""
        return self.all[::-1]

    def _next(self) -> None:
        """Begin with the first that waits, if nothing runs."""
        for job in self._line():
            if job.status.state == "waiting":
                job.begin()
            if not job.status.over:
                return
