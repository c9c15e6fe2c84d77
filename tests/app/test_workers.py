"""Commands and their worker processes: the same bytes whoever works, pipes, ends, messages."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from crfviz.__main__ import main
from tests.support.forked_server import ForkedProgram
from tests.support.tiny_tagger import save_tiny
from tests.support.workers import Shuffled

WORDS = ["He", "runs", "to", "Paris", ".", "@bob", "sees", "2", "dogs"]
SIZE = ["--shard-bytes", "400"]
LOOKS = 0.005  # seconds between two; who looks all the time takes the processor from who is awaited


def corpus(sentences):
    lines = []
    for number in range(sentences):
        for place in range(1 + number * 7 % 5):
            tag = ["NOUN", "VERB", "X"][(number + place) % 3]
            lines.append(f"{WORDS[(number * 3 + place) % len(WORDS)]}\t{tag}\n")
        lines.append("\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "test.conll"
    path.write_text(corpus(120), encoding="utf-8")
    return path


def outputs(folder, name):
    return [folder / f"{name}.json", folder / f"{name}.html"]


def evaluate(model, file, paths, *options):
    json, report = map(str, paths)
    named = ["--model", str(model), "--json", json, "--report", report]
    return main(["evaluate", str(file), *named, *SIZE, *options])


@pytest.fixture(scope="module")
def one(model, file, tmp_path_factory):
    """JSON and report of one run, in this process."""
    paths = outputs(tmp_path_factory.mktemp("one"), "one")
    assert evaluate(model, file, paths, "--against", str(model)) == 0
    return [path.read_bytes() for path in paths]


@pytest.mark.parametrize("workers", [2, 7, 16])
def test_output_bytes_do_not_depend_on_workers(workers, model, file, one, tmp_path, monkeypatch):
    crews = []

    def crew(job, number):
        crews.append(Shuffled(job, number, seed=number))
        return crews[-1]

    monkeypatch.setattr("crfviz.commands.sharded_work.ProcessPool", crew)
    paths = outputs(tmp_path, "many")
    options = ["--against", str(model), "--workers", str(workers)]
    assert evaluate(model, file, paths, *options) == 0
    assert [path.read_bytes() for path in paths] == one
    assert crews[0].most == min(workers, -(-file.stat().st_size // 400)) > 1
    assert sorted(tmp_path.iterdir()) == sorted(paths)


@pytest.mark.usefixtures("forked_workers")
def test_output_bytes_of_real_processes_equal_one_run(model, file, one, tmp_path, capfd):
    paths = outputs(tmp_path, "many")
    assert evaluate(model, file, paths, "--against", str(model), "--workers", "2") == 0
    assert [path.read_bytes() for path in paths] == one
    assert "Traceback" not in capfd.readouterr().err


def test_times_are_written_only_on_request(model, file, one, tmp_path):
    assert b"seconds" not in one[0]
    paths = outputs(tmp_path, "timed")
    assert evaluate(model, file, paths, "--times") == 0
    for name in (b'"scoring_seconds"', b'"seconds"', b'"microseconds"'):
        assert name in paths[0].read_bytes()


def interrupted(monkeypatch, after):
    """Somebody presses Ctrl+C after so many shards."""

    class Interrupted(Shuffled):
        def next_result(self):
            if len(done) == after:
                raise KeyboardInterrupt
            done.append(super().next_result())
            return done[-1]

    done = []
    monkeypatch.setattr("crfviz.commands.sharded_work.ProcessPool", Interrupted)


def test_interrupted_command_resumes(model, file, one, tmp_path, monkeypatch, capsys):
    paths = outputs(tmp_path, "many")
    options = ["--against", str(model), "--workers", "3"]
    interrupted(monkeypatch, after=5)
    assert evaluate(model, file, paths, *options) == 130
    folder = tmp_path / "many.json.shards"
    told = f"stopped: 5 finished shards are kept in {folder}, and the same command goes on"
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [folder]
    monkeypatch.undo()
    assert evaluate(model, file, paths, *options[:2]) == 0
    assert [path.read_bytes() for path in paths] == one
    assert f"{folder}: went on from 5 finished shards" in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize("change", ["model", "file", "options"])
def test_shards_of_other_inputs_are_reported_and_not_used(
    change, model, file, tmp_path, monkeypatch, capsys
):
    own, text = tmp_path / "own", tmp_path / "test.conll"
    shutil.copytree(model, own)
    shutil.copy(file, text)
    paths = outputs(tmp_path, "many")
    interrupted(monkeypatch, after=5)
    evaluate(own, text, paths, "--workers", "3")
    monkeypatch.undo()
    if change == "model":
        save_tiny(own, tags=("X", "NOUN", "VERB"))
    if change == "file":
        text.write_text(corpus(121).replace("He\t", "She\t"), encoding="utf-8")
    options = ["--fold-handles"] if change == "options" else []
    assert evaluate(own, text, paths, *options) == 0
    said = capsys.readouterr().err
    assert "5 shards were of another file, model or options, and not used" in said
    assert "went on" not in said


def lives(process):
    """Whether it runs; one that has ended and whom nobody has asked does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.usefixtures("forked_workers")
def test_pipe_is_tagged_by_worker_processes(model, tmp_path, monkeypatch, capfd):
    sentences = '{"tokens": ["He", "runs"]}\n\n{"tokens": ["dogs"]}\n' * 200
    file, named = tmp_path / "in.jsonl", ["--model", str(model), "--shard-bytes", "2000"]
    file.write_text(sentences, encoding="utf-8")
    assert main(["tag", "--file", str(file), *named]) == 0
    expected = capfd.readouterr().out
    read, write = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), "rw", strict=True))
    writer = threading.Thread(target=lambda: (write.write(sentences), write.close()))
    writer.start()  # a pipe holds less
    with read:
        monkeypatch.setattr("sys.stdin", read)
        assert main(["tag", "--file", "-", *named, "--workers", "2"]) == 0
    writer.join()
    assert capfd.readouterr().out == expected


@pytest.mark.rotating
def test_package_runs_as_a_module(model):
    done = subprocess.run(
        [sys.executable, "-m", "crfviz", "tag", "He runs", "--model", str(model)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.splitlines()[0].split() == ["He", "runs"]
    assert done.stderr == ""


def test_closed_output_pipe_prints_no_traceback(model):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "crfviz", "tag", "He runs", "--model", str(model)]
    with (
        os.fdopen(write, "w") as out,
        ForkedProgram(command, stdout=out, stderr=subprocess.PIPE) as program,
    ):
        assert program.stderr.read() == b""
    assert program.returncode == 1


@pytest.mark.rotating
@pytest.mark.parametrize("end", ["Ctrl+C", "kill"])
def test_worker_processes_end_without_a_traceback_on_ctrl_c_and_kill(end, model, tmp_path):
    text, folder = tmp_path / "long.conll", tmp_path / "out.json.shards"
    text.write_text(corpus(40000), encoding="utf-8")
    command = ["evaluate", str(text), "--model", str(model), "--json", str(tmp_path / "out.json")]
    with ForkedProgram(
        [sys.executable, "-m", "crfviz", *command, "--workers", "2", *SIZE],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not (folder.is_dir() and len(list(folder.iterdir())) > 2):
            assert process.poll() is None
            time.sleep(LOOKS)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if end == "kill":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == (-signal.SIGKILL if end == "kill" else 130)
    assert ("finished shards are kept in" in said) == (end == "Ctrl+C")
    assert "Traceback" not in said
    assert len(children) >= 2  # Python may have started one to tidy up
    while any(lives(child) for child in children):  # it ends by itself, a moment later
        time.sleep(LOOKS)
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_invalid_input_is_reported_with_its_line(workers, model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("crfviz.commands.sharded_work.ProcessPool", Shuffled)
    text = tmp_path / "bad.conll"
    lines = corpus(120).splitlines()
    lines[300] = "no tag"
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["--workers", str(workers)]
    assert evaluate(model, text, outputs(tmp_path, "x"), *options) == 2
    assert f"crfviz: {text}, line 301: expected word TAB tag" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (shutil.rmtree, "cannot see {}: expected the model at the same place as here"),
        (partial(save_tiny, tags=("X", "NOUN", "VERB")), "has another model at {}"),
    ],
)
def test_worker_without_the_model_is_reported(
    change, said, model, file, tmp_path, monkeypatch, capsys
):
    own = tmp_path / "own"
    shutil.copytree(model, own)

    class Elsewhere(Shuffled):
        def __init__(self, job, size):
            super().__init__(job, size)
            change(own)

    monkeypatch.setattr("crfviz.commands.sharded_work.ProcessPool", Elsewhere)
    assert evaluate(own, file, outputs(tmp_path, "x"), "--workers", "2") == 2
    assert said.format(own) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "0"], "--workers: expected at least 1, got 0"),
        (["--shard-bytes", "0"], "--shard-bytes: expected at least 1, got 0"),
    ],
)
def test_numbers_below_one_are_rejected(options, message, model, file, capsys):
    assert main(["evaluate", str(file), "--model", str(model), *options]) == 2
    assert message in capsys.readouterr().err
