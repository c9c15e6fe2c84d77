"""Paths of least expected cost, against enumeration of all paths."""

import math
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from crfviz.chain.constraints import constrain
from crfviz.chain.decoding.analysis import max_marginal
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.costs import (
    KINDS,
    between_intervals,
    cost_intervals,
    cost_matrix,
    costs_text,
    expected_errors,
    least_cost,
    parse_costs,
)
from crfviz.exceptions import CrfvizError, NoPathError, ScoreError, ShapeError
from tests.support import oracle
from tests.support.strategies import random_chain

BIO = ("O", "B-X", "I-X", "B-Y", "I-Y")
BIOES = ("O", "B-X", "I-X", "E-X", "S-X")
COSTS = {"miss": 3.0, "false_alarm": 0.5, "wrong_type": 2.0, "cut": 0.25}
GRID = [value / 2 for value in range(21)]

# by scheme and (true, chosen), what `kind_of` cannot read from the table of the module
BIOES_KINDS = {
    ("B", "I"): "merge", ("B", "E"): "merge", ("B", "S"): "cut",
    ("I", "B"): "cut", ("I", "E"): "cut", ("I", "S"): "cut",
    ("E", "B"): "cut", ("E", "I"): "merge", ("E", "S"): "cut",
    ("S", "B"): "merge", ("S", "I"): "merge", ("S", "E"): "merge",
}  # fmt: skip


def kind_of(true, chosen):
    """Return the kind of an error, from the sentences of the documentation."""
    if true == chosen:
        return None
    if chosen == "O":
        return "miss"
    if true == "O":
        return "false_alarm"
    if true[2:] != chosen[2:]:
        return "wrong_type"
    return BIOES_KINDS[true[0], chosen[0]]


def named_costs(tags, costs):
    return [[costs.get(kind_of(a, b), 1.0) if a != b else 0.0 for b in tags] for a in tags]


def risks(chain, table):
    """Return {path: expected cost} of all allowed paths, from enumerated marginals."""
    return risks_by(oracle.marginals(chain), oracle.allowed(chain), chain, table)


def risks_by(marginals, allowed, chain, table):
    K = chain.num_tags
    cell = {
        (t, c): math.fsum(marginals.get((t, y), 0.0) * table[y][c] for y in range(K))
        for t, c in product(range(chain.num_tokens), range(K))
    }
    return {path: math.fsum(cell[t, tag] for t, tag in enumerate(path)) for path, _ in allowed}


def lowest(costs):
    """Return the cheapest path; of those that tie, the lowest ids, from the last word back."""
    least = min(costs.values())
    near = [path for path, cost in costs.items() if cost <= least + 1e-12 * max(1.0, least)]
    return list(min(near, key=lambda path: path[::-1]))


def bio_chain(seed, tags=BIO):
    chain = replace(random_chain(seed, 1 + seed % 5, len(tags), scale=1.0), tags=tags)
    return constrain(chain) if tags is BIO and seed % 2 else chain


def forbidding_chain(seed):
    """Return a chain of any tags with forbidden transitions, starts and ends."""
    chain = random_chain(seed, 2 + seed % 4, 4, scale=1.5)
    generator = np.random.default_rng(seed)
    for name, rate in (("transitions", 0.3), ("start", 0.2), ("end", 0.2)):
        table = getattr(chain, name)
        walls = torch.from_numpy(generator.random(table.shape) < rate)
        chain = replace(chain, **{name: table.masked_fill(walls, -math.inf)})
    return chain


@pytest.mark.parametrize("tags", [BIO, BIOES], ids=["BIO", "BIOES"])
@pytest.mark.parametrize("seed", range(25))
def test_named_costs_equal_enumeration(seed, tags):
    chain = bio_chain(seed, tags)
    expected = risks(chain, named_costs(tags, COSTS))
    found = least_cost(chain, COSTS)
    assert found.path == lowest(expected)
    assert found.names == [tags[tag] for tag in found.path]
    assert found.expected_cost == pytest.approx(expected[tuple(found.path)], abs=1e-9)
    assert found.by_word.shape == (chain.num_tokens,)
    assert float(found.by_word.sum()) == pytest.approx(found.expected_cost, abs=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_cost_matrix_equals_enumeration(seed):
    chain = forbidding_chain(seed)
    table = np.random.default_rng(seed).exponential(size=(4, 4))  # the diagonal costs, too
    if not oracle.allowed(chain):
        with pytest.raises(NoPathError):
            least_cost(chain, table)
        return
    expected = risks(chain, table.tolist())
    found = least_cost(chain, torch.from_numpy(table))
    assert found.path == lowest(expected)
    assert found.expected_cost == pytest.approx(min(expected.values()), abs=1e-9)


@pytest.mark.parametrize("vary", [*KINDS, ("B-X", "O")], ids=str)
@pytest.mark.parametrize("seed", range(25))
def test_cost_intervals_equal_enumeration_on_a_grid(seed, vary):
    chain = bio_chain(seed)
    found = cost_intervals(chain, COSTS, vary)
    assert (found[0].low, found[-1].high) == (0.0, 10.0)
    assert all(left.high == right.low for left, right in pairwise(found))
    assert all(left.path != right.path for left, right in pairwise(found))

    enumerated = oracle.marginals(chain), oracle.allowed(chain)

    def at(value):
        table = named_costs(BIO, COSTS | {vary: value})
        if not isinstance(vary, str):
            table[BIO.index(vary[0])][BIO.index(vary[1])] = value
        return risks_by(*enumerated, chain, table)

    for value in GRID:
        expected = at(value)
        inside = [each for each in found if each.low <= value <= each.high]
        for each in inside:
            assert expected[tuple(each.path)] == pytest.approx(min(expected.values()), abs=1e-9)
            assert each.names == [BIO[tag] for tag in each.path]
    for left, right in pairwise(found):  # both paths are the cheapest where they meet
        expected = at(left.high)
        for each in (left, right):
            assert expected[tuple(each.path)] == pytest.approx(min(expected.values()), abs=1e-9)


@pytest.mark.parametrize("seed", range(25))
def test_between_intervals_equal_enumeration_on_a_grid(seed):
    chain = forbidding_chain(seed)
    if not oracle.allowed(chain):
        return
    found = between_intervals(chain)
    wrong = risks(chain, [[float(a != b) for b in range(4)] for a in range(4)])
    assert (found[0].low, found[-1].high) == (0.0, 1.0)
    assert all(left.high == right.low for left, right in pairwise(found))
    allowed = oracle.allowed(chain)
    for value in np.linspace(0.0, 1.0, 41):
        worth = {
            path: (1 - value) * score + value * (chain.num_tokens - wrong[path])
            for path, score in allowed
        }
        for each in found:
            if each.low <= value <= each.high:
                assert worth[tuple(each.path)] == pytest.approx(max(worth.values()), abs=1e-9)
    assert found[0].path == viterbi(chain).path


@pytest.mark.parametrize("seed", range(25))
def test_expected_errors_equal_enumeration(seed):
    chain = bio_chain(seed, BIOES if seed % 3 else BIO)
    tags = chain.tags
    path = viterbi(chain).path
    marginals = forward_backward(chain).marginals.numpy()
    found = expected_errors(marginals, tags, path)
    for kind in KINDS:
        table = [[float(kind_of(a, b) == kind) for b in tags] for a in tags]
        assert found[kind] == pytest.approx(risks(chain, table)[tuple(path)], abs=1e-9)


def test_ties_go_to_the_lowest_tags():
    chain = Potentials([[0.0] * 3] * 3, [[0.0] * 3] * 3)
    assert least_cost(chain, np.ones((3, 3))).path == [0, 0, 0]
    free = [[1.0, 0.5, 0.5]] * 3
    assert least_cost(chain, free).path == [1, 1, 1]


def test_equal_costs_are_max_marginal_decoding():
    chain = replace(random_chain(3, 6, 5), tags=BIO)
    assert least_cost(chain, {}).path == max_marginal(chain)


def test_costs_respect_rules():
    chain = replace(random_chain(4, 4, 5), tags=BIO)
    ruled = chain.constrained("O* B-X .*")
    tags = [tag.split("·")[0] for tag in ruled.tags]
    expected = risks(ruled, named_costs(tags, COSTS))
    found = least_cost(ruled, COSTS)
    assert tuple(found.path) == tuple(lowest(expected))
    names = [name.split("·")[0] for name in found.names]
    assert next(name for name in names if name != "O") == "B-X"


def test_interval_of_one_value():
    chain = replace(random_chain(5, 4, 5), tags=BIO)
    (only,) = cost_intervals(chain, {}, low=2.0, high=2.0)
    assert only == (2.0, 2.0, least_cost(chain, {"miss": 2.0}).path, only.path.names)


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ({"misses": 1.0}, CrfvizError, "expected costs of miss, .*, got misses"),
        ({"miss": -1.0}, ScoreError, "cost miss must be a finite number of at least 0, got -1"),
        ({"miss": math.nan}, ScoreError, "cost miss"),
        ({"cut": math.inf}, ScoreError, "cost cut"),
        ({"cut": "2"}, ScoreError, "cost cut"),
        ([[0.0, 1.0]], ShapeError, r"costs must be \(5, 5\)"),
        (3.0, ShapeError, r"costs must be \(5, 5\)"),
        ("miss=3", ShapeError, "costs must be numbers"),
        (np.full((5, 5), -0.5), ScoreError, r"costs\[0, 0\] must be a finite number of at least 0"),
        (np.full((5, 5), math.nan), ScoreError, r"costs\[0, 0\]"),
        (np.full((5, 5), math.inf), ScoreError, r"costs\[0, 0\]"),
    ],
    ids=str,
)
def test_wrong_costs_are_refused(costs, error, message):
    chain = replace(random_chain(0, 2, 5), tags=BIO)
    with pytest.raises(error, match=message):
        least_cost(chain, costs)
    with pytest.raises(error, match=message):
        cost_intervals(chain, costs)


@pytest.mark.parametrize("tags", [None, ("NOUN", "VERB"), ("O", "I-X"), ("O", "B-")], ids=str)
def test_named_costs_need_entities(tags):
    chain = replace(random_chain(0, 2, 2), tags=tags)
    with pytest.raises(CrfvizError, match=r"expected tags of entities.*\(K, K\) array"):
        least_cost(chain, {"miss": 3.0})
    with pytest.raises(CrfvizError, match="expected tags of entities"):
        cost_intervals(chain, np.ones((2, 2)), "miss")
    assert cost_intervals(chain, np.ones((2, 2)), (0, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": "missed"}, "vary must be one of miss"),
        ({"vary": 3}, "vary must be one of miss"),
        ({"vary": ("O", "NONE")}, "expected one of the tags"),
        ({"low": -1.0}, "low must be a finite number of at least 0"),
        ({"low": 2.0, "high": 1.0}, "high must be a finite number of at least 2"),
        ({"high": math.inf}, "high must be a finite number"),
    ],
    ids=str,
)
def test_wrong_intervals_are_refused(options, message):
    chain = replace(random_chain(0, 2, 5), tags=BIO)
    with pytest.raises(CrfvizError, match=message):
        cost_intervals(chain, {}, **options)


def test_costs_are_read_as_they_are_written():
    costs = {"miss": 3.0, "cut": 0.5}
    assert parse_costs(costs_text(costs)) == costs
    assert parse_costs(" miss = 3 , cut=.5 ") == costs
    for text in ("miss", "miss=x", "miss=-1", "miss=1,miss=2", "misses=1", "miss=nan", "miss=inf"):
        with pytest.raises(CrfvizError, match="costs must be like miss=3"):
            parse_costs(text)


def test_matrix_of_named_costs():
    assert cost_matrix(BIO, COSTS).tolist() == named_costs(BIO, COSTS)
    assert cost_matrix(BIOES, COSTS).tolist() == named_costs(BIOES, COSTS)
    lu = ["O", "B-X", "I-X", "L-X", "U-X"]
    assert cost_matrix(lu, COSTS).tolist() == named_costs(BIOES, COSTS)
