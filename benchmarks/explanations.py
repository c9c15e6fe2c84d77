"""How fast the explanations answer, at 40 words and 17 tags.

    python -m benchmarks.explanations [--n 30] [--out benchmarks/explanations.json]

Most run on the potentials of a shipped model; what asks for BIO tags runs on random ones. Wall time
depends on what else the machine does, which is why the load is printed with it; the time the
processor worked for an answer depends on that less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from crfviz.chain.best_paths import best_path
from crfviz.chain.conditioning import condition, pin_probability
from crfviz.chain.counts import expected_counts
from crfviz.chain.distribution import cumulated_mass, position_entropies
from crfviz.chain.entities import entity_probability, entity_rivals, entity_shortcuts
from crfviz.chain.flips import smallest_change_for, smallest_flips
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.gradient import gradient_step
from crfviz.chain.illegal_mass import constraint_effect, illegal_mass
from crfviz.chain.influence import influence
from crfviz.chain.k_best import k_best
from crfviz.chain.pile import pile
from crfviz.chain.potentials import Potentials
from crfviz.chain.strength import strength_intervals
from crfviz.chain.temperature import soft_forward
from crfviz.chain.tipping import tipping_points
from crfviz.chain.viterbi import viterbi
from crfviz.chain.why_not import why_not
from crfviz.taggers.occlusion import occlude
from crfviz.taggers.registry import load_tagger
from crfviz.text.tokenizer import tokenize

MODEL = "upos-en-contextfree"
CONTEXT_MODEL = "upos-en"  # whose words see each other
SENTENCE = (
    "When the old man who lived near the river heard that his favourite boat had been sold to a "
    "rich stranger from the city , he walked home slowly , closed the door , and wrote a long "
    "letter ."
)
TYPES = ["PER", "LOC", "ORG", "TIME", "LAW", "ART", "FOOD", "GAME"]
WORD = 12  # position of the word that is asked about
LIMIT_MS = 150.0
FLIPS_LIMIT_MS = 500.0


@dataclass(frozen=True)
class Figure:
    """One line of the table; times in milliseconds."""

    what: str
    p50: float
    p95: float
    cpu_p50: float
    limit: float
    met: bool  # the median is within the limit


def model_chain() -> Potentials:
    """A sentence of 40 words under a shipped model."""
    return load_tagger(MODEL).potentials([token.text for token in tokenize(SENTENCE)])


def hidden_words() -> Callable[[], object]:
    """Each of the 40 words hidden in turn, and every sentence decoded."""
    tagger = load_tagger(CONTEXT_MODEL)
    words = [token.text for token in tokenize(SENTENCE)]
    return lambda: [best_path(chain) for chain in occlude(tagger, words).hidden]


def entity_chain() -> Potentials:
    """A random chain of 40 words and 17 BIO tags, without constraints."""
    tags = ["O", *(f"{prefix}-{label}" for label in TYPES for prefix in "BI")]
    generator = torch.Generator().manual_seed(0)
    emissions = torch.randn(40, len(tags), generator=generator) * 3
    return Potentials(emissions, torch.randn(len(tags), len(tags), generator=generator), tags=tags)


def questions() -> dict[str, Callable[[], object]]:
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
        "pile, thousand samples": lambda: pile(chain, 1000, 0),
        "k_best, fifty, and their mass": lambda: cumulated_mass(k_best(chain, 50)),
        "occlude, and decode": hidden_words(),
        "entity_probability": lambda: entity_probability(entities, "PER", 5, 6),
        "entity_rivals": lambda: entity_rivals(entities, "PER", 5, 6),
        "entity_shortcuts": lambda: entity_shortcuts(entities, "PER", 5, 6),
        "illegal_mass": lambda: illegal_mass(entities),
        "constraint_effect": lambda: constraint_effect(entities),
    }


def measure(what: str, ask: Callable[[], object], n: int) -> Figure:
    """Ask n times, after two times that do not count."""
    walls, cpus = [], []
    for round_ in range(n + 2):
        wall, cpu = time.perf_counter(), time.process_time()
        ask()
        if round_ >= 2:
            walls.append(1000 * (time.perf_counter() - wall))
            cpus.append(1000 * (time.process_time() - cpu))
    median = statistics.median(walls)
    limit = FLIPS_LIMIT_MS if what.startswith("smallest_flips") else LIMIT_MS
    return Figure(
        what=what,
        p50=round(median, 2),
        p95=round(sorted(walls)[int(0.95 * (n - 1))], 2),
        cpu_p50=round(statistics.median(cpus), 2),
        limit=limit,
        met=median <= limit,
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and return 1 if a limit was missed."""
    parser = argparse.ArgumentParser(description="How fast the explanations answer.")
    parser.add_argument("--n", type=int, default=30, help="how often to ask each")
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    options = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    _say(f"40 words, 17 tags, n = {options.n}; {os.cpu_count()} processors, load {load:.1f}\n")
    _say("| explanation | p50 ms | p95 ms | processor ms | limit ms | met |")
    _say("|---|---:|---:|---:|---:|---|")
    figures = []
    for what, ask in questions().items():
        figure = measure(what, ask, options.n)
        figures.append(figure)
        _say(
            f"| {what} | {figure.p50:.1f} | {figure.p95:.1f} | {figure.cpu_p50:.1f}"
            f" | {figure.limit:g} | {'yes' if figure.met else 'no'} |"
        )
    if options.out:
        machine = {"processor": platform.processor(), "cores": os.cpu_count(), "load": load}
        found = {"machine": machine, "figures": [asdict(figure) for figure in figures]}
        options.out.write_text(json.dumps(found, indent=2) + "\n")
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
