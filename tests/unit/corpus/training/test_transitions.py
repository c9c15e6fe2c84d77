"""Transitions on frozen emissions: a minimum by enumeration, and what they add."""

import math
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2, IOBES

import crfviz
from crfviz.exceptions import CrfvizError, ShapeError, UnknownTagError

TAGS = ("A", "B", "C")


def chains_and_paths(number, seed=0, tags=TAGS, strength=1.5):
    """Sentences whose tags follow a cycle, under weak emissions."""
    generator = torch.Generator().manual_seed(seed)
    chains, paths = [], []
    for _ in range(number):
        length = int(torch.randint(2, 6, (), generator=generator))
        first = int(torch.randint(0, len(tags), (), generator=generator))
        path = [(first + t) % len(tags) for t in range(length)]
        emissions = torch.randn(length, len(tags), generator=generator, dtype=torch.float64)
        emissions[torch.arange(length), path] += strength
        zeros = torch.zeros(len(tags), len(tags), dtype=torch.float64)
        chains.append(crfviz.Potentials(emissions, zeros, tags=tags))
        paths.append(path)
    return chains, paths


def loss(chains, paths, fitted, l2):
    """Minus the mean log-likelihood plus the penalty, by all paths, in plain Python."""
    start, steps, end = (table.tolist() for table in (fitted.start, fitted.transitions, fitted.end))
    total = 0.0
    for chain, path in zip(chains, paths, strict=True):
        rows = (chain.emissions * fitted.scale).tolist()

        def score(tags, rows=rows):
            inner = sum(steps[a][b] for a, b in pairwise(tags))
            return (
                start[tags[0]]
                + sum(r[t] for r, t in zip(rows, tags, strict=True))
                + inner
                + end[tags[-1]]
            )

        every = [score(tags) for tags in product(range(len(start)), repeat=len(rows))]
        total += math.log(math.fsum(map(math.exp, every))) - score(path)
    squares = sum(x * x for x in [*start, *end, *(x for row in steps for x in row)])
    return total / len(chains) + l2 / 2 * squares


def test_fitted_transitions_minimise_the_loss():
    chains, paths = chains_and_paths(12)
    fitted = crfviz.fit_transitions(chains, paths, l2=0.01)
    least = loss(chains, paths, fitted, 0.01)
    generator = torch.Generator().manual_seed(1)
    for _ in range(12):
        moved = replace(
            fitted,
            **{
                name: table + 0.03 * torch.randn(table.shape, generator=generator)
                for name, table in vars(fitted).items()
                if isinstance(table, torch.Tensor)
            },
        )
        assert loss(chains, paths, moved, 0.01) > least
    assert fitted.transitions.argmax(1).tolist() == [1, 2, 0]  # the cycle


def test_sentences_of_very_different_lengths_are_fitted_together():
    chains, paths = chains_and_paths(12)
    generator = torch.Generator().manual_seed(2)
    long = [t % 3 for t in range(200)]
    emissions = torch.randn(200, 3, generator=generator, dtype=torch.float64)
    both = [*chains, crfviz.Potentials(emissions, torch.zeros(3, 3), tags=TAGS)]
    fitted = crfviz.fit_transitions(both, [*paths, long], l2=0.01)

    steps = fitted.transitions.clone().requires_grad_()
    total = 0.01 / 2 * steps.square().sum()
    for chain, path in zip(both, [*paths, long], strict=True):
        rows = chain.emissions * fitted.scale
        table, score = fitted.start + rows[0], fitted.start[path[0]] + rows[0, path[0]]
        for row, before, after in zip(rows[1:], path, path[1:], strict=False):
            table = torch.logsumexp(table[:, None] + steps, 0) + row
            score = score + steps[before, after] + row[after]
        both_ends = torch.logsumexp(table + fitted.end, 0) - score - fitted.end[path[-1]]
        total = total + both_ends / len(both)
    total.backward()
    assert steps.grad.abs().max() < 1e-3


def test_crf_gain_counts_words_of_held_out_sentences():
    chains, paths = chains_and_paths(60)
    gain = crfviz.crf_gain(chains, paths)
    right = [
        [sum(a == b for a, b in zip(x, y, strict=True)) for x in (alone, found)]
        for alone, found, y in zip(
            [chain.emissions.argmax(1).tolist() for chain in chains], gain.paths, paths, strict=True
        )
    ]
    words = sum(map(len, paths))
    assert gain.independent.token_accuracy == pytest.approx(sum(a for a, _ in right) / words)
    assert gain.fitted.token_accuracy == pytest.approx(sum(b for _, b in right) / words)
    assert gain.difference == pytest.approx(sum(b - a for a, b in right) / words)
    assert gain.repaired == tuple(n for n, (a, b) in enumerate(right) if b > a)
    assert gain.spoiled == tuple(n for n, (a, b) in enumerate(right) if b < a)
    assert gain.interval[0] <= gain.difference <= gain.interval[1]
    assert gain.difference > 0.05
    assert gain.rules == gain.independent
    assert gain.independent.entity_f1 is None
    assert str(gain).startswith("On these 60 sentences a CRF layer adds ")
    assert gain.measure == "token accuracy"
    assert (gain.token_difference, gain.token_interval) == (gain.difference, gain.interval)
    assert crfviz.crf_gain(chains, paths).paths == gain.paths  # the same seed
    for number, (chain, path) in enumerate(zip(chains, gain.paths, strict=True)):
        own = gain.folds[gain.fold_of[number]]
        assert crfviz.viterbi(own.chain(chain)).path == list(path)


def test_crf_gain_with_bio_tags_includes_rules_and_entity_f1():
    chains, paths = chains_and_paths(30, tags=("O", "B-X", "I-X"), strength=0.5)
    gain = crfviz.crf_gain(
        chains,
        [[chain.tag_names[t] for t in path] for chain, path in zip(chains, paths, strict=True)],
    )
    assert 0 < gain.independent.entity_f1 < gain.fitted.entity_f1 <= 1
    assert gain.rules != gain.independent


BIO, BIOES = ("O", "B-X", "I-X"), ("O", "B-X", "I-X", "E-X", "S-X")


def entity_chains(tags, layer, seed=0, sentences=80):
    """Chains whose gold entities a layer finds better ("helps"), or alike."""
    rng = np.random.default_rng(seed)
    chains, paths = [], []
    for _ in range(sentences):
        names = []
        while len(names) < 12:
            size = int(rng.integers(1, 4))
            whole = ["S-X"] if size == 1 else ["B-X", *["I-X"] * (size - 2), "E-X"]
            if tags == BIO:
                whole = ["B-X", *["I-X"] * (size - 1)]
            names += ["O"] * int(rng.integers(1, 4)) + whole
        ids = [tags.index(name) for name in names]
        sure = {"helps": 1.0, "alike": 60.0}[layer]
        emissions = rng.normal(size=(len(ids), len(tags)))
        emissions[range(len(ids)), ids] += sure
        chains.append(crfviz.Potentials(emissions, tags=tags))
        paths.append(names)
    return chains, paths


def f1_by_seqeval(gold, guess, tags):
    scheme = IOB2 if tags == BIO else IOBES
    return f1_score(gold, guess, mode="strict", scheme=scheme, zero_division=0)


@pytest.mark.parametrize("tags", [BIO, BIOES])
def test_gain_with_entities_is_about_their_f1(tags):
    chains, paths = entity_chains(tags, "helps")
    gain = crfviz.crf_gain(chains, paths)
    alone = [[tags[k] for k in chain.emissions.argmax(1)] for chain in chains]
    fitted = [[tags[k] for k in path] for path in gain.paths]
    before, after = (f1_by_seqeval(paths, side, tags) for side in (alone, fitted))
    assert gain.independent.entity_f1 == pytest.approx(before, abs=1e-12)
    assert gain.fitted.entity_f1 == pytest.approx(after, abs=1e-12)
    assert gain.difference == pytest.approx(after - before, abs=1e-12)
    rng = np.random.default_rng(7)
    moved = []
    for _ in range(120):
        some = rng.integers(len(paths), size=len(paths))
        gold, *sides = ([side[n] for n in some] for side in (paths, alone, fitted))
        moved.append(f1_by_seqeval(gold, sides[1], tags) - f1_by_seqeval(gold, sides[0], tags))
    assert gain.interval == pytest.approx(np.percentile(moved, [2.5, 97.5]), abs=0.02)
    assert gain.measure == "entity F1"
    assert gain.verdict == "adds"
    low, high = (f"{100 * end:.1f}" for end in gain.interval)
    assert f"adds {100 * gain.difference:.1f} points of entity F1 ({low} to {high})." in str(gain)
    assert gain.rules != gain.independent
    words = [a == b for x, y in zip(fitted, paths, strict=True) for a, b in zip(x, y, strict=True)]
    right = [a == b for x, y in zip(alone, paths, strict=True) for a, b in zip(x, y, strict=True)]
    assert gain.token_difference == pytest.approx(np.mean(words) - np.mean(right), abs=1e-12)


def test_gain_that_loses_entities_says_so():
    """Accuracy rises where the layer gives up all entities, because most words are outside."""
    rng = np.random.default_rng(0)
    chains, paths = [], []
    for number in range(100):
        ids = [0] * 20
        if number % 2:
            ids[int(rng.integers(20))] = 1
        emissions = rng.normal(size=(20, 3)) * 1.5
        emissions[range(20), ids] += 1.2
        chains.append(crfviz.Potentials(emissions, tags=BIO))
        paths.append([BIO[tag] for tag in ids])
    gain = crfviz.crf_gain(chains, paths)
    assert gain.token_difference > 0.1
    assert gain.token_interval[0] > 0
    assert gain.fitted.entity_f1 < gain.independent.entity_f1
    assert gain.verdict == "loses"
    assert gain.interval[1] < 0
    size = 100 * (gain.independent.entity_f1 - gain.fitted.entity_f1)
    assert f"a CRF layer loses {size:.1f} points of entity F1 (\N{MINUS SIGN}" in str(gain)
    assert "adds" not in str(gain)


def test_gain_within_its_interval_cannot_be_told():
    chains, paths = entity_chains(BIO, "alike", sentences=20)
    gain = crfviz.crf_gain(chains, paths)
    assert gain.interval[0] <= 0 <= gain.interval[1]
    assert gain.verdict == "cannot tell"
    assert "we cannot tell whether a CRF layer adds entity F1: the difference is 0.0" in str(gain)


def test_forbidden_emissions_stay_forbidden():
    chains, paths = chains_and_paths(20)
    chains[0].emissions[0, (paths[0][0] + 1) % 3] = -torch.inf
    fitted = crfviz.fit_transitions(chains, paths, l2=0.01)
    assert torch.isfinite(fitted.transitions).all()
    assert torch.isneginf(fitted.chain(chains[0]).emissions).sum() == 1
    chains[1].emissions[0, paths[1][0]] = -torch.inf
    with pytest.raises(CrfvizError, match="chain 2: the emissions forbid a gold tag"):
        crfviz.fit_transitions(chains, paths)


def test_invalid_chains_or_paths_are_rejected():
    chains, paths = chains_and_paths(4)
    with pytest.raises(CrfvizError, match="at least one chain"):
        crfviz.fit_transitions([], [])
    with pytest.raises(ShapeError, match="a path for each of 4 chains, got 3"):
        crfviz.fit_transitions(chains, paths[:3])
    with pytest.raises(
        UnknownTagError, match=r"chain 1: the gold path, position 0: expected one of .*, got 'Z'"
    ):
        crfviz.fit_transitions(chains, [["Z"] * len(paths[0]), *paths[1:]])
    with pytest.raises(CrfvizError, match="expected 2 to 4 folds"):
        crfviz.crf_gain(chains, paths)
