"""The taggers in JavaScript beside Python's, on a test file, in a real Chromium.

    python benchmarks/in_browser.py --data FOLDER [--out benchmarks/in_browser.json]

Wanted in FOLDER: ud-english-ewt. The words are given; both sides score them, and each finds its own
best path. A sentence whose paths differ is listed with its margin, how much better Python's best
path is than the next. Times are of sentences of 40 words: the first one after the tagger was read,
when nothing is compiled yet, sentences with words that are mostly new, and the same ones again with
one word changed, as while somebody types; by the clock, and what the page's thread had of the
processor, which other programs change less.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from meter import chromium
from playwright.sync_api import Page
from report import figure, in_markdown
from serving import ROOT

import crfviz
from crfviz.chain.decoding.k_best import margin
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.tokenizer import tokenize
from crfviz.views.exports import bundle
from crfviz.views.site.packing import tagger_payload

OUT = Path(__file__).with_name("in_browser.json")
MODELS = ("upos-en", "upos-en-contextfree", "upos-en-hmm", "upos-en-perceptron")
FILE = "ud-english-ewt/test.conllu"
LARGEST, CLOSE, FAST, SPLIT = 6.0, 0.02, 100, 98.5  # MB, nats, ms and % that were wanted
LENGTH = 40  # words of a sentence that is timed
TIMED = 30  # sentences
AT_ONCE = 200  # sentences
VIEWS = ROOT / "crfviz" / "views"
ENTRY = f"""
import {{ viterbi }} from "{VIEWS / "stage/web/recursions.js"}";
import {{ readTagger }} from "{VIEWS / "site/web/tagger.js"}";
globalThis.read = async (payload) => {{
  const begin = performance.now();
  globalThis.tagger = await readTagger(payload);
  return performance.now() - begin;
}};
globalThis.score = (sentences) => sentences.map((words) => {{
  const chain = tagger.score(words);
  return {{ emissions: Array.from(chain.emissions), path: viterbi(chain).path }};
}});
globalThis.time = (words) => {{
  const begin = performance.now();
  viterbi(tagger.score(words));
  return performance.now() - begin;
}};
globalThis.split = (texts) => texts.map((text) => tagger.split(text));
"""


def main() -> None:
    """Measure, print the tables, write them as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    before = os.getloadavg()[0]
    sentences = read_sentences(options.data / FILE)
    with opened() as page:
        models = [measure(page, crfviz.load_tagger(name), sentences) for name in MODELS]
        split = splitting(page, sentences)
    load = {"load_before": before, "load_after": os.getloadavg()[0]}
    report = {"sentences": len(sentences), "models": models, "splitting": split, **load}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(text(report) + "\n")


@contextmanager
def opened() -> Iterator[Page]:
    """An empty page with the taggers' modules in it."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        entry = Path(folder) / "entry.js"
        entry.write_text(ENTRY)
        page = browser.new_page()
        page.add_script_tag(content=bundle.bundled(entry))
        yield page


def measure(page: Page, tagger: Tagger, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """One tagger: its size, its times, and where it differs from Python's."""
    payload = tagger_payload(tagger)
    reading = [page.evaluate("read", payload) for _ in range(5)]
    long = [list(s.tokens[:LENGTH]) for s in sentences if len(s.tokens) >= LENGTH][:TIMED]
    changed = [[*words[:9], f"{words[9]}s", *words[10:]] for words in long]
    clock = Clock(page)
    first, *new = map(clock.time, long)
    again = list(map(clock.time, changed))
    worst, others = differences(page, tagger, sentences)
    times = {
        "reading": reading,
        "new_words": [wall for wall, _ in new],
        "new_words_processor": [busy for _, busy in new],
        "one_changed": [wall for wall, _ in again],
        "one_changed_processor": [busy for _, busy in again],
    }
    figures = {name: figure(name, "ms", values) for name, values in times.items()}
    return {
        "model": tagger.name,
        "megabytes": len(payload) / 1e6,
        "words": sum(len(sentence.tokens) for sentence in sentences),
        "worst_nats": worst,
        "others": others,
        "first_ms": first[0],
        "first_processor_ms": first[1],
        **{
            f"{name}_{at}_ms": getattr(f, at)
            for name, f in figures.items()
            for at in ("p50", "p95")
        },
    }


class Clock:
    """The clock on the wall, and the processor time of the page's thread."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def time(self, words: list[str]) -> tuple[float, float]:
        """Milliseconds to score and decode; those of the processor include being asked."""
        before = self._busy()
        wall: float = self._page.evaluate("time", words)
        return wall, 1000 * (self._busy() - before)

    def _busy(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def differences(
    page: Page, tagger: Tagger, sentences: Sequence[Sentence]
) -> tuple[float, list[dict[str, Any]]]:
    """The largest difference of an emission, and the sentences with another best path."""
    worst, others = 0.0, []
    for start in range(0, len(sentences), AT_ONCE):
        words = [list(sentence.tokens) for sentence in sentences[start : start + AT_ONCE]]
        chains = zip(tagger.potentials_batch(words), page.evaluate("score", words), strict=True)
        for number, (chain, answer) in enumerate(chains, start=start + 1):
            gaps = np.abs(chain.emissions.numpy().ravel() - answer["emissions"])
            worst = max(worst, float(gaps.max()))
            path = list(viterbi(chain).path)
            if path != answer["path"]:
                wrong = sum(a != b for a, b in zip(path, answer["path"], strict=True))
                others.append({"sentence": number, "words": wrong, "margin": margin(chain)})
    return worst, others


def splitting(page: Page, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Words of the raw sentences that both tokenizers find, of those that Python's finds."""
    texts = [sentence.text or " ".join(sentence.tokens) for sentence in sentences]
    same, words, others = 0, 0, []
    for sentence, found in zip(texts, page.evaluate("split", texts), strict=True):
        wanted = [token.text for token in tokenize(sentence)]
        words += len(wanted)
        if found == wanted:
            same += len(wanted)
        else:
            same += len(places(wanted) & places(found))
            others.append({"python": wanted, "browser": found})
    return {"words": words, "same": same, "others": others}


def places(words: Sequence[str]) -> set[tuple[int, int]]:
    """Where words stand among the characters that are no blanks."""
    ends = np.cumsum([len(word) for word in words]).tolist()
    return {(end - len(word), end) for word, end in zip(words, ends, strict=True)}


def text(report: dict[str, Any]) -> str:
    """The figures as Markdown."""
    numbers = [
        f"size (MB), ≤ {LARGEST:g}",
        "to read (ms)",
        f"emissions differ by at most (nats), ≤ {CLOSE:g}",
        "words with another tag",
        f"{LENGTH} words, p50 / p95 (ms), ≤ {FAST}",
        "processor",
        "the very first (ms)",
        "processor",
        "one word changed, p50 / p95 (ms)",
        "processor",
    ]
    rows = [
        [
            f"`{row['model']}`",
            f"{row['megabytes']:.1f}",
            f"{row['reading_p50_ms']:.0f}",
            f"{row['worst_nats']:.1g}",
            f"{sum(other['words'] for other in row['others'])} of {row['words']:,}",
            f"{row['new_words_p50_ms']:.1f} / {row['new_words_p95_ms']:.1f}",
            f"{row['new_words_processor_p50_ms']:.1f}",
            f"{row['first_ms']:.0f}",
            f"{row['first_processor_ms']:.0f}",
            f"{row['one_changed_p50_ms']:.1f} / {row['one_changed_p95_ms']:.1f}",
            f"{row['one_changed_processor_p50_ms']:.1f}",
        ]
        for row in report["models"]
    ]
    split = report["splitting"]
    share = 100 * split["same"] / split["words"]
    lines = [
        in_markdown(["model"], numbers, rows),
        "",
        *listed(report),
        f"The tokenizer finds {split['same']:,} of the {split['words']:,} words of Python's in "
        f"the raw sentences: {share:.2f} %, and ≥ {SPLIT:g} % were wanted.",
        f"Load of the machine's two cores: {report['load_before']:.1f} before, "
        f"{report['load_after']:.1f} after.",
    ]
    return "\n".join(lines)


def listed(report: dict[str, Any]) -> Iterator[str]:
    """Every sentence with another best path, and every one that is split in another way."""
    for row in report["models"]:
        for other in row["others"]:
            yield (
                f"- `{row['model']}`, sentence {other['sentence']}: {other['words']} words have "
                f"another tag; the margin is {other['margin']:.2g} nats"
            )
    for other in report["splitting"]["others"]:
        yield f"- split in another way: {' | '.join(other['python'])}"


if __name__ == "__main__":
    main()
