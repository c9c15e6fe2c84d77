"""Write the tables of docs/measured.md and the screenshots from what was measured and what runs.

python benchmarks/measured.py            the tables, from models/*/evaluation.json and *.json here
python benchmarks/measured.py --pictures the screenshots in docs/, from the running app
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import annotating
import crowd
import finding
import gains
import in_browser
import live_file
import loading
import model_errors
import peers
import perceptron
import propagation
import replicas
import teaching
import trainings
from meter import WINDOW, app_and_browser
from report import Figure, Machine, table
from serving import ROOT

import lectures

DOCUMENT = ROOT / "docs" / "measured.md"
DECODERS = {
    "independent": "word alone",
    "left_to_right": "left to right",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
}
PICTURES = {
    "explore": "",
    "transitions": "transitions?t=PRON.VERB:-1.8&v.weight=PRON+VERB",
    "why": "why",
    "viterbi": "viterbi?step=4",
}


def main() -> None:
    """Fill the marked sections of the document, or take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pictures", action="store_true", help="take the screenshots instead")
    if parser.parse_args().pictures:
        take_pictures()
        return
    DOCUMENT.write_text(filled(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


def filled(text: str) -> str:
    """A document with what was measured between its markers.

    Args:
        text: holds each section once, as `<!-- name -->` ... `<!-- /name -->`, in any order.

    Raises:
        ValueError: a section is missing, stands there twice, or is none of ours.
    """
    sections = measured()
    found = re.findall(r"<!-- ([\w-]+) -->\n.*?\n<!-- /\1 -->", text, flags=re.DOTALL)
    if sorted(found) != sorted(sections):
        raise ValueError(f"expected the sections {sorted(sections)}, got {sorted(found)}")
    for name, section in sections.items():
        pattern = rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, s=section: m[1] + s + m[2], text, flags=re.DOTALL)
    return text


def measured() -> dict[str, str]:
    """What stands between the markers of each name."""
    return {
        "finding": finding.text(json.loads(finding.OUT.read_text())),
        "models": models_table(),
        "loading": loading_table(),
        "peers": peers.text(json.loads(peers.OUT.read_text())),
        "gains": gains.text(json.loads(gains.OUT.read_text())),
        "trainings": trainings.text(json.loads(trainings.OUT.read_text())),
        "perceptron": perceptron_table(),
        "propagation": propagation_table(),
        "teaching": teaching_table(),
        "model-errors": model_errors_table(),
        "latency": latency_table(),
        "lectures": lectures.printed(),
        "annotating": annotating.printed(),
        "crowd": crowd.printed(),
        "replicas": replicas.printed(),
        "live-file": live_file.table(json.loads(live_file.OUT.read_text())),
        "in-browser": in_browser.text(json.loads(in_browser.OUT.read_text())),
    }


def models_table() -> str:
    """A line per model and test file: words right, or entity F1, by each decoder."""
    lines = [
        f"| model | test file | share of | {' | '.join(DECODERS.values())} | ECE |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for model in loading.MODELS:
        records = json.loads((ROOT / "models" / model / "evaluation.json").read_text())
        for label, record in records.items():
            keys = {"entity F1": "entity_f1"} if record["scheme"] == "BIO" else _UPOS_KEYS
            for what, key in keys.items():
                cells = [f"{100 * record[decoder][key]:.2f}" for decoder in DECODERS]
                ece = f"{100 * record['ece']:.2f}"
                lines.append(f"| `{model}` | {label} | {what}, % | {' | '.join(cells)} | {ece} |")
    return "\n".join(lines)


_UPOS_KEYS = {"words right": "token_accuracy", "sentences right": "sentence_accuracy"}


def loading_table() -> str:
    """The last run of `loading.py`, as it printed it."""
    report = json.loads(Path(__file__).with_name("loading.json").read_text())
    return loading.table(report["models"])


def latency_table() -> str:
    """The last run of `latency.py`, as it printed it."""
    report = json.loads(Path(__file__).with_name("latency.json").read_text())
    figures = [Figure(**line) for line in report.pop("figures")]
    report.pop("n")
    return table(Machine(**report), figures).rstrip()


def model_errors_table() -> str:
    """The last runs of `model_errors.py`: clicks, and a large file's memory if measured."""
    report = json.loads(model_errors.OUT.read_text())
    figures = [Figure(**line) for line in report["figures"]]
    where = Machine(**{name: report[name] for name in Machine.__dataclass_fields__})
    clicks = table(where, figures).rstrip()
    if not model_errors.MEMORY.exists():
        return clicks
    large = json.loads(model_errors.MEMORY.read_text())
    return f"{clicks}\n\n{model_errors.memory_text(large)}"


def perceptron_table() -> str:
    """The last run of `perceptron.py`, as it printed it."""
    report = json.loads(perceptron.OUT.read_text())
    return perceptron.table(report)


def propagation_table() -> str:
    """The last run of `propagation.py`, as it printed it."""
    return propagation.table(json.loads(propagation.OUT.read_text()))


def teaching_table() -> str:
    """The last run of `teaching.py`, as it printed it."""
    return teaching.table(json.loads(teaching.OUT.read_text()))


def take_pictures() -> None:
    """Screenshots at the size of a projector."""
    folder = ROOT / "docs"
    folder.mkdir(exist_ok=True)
    with app_and_browser() as (app, browser):
        for name, path in PICTURES.items():
            page = browser.new_page(viewport=WINDOW, color_scheme="light")
            page.goto(f"{app.url}/{path}")
            page.wait_for_selector("[data-stage][data-source=python]")
            page.wait_for_timeout(1000)  # fonts, and the sidebar's last words
            page.screenshot(path=folder / f"{name}.png")
            page.close()


if __name__ == "__main__":
    main()
