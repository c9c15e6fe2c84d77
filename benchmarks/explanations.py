"""How fast the explanations answer, at 40 words and 17 tags: lines of the table of `latency.py`.

Most run on the potentials of a shipped model; what asks for BIO tags runs on random ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch
from report import Figure, figure

from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import best_path, viterbi
from crfviz.chain.demonstrations.forward_variants import soft_forward
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
LIMIT = 150.0  # milliseconds, for the median
FLIPS_LIMIT = 500.0


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
    for what, ask in questions().items():
        walls = []
        for round_ in range(n + 2):
            start = time.perf_counter()
            ask()
            if round_ >= 2:
                walls.append(1000 * (time.perf_counter() - start))
        limit = FLIPS_LIMIT if what.startswith("smallest_flips") else LIMIT
        yield figure(f"{what} at 40 words and 17 tags", "ms", walls, limit)
