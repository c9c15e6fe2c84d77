"""Strips of whole paths: the best ones, samples, and how uncertain all of it is."""

import math
import re

import pytest
import torch
from hypothesis import assume, given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.distribution import sample
from crfviz.chain.potentials import Potentials
from crfviz.views.strips.paths import best_rows, entropy_note, sample_rows
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf
NOTHING = Potentials(torch.zeros(2, 2), torch.full((2, 2), -INF))


def assert_says(text, value):
    """Three decimals, or one figure where those would be 0.000."""
    within = 0.0005 if value >= 0.0005 else 0.5 * 10 ** math.floor(math.log10(value))
    assert abs(float(text.replace("−", "-")) - value) <= within + 1e-9


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_the_best_paths_have_the_probabilities_of_enumeration(potentials):
    assume(oracle.allowed(potentials))
    analysis = analyse(potentials)
    rows = best_rows(analysis, 5)
    allowed = oracle.allowed(potentials)
    assert len(rows) == min(5, len(allowed))
    assert rows[0].tags == analysis.viterbi.path
    assert len({tuple(row.tags) for row in rows}) == len(rows)
    for rank, (row, (_, score)) in enumerate(zip(rows, allowed, strict=False), start=1):
        assert (row.id, row.label) == (f"best_{rank}", f"{rank}.")
        assert oracle.paths(potentials)[tuple(row.tags)] == pytest.approx(score, abs=1e-9)
        probability = oracle.probability(potentials, row.tags)
        if probability > 1e-300:
            assert_says(row.value.removeprefix("p = "), probability)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_samples_are_allowed_paths_with_their_number_and_probability(potentials):
    assume(oracle.allowed(potentials))
    analysis = analyse(potentials)
    rows = sample_rows(analysis, 4, seed=0)
    assert [row.id for row in rows] == [f"sample_{i + 1}" for i in range(len(rows))]
    for row in rows:
        assert oracle.paths(potentials)[tuple(row.tags)] > -INF
        assert_says(row.value, oracle.probability(potentials, row.tags))
    drawn = sample(analysis.potentials, 4, torch.Generator().manual_seed(0))
    paths = [tuple(path.tags) for path in drawn]
    told = {tuple(row.tags): row.label for row in rows}
    assert told == {path: f"{paths.count(path)} of 4" for path in paths}
    times = [int(row.label.removesuffix(" of 4")) for row in rows]
    assert sum(times) == 4
    assert times == sorted(times, reverse=True)


def test_a_seed_draws_the_same_samples_again_and_another_seed_others():
    analysis = analyse(Potentials(torch.zeros(20, 5), torch.zeros(5, 5)))
    first = sample_rows(analysis, 10, seed=3)
    torch.manual_seed(99)
    assert sample_rows(analysis, 10, seed=3) == first
    assert sample_rows(analysis, 10, seed=4) != first
    assert len({tuple(row.tags) for row in first}) == 10


def test_without_a_path_there_are_no_rows():
    assert best_rows(analyse(NOTHING), 5) == []
    assert sample_rows(analyse(NOTHING), 5, seed=0) == []


def test_probabilities_too_small_for_three_decimals_are_no_zeros():
    analysis = analyse(Potentials(torch.zeros(20, 5), torch.zeros(5, 5)))
    assert best_rows(analysis, 1)[0].value == "p = 1e−14"


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_the_note_tells_the_entropy_of_enumeration(potentials):
    assume(oracle.allowed(potentials))
    text = entropy_note(analyse(potentials))
    entropy, largest, paths, tags, tokens = re.fullmatch(
        r"Entropy of the path ([\d.]+) nats of at most ([\d.]+): "
        r"as uncertain as ([\d.]+) equally likely paths, out of (\d+)\^(\d+)\.",
        text,
    ).groups()
    expected = oracle.entropy(potentials)
    assert float(entropy) == pytest.approx(expected, abs=0.005 + 1e-6)
    assert float(paths) == pytest.approx(math.exp(expected), abs=0.05 + 1e-3)
    assert float(largest) == pytest.approx(math.log(int(tags) ** int(tokens)), abs=0.05 + 1e-9)
    assert (int(tokens), int(tags)) == potentials.emissions.shape


def test_no_path_no_entropy():
    assert entropy_note(analyse(NOTHING)) == (
        "No tag sequence is allowed, so there is no distribution to show."
    )


@pytest.mark.parametrize(
    ("tokens", "tags", "paths"),
    [
        (1, 1, "1.0"),
        (1, 10, "10.0"),
        (6, 9, "531441.0"),
        (8, 10, "1.0e8"),
        (7, 9, "4.8e6"),
        (120, 17, "4.5e147"),
        (400, 17, "1.5e492"),
    ],
    ids=str,
)
def test_the_number_of_paths_stays_readable(tokens, tags, paths):
    """120 words once gave a number of 148 digits, and 400 an OverflowError."""
    uniform = Potentials(torch.zeros(tokens, tags), torch.zeros(tags, tags))
    assert f"as uncertain as {paths} equally likely" in entropy_note(analyse(uniform))
