"""No answer waits for Numba's compiler, and long work keeps to one engine."""

import math
import os
import re
import subprocess
import sys
import threading
from functools import cache
from types import SimpleNamespace

import pytest

from crfviz.__main__ import main
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.engine import compiled, kernel_cache
from crfviz.chain.potentials import Potentials

FIRST_CALLS = """
import sys
from streamlit.testing.v1 import AppTest
import crfviz
chain = crfviz.Potentials([[1.0, 0.0], [0.5, 0.0]], [[0.0, 0.5], [0.0, 0.0]])
print(crfviz.viterbi(chain).path, f"{crfviz.forward_backward(chain).log_partition:.6f}")
crfviz.CRF(2).decode(chain.emissions[None])
script = '''
import crfviz, streamlit as st
chain = crfviz.Potentials([[1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], tags=["A", "B"], tokens=["x"])
crfviz.st_lattice(chain, key="k")
'''
run = AppTest.from_string(script, default_timeout=3600).run()
assert not run.exception and not run.error, (run.exception, run.error)
print(*{"numba", "llvmlite"} & set(sys.modules))
"""


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_COMPILED", "on")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "numba_version", lambda: "1.0")
    monkeypatch.setattr(kernel_cache, "_started", threading.Lock())
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "kernels", cache(compiled.kernels.__wrapped__))
        yield tmp_path


def test_first_calls_with_an_empty_cache_do_not_import_numba(tmp_path):
    environment = {**os.environ, "CRFVIZ_COMPILED": "on", "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", FIRST_CALLS],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    total = math.log(2 * math.exp(1.5) + math.exp(0.5) + 1.0)  # of all four paths
    assert run.stdout == f"[0, 0] {total:.6f}\n\n"


def test_marker_of_another_source_does_not_count(empty_cache, monkeypatch):
    assert not kernel_cache.is_filled()
    monkeypatch.setattr(kernel_cache, "KERNELS", ())
    assert kernel_cache.fill().parent == empty_cache
    assert kernel_cache.is_filled()
    monkeypatch.setattr(kernel_cache, "numba_version", lambda: "1.1")
    assert not kernel_cache.is_filled()


def test_compile_reports_where_the_loops_are(empty_cache, monkeypatch, capsys):
    monkeypatch.setattr(kernel_cache, "KERNELS", ())
    assert main(["compile"]) == 0
    assert str(empty_cache) in capsys.readouterr().out
    assert kernel_cache.is_filled()


@pytest.mark.parametrize(
    ("broken", "message"),
    [("numba_version", "pip install 'crfviz\\[fast\\]'"), ("KERNELS", "cannot compile the loops")],
)
@pytest.mark.usefixtures("empty_cache")
def test_compile_without_a_working_numba_says_why(broken, message, monkeypatch, capsys):
    monkeypatch.setattr(kernel_cache, "numba_version", lambda: "" if broken != "KERNELS" else "1")
    monkeypatch.setattr(kernel_cache, "KERNELS", ("crfviz.no_such_module",))
    assert main(["compile"]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_compile_without_a_writable_folder_says_what_to_set(empty_cache, monkeypatch, capsys):
    file = empty_cache / "file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "folder"))
    assert main(["compile"]) == 2
    assert "set NUMBA_CACHE_DIR" in capsys.readouterr().err


@pytest.mark.usefixtures("empty_cache")
def test_long_work_keeps_arrays_until_it_ends(monkeypatch):
    """The background process may finish while a training runs, whose bits must not change."""
    waiting, loops, used = [], SimpleNamespace(), []
    monkeypatch.setattr(
        kernel_cache, "fill_later", lambda then: waiting.append(then) or waiting.clear
    )
    chain = Potentials([[1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    loops.best_path = lambda *_: used.append("loops") or (1.0, False, [0], [[1.0, 0.0]], [[-1] * 2])
    with compiled.long_work():
        (then,) = waiting
        monkeypatch.setattr(kernel_cache, "is_filled", lambda: True)
        then()
        monkeypatch.setattr(compiled, "kernels", lambda: loops)
        assert compiled.best_path(chain.scores()) is None
        assert not used
    assert waiting == []  # cancelled
    assert compiled.best_path(chain.scores()) is not None
    assert used == ["loops"]


@pytest.mark.usefixtures("empty_cache")
def test_background_process_runs_once_and_reports_success(monkeypatch):
    started, filled = [], threading.Event()

    class Process:
        pid = os.getpid()

        def __init__(self, command, **options):
            started.append((command[1:], options["start_new_session"]))

        def wait(self):
            return 0

        def kill(self):
            raise AssertionError

    monkeypatch.setattr(kernel_cache, "DELAY", 0.0)
    monkeypatch.setattr(kernel_cache, "LOWEST_PRIORITY", os.getpriority(os.PRIO_PROCESS, 0))
    monkeypatch.setattr(kernel_cache.subprocess, "Popen", Process)
    kernel_cache.fill_later(filled.set)
    assert filled.wait(60)
    kernel_cache._fill_and_call(lambda: pytest.fail("a second process"))
    assert started == [(["-m", "crfviz", "compile"], True)]


@pytest.mark.usefixtures("empty_cache")
def test_viterbi_is_the_same_without_kernels():
    assert compiled.kernels() is None
    assert viterbi(Potentials([[1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])).path == [0]
