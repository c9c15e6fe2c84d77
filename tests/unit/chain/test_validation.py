"""What questions to a chain refuse, and what they say: every question once for each mistake."""

import math

import numpy as np
import pytest
import torch

from crfviz.chain import edits
from crfviz.chain.decoding.analysis import max_marginal
from crfviz.chain.decoding.viterbi import best_path, best_paths, k_best, viterbi
from crfviz.chain.demonstrations.log_space import soft_forward
from crfviz.chain.distribution import sample, sample_counts
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
from crfviz.chain.questions.sensitivity import (
    expected_counts,
    gradient_step,
    influence,
    observed_counts,
)
from crfviz.chain.questions.tipping import strength_intervals, tipping_points
from crfviz.chain.validation import require_number
from crfviz.exceptions import CrfvizError, NoPathError, ShapeError, UnknownTagError

INF = math.inf
TAGS = ["O", "B-X", "I-X"]
FREE = Potentials(torch.zeros(3, 3), torch.zeros(3, 3), tags=TAGS)
DEAD = Potentials(torch.zeros(3, 3), torch.full((3, 3), -INF), tags=TAGS)


def tipping_of_emission(chain, position, tag):
    return tipping_points(chain, ("emission", position, tag))


def entity(ask):
    return lambda chain, position, _tag: ask(chain, "X", 0, position)


WITH_A_CELL = {  # questions about a position and a tag
    "why not": why_not,
    "smallest change": smallest_change_for,
    "influence": lambda chain, position, tag: influence(chain, position, 1.0, tag),
    "tipping points": tipping_of_emission,
    "probability of pins": lambda chain, position, tag: pin_probability(chain, {position: tag}),
    "condition on pins": lambda chain, position, tag: condition(chain, {position: tag}),
    "condition on forbidden cells": lambda chain, position, tag: condition(
        chain, {}, [(position, tag)]
    ),
    "probability of an entity": entity(entity_probability),
    "rivals of an entity": entity(entity_rivals),
}
CELLS_WITHOUT_PATHS = {
    "shortcuts of an entity": entity(entity_shortcuts),
    "weight by name": lambda chain, position, tag: edits.resolve(
        chain, ("emission", position, tag)
    ),
    "emission": lambda chain, position, tag: chain.with_emission(position, tag, 1.0),
    "pin": lambda chain, position, tag: chain.pin({position: tag}),
}
OTHERS = {
    "Viterbi": viterbi,
    "best path": best_path,
    "best paths": lambda chain: best_paths([chain, chain]),
    "max-marginal": max_marginal,
    "k best": lambda chain: k_best(chain, 3),
    "samples": lambda chain: sample(chain, 1, torch.Generator()),
    "pile of samples": lambda chain: sample_counts(chain, 1, seed=0),
    "illegal mass": illegal_mass,
    "effect of constraints": constraint_effect,
    "flips": lambda chain: smallest_flips(chain, 3),
    "strength": strength_intervals,
    "step of the gradient": lambda chain: gradient_step(chain, [0, 0, 0], 1.0),
    "expected counts": expected_counts,
}
WITH_A_PATH = {
    "score": lambda path: FREE.score(path),
    "step of the gradient": lambda path: gradient_step(FREE, path, 1.0),
    "observed counts": lambda path: observed_counts(FREE, path),
}
WITH_A_NUMBER = {
    "the size of a step": lambda size: gradient_step(FREE, [0, 0, 0], size),
    "delta": lambda delta: influence(FREE, 0, delta),
    "highest": lambda highest: strength_intervals(FREE, highest),
    "temperature": lambda temperature: soft_forward(FREE, temperature),
}


def cases(questions):
    return pytest.mark.parametrize("ask", questions.values(), ids=questions)


@cases(
    {name: lambda chain, ask=ask: ask(chain, 0, 0) for name, ask in WITH_A_CELL.items()} | OTHERS
)
def test_chain_without_a_path_is_rejected(ask):
    with pytest.raises(NoPathError, match="forbidden"):
        ask(DEAD)


@pytest.mark.parametrize("position", [-1, 3, 1.0, "1", None])
@cases(WITH_A_CELL | CELLS_WITHOUT_PATHS)
def test_position_outside_the_sentence_is_rejected(ask, position):
    if isinstance(position, int) and position < 0:
        wanted = "position must be 0 to 2, got -1|last must be at least first"
    else:
        wanted = f"position must be 0 to 2, got {position!r}"
    with pytest.raises(ShapeError, match=wanted):
        ask(FREE, position, 0)


@pytest.mark.parametrize("tag", ["VERB", "", 3, -1, 1.0, None])
@cases(
    {
        name: ask
        for name, ask in (WITH_A_CELL | CELLS_WITHOUT_PATHS).items()
        if "entity" not in name and (name != "influence")
    }
)
def test_unknown_tag_is_rejected(ask, tag):
    with pytest.raises(UnknownTagError, match="expected one of the tags O, B-X, I-X or an id"):
        ask(FREE, 0, tag)


@cases(WITH_A_PATH)
def test_path_of_the_wrong_length_or_tags_is_rejected(ask):
    with pytest.raises(ShapeError, match="path must have 3 tags, got 2"):
        ask([0, 1])
    with pytest.raises(UnknownTagError, match=r"expected one of the tags .* got 'VERB'"):
        ask(["O", "VERB", "O"])
    for path in (5, None, 1.5):
        with pytest.raises(ShapeError, match="path must be 3 tags, got"):
            ask(path)


@pytest.mark.parametrize("value", [math.nan, INF, -INF, "1", None, [2.0], 10**400])
@pytest.mark.parametrize("name", WITH_A_NUMBER)
def test_infinite_or_non_numeric_value_is_rejected(name, value):
    with pytest.raises(CrfvizError, match=f"{name} must be a finite number.* got"):
        WITH_A_NUMBER[name](value)


@pytest.mark.parametrize("name", ["highest", "temperature"])
def test_negative_value_is_rejected(name):
    with pytest.raises(CrfvizError, match=f"{name} must be a finite number of at least 0, got -1"):
        WITH_A_NUMBER[name](-1)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0)])
def test_finite_numbers_are_accepted(value):
    assert require_number("size", value) == 2.0


@pytest.mark.parametrize("value", ["2", None, 1.5, 2.0, [2], 0, -1])
def test_count_must_be_a_positive_integer(value):
    with pytest.raises(CrfvizError, match=r"k must be (a whole number of )?at least 1, got"):
        k_best(FREE, value)
    with pytest.raises(CrfvizError, match=r"limit must be (a whole number of )?at least 1, got"):
        smallest_flips(FREE, value)
    if value != 0:
        with pytest.raises(CrfvizError, match=r"n must be (a whole number of )?at least 0, got"):
            sample(FREE, value, torch.Generator())


def test_count_above_maximum_is_rejected():
    with pytest.raises(CrfvizError, match="k must be at most 2,147,483,647, got 1000"):
        k_best(FREE, 10**400)


@pytest.mark.parametrize("pins", ["A", "", None, 0, [0, 1], [(0, "A")]])
def test_pins_that_are_not_a_mapping_are_rejected(pins):
    for ask in (pin_probability, condition, Potentials.pin):
        with pytest.raises(ShapeError, match=r"pins must map positions to tags, .* \{0: 'O'\}"):
            ask(FREE, pins)


@pytest.mark.parametrize("cells", ["A", None, 0, [0], ["0A"], [("A",)]])
def test_forbidden_cells_that_are_not_pairs_are_rejected(cells):
    for ask in (pin_probability, condition):
        with pytest.raises(ShapeError, match="forbidden must be pairs of position and tag"):
            ask(FREE, {}, cells)
