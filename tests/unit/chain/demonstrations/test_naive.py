"""Every path on its own, against the enumeration in plain Python."""

import math
from itertools import accumulate

import pytest
import torch
from hypothesis import given

from crfviz.chain import recursions
from crfviz.chain.demonstrations.naive import (
    REPEATS,
    enumerate_paths,
    num_paths,
    words_that_fit,
    written_count,
)
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from tests.support import oracle
from tests.support.strategies import chains

INF = math.inf


@given(chains())
def test_enumerated_paths_are_scored_sorted_and_summed(potentials):
    found = enumerate_paths(potentials)
    scores = oracle.paths(potentials)
    assert found.num_paths == len(scores)
    assert found.forbidden == len(scores) - len(oracle.allowed(potentials))
    assert found.log_sum == pytest.approx(oracle.log_partition(potentials), abs=1e-9)
    assert found.log_partition == pytest.approx(found.log_sum, abs=1e-9)
    assert found.largest_deviation <= 1e-9
    expected = sorted(scores.values(), reverse=True)
    total = oracle.log_partition(potentials)
    for ranked in (found.listed, found.curve):
        for rank, tags, score, share in zip(
            ranked.ranks, ranked.tags.tolist(), ranked.scores, ranked.shares, strict=True
        ):
            assert score == pytest.approx(expected[rank - 1], abs=1e-9)
            assert score == pytest.approx(scores[tuple(tags)], abs=1e-9)
            if total > -INF:
                assert share == pytest.approx(math.exp(score - total), abs=1e-9)
        if total > -INF:
            sums = list(accumulate(math.exp(score - total) for score in expected))
            assert ranked.running == pytest.approx([sums[rank - 1] for rank in ranked.ranks])
    assert found.curve.ranks[-1] == found.num_paths


def test_list_has_the_first_50_and_last_5_paths():
    potentials = Potentials(
        torch.randn(5, 4, generator=torch.Generator().manual_seed(0)), torch.eye(4)
    )
    listed = enumerate_paths(potentials).listed
    assert listed.ranks.tolist() == [*range(1, 51), *range(1020, 1025)]


def test_more_than_a_million_paths_are_rejected_with_their_number():
    potentials = Potentials(torch.zeros(6, 17), torch.zeros(17, 17))
    with pytest.raises(CrfvizError, match="24,137,569"):
        enumerate_paths(potentials)
    assert words_that_fit(potentials) == 4
    assert num_paths(potentials.first_words(4)) == 83_521
    assert written_count(Potentials(torch.zeros(120, 17), torch.zeros(17, 17))) == "4.5e147"
    assert 4.45e147 < 17**120 < 4.55e147


def test_a_million_paths_are_enumerated():
    potentials = Potentials(torch.zeros(6, 10), torch.zeros(10, 10))
    found = enumerate_paths(potentials)
    assert found.num_paths == 1_000_000
    assert found.log_sum == pytest.approx(6 * math.log(10), abs=1e-9)


def test_timing_bypasses_the_cache(monkeypatch):
    potentials = Potentials(torch.zeros(3, 2), torch.zeros(2, 2))
    log_partition(potentials)  # which the chain keeps
    calls = []
    right = recursions.log_partition
    monkeypatch.setattr(
        recursions, "log_partition", lambda *given: calls.append(given) or right(*given)
    )
    enumerate_paths(potentials)
    assert len(calls) == REPEATS


def test_chain_of_one_tag_has_one_path_at_any_length():
    potentials = Potentials(torch.zeros(120, 1), torch.zeros(1, 1))
    assert words_that_fit(potentials) == 120
    assert enumerate_paths(potentials).largest_deviation == 0.0
