import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import best_path, viterbi
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.triage import (
    NEAR_TIE,
    changed,
    put_right,
    triage,
    wrong_runs,
)
from crfviz.exceptions import ShapeError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

PARTS = ("emission", "transition")
INF = math.inf


def places(path, target, part):
    """Words that differ, or moves that differ with the way in and the way out."""
    if part == "emission":
        return sum(a != b for a, b in zip(path, target, strict=True))
    first, second = (list(pairwise(["in", *tags, "out"])) for tags in (path, target))
    return sum(a != b for a, b in zip(first, second, strict=True))


def least(chain, target, part):
    """The smallest change by enumeration of all rivals."""
    scores = oracle.paths(chain)
    ratios = [
        (score - scores[target]) / (2 * places(path, target, part))
        for path, score in scores.items()
        if path != target
    ]
    return max([0.0, *ratios])


def smallest_change(chain, target, part):
    """The change that the verdict names."""
    return getattr(triage(chain, target, best_path(chain)), f"{part}_change")


@st.composite
def wrong(draw, **options):
    """A chain and an allowed target that is not its best path."""
    chain = draw(chains(max_tokens=5, max_tags=4, **options))
    targets = [path for path, score in oracle.allowed(chain) if score < oracle.best_score(chain)]
    assume(targets)
    return chain, draw(st.sampled_from(targets))


@pytest.mark.parametrize("part", PARTS)
@given(wrong())
def test_smallest_change_is_the_minimum_over_rivals(part, case):
    chain, target = case
    assert smallest_change(chain, target, part) == pytest.approx(
        least(chain, target, part), rel=1e-9, abs=1e-9
    )


@fewer_examples
@pytest.mark.parametrize("part", PARTS)
@given(wrong())
def test_smallest_change_makes_the_target_win_and_less_does_not(part, case):
    chain, target = case
    size = smallest_change(chain, target, part)
    assume(size > 1e-6)
    assert viterbi(changed(chain, target, part, size * (1 + 1e-6))).path == list(target)
    assert viterbi(changed(chain, target, part, 0.999 * size)).path != list(target)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("seed", range(8))
def test_no_smaller_change_makes_the_target_win(part, seed):
    generator = np.random.default_rng(seed)
    shapes = [(4, 3), (3, 3, 3), (3,), (3,)]
    scores = [generator.normal(0, 2, shape) for shape in shapes]
    target, _ = oracle.allowed(Potentials(*scores))[generator.integers(1, 81)]
    size = smallest_change(Potentials(*scores), target, part)
    assert size > 0
    for _ in range(50):
        signs = [generator.choice([-1.0, 1.0], shape) for shape in shapes]
        kept = (0.0, 1.0, 1.0, 1.0) if part == "transition" else (1.0, 0.0, 0.0, 0.0)
        moved = [
            score + keep * 0.999 * size * sign
            for score, keep, sign in zip(scores, kept, signs, strict=True)
        ]
        assert best_path(Potentials(*moved)) != list(target)


@fewer_examples
@given(wrong())
def test_gap_is_the_sum_of_its_parts_and_decides_the_kind(case):
    chain, target = case
    best = best_path(chain)
    found = triage(chain, target, best)
    scores = oracle.paths(chain)
    assert found.gap == pytest.approx(scores[tuple(best)] - scores[target], abs=1e-9)
    words = [chain.emissions[t, best[t]] - chain.emissions[t, target[t]] for t in range(len(best))]
    assert found.emission_gap == pytest.approx(float(sum(words)), abs=1e-9)
    assert found.emission_gap + found.transition_gap == pytest.approx(found.gap, abs=1e-9)
    if found.gap < NEAR_TIE - 1e-9:
        assert found.kind == "near tie"
    elif found.gap > NEAR_TIE + 1e-9:
        parts = (found.emission_gap > 0, found.transition_gap > 0)
        names = {(True, False): "emission", (False, True): "transition", (True, True): "both"}
        assert found.kind == names[parts]


def test_forbidden_target_is_a_constraint_fault():
    chain = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -INF], [0.0, 0.0]])
    found = triage(chain, [0, 1], [0, 0])
    assert (found.kind, found.gap, found.transition_gap) == ("constraint", INF, INF)
    assert found.emission_gap == -0.5
    assert smallest_change(chain, [0, 1], "emission") == INF


def test_best_path_needs_no_change():
    chain = Potentials([[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    for target in ([0], [1]):
        assert [smallest_change(chain, target, part) for part in PARTS] == [0.0, 0.0]


def test_path_of_another_length_is_rejected():
    chain = Potentials([[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ShapeError, match="must have 1 tags, got 2"):
        triage(chain, [0, 1], [0])


@fewer_examples
@given(wrong())
def test_gaps_of_errors_sum_to_the_gap_of_the_sentence(case):
    chain, gold = case
    best = best_path(chain)
    runs = wrong_runs(best, gold)
    assert [t for run in runs for t in run] == [
        t for t, (a, b) in enumerate(zip(best, gold, strict=True)) if a != b
    ]
    assert all(one.stop < other.start for one, other in pairwise(runs))
    gaps = [triage(chain, put_right(best, gold, run), best).gap for run in runs]
    whole = oracle.best_score(chain) - oracle.paths(chain)[tuple(gold)]
    assert sum(gaps) == pytest.approx(whole, abs=1e-8)
