"""Servers and programs that start in a moment: forks of a process that has imported the libraries.

Of the three seconds in which a server starts, imports take most, and a test that kills a hundred
servers is not about them. What runs is Streamlit's own command all the same, or the module that
`python -m` would run.
"""

import fcntl
import os
import runpy
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from multiprocessing import get_context, reduction
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from types import ModuleType

from benchmarks.serving import ROOT
from crfviz.settings import settings

_one_at_a_time = threading.Lock()  # the main module is that of all threads


@contextmanager
def forking():
    """Processes of `multiprocessing` are forked from one that has imported what they need."""
    get_context("forkserver").set_forkserver_preload(
        ["tests.support.saving_worker", "tests.support.warm"]
    )
    # Streamlit leaves the app as the main module, which every process would run first.
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    ensure_running()  # now, as it inherits blocked signals
    try:
        yield
    finally:
        sys.modules["__main__"] = before


class ForkedServer:
    """A process of `multiprocessing` with the methods of `subprocess.Popen`."""

    def __init__(self, process):
        self._process = process
        self.pid = process.pid
        self.terminate = process.terminate
        self.kill = process.kill

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("streamlit", timeout)
        return self._process.exitcode


def fork(arguments, environment, log):
    """Start Streamlit in a fork; see `benchmarks.serving.new_process`."""
    context = get_context("forkserver")
    process = context.Process(target=serve, args=(arguments, dict(environment), log.name))
    with _one_at_a_time, forking():
        process.start()
    return ForkedServer(process)


def serve(arguments, environment, log):
    """What the fork does: become a server with this environment and log."""
    from streamlit.web.cli import main

    os.environ.clear()
    os.environ.update(environment)
    settings.cache_clear()
    os.chdir(ROOT)
    with Path(log).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(arguments, prog_name="streamlit")


class ForkedProgram(ForkedServer):
    """A command of Python in a fork, used as `subprocess.Popen` is.

    The command is `[sys.executable, "-m", MODULE, *ARGUMENTS]`, or has "-c" and code for "-m" and
    the module. Standard streams are pipes, files, or those of this process.
    """

    def __init__(self, command, *, stdin=None, stdout=None, stderr=None, text=False, env=None, **_):
        theirs, ours = [], []
        for number, stream in enumerate((stdin, stdout, stderr)):
            if stream == subprocess.PIPE:
                ends = os.pipe()[:: -1 if number else 1]  # theirs first
                mode = ("r" if number else "w") + ("" if text else "b")
                theirs.append(ends[0])
                ours.append(os.fdopen(ends[1], mode))
            else:
                theirs.append(os.dup(number if stream is None else stream.fileno()))
                ours.append(None)
        self.stdin, self.stdout, self.stderr = ours
        environment = dict(os.environ if env is None else env)
        arguments = (command[1:], environment, [_Inherited(each) for each in theirs])
        process = get_context("forkserver").Process(target=become, args=arguments)
        with _one_at_a_time, forking():
            process.start()
        for each in theirs:
            os.close(each)
        super().__init__(process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    @property
    def returncode(self):
        return self.poll()


class _Inherited:
    """A file descriptor that goes along into the fork."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def __reduce__(self):
        return _detached, (reduction.DupFd(self._descriptor),)


def _detached(descriptor):
    return descriptor.detach()


def become(command, environment, streams):
    """What the fork does: become the program, in a session of its own."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    os.environ.clear()
    os.environ.update(environment)
    settings.cache_clear()
    above = [fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 10) for stream in streams]
    for stream in streams:  # any of them may have the number of another one's place
        os.close(stream)
    for number, stream in enumerate(above):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode) for n, mode in enumerate("rww"))
    kind, program, *arguments = command
    sys.argv = [program, *arguments]
    if kind == "-c":
        exec(program, {"__name__": "__main__"})
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


class ForkingSubprocess:
    """In place of the module `subprocess`, where a test puts it: programs are forked."""

    Popen = ForkedProgram
    PIPE, TimeoutExpired = subprocess.PIPE, subprocess.TimeoutExpired
