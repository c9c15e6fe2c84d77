"""Numba's cache of the compiled loops: whether it is filled, and how it is filled.

Compiling takes many seconds, and importing Numba takes one. So a process loads the loops only if a
marker file says that they are compiled. The marker lies where Numba may keep its cache: in
`NUMBA_CACHE_DIR`, beside the source, or in the user's cache. Its name changes with the source, the
interpreter and Numba's version.
"""

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from crfviz.exceptions import CrfvizError
from crfviz.settings import environment

KERNELS = ("crfviz.chain.engine.kernels", "crfviz.chain.engine.kernels.paths")
DELAY = 5.0  # seconds; most evaluations are over by then
LOWEST_PRIORITY = 19

_FOLDER = Path(__file__).with_name("kernels")
_ROOT = Path(__file__).resolve().parents[3]
_started = threading.Lock()  # held from the first background process on


def numba_version() -> str:
    """Return the version of Numba without importing it; "" if it is not installed."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


def is_filled() -> bool:
    """Return whether the loops of this source, interpreter and Numba were compiled."""
    if not (numba := numba_version()):
        return False
    name = _marker(numba)
    return any((folder / name).exists() for folder in _folders())


class NotCachedError(Exception):
    """A loop is missing in Numba's cache, in spite of the marker."""


@contextmanager
def without_compiler() -> Iterator[None]:
    """Import the kernels from Numba's cache only.

    Raises:
        ModuleNotFoundError: Numba is missing.
        NotCachedError: a loop would have to be compiled, as after a change of the processor.
    """
    from numba.core import event

    class Refuse(event.Listener):  # type: ignore[misc]  # Numba has no types
        def on_start(self, event: Any) -> None:  # noqa: ANN401
            module = event.data["dispatcher"].py_func.__module__
            if module.startswith(KERNELS[0]):
                raise NotCachedError(module)

        def on_end(self, event: Any) -> None:  # noqa: ANN401
            """Do nothing."""

    with event.install_listener("numba:compile", Refuse()):
        yield


def fill() -> Path:
    """Compile what Numba's cache lacks, and return the marker that says so.

    Raises:
        CrfvizError: Numba is missing or does not work here, or no folder can be written.
    """
    if not (numba := numba_version()):
        raise CrfvizError("Numba is not installed: pip install 'crfviz[fast]'")
    marker = _writable_folder() / _marker(numba)
    with marker.with_suffix(".lock").open("w") as lock:
        with suppress(ImportError):  # not on Windows: there two processes may compile the same
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            for name in KERNELS:
                import_module(name)
        except Exception as error:  # of any kind, as Numba meets another version of NumPy
            raise CrfvizError(f"Numba cannot compile the loops: {error}") from error
    marker.touch()
    return marker


def fill_later(then: Callable[[], object]) -> Callable[[], None]:
    """Run `crfviz compile` in `DELAY` seconds, at the lowest priority, once per process.

    A thread of this process would hold the interpreter's lock for most of the time of compiling.

    Args:
        then: called in another thread once the cache is filled.

    Returns:
        A function that cancels it, for work that ended earlier.
    """
    timer = threading.Timer(DELAY, _fill_and_call, [then])
    timer.daemon = True
    timer.start()
    return timer.cancel


def _fill_and_call(then: Callable[[], object]) -> None:
    if not _started.acquire(blocking=False):
        return
    variables = environment()
    paths = filter(None, (str(_ROOT), variables.get("PYTHONPATH", "")))
    with suppress(OSError):  # no interpreter, or no further process: NumPy goes on
        process = subprocess.Popen(
            [sys.executable, "-m", "crfviz", "compile"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**variables, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl+C is for the parent
        )
        atexit.register(process.kill)
        if hasattr(os, "setpriority"):
            with suppress(OSError):  # the process may have ended
                os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST_PRIORITY)
        if process.wait() == 0:
            then()
        atexit.unregister(process.kill)


def _marker(numba: str) -> str:
    stamps = [numba, *(f"{file.stat().st_mtime_ns}" for file in sorted(_FOLDER.glob("*.py")))]
    digest = sha256(" ".join(stamps).encode()).hexdigest()[:16]
    return f"crfviz-{sys.implementation.cache_tag}-{digest}"


def _writable_folder() -> Path:
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    raise CrfvizError("No folder for compiled code can be written: set NUMBA_CACHE_DIR to one")


def _folders() -> Iterator[Path]:
    if chosen := environment().get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
        return
    yield _FOLDER / "__pycache__"
    with suppress(RuntimeError):  # this user has no home
        yield Path(environment().get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crfviz"
