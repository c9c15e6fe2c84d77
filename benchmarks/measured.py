"""Write the tables of docs/measured.md and the screenshots from what was measured and what runs.

python benchmarks/measured.py            the tables, from models/*/evaluation.json and *.json here
python benchmarks/measured.py --pictures the screenshots in docs/, from the running app
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import calibrated
import crowd
import numpy as np
import peers
import watching
from measuring import WINDOW, app_and_browser, saved_table
from serving import ROOT

import models

DOCUMENT = ROOT / "docs" / "measured.md"
HERE = Path(__file__).parent
DECODERS = {
    "independent": "independent",
    "left_to_right": "greedy",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
}
PICTURES = {
    "explore": "",
    "transitions": "transitions?model=upos-en-contextfree&t=PRON.VERB:-1.8&v.weight=PRON+VERB",
    "why": "why?model=upos-en-contextfree",
    "viterbi": "viterbi?model=upos-en-contextfree&step=4",
}


def main() -> None:
    """Fill the marked sections of the document, or take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pictures", action="store_true", help="take the screenshots instead")
    if parser.parse_args().pictures:
        take_pictures()
        return
    growth = json.loads(peers.OUT.read_text())["growth"]
    DOCUMENT.with_name("growth.svg").write_text(growth_picture(growth), encoding="utf-8")
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
        "models": models_table(),
        "coverage": calibrated.table(),
        "loading": models.table(json.loads(HERE.joinpath("models.json").read_text())["models"]),
        "watching": watching.table(json.loads(watching.OUT.read_text())),
        "peers": peers.text(json.loads(peers.OUT.read_text())),
        "latency": saved_table(HERE / "latency.json"),
        "first-picture": saved_table(HERE / "first_picture.json"),
        "crowd": saved_table(crowd.OUT, crowd.PARTS),
    }


def models_table() -> str:
    """A line per model and test file: words right, or entity F1, by each decoder."""
    lines = [
        f"| model | test file | metric | {' | '.join(DECODERS.values())} | ECE |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for model in models.MODELS:
        records = json.loads((ROOT / "models" / model / "evaluation.json").read_text())
        for label, record in records.items():
            keys = {"entity F1": "entity_f1"} if record["scheme"] == "BIO" else _UPOS_KEYS
            for what, key in keys.items():
                cells = [f"{100 * record[decoder][key]:.2f}" for decoder in DECODERS]
                ece = f"{100 * record['ece']:.2f}"
                lines.append(f"| `{model}` | {label} | {what}, % | {' | '.join(cells)} | {ece} |")
    return "\n".join(lines)


_UPOS_KEYS = {"token accuracy": "token_accuracy", "sentence accuracy": "sentence_accuracy"}


def growth_picture(growth: dict[str, Any]) -> str:
    """An SVG of the time of a training step by each size, on logarithmic axes of a panel each."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 220" font-family="sans-serif">'
    ]
    for panel, (name, line) in enumerate(growth.items()):
        x, y = (np.log2(line[axis]) for axis in ("sizes", "ms"))
        places = [
            (60 + 240 * panel + 45 * a, 150 - 20 * b) for a, b in zip(x - x[0], y, strict=True)
        ]
        above = 'font-size="11" text-anchor="end"'
        text = f"{name}: exponent {line['exponent']:.2f}"
        parts.append(f'<text x="{60 + 240 * panel}" y="210" font-size="13">{text}</text>')
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="2"/>')
        for (a, b), size, ms in zip(places, line["sizes"], line["ms"], strict=True):
            parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="#0072b2"/>')
            parts.append(f'<text x="{a - 7:.1f}" y="{b - 3:.1f}" {above}>{ms:.1f} ms</text>')
            parts.append(f'<text x="{a:.1f}" y="190" font-size="11">{size}</text>')
    return "".join([*parts, "</svg>\n"])


def take_pictures() -> None:
    """Screenshots at the size of a projector."""
    folder = ROOT / "docs"
    folder.mkdir(exist_ok=True)
    with app_and_browser() as (app, browser):
        for name, path in PICTURES.items():
            page = browser.new_page(viewport=WINDOW, color_scheme="light", bypass_csp=True)
            page.goto(f"{app.url}/{path}")
            page.wait_for_selector("[data-stage][data-source=python]")
            page.wait_for_timeout(1000)  # fonts, and the sidebar's last words
            page.screenshot(path=folder / f"{name}.png")
            page.close()


if __name__ == "__main__":
    main()
