"""Long work of the app, one job at a time: progress for all sessions, cancelled on request.

    jobs = Jobs()                       # one for the server, shared by all its sessions
    job = jobs.start("Teach upos-en", partial(teach, lesson, sentences), visitor="anna")
    jobs.ahead(job)                     # how many come before
    job.status                          # any session, any time: never blocks
    job.cancel()

The work runs in a `crfviz.corpus.worker_process` of its own and reports (share in [0, 1], message).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from crfviz.corpus.worker_process import Message, Work, WorkerProcess, encode
from crfviz.exceptions import CrfvizError

MAX_FINISHED = 20  # jobs that are over and still listed
CANCELLED = "cancelled; nothing was saved"
NICENESS = 5  # of the process, so that the app gets a core first


@dataclass(frozen=True)
class Status:
    """The state of a job."""

    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    progress: float = 0.0  # in [0, 1]
    message: str = "starting"  # what it does now, or why it failed
    result: object = None  # of the work, when it is done

    @property
    def over(self) -> bool:
        """Whether the state is final."""
        return self.state not in ("waiting", "running")


class Job:
    """Work in a process of its own.

    Args:
        title: what it does, for people.
        work: called there with a function that takes a share and a message.
        visitor: who started it.
        about: what it is for; the result is shown there.
        at_end: called once it is over.
    """

    def __init__(
        self,
        title: str,
        work: Work,
        *,
        visitor: str = "",
        about: str = "",
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.title = title
        self.visitor, self.subject = visitor, about
        self._work, self._at_end = encode(work), at_end
        self._lock = threading.Lock()  # of the step from waiting to running, or to cancelled
        self._status = Status()
        self._cancelled = False
        self._answer: Message | None = None
        self._over = threading.Event()

    def begin(self) -> None:
        """Start the process, if the job still waits."""
        with self._lock:
            if self._status.state != "waiting":
                return
            self._status = replace(self._status, state="running")
            try:
                self._worker = WorkerProcess(self._receive, niceness=NICENESS)
            except OSError as error:
                why = f"this work needs a process of its own: {error.strerror}"
                self._status = replace(self._status, state="failed", message=why)
        if self._status.over:
            self._end()
        else:
            self._worker.send(self._work)

    @property
    def status(self) -> Status:
        """The state now; does not wait."""
        return self._status

    def cancel(self) -> None:
        """Ask the job to stop, and kill it if it does not; one that is over stays as it is."""
        with self._lock:
            waited = self._status.state == "waiting"
            if waited:
                self._status = replace(self._status, state="cancelled", message=CANCELLED)
        if waited:
            self._end()
        elif self._status.state == "running":
            self._cancelled = True
            self._worker.interrupt()

    def wait(self, seconds: float | None = None) -> Status:
        """Return the final state, or the state after so many seconds."""
        self._over.wait(seconds)
        return self._status

    def _receive(self, message: Message | None) -> None:
        if message is None:
            with self._lock:
                self._status = self._final()
            self._end()
        elif message.kind == "progress":
            share, text = message.value()
            self._status = replace(self._status, progress=share, message=text)
        else:
            self._answer = message
            self._worker.kill()

    def _final(self) -> Status:
        """Return how it ended. A result counts even if the job was cancelled too late."""
        answer = self._answer
        if answer is not None and answer.kind == "result":
            return replace(self._status, state="done", progress=1.0, result=answer.value())
        if self._cancelled:
            return replace(self._status, state="cancelled", message=CANCELLED)
        message = (
            f"The work {self._worker.exit_text()} and nothing was saved; please start it again."
            if answer is None
            else str(answer.value())
        )
        return replace(self._status, state="failed", message=message)

    def _end(self) -> None:
        self._work = b""
        self._over.set()
        self._at_end()


class Jobs:
    """The jobs of a server: one at a time runs, so that the pages still answer; the others wait."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Lock()

    def start(self, title: str, work: Work, *, visitor: str = "", about: str = "") -> Job:
        """Add a job to the queue, or start it if none runs; see `Job`.

        Raises:
            CrfvizError: this visitor has a job already that is not over.
        """
        with self._lock:
            for job in self._jobs:
                if job.visitor == visitor and not job.status.over:
                    raise CrfvizError(
                        f"your “{job.title}” is not over; wait until it is done, or cancel it"
                    )
            job = Job(title, work, visitor=visitor, about=about, at_end=self._next)
            over = [each for each in self._jobs if each.status.over]
            waiting = [each for each in self._jobs if not each.status.over]
            self._jobs = [job, *waiting, *over[:MAX_FINISHED]]
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
