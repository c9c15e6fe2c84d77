"""What the engine brings to those who train, teach and evaluate: the same work before and now.

    python benchmarks/gains.py --before FOLDER --train train.conllu --dev dev.conllu
        --entities dev.iob2 --test test.conllu [--rounds 3] [--only evaluate]

FOLDER is a checkout of the state that is compared with. Both do each work in turn, as programs of
one thread; what counts is the least processor time of the rounds, with all that a program needs to
start, and its peak of memory. Training is an epoch over the first sentences of the files.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from report import in_markdown
from serving import ROOT

OUT = Path(__file__).with_name("gains.json")
MANY, FEW = 600, 100  # sentences


def main() -> None:
    """Measure, print, write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("--before", "--train", "--dev", "--entities", "--test"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="works with this in their name; others stay")
    options = parser.parse_args()
    trees = {"before": options.before.resolve(), "now": ROOT}
    report: dict[str, Any] = json.loads(OUT.read_text()) if options.only else {}
    with tempfile.TemporaryDirectory() as folder:
        for work, command in works(options, Path(folder)):
            if options.only not in work:
                continue
            runs: dict[str, list[tuple[float, float]]] = {name: [] for name in trees}
            for _ in range(options.rounds):
                for name in random.sample(list(trees), 2):
                    runs[name].append(run(trees[name], command, Path(folder)))
            report[work] = {
                name: {"seconds": round(min(found)[0], 2), "mb": round(min(found)[1])}
                for name, found in runs.items()
            }
            sys.stdout.write(f"{work}: {report[work]}\n")
            sys.stdout.flush()
    OUT.write_text(json.dumps(report, indent=2) + "\n")


def works(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is done, and the command for it; a {} in it is another name each time."""
    train, dev = head(options.train, MANY, folder), head(options.dev, FEW, folder)
    entities = head(options.entities, MANY, folder)
    teach = head(options.test, FEW, folder)
    out = ["--out", f"{folder}/{{}}", "--checkpoint", f"{folder}/{{}}-runs", "--epochs", "1"]
    for model, files in (
        ("upos-en", ["--architecture", "bilstm", "--train", str(train), "--dev", str(dev)]),
        (
            "upos-en-contextfree",
            ["--architecture", "contextfree", "--train", str(train), "--dev", str(dev)],
        ),
        ("ner-en", ["--architecture", "bilstm", "--train", str(entities), "--dev", str(entities)]),
    ):
        yield f"an epoch of {MANY} sentences for `{model}`", ["train", *files, *out]
    for model, more in (
        ("upos-en-perceptron", ["--family", "perceptron"]),
        ("upos-en-perceptron-greedy", ["--family", "perceptron", "--updates", "greedy"]),
        ("upos-en-hmm", ["--family", "hmm"]),
    ):
        command = ["train", *more, "--train", str(train), "--dev", str(dev)]
        yield f"{MANY} sentences for `{model}`", [*command, "--out", f"{folder}/{{}}"]
    name = ["--model", "upos-en", "--name", "taught-{}"]
    yield f"`teach` with {FEW} sentences", ["teach", str(teach), *name]
    written = ["--json", f"{folder}/{{}}.json", "--report", f"{folder}/{{}}.html"]
    corpus = f"{options.test.parent.name} {options.test.stem}"
    yield (
        f"`evaluate --json --report` of {corpus}, as *Model errors* does",
        ["evaluate", str(options.test), "--model", "upos-en", *written],
    )


def head(path: Path, sentences: int, folder: Path) -> Path:
    """A file with the first sentences of another one."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    found = folder / f"{path.parent.name}-{path.stem}-{sentences}{path.suffix}"
    found.write_text("\n\n".join(blocks[:sentences]) + "\n\n", encoding="utf-8")
    return found


_NAMES = map(str, itertools.count())


def run(
    tree: Path, command: list[str], folder: Path, more: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Processor seconds and peak megabytes of one command in one of the trees.

    Args:
        tree: a checkout.
        command: what follows `python -m crfviz`; a {} becomes a name of its own.
        folder: for what is written.
        more: variables of its environment.
    """
    name = next(_NAMES)
    own = {
        "PYTHONPATH": str(tree),
        "OMP_NUM_THREADS": "1",
        "CRFVIZ_USER_MODELS": str(folder / f"models-{name}"),
        "CRFVIZ_DATABASE_URL": f"sqlite:///{folder}/{name}.db",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "crfviz", *(part.replace("{}", name) for part in command)],
        cwd=tree,
        env=os.environ | own | dict(more or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    said = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} in {tree}: {said.decode()[-400:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def text(report: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """The figures as Markdown."""
    numbers = ("before (s)", "now (s)", "times as fast", "memory before / now (MB)")
    pairs = ((work, found["before"], found["now"]) for work, found in report.items())
    return in_markdown(
        ["work"],
        numbers,
        (
            [
                work,
                f"{before['seconds']:.1f}",
                f"{now['seconds']:.1f}",
                f"{before['seconds'] / now['seconds']:.1f}",
                f"{before['mb']:.0f} / {now['mb']:.0f}",
            ]
            for work, before, now in pairs
        ),
    )


if __name__ == "__main__":
    main()
