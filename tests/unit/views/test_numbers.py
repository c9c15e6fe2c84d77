"""How numbers are written."""

import math

import pytest

from crfviz.views.formatting import (
    added,
    count,
    format_probability,
    per_cent,
    rounding,
    score,
    share,
    short,
    signed,
    told_apart,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.1251, "0.13"),
        (0.005, "0.01"),
        (0.003, "0.003"),
        (0.00012, "0.0001"),
        (0.00003, "3e−05"),
    ],
)
def test_small_probability_keeps_one_significant_digit(value, text):
    assert format_probability(value) == text


def test_probability_digits_can_be_chosen():
    assert [
        format_probability(0.03, 3),
        format_probability(0.0004, 3),
        format_probability(0.5, 4),
    ] == [
        "0.030",
        "0.0004",
        "0.5000",
    ]


def test_two_close_probabilities_get_distinguishing_digits():
    assert told_apart(0.499999, 0.500001) == ("0.499999", "0.500001")
    assert told_apart(0.5, 0.5) == ("0.50", "0.50")


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1.25, "−1.25"), (-0.0, "0.00"), (-0.001, "0.00"), (-math.inf, "−∞"), (math.nan, "–")],
)
def test_score_has_a_minus_sign_and_no_negative_zero(value, text):
    assert score(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "+0.50"), (-2.0, "−2.00"), (0.0, "0"), (0.001, "0.00"), (math.inf, "+∞")],
)
def test_signed_numbers_have_a_sign(value, text):
    assert signed(value) == text


def test_short_scores_have_two_decimals():
    assert [short(x) for x in (12.34, -0.25, -0.0012)] == ["12.34", "−0.25", "−1e−03"]
    assert short(1.5, plus=True) == "+1.50"


def test_shares_per_cent_rounding_and_counts_are_formatted():
    assert [share(0.004), share(0.25)] == ["·", "0.25"]
    assert [per_cent(0.5), per_cent(0.1234, 1)] == ["50.00 %", "12.3 %"]
    assert per_cent(3e-9) == "3.0e−07 %"
    assert [rounding(0.0), rounding(2.3e-16)] == ["0", "2e−16"]
    assert [count(number, "edit") for number in (0, 1, 2)] == ["0 edits", "1 edit", "2 edits"]
    assert count(17500, "sentence") == "17,500 sentences"


def test_negative_summand_is_subtracted():
    assert (added(1.5), added(-1.5, 1), added(0.0, 0)) == ("+ 1.50", "− 1.5", "+ 0")
