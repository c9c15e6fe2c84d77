"""Mutation testing: insert the bugs of tests/mutations.toml into copies of the project.

    python -m tests.support.mutate [WORD ...]

With words, use only the mutations of files whose path contains one of them. Prints each bug that
the tests miss. The exit status is 1 if the tests find fewer than 19 of 20 bugs.
"""

import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MUTATIONS = ROOT / "tests/mutations.toml"
NUM_COPIES = 2  # copies of the project, each of which runs tests in one process
MIN_KILLED = 0.95  # of all mutations
CPU_LIMIT = 300  # CPU seconds per process, because a bug may cause an endless loop
PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")
FAILED = (1, -signal.SIGXCPU)  # exit status of pytest and Node: failed test, or CPU limit


class BrokenMutationError(Exception):
    """A mutation that cannot be applied, or tests that cannot be run with it."""


@dataclass(frozen=True)
class Mutation:
    """One bug, and the tests that must find it."""

    file: str  # path from the root of the project
    bug: str  # description
    old: str  # text that occurs exactly once in the file
    new: str
    tests: tuple[str, ...]  # paths of test files, all Python or all JavaScript

    def applied(self, text: str) -> str:
        """Return the text of the file with the bug.

        Raises:
            BrokenMutationError: the old text does not occur exactly once.
        """
        if (times := text.count(self.old)) != 1:
            raise BrokenMutationError(
                f"{self.file}: expected the old text once, found it {times} times; "
                f"bring tests/mutations.toml up to date:\n{self.old}"
            )
        return text.replace(self.old, self.new)


def read_mutations() -> list[Mutation]:
    """Return all mutations of the list, in order."""
    entries = tomllib.loads(MUTATIONS.read_text("utf-8"))["mutation"]
    return [Mutation(**entry | {"tests": tuple(entry["tests"])}) for entry in entries]


@contextmanager
def copies(number):
    """Create a queue of copies of the working tree, without the files that git ignores."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in output.split("\0") if name and (ROOT / name).is_file()]
    with tempfile.TemporaryDirectory() as folder:
        waiting = queue.Queue()
        for place in range(number):
            copy = Path(folder, str(place))
            for name in files:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
            # Bytecode that is validated by the hash of its source, not by the time.
            compiled = ("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "crfviz")
            subprocess.run([sys.executable, *compiled, "tests"], cwd=copy, check=True)
            waiting.put(copy)
        yield waiting


def run_tests(tests, copy):
    """Run the tests in a copy; return their exit status and the end of their output."""
    program = [sys.executable, *PYTEST] if tests[0].endswith(".py") else ["node", "--test"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_PROFILE": "mutations",  # the same examples every time
    }
    done = subprocess.run(
        [*program, *tests], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, (done.stdout + done.stderr)[-2000:]


def is_killed(mutation, waiting):
    """Return whether a test fails with the mutation.

    Raises:
        BrokenMutationError: the tests cannot be run, for example because of wrong syntax.
    """
    copy = waiting.get()
    file = copy / mutation.file
    text = file.read_text("utf-8")
    try:
        file.write_text(mutation.applied(text), "utf-8")
        status, output = run_tests(mutation.tests, copy)
    finally:
        file.write_text(text, "utf-8")
        waiting.put(copy)
    if status not in (0, *FAILED):
        raise BrokenMutationError(f"{mutation.file}: {mutation.bug}: status {status}\n{output}")
    return status in FAILED


def main(words):
    """Run the requested mutations; return the exit status."""
    started = time.monotonic()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))  # inherited
    chosen = [m for m in read_mutations() if not words or any(word in m.file for word in words)]
    with copies(NUM_COPIES) as waiting, ThreadPoolExecutor(NUM_COPIES) as pool:
        tests = sorted({test for mutation in chosen for test in mutation.tests})
        python = [test for test in tests if test.endswith(".py")]
        parts = [python[::2], python[1::2], [test for test in tests if test not in python]]
        runs = pool.map(run_tests, filter(None, parts), cycle(list(waiting.queue)))
        if failures := [output for status, output in runs if status]:
            print("tests fail without any mutation:", *failures, sep="\n")
            return 1
        killed = 0
        outcomes = pool.map(partial(is_killed, waiting=waiting), chosen)
        for mutation, found in zip(chosen, outcomes, strict=True):
            killed += found
            outcome = "killed  " if found else "SURVIVED"
            print(f"{outcome}  {mutation.file}: {mutation.bug}", flush=True)
    minutes = (time.monotonic() - started) / 60
    print(f"{killed} of {len(chosen)} mutations killed in {minutes:.1f} minutes")
    return 0 if killed >= MIN_KILLED * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
