"""What compose.yaml starts in containers, as processes on loopback: replicas, proxy, PostgreSQL.

    python -m deploy.local [--replicas 3] [--address 127.0.0.1] [--port 8080]

From the same configuration files, with PostgreSQL and nginx from Debian's packages. Annotations,
models and rooms are gone when it ends.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.serving import STARTS_WITHIN, Process, Start, new_process
from deploy.postgres import Cluster
from deploy.replicas import replicas

PROXY = Path(__file__).with_name("proxy")
LOOK = 0.05  # seconds between two looks whether a process answers


class Replica:
    """One process of the app.

    Args:
        name: of the process.
        folder: where its log goes.
        environment: its variables.
        start: starts it.
    """

    def __init__(
        self, name: str, folder: Path, environment: Mapping[str, str], start: Start
    ) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log_file = folder / f"replica-{name}.log"
        self._environment = {**environment, "CRFVIZ_REPLICA": name}
        self._start = start
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        return self._running().pid

    def start(self) -> None:
        """Start it, without waiting for it."""
        options = [
            "--server.headless=true",
            "--server.address=127.0.0.1",
            f"--server.port={self.port}",
        ]
        with self.log_file.open("ab") as log:
            self._process = self._start(["run", "app.py", *options], self._environment, log)

    def wait(self) -> None:
        """Until it answers.

        Raises:
            RuntimeError: it does not.
        """
        process, end = self._running(), time.monotonic() + STARTS_WITHIN
        while process.poll() is None and time.monotonic() < end:
            if answers(f"http://{self.address}/_stcore/health"):
                return
            time.sleep(LOOK)
        raise RuntimeError(
            f"a process does not answer:\n{self.log_file.read_text(errors='replace')}"
        )

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, and wait until it is gone."""
        process, self._process = self._running(), None
        os.kill(process.pid, how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _running(self) -> Process:
        if self._process is None:
            raise RuntimeError("the process does not run")
        return self._process


class Topology:
    """PostgreSQL, processes of the app that share it and a folder of models, and the proxy.

    Args:
        number: of processes.
        environment: variables of theirs.
        start: starts one.
        port: of the proxy; None takes a free one.
        address: that the proxy listens at.
    """

    def __init__(
        self,
        number: int,
        environment: Mapping[str, str] | None = None,
        start: Start = new_process,
        port: int | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self._number, self._environment, self._start = number, environment or {}, start
        self._port, self._address = port or free_port(), address
        self.url = f"http://127.0.0.1:{self._port}"
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._stack as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crfviz-")))
            self.folder.chmod(0o755)  # the proxy's workers are nobody
            self.models = self.folder / "models"
            self.postgres = Cluster()
            stack.callback(self.postgres.remove)
            self.database = self.postgres.url()
            self.replicas = [self._replica(f"{n}") for n in range(1, self._number + 1)]
            for replica in self.replicas:
                replica.start()
                stack.callback(_end, replica)
            for replica in self.replicas:
                replica.wait()
            self._proxy(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _replica(self, name: str) -> Replica:
        settings = {
            "CRFVIZ_DATABASE_URL": self.database,
            "CRFVIZ_USER_MODELS": str(self.models),
            "STREAMLIT_SERVER_COOKIE_SECRET": "the same for all of them",
            "PYTHONUNBUFFERED": "1",
        }
        return Replica(
            name, self.folder, {**os.environ, **settings, **self._environment}, self._start
        )

    def _proxy(self, stack: ExitStack) -> None:
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            raise FileNotFoundError("nginx is not installed (Debian: apt-get install nginx-light)")
        home = self.folder / "proxy"
        home.joinpath("tmp").mkdir(parents=True)
        shutil.copy(PROXY / "nginx.conf", home)
        home.joinpath("listen.conf").write_text(f"listen {self._address}:{self._port};\n")
        addresses = [replica.address for replica in self.replicas]
        home.joinpath("replicas.conf").write_text(replicas(addresses))
        options = ["-p", f"{home}/", "-c", "nginx.conf", "-g", "daemon off;"]
        with home.joinpath("log").open("wb") as log:
            process = subprocess.Popen([program, *options], stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        end = time.monotonic() + STARTS_WITHIN
        while not answers(f"{self.url}/_stcore/health"):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(
                    f"the proxy does not answer:\n{home.joinpath('log').read_text()}"
                )
            time.sleep(LOOK)


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Whether an address answers, and well."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end(replica: Replica) -> None:
    if replica._process is not None:
        replica.end()


def main() -> None:
    """Start everything, until Ctrl+C or SIGTERM."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # in the background SIGINT may be ignored
        signal.signal(ending, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replicas", type=int, default=3, help="processes of the app")
    parser.add_argument("--address", default="127.0.0.1", help="that the proxy listens at")
    parser.add_argument("--port", type=int, default=8080, help="of the proxy")
    chosen = parser.parse_args()
    with (
        suppress(KeyboardInterrupt),
        Topology(chosen.replicas, port=chosen.port, address=chosen.address) as all_of_it,
    ):
        sys.stdout.write(f"{all_of_it.url}, Ctrl+C ends it\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    main()
