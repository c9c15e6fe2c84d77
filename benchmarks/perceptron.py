"""Perceptrons trained and decoded greedily and by Viterbi: all four combinations, on one core.

    python benchmarks/perceptron.py --data ud-english-ewt [--out FILE]

Both are trained from the same files by the same recipe, apart from the decoder. Decoding is timed
by the trainer's own two decoders on the scores of the whole test file, scoring left out, the best
of several passes; the taggers read the files that the training wrote.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy starts its threads

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from crfviz.chain.engine.viterbi import first_best_path
from crfviz.chain.potentials import Potentials
from crfviz.corpus.training.labelled import Sources
from crfviz.corpus.training.perceptron import (
    PerceptronRecipe,
    decode_greedily,
    train_perceptron,
)
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.taggers.registry import SHIPPED
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from crfviz.views.figures.models import DIGITS, comparison_frame

DECODERS = {"greedy": decode_greedily, "viterbi": first_best_path}
PASSES = 5  # over the test file
OUT = SHIPPED / "upos-en-perceptron" / "comparison.json"  # where the app looks for it


def main() -> None:
    """Train both, decode each both ways, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of train, dev and test")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    sources = Sources(train=(options.data / "train.conllu",), dev=(options.data / "dev.conllu",))
    test = read_sentences(options.data / "test.conllu")
    load = os.getloadavg()[0]
    rows: list[dict[str, object]] = []
    for trained in DECODERS:
        rows += measure(trained, sources, test)
    report = {
        "data": options.data.resolve().name,
        "load_average": [load, os.getloadavg()[0]],
        "sentences": len(test),
        "tokens": sum(len(sentence.tokens) for sentence in test),
        "rows": rows,
    }
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(report) + "\n")


def measure(trained: str, sources: Sources, test: Sequence[Sentence]) -> list[dict[str, object]]:
    """Two rows: a perceptron trained one way, decoded both ways."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        train_perceptron(PerceptronRecipe(updates=trained), sources, folder)
        seconds = json.loads((folder / "training.json").read_text())["seconds"]
        size = sum(path.stat().st_size for path in folder.iterdir())
        tagger = PerceptronTagger(folder)
    chains = tagger.potentials_batch([sentence.tokens for sentence in test])
    return [
        {
            "trained": trained,
            "decoded": decoded,
            **_accuracy(tagger.tags, DECODERS[decoded], chains, test),
            "size_mb": size / 1e6,
            "training_s": seconds,
            "decoding_us": 1e6 * _seconds(DECODERS[decoded], chains) / sum(map(_length, chains)),
        }
        for decoded in DECODERS
    ]


def table(report: Mapping[str, Any]) -> str:
    """The figures as Markdown, beside the published ones."""
    frame = comparison_frame(report)
    names = list(frame.columns)
    lines = [f"| {' | '.join(names)} |", "|---|---|---|" + "---:|" * (len(names) - 3)]
    for row in frame.to_dict("records"):
        cells = [
            str(row[name]) if name not in DIGITS else _number(row[name], DIGITS[name])
            for name in names
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _accuracy(
    tags: Sequence[str],
    decode: Callable[..., list[int]],
    chains: Sequence[Potentials],
    test: Sequence[Sentence],
) -> dict[str, float]:
    right = [
        [tags[k] == tag for k, tag in zip(decode(*_parts(chain)), s.tags or (), strict=True)]
        for chain, s in zip(chains, test, strict=True)
    ]
    return {
        "tokens": sum(map(sum, right)) / sum(map(len, right)),
        "sentences": statistics.mean(map(all, right)),
    }


def _seconds(decode: Callable[..., list[int]], chains: Sequence[Potentials]) -> float:
    parts = [_parts(chain) for chain in chains]
    times = []
    for _ in range(PASSES):
        begin = time.perf_counter()
        for part in parts:
            decode(*part)
        times.append(time.perf_counter() - begin)
    return min(times)


def _parts(chain: Potentials) -> tuple[object, ...]:
    scores = (chain.emissions, chain.transitions, chain.start, chain.end)
    return tuple(score.numpy() for score in scores)


def _length(chain: Potentials) -> int:
    return chain.num_tokens


if __name__ == "__main__":
    main()
