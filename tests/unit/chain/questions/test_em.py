"""The days behind an expected count, and what EM does from the four starts."""

import math
from itertools import pairwise, product

import numpy as np
import pytest

from crfviz.chain.baum_welch import Parameters, baum_welch, posterior
from crfviz.chain.questions.em import (
    EMISSION,
    END,
    START,
    STARTS,
    TRANSITION,
    Number,
    by_day,
    numbers_of,
)
from crfviz.exceptions import CrfvizError
from tests.support.icecream import DIARY, ICE_CREAMS, STOP, WEATHER
from tests.support.icecream import START as FIRST_DAY

DAYS = [int(day) - 1 for day in DIARY]
GIVEN = Parameters(*map(np.array, (FIRST_DAY, WEATHER, ICE_CREAMS, STOP)))


def run(start, iterations=11, given=GIVEN):
    first = STARTS[start](given, DAYS)
    return first, baum_welch(
        first.start, first.transitions, first.emissions, [DAYS], iterations, end=first.end
    )


def test_every_parameter_is_listed_once():
    rows = numbers_of(GIVEN)
    assert [len(row) for row in rows] == [2, 6, 6]
    assert [number.value(GIVEN) for number in rows[1]] == [0.8, 0.1, 0.1, 0.7, 0.2, 0.1]
    assert [len(row) for row in numbers_of(GIVEN._replace(end=None))] == [2, 5, 5]


def test_days_sum_to_the_expected_counts():
    (step,) = baum_welch(FIRST_DAY, WEATHER, ICE_CREAMS, [DAYS], 1, end=STOP)
    tables = posterior(GIVEN, DAYS)
    for number in (number for row in numbers_of(GIVEN) for number in row):
        days = by_day(number, tables, DAYS)
        assert days.shape == (33,)
        assert days.sum() == pytest.approx(number.value(step.counts), abs=1e-12)


def test_expected_counts_by_day_equal_enumeration():
    few = [1, 2, 0, 2]
    weights = {}
    for path in product((0, 1), repeat=4):
        weight = FIRST_DAY[path[0]] * STOP[path[-1]]
        weight *= math.prod(WEATHER[a][b] for a, b in pairwise(path))
        weights[path] = weight * math.prod(ICE_CREAMS[k][v] for k, v in zip(path, few, strict=True))
    total = sum(weights.values())

    def share(holds):
        return sum(weight for path, weight in weights.items() if holds(path)) / total

    tables = posterior(GIVEN, few)
    steps = [share(lambda path, t=t: path[t - 1 : t + 1] == (0, 1)) for t in range(1, 4)]
    assert by_day(Number(TRANSITION, 0, 1), tables, few) == pytest.approx([0, *steps])
    seen = [share(lambda path, t=t: path[t] == 1) if few[t] == 2 else 0 for t in range(4)]
    assert by_day(Number(EMISSION, 1, 2), tables, few) == pytest.approx(seen)
    first = share(lambda path: path[0] == 1)
    assert by_day(Number(START, 0, 1), tables, few) == pytest.approx([first, 0, 0, 0])
    last = share(lambda path: path[-1] == 0)
    assert by_day(Number(END, 0, 0), tables, few) == pytest.approx([0, 0, 0, last])


def test_better_start_begins_with_a_higher_likelihood():
    usual, better = run("model")[1], run("better")[1]
    assert better[0].log_likelihood > usual[0].log_likelihood + 1
    assert better[-1].log_likelihood == pytest.approx(usual[-1].log_likelihood, abs=0.2)


def test_symmetric_start_never_changes():
    first, steps = run("symmetric", 30)
    for step in steps:
        np.testing.assert_allclose(step.start, first.start, atol=1e-12)
        np.testing.assert_allclose(step.transitions, first.transitions, atol=1e-12)
        np.testing.assert_allclose(step.emissions, first.emissions, atol=1e-12)
        np.testing.assert_allclose(step.end, first.end, atol=1e-12)
        assert step.log_likelihood == pytest.approx(steps[0].log_likelihood, abs=1e-9)
    assert steps[0].log_likelihood < run("model")[1][-1].log_likelihood


def test_em_keeps_zero_probabilities():
    first, steps = run("zero")
    assert first.emissions[0].tolist() == pytest.approx([7 / 9, 2 / 9, 0])
    assert [step.emissions[0, 2] for step in steps] == [0] * 11


def test_zero_start_is_rejected_where_every_emission_occurs():
    one = Parameters(np.ones(1), np.ones((1, 1)), np.array([[0.2, 0.3, 0.5]]))
    with pytest.raises(CrfvizError, match="none can be 0"):
        STARTS["zero"](one, DAYS)
