"""A PostgreSQL server on loopback, from the programs of Debian's package."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

NOBODY = "nobody"  # PostgreSQL refuses to run as root
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
CONFIGURATION = Path(__file__).with_name("postgresql.conf")
PATIENCE = 60.0  # seconds for any of its programs


class Cluster:
    """One server.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
    """

    def __init__(self) -> None:
        found = shutil.which("initdb")
        if not PROGRAMS and found is None:
            raise FileNotFoundError(
                "PostgreSQL is not installed (Debian: apt-get install postgresql)"
            )
        self._programs = PROGRAMS[-1] if PROGRAMS else Path(str(found)).parent
        self._folder = Path(tempfile.mkdtemp(prefix="crfviz-postgres-"))
        shutil.copy(CONFIGURATION, self._folder)
        if os.geteuid() == 0:
            shutil.chown(self._folder, NOBODY)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-U", "crfviz", "-A", "trust", "-E", "UTF8", "--no-locale")
        self.start()

    def url(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://crfviz@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, encoding: str = "UTF8") -> str:
        """A new database; its address."""
        self._program("createdb", *self._address, "-T", "template0", "-E", encoding, database)
        return self.url(database)

    def drop(self, database: str) -> None:
        """Take a database away, whoever uses it."""
        self._program("dropdb", *self._address, "--force", database)

    def start(self) -> None:
        """Start the server, until it answers."""
        configuration = f"-c config_file={self._folder / CONFIGURATION.name}"
        settings = f"{configuration} -p {self.port} -h 127.0.0.1 -k '{self._folder}'"
        self._run("pg_ctl", "start", "-w", "-o", settings, "-l", str(self._folder / "log"))

    def stop(self, how: str = "fast") -> None:
        """Stop it: `fast` ends connections, `immediate` is as a crash."""
        self._run("pg_ctl", "stop", "-w", "-m", how)

    def remove(self) -> None:
        """Stop it, and take its data away."""
        self.stop("immediate")
        shutil.rmtree(self._folder)

    @property
    def _address(self) -> tuple[str, ...]:
        return "-h", "127.0.0.1", "-p", str(self.port), "-U", "crfviz"

    def _run(self, program: str, *arguments: str) -> None:
        self._program(program, "-D", str(self._folder / "data"), *arguments)

    def _program(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", NOBODY, "--", *command]
        done = subprocess.run(
            command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout}")
