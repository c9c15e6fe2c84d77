import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2
from sklearn.metrics import accuracy_score

from crfviz.corpus.metrics import accuracy, calibration_error, entity_f1, entity_scores, wilson
from tests.support.strategies import fewer_examples

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]

GOLD = [
    ["B-PER", "I-PER", "O", "B-LOC"],
    ["O", "O"],
    ["B-LOC", "I-LOC", "O"],
]
GUESS = [
    ["B-PER", "I-PER", "O", "B-PER"],  # PER right; LOC called PER
    ["O", "I-LOC"],  # an I- that continues nothing: no entity
    ["B-LOC", "B-LOC", "O"],  # LOC cut in two: both wrong
]


@st.composite
def taggings(draw):
    """Gold and guess of some sentences, of equal lengths."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    tags = st.sampled_from(TAGS)
    return tuple([draw(st.lists(tags, min_size=n, max_size=n)) for n in lengths] for _ in range(2))


def generator():
    return np.random.default_rng(7)


@fewer_examples
@given(taggings())
def test_accuracy_equals_scikit_learn(pair):
    gold, guess = pair
    found = accuracy(gold, guess)
    assert found.tokens.value == pytest.approx(
        accuracy_score([t for s in gold for t in s], [t for s in guess for t in s]), abs=1e-12
    )
    assert found.sentences.value == pytest.approx(
        accuracy_score([" ".join(s) for s in gold], [" ".join(s) for s in guess]), abs=1e-12
    )


@fewer_examples
@given(taggings())
def test_entity_scores_equal_seqeval_in_strict_mode(pair):
    gold, guess = pair
    found = entity_scores(gold, guess, generator())
    assert entity_f1(gold, guess) == pytest.approx(found.f1.value, abs=1e-12)
    strict = {"mode": "strict", "scheme": IOB2, "zero_division": 0}
    for rate, metric in (
        (found.precision, precision_score),
        (found.recall, recall_score),
        (found.f1, f1_score),
    ):
        assert rate.value == pytest.approx(metric(gold, guess, **strict), abs=1e-12)
        assert 0.0 <= rate.low <= rate.high <= 1.0
    by_type = f1_score(gold, guess, average=None, **strict)  # types by name
    assert list(found.f1_by_type.values()) == pytest.approx(by_type.tolist(), abs=1e-12)


def test_scores_without_entities_are_zero():
    found = entity_scores([["O"]], [["O"]], generator())
    assert (found.f1.value, found.f1.low, found.f1.high) == (0.0, 0.0, 0.0)
    assert found.f1_by_type == {}


def test_same_seed_gives_the_same_interval():
    assert entity_scores(GOLD, GUESS, generator()) == entity_scores(GOLD, GUESS, generator())


def test_bootstrap_interval_equals_a_normal_approximation():
    """Precision of 400 sentences with one guess each, right in 70 %: a binomial, nearly normal."""
    gold = [["B-X"]] * 280 + [["O"]] * 120
    found = entity_scores(gold, [["B-X"]] * 400, generator()).precision
    reach = 1.96 * math.sqrt(0.7 * 0.3 / 400)
    noise = 4 * reach / math.sqrt(1000)  # of a percentile of 1000 samples
    assert found.low == pytest.approx(0.7 - reach, abs=noise)
    assert found.high == pytest.approx(0.7 + reach, abs=noise)


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (8, 10, 0.4902, 0.9433),
        (10, 10, 0.7225, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson_interval_has_known_limits(right, total, low, high):
    rate = wilson(right, total)
    assert (rate.low, rate.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@given(st.integers(1, 10_000), st.data())
def test_wilson_limits_solve_the_score_equation(total, data):
    right = data.draw(st.integers(0, total))
    rate = wilson(right, total)
    for limit in (rate.low, rate.high):
        if 0.0 < limit < 1.0:
            z = abs(right / total - limit) / math.sqrt(limit * (1 - limit) / total)
            assert z == pytest.approx(1.959964, abs=1e-5)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50))
def test_calibration_error_equals_a_plain_loop(words):

    expected = 0.0
    for number in range(15):
        inside = [
            (p, ok)
            for p, ok in words
            if number <= p * 15 < number + 1 or (number == 14 and p * 15 >= 15)
        ]
        if inside:
            mean = math.fsum(p for p, _ in inside) / len(inside)
            share = sum(ok for _, ok in inside) / len(inside)
            expected += len(inside) / len(words) * abs(share - mean)
    probability = torch.tensor([p for p, _ in words], dtype=torch.float64)
    correct = torch.tensor([ok for _, ok in words])
    assert calibration_error(probability, correct) == pytest.approx(expected, abs=1e-12)
