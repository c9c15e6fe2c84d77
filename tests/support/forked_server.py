"""Servers and programs that start fast: forks of a process that has imported the libraries.

A server starts in three seconds, mostly for imports. That is too slow for tests that kill a hundred
servers. The fork runs Streamlit's own command, or the module that `python -m` would run.
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

_one_at_a_time = threading.Lock()  # all threads share sys.modules["__main__"]


@contextmanager
def forking():
    """Fork processes of `multiprocessing` from a server that has imported the libraries."""
    get_context("forkserver").set_forkserver_preload(
        ["tests.support.saving_worker", "tests.support.warm"]
    )
    # Streamlit leaves the app as __main__, and each new process would run that first.
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    ensure_running()  # start it here, because it inherits blocked signals
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
    """Run Streamlit in this process, with this environment and log (target of `fork`)."""
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
    """A Python command in a fork, with the interface of `subprocess.Popen`.

    The command is `[sys.executable, "-m", MODULE, *ARGUMENTS]` or `[sys.executable, "-c", CODE,
    *ARGUMENTS]`. Standard streams are pipes, files, or those of this process.
    """

    def __init__(self, command, *, stdin=None, stdout=None, stderr=None, text=False, env=None, **_):
        theirs, ours = [], []
        for number, stream in enumerate((stdin, stdout, stderr)):
            if stream == subprocess.PIPE:
                ends = os.pipe()[:: -1 if number else 1]  # the end of the child first
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
    """A file descriptor that the fork inherits."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def __reduce__(self):
        return _detached, (reduction.DupFd(self._descriptor),)


def _detached(descriptor):
    return descriptor.detach()


def become(command, environment, streams):
    """Run the command in this process, in a new POSIX session (target of `ForkedProgram`)."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background shells ignore SIGINT
    os.environ.clear()
    os.environ.update(environment)
    settings.cache_clear()
    above = [fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 10) for stream in streams]
    for stream in streams:  # a stream's number may be the target of another
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
    """A replacement of the module `subprocess` in tests: programs are forked."""

    Popen = ForkedProgram
    PIPE, TimeoutExpired = subprocess.PIPE, subprocess.TimeoutExpired
