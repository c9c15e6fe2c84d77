"""Long jobs of the app, one at a time, with progress for all sessions and cancellation.

    jobs = Jobs()                       # one for the server, shared by all its sessions
    job = jobs.start("Teach upos-en", partial(teach, lesson, sentences), visitor="anna")
    jobs.ahead(job)                     # number of jobs before it
    job.status                          # any session, any time: never blocks
    job.cancel()

Each job runs in its own `crfviz.corpus.worker_process` and reports (share in [0, 1], message).
"""

import threading
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Literal

from crfviz.corpus.worker_process import Message, Work, WorkerProcess, encode
from crfviz.exceptions import CrfvizError

MAX_FINISHED = 20  # finished jobs that stay listed
CANCELLED = "cancelled; nothing was saved"
NICENESS = 5  # nice value, so that the app has priority


@dataclass(frozen=True)
class Status:
    """The state of a job."""

    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    progress: float = 0.0  # in [0, 1]
    message: str = "starting"  # current activity, or the reason of a failure
    result: object = None  # result of the work, once done

    @property
    def over(self) -> bool:
        return self.state not in ("waiting", "running")


class Job:
    """A job, which runs in its own process.

    Args:
        title: description for users.
        work: called in the process with a function that takes a share and a message.
        visitor: the visitor who started it.
        about: subject of the job, next to which its result is shown.
    """

    def __init__(self, title: str, work: Work, *, visitor: str = "", about: str = "") -> None:
        self.title = title
        self.visitor, self.subject = visitor, about
        self.status = Status()
        self._work = encode(work)
        self._lock = threading.Lock()  # guards the change from waiting to running or cancelled
        self._cancelled = False
        self._over = threading.Event()

    def run(self) -> None:
        """Do the work in a process, and wait for its end; do nothing if it was cancelled before."""
        messages: SimpleQueue[Message | None] = SimpleQueue()
        with self._lock:
            if self.status.over:
                return
            try:
                self._worker = WorkerProcess(messages.put, niceness=NICENESS)
            except OSError as error:
                why = f"this work needs a process of its own: {error.strerror}"
                self._end(state="failed", message=why)
                return
            self.status = replace(self.status, state="running")
        self._worker.send(self._work)
        while (answer := messages.get()) is not None and answer.kind == "progress":
            share, text = answer.value()
            self.status = replace(self.status, progress=share, message=text)
        self._worker.kill()
        if answer is not None and answer.kind == "result":  # even if cancelled too late
            self._end(state="done", progress=1.0, result=answer.value())
        elif self._cancelled:
            self._end(state="cancelled", message=CANCELLED)
        elif answer is not None:
            self._end(state="failed", message=str(answer.value()))
        else:
            how = self._worker.exit_text()
            why = f"The work {how} and nothing was saved; please start it again."
            self._end(state="failed", message=why)

    def cancel(self) -> None:
        """Ask the job to stop, and kill it if it does not; a finished job is unchanged."""
        with self._lock:
            if self.status.state == "waiting":
                self._end(state="cancelled", message=CANCELLED)
            elif self.status.state == "running":
                self._cancelled = True
                self._worker.interrupt()

    def wait(self, seconds: float | None = None) -> Status:
        """Return the final state, or the state after a timeout in seconds."""
        self._over.wait(seconds)
        return self.status

    def _end(self, **changes: Any) -> None:  # noqa: ANN401 - fields of a status
        self.status, self._work = replace(self.status, **changes), b""
        self._over.set()


class Jobs:
    """The jobs of a server. One runs at a time, so that pages stay responsive; others wait."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Lock()
        self._line: SimpleQueue[Job] = SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def start(self, title: str, work: Work, *, visitor: str = "", about: str = "") -> Job:
        """Add a job to the queue, see `Job`; a visitor may have only one unfinished job."""
        with self._lock:
            for job in self._jobs:
                if job.visitor == visitor and not job.status.over:
                    raise CrfvizError(
                        f"your “{job.title}” is not over; wait until it is done, or cancel it"
                    )
            job = Job(title, work, visitor=visitor, about=about)
            over = [each for each in self._jobs if each.status.over]
            waiting = [each for each in self._jobs if not each.status.over]
            self._jobs = [job, *waiting, *over[:MAX_FINISHED]]
            self._line.put(job)
        return job

    def ahead(self, job: Job) -> int:
        """Return the number of jobs ahead of a waiting one, including the running one."""
        before = [each for each in reversed(self.all) if not each.status.over]
        return before.index(job) if job in before else 0

    @property
    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs)

    def shown_to(self, visitor: str, about: str) -> Job | None:
        """Return the visitor's newest job about a subject or unfinished, else one of others."""
        every = [job for job in self.all if job.subject == about or not job.status.over]
        own = [job for job in every if job.visitor == visitor]
        running = [job for job in every if job.status.state == "running"]
        return next(iter([*own, *running, *every]), None)

    def about(self, subject: str) -> Job | None:
        return next((job for job in self.all if job.subject == subject), None)

    def _run(self) -> None:
        while True:
            self._line.get().run()
