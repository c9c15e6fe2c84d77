"""Perceptron, HMM and textbook chains in the browser: steps, probabilities, shifts, the diary."""

import math

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.accessibility import PROJECTOR, resize
from tests.support.icecream import DIARY
from tests.support.screen import (
    assert_lattice,
    assert_matrix,
    assert_rows,
    chain,
    with_cell,
)

PERCEPTRON, ICE_CREAM = "upos-en-perceptron", "textbook/ice-cream"
SENTENCE = "These have been sold ."
DAYS = " ".join(DIARY)


@pytest.mark.rotating
def test_matrix_shows_one_step_and_an_edit_applies_to_all(screen):
    expected = chain(PERCEPTRON, SENTENCE)
    screen.open("transitions", model=PERCEPTRON, sentence=SENTENCE)
    expect(screen.page.locator(".matrix-step-text")).to_have_text("step These → have")
    expect_matrix(screen, expected, into=1)
    screen.page.get_by_title("one step on").click()
    expect(screen.page.locator(".matrix-step-text")).to_have_text("step have → been")
    expect_matrix(screen, expected, into=2)
    screen.node(3, expected.tags.index("VERB")).click()
    expect_matrix(screen, expected, into=3)
    with screen.redraw():
        screen.type_score(screen.cell("AUX", "AUX"), "-3.25")
    expected = chain(PERCEPTRON, SENTENCE, with_cell("AUX", "AUX", -3.25))

    def check():
        shown = screen.read()
        assert_rows(shown, expected)
        assert_lattice(shown, expected)
        assert_matrix(shown, expected, into=3)

    screen.eventually(check)
    screen.page.get_by_title("one step back").click()
    expect_matrix(screen, expected, into=2)


def expect_matrix(screen, expected, into):
    screen.eventually(lambda: assert_matrix(screen.read(), expected, into=into))


@pytest.mark.rotating
def test_unnormalised_scores_are_explained_once(screen):
    screen.open("", model=PERCEPTRON, sentence=SENTENCE, step="100")
    screen.eventually(lambda: assert_says(screen, "scores, not probabilities", 1))
    for path in ("viterbi", "marginals"):
        screen.turn(path, model=PERCEPTRON, sentence=SENTENCE, step="100")
        screen.eventually(lambda: assert_says(screen, "scores, not probabilities", 1))
    screen.turn("", model=ICE_CREAM)
    screen.eventually(lambda: assert_says(screen, "not probabilities", 0))


def assert_says(screen, text, times):
    assert screen.text().count(text) == times


@pytest.mark.rotating
def test_probabilities_can_be_typed_for_transitions_and_emissions(screen):
    screen.open("transitions", model=ICE_CREAM, sentence="2 3 3 1")
    expect(screen.cell("C", "H")).to_have_text("0.1")
    with screen.redraw():
        screen.type_score(screen.cell("C", "H"), "0.5")
    edits = Edits({("C", "H"): math.log(0.5)})
    screen.expect_lattice(chain(ICE_CREAM, "2 3 3 1", edits))
    screen.type_score(screen.cell("C", "H"), "-1")
    screen.wait_for_text("is no probability")
    with screen.redraw():
        screen.follow("Emissions")
    expect(screen.emission(0, 1)).to_have_text("0.20")
    with screen.redraw():
        screen.type_score(screen.emission(0, 1), "0.4")
    edits = Edits({("C", "H"): math.log(0.5)}, {(0, "H"): math.log(0.4)})
    expected = chain(ICE_CREAM, "2 3 3 1", edits)

    def check():
        assert_rows(screen.read(), expected)
        assert screen.emission(0, 1).inner_text() == "0.40"

    screen.eventually(check)


@pytest.mark.rotating
def test_walk_scrolls_to_a_distant_day(screen):
    screen.open("viterbi", model=ICE_CREAM, sentence=DAYS)
    with screen.redraw():
        screen.press("Home", *["ArrowRight"] * 25)
    expect(screen.page.locator(".step-text")).to_contain_text("Forward 25 of 33")
    expect(screen.node(24, 0)).to_be_in_viewport()
    screen.expect_measured("crfviz.stage().querySelector('.scroller').scrollLeft > 0", True)
    resize(screen, 853, 480)  # where it stays
    expect(screen.node(24, 0)).to_be_in_viewport()
    resize(screen, *PROJECTOR)
    expect(screen.node(24, 0)).to_be_in_viewport()
