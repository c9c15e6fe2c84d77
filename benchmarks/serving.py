"""The app as people start it: a server of its own on a free port, with its log kept."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

ROOT = Path(__file__).resolve().parents[1]
STARTS_WITHIN = 120.0  # seconds; importing torch on a busy machine takes long
STOPS_WITHIN = 10.0  # seconds


@dataclass(frozen=True)
class App:
    """A running app."""

    url: str  # without a slash at the end
    pid: int
    log_file: Path
    database: str  # address of its annotations
    models: str  # folder of the models that users brought

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def cpu(self) -> float:
        """Seconds of CPU that the server has used."""
        after_name = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        user, system = int(after_name[11]), int(after_name[12])
        return (user + system) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Process(Protocol):
    """What is asked of a server's process, however it was started."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


Start = Callable[[Sequence[str], Mapping[str, str], BinaryIO], Process]


def new_process(arguments: Sequence[str], environment: Mapping[str, str], log: BinaryIO) -> Process:
    """Start Streamlit in a new interpreter.

    Args:
        arguments: of Streamlit.
        environment: all of its variables.
        log: where stdout and stderr go.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "streamlit", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )


@contextmanager
def running_app(
    log_file: Path,
    environment: Mapping[str, str] | None = None,
    start: Start = new_process,
    port: int = 0,
    script: str = "app.py",
) -> Iterator[App]:
    """Start the app and stop it at the end.

    Args:
        log_file: where stdout and stderr of the server go.
        environment: variables on top of those of this process.
        start: starts the process.
        port: where it answers; 0 for a free one.
        script: of the app, relative to the root.

    Yields:
        The app, once it answers.

    Raises:
        RuntimeError: it does not answer; a note on the error holds the log.
    """
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    own = tempfile.TemporaryDirectory()  # not the models and annotations of whoever measures
    variables = {
        "PYTHONUNBUFFERED": "1",
        "CRFVIZ_USER_MODELS": f"{own.name}/models",
        "CRFVIZ_DATABASE_URL": f"sqlite:///{own.name}/annotations.db",
    }
    every = {**os.environ, **variables, **(environment or {})}
    with log_file.open("wb") as log:
        process = start(["run", script, *options], every, log)
    own_places = every["CRFVIZ_DATABASE_URL"], every["CRFVIZ_USER_MODELS"]
    app = App(f"http://127.0.0.1:{port}", process.pid, log_file, *own_places)
    with ExitStack() as stack:
        stack.callback(own.cleanup)
        stack.callback(_stop, process)
        stack.push(partial(_note, app))
        _wait(app, process)
        yield app


def _stop(process: Process) -> None:
    process.terminate()
    try:
        process.wait(STOPS_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _note(app: App, _kind: object, error: BaseException | None, _trace: object) -> None:
    """Put the log onto whatever goes wrong while the app runs."""
    if error is not None:
        error.add_note(f"The server's log:\n{app.log()}")


def _wait(app: App, process: Process) -> None:
    """Until the server says that it is healthy."""
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{app.url}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"the app does not answer at {app.url}")
