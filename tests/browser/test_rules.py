"""Rules in a browser: transitions by state are one weight, and it decodes as Python does."""

import re

import pytest
from playwright.sync_api import expect

from crfviz import match
from crfviz.chain.decoding.analysis import analyse
from crfviz.views.formatting import score
from tests.support.screen import assert_lattice, assert_matrix, chain, named, number, with_cell

RULE = "[^ VERB]* VERB? [^ VERB]*"
SOURCE, TARGET = "PRON·1", "ADP·1"


def by_state(edits=None):
    """The chain of the screen times the automaton of the rule."""
    expected = chain(edits=edits)
    expected.analysis = analyse(expected.analysis.potentials.constrained(RULE))
    expected.tags = list(expected.analysis.tags)
    return expected


def test_dragged_transition_moves_all_its_copies_and_equals_python(screen):
    screen.open("rules", **{"v.rule": RULE, "v.rules": "states", "v.folded": "no"})
    screen.eventually(lambda: assert_matrix(screen.read(), by_state()))
    cell = screen.cell(SOURCE, TARGET)
    before = number(cell.get_attribute("aria-valuetext"))
    screen.drag(cell, up=120, drop=False)

    def follows():
        score = number(cell.get_attribute("aria-valuetext"))
        assert score == pytest.approx(before + 120 * 0.02, abs=1e-3)
        shown, expected = screen.read(), by_state(with_cell("PRON", "ADP", score))
        assert_lattice(shown, expected)
        assert_matrix(shown, expected)
        return score

    score = screen.eventually(follows)
    with screen.redraw():
        screen.page.mouse.up()
    screen.expect_edits(1)
    screen.expect_param("t", f"PRON.ADP:{score:g}")

    def agrees():
        shown = screen.read()
        assert shown.source == "python"
        assert_lattice(shown, by_state(with_cell("PRON", "ADP", score)))

    screen.eventually(agrees)


def test_rule_figures_are_hidden_during_a_drag(screen):
    screen.open("rules", **{"v.rule": RULE})
    values = screen.page.get_by_test_id("stMetricValue").locator("> *")
    expect(values.nth(1)).to_have_text(re.compile(" nats$"))
    before = values.first.inner_text()
    screen.drag(screen.cell("PRON", "VERB"), up=-120, drop=False)
    expect(values.first).to_be_hidden()
    expect(values.last).to_be_hidden()
    with screen.redraw():
        screen.page.mouse.up()
    expect(values.first).to_be_visible()
    expect(values.first).not_to_have_text(before)


def test_keys_step_through_the_lattice_by_state(screen):
    screen.open("rules", **{"v.rule": RULE, "v.rules": "states"})
    screen.press("Home", "ArrowRight")
    screen.expect_param("step", "1")
    screen.wait_for_text("Start: each tag of “These” by itself.")
    for k, value in enumerate(by_state().analysis.best[0].tolist()):
        expect(screen.node(0, k)).to_have_accessible_name(re.compile(f"best {score(value, 4)}$"))
    expect(screen.cell(SOURCE, TARGET)).to_be_visible()
    screen.press("End")
    screen.expect_param("step", None)
    screen.wait_for_text("those of a tag’s rows sum to its marginal under the rule")


@pytest.mark.parametrize(
    "typed",
    ["VERB  (NOUN", pytest.param("VERB NOUN " * 10_000, id="long", marks=pytest.mark.rotating)],
)
def test_rejected_rule_survives_reload_and_back(screen, typed):
    screen.open("rules", **{"v.rule": RULE})
    box = screen.page.get_by_role("textbox", name="Rule")
    expect(box).to_have_value(RULE)
    box.fill(typed)
    box.press("Enter")
    screen.wait_for_text("The rule cannot be used.")
    expect(box).to_have_value(typed)
    screen.expect_param("v.draft", typed[:1001])
    screen.reload()
    screen.wait_for_text("The rule cannot be used.")
    expect(box).to_have_value(typed[:1001])
    screen.expect_param("v.rule", RULE)
    screen.page.go_back()
    expect(box).to_have_value(RULE)


@pytest.mark.rotating
def test_numbers_of_the_last_row_are_not_clipped(screen):
    screen.open("rules", model="ner-en", sentence="Paris Hilton met Rome")
    screen.expect_measured("() => crfviz.clipped()", [])


def test_downloaded_file_contains_the_rule(screen):
    screen.open("transitions", **{"v.rule": RULE})
    screen.page.get_by_role("button", name="Download", exact=True).click()
    with screen.page.expect_download() as waiting:
        screen.page.get_by_role("button", name="Download as HTML").click()
    written = waiting.value.path().read_text("utf-8")
    assert '"under the rule"' in written
    assert '"v.rule":' in written


@pytest.mark.rotating
def test_drag_updates_the_path_under_the_rule_on_other_pages(screen):
    rule = "[^ VERB]* VERB .*"
    screen.open("transitions", **{"v.rule": rule})
    screen.drag(screen.cell("PRON", "VERB"), up=-200, drop=False)
    screen.page.wait_for_function("crfviz.stage().dataset.source === 'live'")

    def follows():
        score = number(screen.cell("PRON", "VERB").get_attribute("aria-valuetext"))
        expected = chain(edits=with_cell("PRON", "VERB", score))
        found = match(expected.analysis.potentials, rule)
        assert screen.read().rows["rule"] == named(found.path, expected.tags)
        assert found.path != expected.analysis.viterbi.path

    screen.eventually(follows)
    screen.page.mouse.up()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("transitions", "Rule (path only): "),
        pytest.param("marginals", "Rule: ", marks=pytest.mark.rotating),
    ],
)
def test_rule_chip_needs_no_sidebar_scrolling(screen, path, name):
    screen.open(path, **{"v.rule": RULE})
    expect(screen.page.locator(".st-key-no_rule button").first).to_contain_text(f"{name}{RULE}")
    bar = screen.page.get_by_test_id("stSidebarContent").element_handle()
    screen.expect_measured("(bar) => bar.scrollHeight - bar.clientHeight", 0, bar)
    screen.page.locator(".st-key-no_rule button").first.hover()
    expect(screen.page.get_by_role("tooltip")).to_contain_text("Click to remove it.")
