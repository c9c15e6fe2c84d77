"""A throw-away PostgreSQL cluster on loopback, from the programs of Debian's package."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

NOBODY = "nobody"  # PostgreSQL refuses to run as root
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))


class Cluster:
    """One server with its data in a folder of its own."""

    def __init__(self):
        found = shutil.which("initdb")
        if not PROGRAMS and found is None:
            reason = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
            assert not os.environ.get("CRFVIZ_REQUIRE_POSTGRES"), reason
            pytest.skip(reason)
        self._programs = PROGRAMS[-1] if PROGRAMS else Path(found).parent
        self._folder = Path(tempfile.mkdtemp(prefix="crfviz-postgres-"))
        if os.geteuid() == 0:
            shutil.chown(self._folder, NOBODY)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-U", "crfviz", "-A", "trust", "-E", "UTF8", "--no-locale")
        self.start()

    def url(self, database="postgres"):
        return f"postgresql://crfviz@127.0.0.1:{self.port}/{database}"

    def create(self, database):
        self._program("createdb", *self._address, database)
        return self.url(database)

    def drop(self, database):
        self._program("dropdb", *self._address, "--force", database)

    def start(self):
        settings = f"-p {self.port} -h 127.0.0.1 -k '{self._folder}'"
        self._run("pg_ctl", "start", "-w", "-o", settings, "-l", str(self._folder / "log"))

    def stop(self, how="fast"):
        self._run("pg_ctl", "stop", "-w", "-m", how)

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self._folder)

    @property
    def _address(self):
        return "-h", "127.0.0.1", "-p", str(self.port), "-U", "crfviz"

    def _run(self, program, *arguments):
        self._program(program, "-D", str(self._folder / "data"), *arguments)

    def _program(self, program, *arguments):
        command = [str(self._programs / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", NOBODY, "--", *command]
        done = subprocess.run(
            command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
