"""By keyboard alone: what a pointer reaches is reached, and what it is told is told."""

import pytest
from playwright.sync_api import expect

from tests.support.screen import chain

FOCUS = "crfviz.stage().getRootNode().activeElement"


def test_words_tags_nodes_and_edges_are_reached_and_explained_by_keys(screen):
    now = chain()
    screen.open("why", **{"v.at": "2 NOUN"})
    tip = screen.page.locator(".tip")
    screen.press("Tab")
    screen.page.evaluate("crfviz.stage().querySelector('.word').focus()")
    for _ in range(2):
        screen.press("ArrowRight")
    screen.press("ArrowDown")
    expect(screen.page.locator("[data-row=viterbi][data-t='2']")).to_be_focused()
    screen.node(2, now.tags.index("ADJ")).focus()
    before = now.tags[now.analysis.backpointers[2, now.tags.index("ADJ")]]
    score = now.analysis.potentials.transitions[
        now.tags.index(before), now.tags.index("ADJ")
    ].item()
    said = f"{score:.2f}".replace("-", "−")
    expect(tip).to_contain_text("fine: ADJ, marginal")
    expect(tip).to_contain_text(f"from {before} at 2 “look”, transition {said}")
    screen.page.evaluate("crfviz.stage().querySelector('.term-bar[tabindex=\"0\"]').focus()")
    first = screen.page.evaluate(f"{FOCUS}.title")
    expect(tip).to_have_text(first)
    screen.press("ArrowRight")
    screen.page.wait_for_function(f"(first) => {FOCUS}.title !== first", arg=first)
    second = screen.page.evaluate(f"{FOCUS}.title")
    expect(tip).to_have_text(second)
    screen.page.evaluate(f"{FOCUS}.blur()")
    expect(tip).to_be_hidden()


@pytest.mark.rotating
def test_tooltip_follows_an_edited_number(screen):
    screen.open("transitions")
    cell = screen.cell("DET", "NOUN")
    cell.hover()
    with screen.redraw():
        screen.type_score(cell, "-3.25")
    screen.press("ArrowRight", "ArrowLeft")
    tip = screen.page.locator(".tip")
    expect(tip).to_contain_text("from DET to NOUN: -3.25")
    with screen.redraw():
        screen.press("Control+z")
    told = cell.get_attribute("title")
    assert "3.25" not in told
    expect(tip).to_have_text(told)


def test_tooltip_is_hidden_while_a_number_is_edited(screen):
    screen.open("transitions")
    tip = screen.page.locator(".tip")
    cell = screen.cell("DET", "NOUN")
    cell.focus()
    screen.press("ArrowRight", "ArrowLeft")
    expect(tip).to_be_visible()
    screen.press("1")
    expect(tip).to_be_hidden()
    screen.press("Escape")

    screen.node(1, 0).hover()
    expect(tip).to_be_visible()
    cell.focus()
    with screen.redraw():
        screen.page.keyboard.type("-3.5")
        screen.press("Enter")
    expect(cell).to_have_text("−3.5")
    expect(tip).to_be_hidden()
    screen.node(2, 0).hover()
    expect(tip).to_be_visible()

    screen.drag(cell, up=20, drop=False)
    expect(cell).not_to_have_text("")
    expect(tip).to_be_hidden()
    with screen.redraw():
        screen.page.mouse.up()
    expect(tip).to_be_hidden()
