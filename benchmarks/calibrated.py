"""How often calibrated sets hold gold: in halves of a test file, and by the models' own figures.

    CRFVIZ_DATA=FOLDER python benchmarks/calibrated.py [--out benchmarks/calibrated.json]

Each half of the sentences of UD English EWT test, every second one, is covered by sets that the
other half calibrates. The figures of calibration.json come from the dev files of the models.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from serving import ROOT

import crfviz
import models

OUT = Path(__file__).with_name("calibrated.json")
FILE = "ud-english-ewt/test.conllu"
MODEL = "upos-en"
PROMISES = ("words", 0.95), ("sentences", 0.85)
SHOWN = (("sentences", 0.85), ("sentences", 0.9), ("sentences", 0.95), ("words", 0.95))


def main() -> None:
    """Measure both halves, and save the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    out = parser.parse_args().out
    rows = [row for promise in PROMISES for row in halves(*promise)]
    out.write_text(f"{json.dumps(rows, indent=2)}\n", encoding="utf-8")


def halves(of: Any, level: float) -> list[dict[str, Any]]:  # noqa: ANN401 - one of two literals
    """Return a row per half of the file."""
    tagger = crfviz.load_tagger(MODEL)
    sentences = crfviz.read_sentences(Path(os.environ["CRFVIZ_DATA"]) / FILE)
    rows = []
    for first in (0, 1):
        calibration = crfviz.calibrate(tagger, sentences[1 - first :: 2], level, of)
        found = crfviz.coverage(calibration, tagger, sentences[first::2])
        rows.append(
            {
                "model": MODEL,
                "calibrated": f"{FILE}, {'even' if first == 0 else 'odd'} sentences",
                "file": f"{FILE}, the others",
                "of": of,
                "level": level,
                "covered": found.share,
                "covered_low": found.interval[0],
                "covered_high": found.interval[1],
                "mean_size": found.mean_size,
                "abstained": found.abstained,
                "sentences": found.sentences,
            }
        )
    return rows


def table() -> str:
    """Return the halves, then what the shipped calibrations cover of the test files."""
    rows = json.loads(OUT.read_text())
    for model in models.MODELS:
        content = json.loads((ROOT / "models" / model / "calibration.json").read_text())
        for label, measured in content["coverage"].items():
            own = {"model": model, "calibrated": content["file"], "file": label}
            rows += [{**own, **row} for row in measured if (row["of"], row["level"]) in SHOWN]
    lines = [
        "| model | calibrated on | test file | sets of | promised, % | covered, % | 95 % "
        "| mean size | abstain |",
        "|---|---|---|---|---:|---:|---|---:|---:|",
    ]
    for row in rows:
        low, high = (f"{100 * row[name]:.1f}" for name in ("covered_low", "covered_high"))
        lines.append(
            f"| `{row['model']}` | {row['calibrated']} | {row['file']} | {row['of']} "
            f"| {100 * row['level']:.0f} | {100 * row['covered']:.2f} | {low} to {high} "
            f"| {row['mean_size']:.2f} | {row['abstained']:,} of {row['sentences']:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
