"""Whole trainings of the shipped models, with the engine and before it, and of seeds on a GPU.

    python benchmarks/trainings.py --before FOLDER --data FOLDER [--jobs 2] [--gpu]

The first FOLDER is a checkout of the state that is compared with, the second one holds the corpora.
Every model is trained as its card says, by each state, as a program of one thread, and all are
evaluated on the test files by the state of now. With --gpu the three seeds of `upos-en` are trained
there, too. The JSON is written after each training; what it has already is not done again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from gains import run
from report import in_markdown
from serving import ROOT

OUT = Path(__file__).with_name("trainings.json")
ENGLISH = (
    "--train ud-english-ewt/train.conllu --dev ud-english-ewt/dev.conllu",
    "ud-english-ewt/test.conllu",
)
TWEETS = (
    "--train broad-twitter-corpus/train.conll wnut17/train.conll wnut17/dev.conll"
    " uner-english-ewt/dev.iob2 --aux-xpos ud-english-ewt/train.conllu"
    " --dev broad-twitter-corpus/dev.conll --fold-handles"
    " --map person=PER location=LOC corporation=ORG group=ORG",
    "uner-english-ewt/test.iob2",
)
RECIPES = {  # as the cards say: options, files, the file of the figures
    "ner-en": ("--architecture bilstm --epochs 8", *TWEETS),
    "upos-en": ("--architecture bilstm --aux-xpos --epochs 9", *ENGLISH),
    "upos-en-contextfree": ("--architecture contextfree --epochs 10", *ENGLISH),
    "upos-en-perceptron": ("--family perceptron", *ENGLISH),
    "upos-en-perceptron-greedy": ("--family perceptron --updates greedy", *ENGLISH),
    "upos-en-hmm": ("--family hmm", *ENGLISH),
}
SEEDS = {"upos-en": "2"}  # of the shipped ones; elsewhere 0
_WRITING = Lock()


@dataclass(frozen=True)
class Training:
    """One model, trained by one state of the code."""

    model: str
    seed: str
    state: str  # "before" or "now"
    device: str  # "cpu" or "cuda"

    @property
    def name(self) -> str:
        """What it is called in the JSON."""
        return f"{self.model}, seed {self.seed}, {self.state}, {self.device}"


def main() -> None:
    """Train, evaluate, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    trees = {"before": options.before.resolve(), "now": ROOT}
    report = json.loads(OUT.read_text()) if OUT.exists() else {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:

        def one(training: Training) -> None:
            found = trained(training, trees, options.data.resolve(), Path(folder))
            with _WRITING:
                report[training.name] = found
                OUT.write_text(json.dumps(report, indent=2, sort_keys=True) + "\n")
                sys.stdout.write(f"{training.name}: {found}\n")
                sys.stdout.flush()

        wanted = [
            training for training in trainings(gpu=options.gpu) if training.name not in report
        ]
        for done in [pool.submit(one, training) for training in wanted]:
            done.result()


def trainings(*, gpu: bool) -> Iterator[Training]:
    """The longest first."""
    for model in RECIPES:
        for state in ("before", "now"):
            yield Training(model, SEEDS.get(model, "0"), state, "cpu")
    for seed in "012" if gpu else "":
        yield Training("upos-en", seed, "now", "cuda")


def trained(
    training: Training, trees: Mapping[str, Path], data: Path, folder: Path
) -> dict[str, float]:
    """Seconds by the processor and by the clock, and per cent of words or entities found."""
    recipe, files, test = RECIPES[training.model]
    out = folder / training.name.replace(", ", "-").replace(" ", "-")
    words = f"{recipe} {files}".split()
    words = [str(data / word) if (data / word).is_file() else word for word in words]
    if "family" not in recipe:
        words += ["--seed", training.seed, "--checkpoint", f"{out}-runs"]
    begin = time.perf_counter()
    more = {"CRFVIZ_DEVICE": training.device}
    seconds, _ = run(trees[training.state], ["train", *words, "--out", str(out)], folder, more)
    elapsed = time.perf_counter() - begin
    written = Path(f"{out}.json")
    plain = ["evaluate", str(data / test), "--model", str(out), "--json", str(written)]
    run(trees["now"], plain, folder, {"CRFVIZ_DEVICE": "cpu"})
    found: dict[str, Any] = json.loads(written.read_text())["viterbi"]
    share = found["entity_f1"] or found["token_accuracy"]
    return {
        "processor": round(seconds, 1),
        "clock": round(elapsed, 1),
        "test": round(100 * share, 2),
    }


def text(report: Mapping[str, Mapping[str, float]]) -> str:
    """The figures as Markdown."""
    rows = []
    for model in RECIPES:
        seed = SEEDS.get(model, "0")
        pair = [report.get(f"{model}, seed {seed}, {state}, cpu") for state in ("before", "now")]
        if all(pair):
            rows.append([f"`{model}`, seed {seed}", *_cells(*(found for found in pair if found))])
    for seed in "012":
        found = report.get(f"upos-en, seed {seed}, now, cuda")
        if found:
            cells = ["–", f"{found['clock']:,.0f} by the clock", "–", "–", f"{found['test']:.2f}"]
            rows.append([f"`upos-en`, seed {seed}, on a GPU", *cells])
    numbers = ("before (s)", "now (s)", "times as fast", "test before, %", "test now, %")
    return in_markdown(["trained"], numbers, rows)


def _cells(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    return [
        f"{before['processor']:,.0f}",
        f"{now['processor']:,.0f}",
        f"{before['processor'] / now['processor']:.1f}",
        f"{before['test']:.2f}",
        f"{now['test']:.2f}",
    ]


if __name__ == "__main__":
    main()
