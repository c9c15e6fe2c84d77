"""The page Entities in a browser: rules on and off, and an entity chosen by mouse and by keys."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from crfviz.chain.questions.entities import constraint_effect, entity_probability, entity_shortcuts
from tests.browser.test_steps import BELOW
from tests.support.accessibility import assert_readable
from tests.support.screen import chain, named

MODEL = "ner-en"
SENTENCE = "The Bank of England is in the north of England ."  # greedy breaks BIO
FREE = Edits(constrained=False)
# Entities of the best path, and the tags of the chosen one, that are wider than their column.
WIDER = """() => [...crfviz.stage().querySelectorAll(".spans :is(.chip, .span-cell)")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)"""


def open_entities(screen, **params):
    return screen.open("entities", model=MODEL, sentence=SENTENCE, **params)


def shown_entity(screen):
    """The chosen tags of the words, and the probability in large."""
    texts = screen.page.locator("[data-word]").all_inner_texts()
    number = screen.page.locator("[data-entity-probability]").get_attribute("title")
    return texts, float(number)


def assert_entity(screen, label, first, last, edits=None):
    potentials = chain(MODEL, SENTENCE, edits).analysis.potentials
    expected = entity_probability(potentials, label, first, last)

    def check():
        texts, probability = shown_entity(screen)
        inside = [t for t, text in enumerate(texts) if text in (f"B-{label}", f"I-{label}")]
        assert inside == list(range(first, last + 1))
        assert probability == pytest.approx(expected, abs=1e-9)

    screen.eventually(check)


def test_rows_with_and_without_rules_are_drawn_and_rivals_sum_to_one(screen):
    open_entities(screen)
    free = chain(MODEL, SENTENCE, FREE)
    effect = constraint_effect(free.analysis.potentials)

    def check():
        shown = screen.read()
        assert shown.rows["viterbi_free"] == named(effect.free, free.tags)
        assert shown.rows["viterbi_legal"] == named(effect.constrained, free.tags)
        assert shown.rows["greedy"] == named(free.analysis.greedy, free.tags)

    screen.eventually(check)
    faults = screen.page.locator("[data-row=greedy][data-fault]")
    expect(faults.first).to_contain_text("I-ORG")
    expect(screen.page.get_by_text(f"{effect.mass:.5f}", exact=True)).to_be_visible()
    expect(screen.page.locator("[data-after]")).to_have_text(re.compile("not I-"))
    screen.expect_measured(WIDER, [])
    assert_entity(screen, "ORG", 1, 3)
    screen.expect_measured(BELOW, 0)
    rows = screen.page.locator("[data-relation]")
    masses = [float(row.get_attribute("data-probability")) for row in rows.all()]
    assert sum(masses) == pytest.approx(1.0, abs=1e-9)
    assert "sum 1.000000000" in screen.page.locator("[data-entity-total]").inner_text()
    exact = entity_shortcuts(chain(MODEL, SENTENCE).analysis.potentials, "ORG", 1, 3)
    for name in ("mean", "product", "minimum"):
        value = screen.page.locator(f"[data-shortcut={name}]").get_attribute("data-value")
        assert float(value) == pytest.approx(getattr(exact, name), abs=1e-9)


def test_entity_is_chosen_by_mouse_and_keys_and_is_in_the_link(screen):
    open_entities(screen)
    words = screen.page.locator(".word")
    with screen.redraw():
        words.nth(0).click()
    assert_entity(screen, "ORG", 0, 0)
    with screen.redraw():
        words.nth(3).click()
    assert_entity(screen, "ORG", 0, 3)
    with screen.redraw():
        screen.page.locator("[data-type=LOC]").click()
    assert_entity(screen, "LOC", 0, 3)
    screen.expect_param("v.entity", "0 3 LOC")
    with screen.redraw():
        screen.page.locator(".chip").last.click()
    assert_entity(screen, "LOC", 9, 9)
    screen.page.locator("[data-word='4']").focus()
    screen.press("ArrowRight", "ArrowLeft", "Enter")
    assert_entity(screen, "LOC", 4, 4)
    screen.press("ArrowRight", "Enter")
    assert_entity(screen, "LOC", 4, 5)
    screen.press("Shift+ArrowRight")
    assert_entity(screen, "LOC", 4, 6)


@pytest.mark.rotating
def test_constraint_switch_changes_the_entity_and_shows_a_ghost(screen):
    open_entities(screen)
    with screen.redraw():
        screen.page.locator(".st-key-constrained label").click()
    assert_entity(screen, "ORG", 1, 3, FREE)
    screen.expect_param("c", "0")
    screen.expect_measured("crfviz.stage().querySelectorAll('.bar-ghost').length >= 2", True)
    trained = entity_probability(chain(MODEL, SENTENCE).analysis.potentials, "ORG", 1, 3)
    expect(screen.page.locator(".entity-was")).to_contain_text(f"trained {trained:.4f}")
    expect(screen.page.locator("[data-stage] .identity").first).to_contain_text(", was ")
    assert_readable(screen)


@pytest.mark.rotating
def test_rivals_and_shortcuts_are_reached_by_keys(screen):
    open_entities(screen)
    assert_entity(screen, "ORG", 1, 3)
    tip = screen.page.locator(".tip")
    for rows in (screen.page.locator("[data-relation]"), screen.page.locator("[data-shortcut]")):
        expect(rows.first).to_have_attribute("tabindex", "0")
        reached = rows.evaluate_all("(rows) => rows.map((row) => row.tabIndex)")
        assert reached == [0] + [-1] * (len(reached) - 1)
        rows.first.focus()
        for row in rows.all()[1:]:
            screen.press("ArrowDown")
            expect(row).to_be_focused()
            expect(tip).to_have_text(row.get_attribute("title"))
    other = screen.page.locator("button[data-relation]:not([data-relation='this entity'])").first
    other.focus()
    title = other.get_attribute("title")
    with screen.redraw():
        screen.press("Enter")
    chosen = screen.page.locator("[data-relation='this entity']")
    expect(chosen).not_to_have_attribute("title", title)
    expect(screen.page.locator(".entity-row:focus")).to_have_count(1)
