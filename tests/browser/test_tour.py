"""The way of a newcomer: the tour stop by stop, a first question wrong, the next one right."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.ui.tour import STOPS, target
from crfviz.views.quiz.selection import next_question
from tests.support.accessibility import assert_accessible
from tests.support.screen import MODEL, TITLES, chain

SENTENCE = "I want to work ."
OFFER = "Take the tour, 3 minutes"


@pytest.mark.rotating
@pytest.mark.long
def test_tour_waits_at_each_stop_and_is_offered_once(watch, fresh):
    screen = watch(fresh())
    page = screen.page

    def at(number):
        expect(page.locator(f"[data-tour='{number}'][data-tours='{len(STOPS)}']")).to_be_visible()
        screen.expect_param("tour", str(number))

    def open_page(title):
        with screen.redraw():
            page.get_by_role("button", name=f"Open {title}").click()
            screen.expect_title(title)

    offered = watch(fresh())
    for each in (screen, offered):
        each.open(model=MODEL)
    page.get_by_role("button", name=OFFER).click()
    at(1)
    screen.apply_sentence(SENTENCE)

    at(2)
    words = chain(sentence=SENTENCE)
    t, k = target(words.analysis)
    expect(page.locator("[data-tour]")).to_contain_text(
        f"“{words.words[t]}”’s {words.tags[k]} cell"
    )
    open_page("Emissions")
    screen.type_score(screen.emission(t, k), "20")

    at(3)
    assert_accessible(screen, "the tour")
    open_page("Transitions")
    names = [words.tags[k] for k in words.analysis.viterbi.path]
    screen.type_score(screen.cell(*names[:2]), "-30")

    at(4)
    page.locator(".st-key-reset button").click()

    at(5)
    page.reload()
    at(5)
    open_page("Viterbi")
    screen.press("Home")
    screen.expect_param("step", "start")
    screen.press("End")

    at(6)
    open_page("Forward–backward")
    screen.press("Home")
    screen.expect_param("step", "start")
    screen.press(*["PageDown"] * (len(words.words) + 1))

    at(7)
    open_page("Why this tag")
    page.get_by_role("button", name=re.compile(r"^Pin \w+ at")).click()

    at(8)
    page.locator(".st-key-reset button").click()
    open_page("Explore")
    page.get_by_text("Ask me", exact=True).click()
    first = next_question(words.analysis, words.analysis, "explore")
    expect(page.locator("[data-question]")).to_contain_text(first.text)
    screen.press(str(2 - (first.right > 0)))  # 1, unless that is right
    expect(page.locator("[data-wrong]")).to_be_visible()
    at(9)
    expect(page.locator("[data-tour]")).to_contain_text("That was the tour")

    second = next_question(words.analysis, words.analysis, "explore", first.ask)
    screen.press("q")
    expect(page.locator("[data-question]")).to_contain_text(second.text)
    screen.press(str(second.right + 1))
    expect(page.locator("[data-question]")).to_contain_text("Right: ")

    page.get_by_role("button", name="Close").click()
    expect(page.locator("[data-tour]")).to_have_count(0)
    screen.open(model=MODEL)
    expect(page.get_by_text(OFFER)).to_have_count(0)

    expect(offered.page.get_by_text(OFFER)).to_be_visible()

    def check():
        box, beside_offer = (
            each.page.locator("[data-stage]").bounding_box() for each in (screen, offered)
        )
        assert box == beside_offer  # the offer moves nothing

    screen.eventually(check)


@pytest.mark.rotating
def test_skip_opens_the_page_of_the_next_stop(watch, fresh):
    screen = watch(fresh())
    screen.open(model=MODEL)
    screen.page.get_by_role("button", name=OFFER).click()
    for number, stop in enumerate(STOPS[1:], start=2):
        screen.page.get_by_role("button", name="Skip").click()
        expect(screen.page.locator(f"[data-tour='{number}']")).to_be_visible()
        screen.expect_title(TITLES[stop.path])
    screen.page.get_by_role("button", name="Skip").click()
    expect(screen.page.get_by_role("button", name="Close")).to_be_visible()


@pytest.mark.rotating
def test_declined_tour_is_not_offered_again(watch, fresh):
    screen = watch(fresh())
    screen.open(model=MODEL)
    screen.page.get_by_role("button", name="No, thanks").click()
    expect(screen.page.get_by_text(OFFER)).to_have_count(0)
    screen.page.reload()
    screen.wait({"name": 0, "rev": -1})
    expect(screen.page.get_by_text(OFFER)).to_have_count(0)


def test_greeting_remembers_what_was_done_until_it_is_declined(watch, fresh):
    screen = watch(fresh())
    screen.open(model=MODEL)
    greeting = screen.page.locator(".st-key-greeting")
    expect(greeting.locator(".greeting span")).to_have_count(3)
    with screen.redraw():
        screen.apply_sentence(SENTENCE)
    expect(greeting.locator(".greeting s")).to_have_text(["Type a sentence."])
    screen.open(model=MODEL)  # a new session
    expect(greeting.locator(".greeting s")).to_have_text(["Type a sentence."])
    expect(greeting.locator(".greeting span")).to_have_count(2)
    with screen.redraw():
        screen.page.get_by_role("button", name="No, thanks").click()
        screen.apply_sentence("They walk .")
    expect(greeting).to_be_hidden()
    screen.open(model=MODEL)
    expect(greeting).to_be_hidden()
