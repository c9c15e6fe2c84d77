"""How long a model takes to load and to score a sentence, in a process of its own for each model.

    python benchmarks/models.py [--n 50] [--out benchmarks/models.json]

Loading is timed once torch is imported and, as in the app, out of sight of the garbage collector,
for the first time in its process. Scoring runs on one thread, on sentences of 16 words, after one
that warms up.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from serving import ROOT

MODELS = (
    "upos-en",
    "upos-en-contextfree",
    "upos-en-perceptron",
    "upos-en-perceptron-greedy",
    "upos-en-hmm",
    "ner-en",
)
WORDS = "The committee will present its new report to the whole board in Berlin on Monday ."
ONE_MODEL = """
import gc, json, sys, time
import torch
torch.set_num_threads(1)
from crfviz.taggers.registry import load_tagger
gc.collect()
gc.freeze()
name, n, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
begin = time.perf_counter()
tagger = load_tagger(name)
loaded = time.perf_counter() - begin
tagger.potentials(words)
times = []
for _ in range(n):
    begin = time.perf_counter()
    tagger.potentials(words)
    times.append(time.perf_counter() - begin)
print(json.dumps({"load_ms": 1e3 * loaded, "sentence_ms": [1e3 * t for t in times]}))
"""


def main() -> None:
    """Measure every model, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=50, help="sentences")
    parser.add_argument("--runs", type=int, default=5, help="processes, for the loading time")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("models.json"))
    options = parser.parse_args()
    rows = [measure(name, options.n, options.runs) for name in MODELS]
    report = {"load_average": os.getloadavg()[0], "n": options.n, "models": rows}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(rows) + "\n")


def measure(label: str, n: int, runs: int) -> dict[str, object]:
    """Median loading time of several processes; median and 95th percentile of all sentences."""
    folder = ROOT / "models" / label
    results = [_run(folder, n, WORDS.split()) for _ in range(runs)]
    sentences = sorted(time for result in results for time in result["sentence_ms"])
    return {
        "model": label,
        "size_mb": sum(path.stat().st_size for path in folder.iterdir()) / 1e6,
        "load_ms": statistics.median(result["load_ms"] for result in results),
        "sentence_p50_ms": statistics.median(sentences),
        "sentence_p95_ms": sentences[round(0.95 * (len(sentences) - 1))],
    }


def table(rows: list[dict[str, object]]) -> str:
    """The figures as Markdown."""
    lines = [
        "| model | folder (MB) | load (ms) | 16 words, p50 / p95 (ms) |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| `{row['model']}` | {row['size_mb']:.2f} | {row['load_ms']:.0f} "
        f"| {row['sentence_p50_ms']:.1f} / {row['sentence_p95_ms']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _run(folder: Path, n: int, words: Sequence[str]) -> dict[str, object]:
    command = [sys.executable, "-c", ONE_MODEL, str(folder), str(n), *words]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
