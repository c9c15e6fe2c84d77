"""How fast the app answers, measured inside a real Chromium against a server of its own.

    python benchmarks/latency.py [--n 40] [--corpus FILE] [--out benchmarks/latency.json]
    python benchmarks/latency.py --first [--n 9]    cold pages beside a stock Streamlit app

A redraw counts as a picture when the page's main thread has finished the frame that shows it
(`page_clock.js`). An edit begins at the time stamp of the key that ends it; a frame of a drag is
the time from one picture to the next while the pointer moves without rest. The load is printed too,
and the CPU time of server and browser for each edit, which depends less on it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from subprocess import check_output

import torch
from first_picture import first_pictures
from measuring import (
    PATIENCE,
    SHOWN,
    SHOWN_BY_PYTHON,
    Figure,
    Meter,
    app_and_browser,
    figure,
    machine,
    table,
)
from playwright.sync_api import Browser, FilePayload
from serving import ROOT, App

from crfviz.annotations.teaching.teach import Lesson, teach
from crfviz.chain.decoding.viterbi import best_path, k_best, viterbi
from crfviz.chain.demonstrations.log_space import soft_forward
from crfviz.chain.distribution import cumulated_mass, position_entropies, sample_counts
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import condition, pin_probability, why_not
from crfviz.chain.questions.entities import (
    constraint_effect,
    entity_probability,
    entity_rivals,
    entity_shortcuts,
    illegal_mass,
)
from crfviz.chain.questions.flips import smallest_change_for, smallest_flips
from crfviz.chain.questions.sensitivity import expected_counts, gradient_step, influence
from crfviz.chain.questions.tipping import strength_intervals, tipping_points
from crfviz.taggers.perturbations import occlude
from crfviz.taggers.registry import load_tagger, read_excerpt
from crfviz.text.tokenizer import tokenize

SENTENCES = {
    12: "The committee will present its report to the board on Monday .",
    40: (
        "When the old man who lived near the river heard that his favourite boat had been sold to "
        "a rich stranger from the city , he walked home slowly , closed the door , and wrote a "
        "long letter ."
    ),
}
EDIT_BOUNDS = {12: (120, 200), 40: (160, 250)}  # milliseconds, p50 and p95
CELL = "[data-cell='DET,NOUN']"
A_MATRIX_A_STEP = "upos-en-perceptron"
KIB = 1024  # bytes in the KB of the table
REST = 150  # milliseconds in which everything arrives that an edit sends
CHAIN_MODEL = "upos-en-contextfree"
CONTEXT_MODEL = "upos-en"  # whose words see each other
TYPES = ["PER", "LOC", "ORG", "TIME", "LAW", "ART", "FOOD", "GAME"]
WORD = 12  # position of the word that is asked about
ANSWER_BOUND, FLIPS_BOUND = 150.0, 500.0  # milliseconds, for the median
LECTURES = ("greedy", "viterbi")
SPEAKING = 1000  # milliseconds at a cue before the next one is asked for
CUE_BOUND, CUE_REST = 300, 300  # milliseconds; in the second all redraws of a cue have come


def main() -> None:
    """Measure everything, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=40, help="repetitions; 30 are the least to report")
    parser.add_argument("--out", type=Path, help="of the JSON; beside this script by default")
    parser.add_argument("--corpus", type=Path, help="CoNLL-U for the page Model errors: EWT test")
    parser.add_argument("--first", action="store_true", help="only cold pages beside a stock app")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as models, app_and_browser() as (app, browser):
        os.environ["CRFVIZ_USER_MODELS"] = models
        if options.first:
            figures = list(first_pictures(browser, app, options.n))
        else:
            figures = list(all_but_first_pictures(browser, app, options.n, options.corpus))
        where = machine(browser.version, load_before)
    report = {**asdict(where), "n": options.n, "figures": [asdict(line) for line in figures]}
    name = "first_picture.json" if options.first else "latency.json"
    out: Path = options.out or Path(__file__).with_name(name)
    out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(where, figures))


def all_but_first_pictures(
    browser: Browser, app: App, n: int, corpus: Path | None
) -> Iterator[Figure]:
    """Measure what happens once a page is drawn, and the questions behind it."""
    list(loads(browser, app, 1))  # the first visit loads the models
    lecture = [wait for name in 2 * LECTURES for wait in cues(browser, app, name)]
    for model in ("", A_MATRIX_A_STEP):
        for tokens in SENTENCES:
            yield from edits(browser, app, tokens, n, model)
    for tokens in SENTENCES:
        yield from drags(browser, app, tokens, n)
    yield from loads(browser, app, n)
    yield sentences(browser, app, n)
    yield from questions(browser, app, 40, n)
    yield from answers(n)
    yield figure("next cue of a lecture → picture", "ms", lecture, CUE_BOUND, CUE_BOUND)
    yield from seconds(browser, app, corpus)
    yield figure("memory of the server at the end", "MB", [app.megabytes()], 600)


def edits(browser: Browser, app: App, tokens: int, n: int, model: str = "") -> Iterator[Figure]:
    """Type into a cell of the matrix, `n` times, each time another number."""
    meter = Meter(browser, app)
    meter.open("transitions", SENTENCES[tokens], tokens, model)
    at = f"at {tokens} tokens" + (", a matrix a step" if model else "")
    yield from edits_of(meter, n, CELL, at, EDIT_BOUNDS[tokens])
    meter.close()


def edits_of(meter: Meter, n: int, cell: str, at: str, bounds: tuple[int, int]) -> Iterator[Figure]:
    """Type into a cell of the matrix that a page shows.

    Args:
        meter: its page is open.
        n: how often, each time another number.
        cell: its selector.
        at: names the sentence in the table.
        bounds: milliseconds until the picture, p50 and p95.
    """
    first, by_python, received = [], [], []
    meter.page.locator(cell).focus()
    server_before, browser_before = meter.app.cpu(), meter.cpu()
    for i in range(n):
        bytes_before = meter.bytes_received
        meter.forget()
        meter.page.keyboard.type(f"{1 + i / 100:.2f}")
        meter.page.keyboard.press("Enter")
        meter.wait(SHOWN_BY_PYTHON)
        meter.page.wait_for_timeout(REST)
        redraws = meter.since_input()
        first.append(redraws[0][1])
        by_python.append(next(shown for source, shown in redraws if source == "python"))
        received.append((meter.bytes_received - bytes_before) / KIB)
    server = 1000 * (meter.app.cpu() - server_before) / n
    browser = 1000 * (meter.cpu() - browser_before) / n
    yield figure(f"edit → picture {at}", "ms", first, *bounds)
    yield figure(f"edit → picture of Python's numbers {at}", "ms", by_python, *bounds)
    yield figure(f"received per edit {at}", "KB", received, 45)
    yield figure(f"CPU of the server per edit {at}", "ms", [server], 40, n=n)
    yield figure(f"CPU of the browser per edit {at}", "ms", [browser], n=n)


def drags(browser: Browser, app: App, tokens: int, n: int) -> Iterator[Figure]:
    """Drag a cell of the matrix up and down without rest.

    Raises:
        RuntimeError: the cell is not on the screen.
    """
    meter = Meter(browser, app)
    meter.open("transitions", SENTENCES[tokens], tokens)
    box = meter.page.locator(CELL).bounding_box()
    if box is None:
        raise RuntimeError(f"{CELL} is not on the screen")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = meter.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 20, steps=5)
    meter.forget()
    mouse.move(x, y - 20 - n, steps=n)
    mouse.move(x, y - 20, steps=n)
    redraws = meter.page.evaluate("redraws.filter((redraw) => redraw.shown)")
    moves = meter.page.evaluate("inputs.filter((event) => event.kind === 'pointermove')")
    mouse.up()
    meter.close()
    frames = [after["shown"] - before["shown"] for before, after in itertools.pairwise(redraws)]
    waits = [
        redraw["shown"] - max(move["at"] for move in moves if move["at"] <= redraw["set"])
        for redraw in redraws
    ]
    yield figure(f"frame while dragging at {tokens} tokens", "ms", frames, 33, 50)
    yield figure(f"pointer → picture while dragging at {tokens} tokens", "ms", waits)


def loads(browser: Browser, app: App, n: int) -> Iterator[Figure]:
    """Open the first page with an empty cache, and load it again."""
    cold, again = [], []
    for _ in range(n):
        meter = Meter(browser, app)
        meter.page.goto(app.url)
        cold.append(meter.first_picture())
        meter.page.reload()
        again.append(meter.first_picture())
        meter.close()
    yield figure("cold page → picture", "ms", cold, 1500)
    yield figure("reload → picture", "ms", again, 1000)


def sentences(browser: Browser, app: App, n: int) -> Figure:
    """Apply sentences that the server has never seen: the model runs as well."""
    meter = Meter(browser, app)
    meter.open("", SENTENCES[12], 12)
    box = meter.page.locator(".st-key-sentence input")
    times = []
    for i in range(n):
        box.fill(SENTENCES[12].replace("Monday", f"week{i}"))
        meter.forget()
        box.press("Enter")
        meter.wait(SHOWN)
        meter.page.wait_for_timeout(REST)
        times.append(meter.since_input()[0][1])
    meter.close()
    return figure("another sentence → picture at 12 tokens", "ms", times)


def questions(browser: Browser, app: App, tokens: int, n: int) -> Iterator[Figure]:
    """Ask by click, in turn for two tags or on and off, until the picture has the answer's row."""
    asked = {
        "why not this tag?": ("[data-node='10,7'] .hit", "[data-node='14,7'] .hit"),
        "pin or unpin a tag": ("button:has-text('Pin ')", "button:has-text('Unpin all')"),
    }
    for what, targets in asked.items():
        meter = Meter(browser, app)
        meter.open("why", SENTENCES[tokens], tokens)
        times = []
        for i in range(n):
            meter.forget()
            meter.page.locator(targets[i % 2]).first.click(force=True)
            meter.wait(SHOWN_BY_PYTHON)
            if what.startswith("why"):
                meter.page.get_by_text(f"with NOUN at {(11, 15)[i % 2]}").wait_for()
            drawn = meter.page.evaluate("redraws.length")
            meter.page.wait_for_timeout(REST)
            times.append(meter.since_input()[drawn - 1][1])
        meter.close()
        yield figure(f"{what} click → picture at {tokens} tokens", "ms", times, 150)


def cues(browser: Browser, app: App, name: str) -> list[float]:
    """Play a lecture from its first cue; milliseconds for each of the others."""
    number = len(tomllib.loads((ROOT / "lectures" / f"{name}.toml").read_text("utf-8"))["cue"])
    meter = Meter(browser, app)
    meter.page.goto(f"{app.url}/?lecture={name}")
    meter.wait(SHOWN)
    times = []
    for cue in range(2, number + 1):
        meter.page.wait_for_timeout(SPEAKING)
        meter.page.keyboard.press("g")
        meter.page.keyboard.type(str(cue))
        meter.forget()
        meter.page.keyboard.press("Enter")
        shown = meter.page.locator(f"[data-cue='{cue}']")
        shown.wait_for(state="attached", timeout=PATIENCE)
        meter.wait(SHOWN_BY_PYTHON)
        meter.page.wait_for_timeout(CUE_REST)
        times.append(meter.since_input()[-1][1])
    meter.close()
    return times


def model_chain() -> Potentials:
    """A sentence of 40 words under a shipped model."""
    return load_tagger(CHAIN_MODEL).potentials([token.text for token in tokenize(SENTENCES[40])])


def hidden_words() -> Callable[[], object]:
    """Each of the 40 words hidden in turn, and every sentence decoded."""
    tagger = load_tagger(CONTEXT_MODEL)
    words = [token.text for token in tokenize(SENTENCES[40])]
    return lambda: [best_path(chain) for chain in occlude(tagger, words).hidden]


def entity_chain() -> Potentials:
    """A random chain of 40 words and 17 BIO tags, without constraints."""
    tags = ["O", *(f"{prefix}-{label}" for label in TYPES for prefix in "BI")]
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(40, len(tags), generator=generator) * 3
    return Potentials(emissions, torch.randn(len(tags), len(tags), generator=generator), tags=tags)


def explanations() -> dict[str, Callable[[], object]]:
    """Every explanation, ready to be asked."""
    chain, entities = model_chain(), entity_chain()
    path = viterbi(chain).path
    loser = k_best(chain, 2)[1].tags
    move = ("transition", path[WORD - 1], path[WORD])
    return {
        "why_not": lambda: why_not(chain, WORD, "VERB"),
        "tipping_points, transition": lambda: tipping_points(chain, move),
        "tipping_points, emission": lambda: tipping_points(chain, ("emission", WORD, "VERB")),
        "smallest_flips, ten": lambda: smallest_flips(chain, 10),
        "smallest_change_for": lambda: smallest_change_for(chain, WORD, "VERB"),
        "smallest_change_for, unlikely tag": lambda: smallest_change_for(chain, WORD, "SYM"),
        "condition": lambda: condition(chain, {WORD: "VERB", 0: "NOUN"}, [(3, "NOUN")]),
        "pin_probability": lambda: pin_probability(chain, {WORD: "VERB"}),
        "strength_intervals": lambda: strength_intervals(chain),
        "soft_forward": lambda: soft_forward(chain, 0.5),
        "expected_counts": lambda: expected_counts(chain),
        "gradient_step": lambda: gradient_step(chain, loser, 1.0),
        "influence": lambda: influence(chain, WORD),
        "position_entropies": lambda: position_entropies(forward_backward(chain)),
        "pile, thousand samples": lambda: sample_counts(chain, 1000, 0),
        "k_best, fifty, and their mass": lambda: cumulated_mass(k_best(chain, 50)),
        "occlude, and decode": hidden_words(),
        "entity_probability": lambda: entity_probability(entities, "PER", 5, 6),
        "entity_rivals": lambda: entity_rivals(entities, "PER", 5, 6),
        "entity_shortcuts": lambda: entity_shortcuts(entities, "PER", 5, 6),
        "illegal_mass": lambda: illegal_mass(entities),
        "constraint_effect": lambda: constraint_effect(entities),
    }


def answers(n: int) -> Iterator[Figure]:
    """Ask each question `n` times, after two times that do not count."""
    torch.set_num_threads(1)  # as the app does
    for what, ask in explanations().items():
        walls = []
        for round_ in range(n + 2):
            start = time.perf_counter()
            ask()
            if round_ >= 2:
                walls.append(1000 * (time.perf_counter() - start))
        limit = FLIPS_BOUND if what.startswith("smallest_flips") else ANSWER_BOUND
        yield figure(f"{what} at 40 words and 17 tags", "ms", walls, limit)


def seconds(browser: Browser, app: App, corpus: Path | None) -> Iterator[Figure]:
    """What takes seconds: an import, teaching, and a file of the page Model errors."""
    clock = "import time; start = time.time(); import crfviz; print(time.time() - start)"
    imports = [1000 * float(check_output([sys.executable, "-c", clock])) for _ in range(5)]
    yield figure("import crfviz, without torch", "ms", imports, 500)
    taught, lesson = read_excerpt("excerpts/ewt-dev.conllu")[:100], Lesson(CONTEXT_MODEL)
    teaching = [teach(lesson, taught, lambda *_: None).seconds for _ in range(3)]
    yield figure("teach with 100 sentences", "s", teaching, 6)
    if corpus:
        yield figure("file → Model errors", "s", list(model_errors(browser, app, corpus)), 3)


def model_errors(browser: Browser, app: App, corpus: Path) -> Iterator[float]:
    """Upload a file again and again, each time without one more of its sentences."""
    meter, sentences = Meter(browser, app), corpus.read_text("utf-8").split("\n\n")
    for lacking in range(6):
        meter.page.goto(f"{app.url}/model-errors?model={CONTEXT_MODEL}&v.corpus=file")
        meter.page.locator("input[type=file]").wait_for(state="attached")
        content = "\n\n".join(sentences[lacking:]).encode()
        file = FilePayload(name=corpus.name, mimeType="text/plain", buffer=content)
        start = time.perf_counter()
        meter.page.locator("input[type=file]").set_input_files(file)
        meter.page.get_by_text("Wrong words by gold and predicted tag").wait_for()
        meter.page.locator("[data-test-script-state=notRunning]").wait_for()
        if lacking:  # the first file of a server loads what the others need
            yield time.perf_counter() - start
    meter.close()


if __name__ == "__main__":
    main()
