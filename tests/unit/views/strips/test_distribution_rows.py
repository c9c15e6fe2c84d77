"""Strips and words about the distribution: every number of them from enumeration."""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.distribution import sample_counts
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import NOTICEABLE, influence
from crfviz.views.strips.paths import (
    change_grid,
    entropy_row,
    frequency_grid,
    gap_row,
    pile_note,
    ranked_note,
    ranked_rows,
    reach_note,
    reach_row,
    sample_row,
)
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples
from tests.unit.views.strips.test_path_rows import assert_says

allowed_chains = chains(max_tokens=4, max_tags=3).filter(oracle.allowed)
WORDS, TAGS = [f"w{t}" for t in range(9)], ["A", "B"]
STAY = Potentials([[0.0, 0.0]] * 9, [[1.0, 0.0], [0.0, 1.0]], tags=TAGS, tokens=WORDS)


def read(text):
    return float(text.replace("−", "-"))


@fewer_examples
@given(allowed_chains)
def test_ranked_paths_add_up_as_in_enumeration(potentials):
    rows = ranked_rows(k_best(potentials, 6))
    mass = 0.0
    for rank, row in enumerate(rows, start=1):
        number, probability, cumulated, score = row.columns
        assert (number, row.id) == (f"{rank}.", f"best_{rank}")
        expected = oracle.probability(potentials, row.tags)
        mass += expected
        if expected > 1e-300:
            assert_says(probability, expected)
        assert_says(cumulated, mass)
        assert read(score) == pytest.approx(oracle.paths(potentials)[tuple(row.tags)], abs=0.0051)


@fewer_examples
@given(allowed_chains)
def test_entropies_of_words_are_those_of_enumeration(potentials):
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
def test_gaps_between_samples_and_marginals_are_those_of_counting(potentials):
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


def test_before_the_first_sample_there_is_nothing_to_compare():
    samples, analysis = sample_counts(STAY, 0, seed=0), analyse(STAY)
    assert sample_row(samples) is None
    assert gap_row(samples, analysis).texts == ["–"] * 9
    assert pile_note(samples, analysis).startswith("No sample yet")
    assert frequency_grid(samples).values.tolist() == [[0.0, 0.0]] * 9


def test_the_reach_is_drawn_and_said():
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


def test_a_nudge_that_nobody_else_notices():
    alone = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]], tags=TAGS, tokens=WORDS[:3])
    found = influence(alone, 1, -2.0, 0)
    assert reach_row(found).texts == ["·", "0.38", "·"]
    assert reach_note(found, 1, -2.0, analyse(alone)) == (
        "A at 2 “w1” nudged by −2 nats moves 0.381 of that word’s probability; at no other word "
        "does it move 0.01 or more."
    )
    assert change_grid(influence(alone, 1, 0.0, 0)).scale == 1.0
