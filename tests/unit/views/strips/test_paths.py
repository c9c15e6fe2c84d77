"""Whole paths as strips and in words: every number of them from enumeration."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.decoding.viterbi import k_best
from crfviz.chain.distribution import sample, sample_counts
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import NOTICEABLE, influence
from crfviz.views.strips.paths import (
    best_rows,
    change_grid,
    entropy_note,
    entropy_row,
    frequency_grid,
    gap_row,
    pile_note,
    ranked_note,
    ranked_rows,
    reach_note,
    reach_row,
    sample_row,
    sample_rows,
)
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

NOTHING = Potentials(torch.zeros(2, 2), torch.full((2, 2), -math.inf))
allowed_chains = chains(max_tokens=4, max_tags=3).filter(oracle.allowed)
WORDS, TAGS = [f"w{t}" for t in range(9)], ["A", "B"]
STAY = Potentials([[0.0, 0.0]] * 9, [[1.0, 0.0], [0.0, 1.0]], tags=TAGS, tokens=WORDS)


def assert_says(text, value):
    """Three decimals, or one figure where those would be 0.000."""
    within = 0.0005 if value >= 0.0005 else 0.5 * 10 ** math.floor(math.log10(value))
    assert abs(float(text.replace("−", "-")) - value) <= within + 1e-9


@fewer_examples
@given(allowed_chains)
def test_samples_are_allowed_paths_with_number_and_probability(potentials):
    rows = sample_rows(analyse(potentials), 4, seed=0)
    assert [row.id for row in rows] == [f"sample_{i + 1}" for i in range(len(rows))]
    for row in rows:
        assert oracle.paths(potentials)[tuple(row.tags)] > -math.inf
        assert_says(row.value, oracle.probability(potentials, row.tags))
    drawn = sample(potentials, 4, torch.Generator().manual_seed(0))
    paths = [tuple(path.tags) for path in drawn]
    told = {tuple(row.tags): row.label for row in rows}
    assert told == {path: f"{paths.count(path)} of 4" for path in paths}
    times = [int(row.label.removesuffix(" of 4")) for row in rows]
    assert times == sorted(times, reverse=True)


def test_samples_depend_only_on_the_seed():
    analysis = analyse(Potentials(torch.zeros(20, 5), torch.zeros(5, 5)))
    first = sample_rows(analysis, 10, seed=3)
    torch.manual_seed(99)
    assert sample_rows(analysis, 10, seed=3) == first
    assert sample_rows(analysis, 10, seed=4) != first
    assert len({tuple(row.tags) for row in first}) == 10


def test_tiny_probabilities_are_not_rounded_to_zero():
    analysis = analyse(Potentials(torch.zeros(20, 5), torch.zeros(5, 5)))
    assert best_rows(analysis, 1)[0].value == "p = 1e−14"


@fewer_examples
@given(allowed_chains)
def test_entropy_note_equals_enumeration(potentials):
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


def test_without_a_path_there_are_no_rows_and_no_entropy():
    assert best_rows(analyse(NOTHING), 5) == []
    assert sample_rows(analyse(NOTHING), 5, seed=0) == []
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
def test_huge_number_of_paths_is_shortened(tokens, tags, paths):
    """120 words once gave a number of 148 digits, and 400 an OverflowError."""
    uniform = Potentials(torch.zeros(tokens, tags), torch.zeros(tags, tags))
    assert f"as uncertain as {paths} equally likely" in entropy_note(analyse(uniform))


def read(text):
    return float(text.replace("−", "-"))


@fewer_examples
@given(allowed_chains)
def test_best_rows_equal_enumeration(potentials):
    analysis, allowed = analyse(potentials), oracle.allowed(potentials)
    rows, ranked = best_rows(analysis, 6), ranked_rows(k_best(potentials, 6))
    assert (
        len(rows) == len(ranked) == len({tuple(row.tags) for row in rows}) == min(6, len(allowed))
    )
    assert rows[0].tags == analysis.viterbi.path
    mass = 0.0
    for rank, (row, long, (_, expected)) in enumerate(
        zip(rows, ranked, allowed, strict=False), start=1
    ):
        number, probability, cumulated, score = long.columns
        assert (row.id, row.label) == (long.id, number) == (f"best_{rank}", f"{rank}.")
        assert row.tags == long.tags
        found = oracle.paths(potentials)[tuple(row.tags)]
        assert found == pytest.approx(expected, abs=1e-9)
        assert read(score) == pytest.approx(found, abs=0.0051)
        share = oracle.probability(potentials, row.tags)
        mass += share
        if share > 1e-300:
            assert_says(row.value.removeprefix("p = "), share)
            assert_says(probability, share)
        assert_says(cumulated, mass)


@fewer_examples
@given(allowed_chains)
def test_word_entropies_equal_enumeration(potentials):
    analysis = analyse(potentials)
    row = entropy_row(analysis)
    marginals = oracle.marginals(potentials)
    total = 0.0
    for t in range(potentials.num_tokens):
        parts = [marginals.get((t, k), 0.0) for k in range(potentials.num_tags)]
        entropy = -math.fsum(p * math.log(p) for p in parts if p > 0)
        total += entropy
        assert float(row.titles[t].split()[0]) == pytest.approx(entropy, abs=1e-6)
        assert (0.0 if row.texts[t] == "·" else float(row.texts[t])) == pytest.approx(
            entropy, abs=0.0051
        )
        assert 0.0 <= row.shares[t] <= 1.0 + 1e-9
    note = ranked_note(analysis, k_best(potentials, 2))
    assert float(note.split()[-1].removesuffix(".")) == pytest.approx(total, abs=0.0051)


@fewer_examples
@given(allowed_chains)
def test_gaps_between_samples_and_marginals_equal_counts(potentials):
    analysis, samples = analyse(potentials), sample_counts(potentials, 4, seed=7)
    paths = samples.paths.tolist()
    marginals = oracle.marginals(potentials)
    gaps = {
        (t, k): abs(sum(path[t] == k for path in paths) / 4 - marginals.get((t, k), 0.0))
        for t in range(potentials.num_tokens)
        for k in range(potentials.num_tags)
    }
    row = gap_row(samples, analysis)
    for t, title in enumerate(row.titles):
        largest = max(gap for (word, _), gap in gaps.items() if word == t)
        assert float(title.split()[-1]) == pytest.approx(largest, abs=1e-6)
    words = [f"w{t}" for t in range(potentials.num_tokens)]
    tags = [f"T{k}" for k in range(potentials.num_tags)]
    said = pile_note(samples, analyse(replace(potentials, tags=tags, tokens=words)))
    gap, tag, number, used, marginal = re.fullmatch(
        r"After 4 samples the largest gap between the share of samples and the marginal is "
        r"([\d.]+): T(\d) at (\d) “w\d” in (\d) of 4, marginal (\d[\d.e−]*)\.",
        said,
    ).groups()
    place = (int(number) - 1, int(tag))
    assert float(gap) == pytest.approx(max(gaps.values()), abs=5.1e-5)
    assert gaps[place] == pytest.approx(max(gaps.values()), abs=1e-9)
    assert int(used) == sum(path[place[0]] == place[1] for path in paths)
    assert read(marginal) == pytest.approx(marginals.get(place, 0.0), abs=5.1e-5)
    assert sample_row(samples).tags == paths[-1]
    assert frequency_grid(samples).values.sum().item() == pytest.approx(len(words))


def test_without_samples_there_are_no_gaps():
    samples, analysis = sample_counts(STAY, 0, seed=0), analyse(STAY)
    assert sample_row(samples) is None
    assert gap_row(samples, analysis).texts == ["–"] * 9
    assert pile_note(samples, analysis).startswith("No sample yet")
    assert frequency_grid(samples).values.tolist() == [[0.0, 0.0]] * 9


def test_reach_row_and_note_equal_the_influence():
    found = influence(STAY, 4, 1.0, 0)
    row, table = reach_row(found), change_grid(found)
    assert row.shares[4] == 1.0
    assert row.shares == sorted(row.shares[:5]) + sorted(row.shares[5:], reverse=True)
    assert float(row.titles[4].split()[0]) == pytest.approx(found.reach[4].item(), abs=1e-6)
    assert torch.equal(table.values, found.change)
    assert table.scale == found.change.abs().max()
    noticed = [t for t, reach in enumerate(found.reach.tolist()) if reach >= NOTICEABLE]
    far = max(abs(t - 4) for t in noticed)
    assert reach_note(found, 4, 1.0, analyse(STAY)) == (
        f"A at 5 “w4” nudged by +1 nats moves {found.reach[4].item():.3f} of that word’s "
        f"probability and reaches {far} words far: from {noticed[0] + 1} “w{noticed[0]}” to "
        f"{noticed[-1] + 1} “w{noticed[-1]}” it moves 0.01 or more."
    )


def test_nudge_without_reach_is_reported():
    alone = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]], tags=TAGS, tokens=WORDS[:3])
    found = influence(alone, 1, -2.0, 0)
    assert reach_row(found).texts == ["·", "0.38", "·"]
    assert reach_note(found, 1, -2.0, analyse(alone)) == (
        "A at 2 “w1” nudged by −2 nats moves 0.381 of that word’s probability; at no other word "
        "does it move 0.01 or more."
    )
    assert change_grid(influence(alone, 1, 0.0, 0)).scale == 1.0
