"""`evaluate` by a Dask cluster: a scheduler and two workers, all of them processes."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from crfviz.__main__ import main
from tests.app.test_workers import LOOKS, corpus
from tests.support.forked_server import ForkedProgram
from tests.support.tiny_tagger import save_tiny


def started(stack, name, *options):
    """A program of Dask, which is killed in the end."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{name}", "--no-dashboard", *options]
    with Path(os.devnull).open("w") as quiet:
        process = stack.enter_context(ForkedProgram(command, stdout=quiet, stderr=quiet))
    stack.callback(process.kill)
    return process


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, and its workers; tests kill them, so each has its own."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    told = folder / "scheduler.json"
    both = ["--scheduler-file", str(told)]
    with ExitStack() as stack:
        scheduler = started(stack, "scheduler", "--host", "127.0.0.1", "--port", "0", *both)
        one = ["--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
        workers = [started(stack, "worker", *one, *both) for _ in range(2)]
        while not told.exists() or not told.read_text():
            assert scheduler.poll() is None
            time.sleep(LOOKS)
        address = json.loads(told.read_text())["address"]
        come = "import sys; from distributed import Client; Client(sys.argv[1]).wait_for_workers(2)"
        with ForkedProgram([sys.executable, "-c", come, address]) as comes:
            assert comes.wait() == 0
        yield address, workers, scheduler


def evaluate(file, model, out, *options):
    """A run in a process of its own, as Dask has threads that outlive a run."""
    command = ["evaluate", str(file), "--model", str(model), "--json", str(out), *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return ForkedProgram(
        [sys.executable, "-m", "crfviz", *command, "--shard-bytes", "2000"], **pipes
    )


def wait_for_shards(process, folder):
    """Until three shards are finished, of so many that the end is far away."""
    while not folder.is_dir() or len(list(folder.iterdir())) < 3:
        assert process.poll() is None, process.stderr.read()
        time.sleep(LOOKS)


def test_cluster_run_equals_a_single_process_despite_a_lost_worker(cluster, tmp_path):
    address, workers, _ = cluster
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "test.conll"
    file.write_text(corpus(2400), encoding="utf-8")
    out, folder = tmp_path / "many.json", tmp_path / "many.json.shards"
    with evaluate(file, model, out, "--scheduler", address) as process:
        wait_for_shards(process, folder)
        os.kill(workers[0].pid, signal.SIGKILL)
        said = process.stderr.read()
    assert process.returncode == 0, said
    one = tmp_path / "one.json"
    named = ["--model", str(model), "--json", str(one), "--shard-bytes", "2000"]
    assert main(["evaluate", str(file), *named]) == 0
    assert out.read_bytes() == one.read_bytes()
    assert not folder.exists()


@pytest.mark.rotating
def test_error_on_a_cluster_worker_is_reported_without_a_traceback(cluster, tmp_path):
    address, _, _ = cluster
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "bad.conll"
    file.write_text(f"{corpus(300)}no tag\n", encoding="utf-8")
    last = len(file.read_text().splitlines())
    with evaluate(file, model, tmp_path / "x.json", "--scheduler", address) as process:
        said = process.stderr.read()
    assert process.returncode == 2
    assert f"crfviz: {file}, line {last}: expected word TAB tag" in said
    assert "Traceback" not in said


@pytest.mark.rotating
def test_lost_scheduler_is_reported_and_keeps_finished_shards(cluster, tmp_path):
    address, _, scheduler = cluster
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "test.conll"
    file.write_text(corpus(12000), encoding="utf-8")
    out, folder = tmp_path / "x.json", tmp_path / "x.json.shards"
    with evaluate(file, model, out, "--scheduler", address) as process:
        wait_for_shards(process, folder)
        scheduler.kill()
        said = process.stderr.read()
    assert process.returncode == 2, said
    assert f"crfviz: the scheduler at {address} is gone" in said
    assert f"finished shards are kept in {folder}" in said
    assert "Traceback" not in said
    assert not out.exists()


@pytest.mark.rotating
def test_scheduler_lost_while_fetching_a_result_is_reported(cluster, tmp_path):
    address, _, _ = cluster
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "test.conll"
    file.write_text(corpus(300), encoding="utf-8")
    code = """
import sys, distributed
from crfviz.__main__ import main
def result(future):
    raise distributed.comm.CommClosedError("the connection is reset")
distributed.Future.result = result
sys.exit(main(sys.argv[1:]))
"""
    named = ["--model", str(model), "--scheduler", address]
    program = [sys.executable, "-c", code, "evaluate", str(file), *named]
    with ForkedProgram(program, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.read()
    assert process.returncode == 2, said
    assert f"crfviz: the scheduler at {address} is gone" in said


def test_invalid_scheduler_address_is_reported(tmp_path, capsys):
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "test.conll"
    file.write_text("a\tX\n", encoding="utf-8")
    assert main(["evaluate", str(file), "--model", str(model), "--scheduler", "here"]) == 2
    said = "such as tcp://HOST:8786; nobody answers at 'here' (it is no such address)"
    assert said in capsys.readouterr().err


def test_unreachable_scheduler_is_reported(tmp_path):
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "test.conll"
    file.write_text("a\tX\n", encoding="utf-8")
    code = "import sys; import crfviz.corpus.shards.cluster as c; c.TIMEOUT = 1; "
    code += "from crfviz.__main__ import main; sys.exit(main(sys.argv[1:]))"
    named = ["--model", str(model), "--scheduler", "tcp://127.0.0.1:9"]
    program = [sys.executable, "-c", code, "evaluate", str(file), *named]
    with ForkedProgram(program, stderr=subprocess.PIPE, text=True) as process:
        said = process.stderr.read()
    assert process.returncode == 2, said
    assert "nobody answers at 'tcp://127.0.0.1:9' (" in said
    assert "Traceback" not in said


def test_missing_cluster_package_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    model, file = save_tiny(tmp_path / "tiny"), tmp_path / "test.conll"
    file.write_text("a\tX\n", encoding="utf-8")
    named = ["--model", str(model), "--scheduler", "tcp://127.0.0.1:9"]
    assert main(["evaluate", str(file), *named]) == 2
    assert "pip install 'crfviz[cluster]'" in capsys.readouterr().err


def test_dask_is_imported_only_for_a_cluster():
    code = "import sys; import crfviz.commands.evaluate, crfviz.commands.tag; "
    code += "sys.exit(bool({'dask', 'distributed'} & sys.modules.keys()))"
    with ForkedProgram([sys.executable, "-c", code]) as process:
        assert process.wait() == 0
