"""The player of lectures: keys, a dark wall, a live change, sizes, the speaker's window."""

import re
from contextlib import suppress
from functools import partial

import pytest
from playwright.sync_api import expect

from crfviz.ui.lectures.lecture_store import from_link_name, lecture
from tests.support.accessibility import assert_accessible
from tests.support.browser import PROJECTOR
from tests.support.screen import PATIENCE, TRIES

NAME = "greedy"


STEPS_LEFT = "button[title='to the end (End)']:enabled"


class Player:
    def __init__(self, screen):
        self.screen, self.page = screen, screen.page

    def open(self, name=NAME, cue=1, **more):
        self.page.goto(self.screen.address("", lecture=name, cue=cue, **more))
        self.at(cue)
        return self

    def at(self, cue):
        shown = self.page.locator(f"[data-cue='{cue}']")
        expect(shown).to_be_attached(timeout=PATIENCE)
        expect(shown).to_have_attribute("data-cues", str(len(lecture(NAME).cues)))
        self.screen.wait({"name": 0, "rev": -1})

    def says(self, text):
        expect(self.page.locator(".say")).to_contain_text(text)

    def has_words(self, words):
        expect(self.page.locator("[data-stage] .word span")).to_have_text(words)

    def press(self, *keys):
        self.screen.press(*keys)


@pytest.fixture
def player(screen):
    return Player(screen)


def test_keys_navigate_a_lecture(player):
    player.open()
    stage = player.page.locator("[data-stage]")
    expect(stage).to_have_attribute("data-step", "5")
    player.press("PageDown")
    expect(stage).to_have_attribute("data-step", "6")
    player.press("End", "PageDown")
    player.at(2)
    player.says("VERB: so far, so good.")
    player.screen.expect_params({"lecture": NAME, "cue": "2"})
    expect(player.page.locator("[data-testid=stSidebar]")).to_have_count(0)
    expect(player.page.locator("[data-node]")).to_have_count(0)  # the lattice is covered

    player.press("b")
    expect(player.page.locator(".over.blank")).to_be_visible()
    player.press("PageDown")
    expect(player.page.locator(".over")).to_have_count(0)
    player.at(2)

    player.press("g")
    player.page.keyboard.type("8")
    player.press("Enter")
    player.at(8)
    expect(player.page.locator("[data-question] [data-choice]")).to_have_count(3)
    expect(player.page.locator("[data-right]")).to_have_count(0)
    # not on the page at all
    expect(player.page.locator("[data-row=viterbi]")).to_have_count(0)
    player.press("PageDown")
    expect(player.page.locator("[data-right=true]")).to_have_count(1)
    player.at(8)
    player.says("PART, VERB")
    player.screen.expect_measured("document.querySelector('[data-testid=stMain]').scrollTop", 0)

    player.press("t")
    player.page.keyboard.type("They run .")
    with player.screen.redraw():
        player.press("Enter")
    player.has_words(["They", "run", "."])
    player.press("PageUp")
    player.at(7)
    player.press("PageDown")
    player.at(8)
    player.has_words(["Got", "to", "love", "this", "place", "."])
    assert_cue_can_be_read(player.screen, lecture(NAME).cues[7])

    player.page.reload()
    player.at(8)
    player.press("Escape")
    player.screen.expect_title("Explore")
    player.screen.expect_param("sentence", "Got to love this place .")
    player.page.go_back()
    player.at(8)


@pytest.mark.rotating
def test_question_leaves_the_whole_picture_visible(player):
    player.page.goto(player.screen.address("", lecture="45-minutes", cue=5))
    expect(player.page.locator("[data-cue='5']")).to_have_count(1)
    player.screen.wait({"name": 0, "rev": -1})
    for _ in range(TRIES):  # a key is dropped before anybody can have seen the picture
        player.press("PageDown")
        with suppress(AssertionError):
            expect(player.page.locator("[data-cue='6']")).to_have_count(1, timeout=5000)
            break
    expect(player.page.locator("[data-question]")).to_be_visible()
    player.page.wait_for_function("""() => {
      const { top, bottom } = crfviz.stage().getBoundingClientRect();
      return top > 150 && bottom <= innerHeight;
    }""")


@pytest.mark.rotating
def test_leaving_a_lecture_keeps_the_newest_step(player):
    player.open(step="start")
    player.press("PageDown", "PageDown", "Escape")  # the link follows steps when the keys rest
    player.screen.expect_title("Emissions")
    player.screen.expect_param("step", "2")
    player.screen.wait({"name": 0, "rev": -1})
    at_step = partial(expect(player.page.locator("[data-stage]")).to_have_attribute, "data-step")
    at_step("2")
    player.page.go_back()
    player.at(1)
    at_step("2")
    player.press("PageDown")
    player.page.reload()  # before the server can have heard
    player.at(1)
    at_step("3")


def test_speaker_window_leads_and_follows(player, watch):
    player.open(cue=3)
    speaker = watch(player.page.context)
    speaker.page.goto(speaker.address("", lecture=NAME, cue=1, speaker=1))
    notes = speaker.page.locator(".speaker")
    expect(notes).to_have_attribute("data-cue", "3")  # where the wall is
    expect(notes.locator(".next")).to_contain_text("Transitions")
    speaker.page.get_by_role("button", name="Next").click()
    player.at(4)
    player.press("PageUp")
    player.at(3)
    expect(notes).to_have_attribute("data-cue", "3")
    expect(notes.locator(".clock")).to_contain_text("of 10 minutes")

    speaker.press("b")
    expect(player.page.locator(".over.blank")).to_be_visible()
    speaker.press("PageDown")
    expect(player.page.locator(".over")).to_have_count(0)
    speaker.press("PageDown")  # inside of the cue, too
    expect(player.page.locator("[data-right=true]")).to_have_count(1)
    speaker.press("g")
    speaker.page.keyboard.type("1")
    speaker.press("Enter")
    player.at(1)
    expect(notes).to_have_attribute("data-cue", "1")


def assert_cue_can_be_read(screen, cue):
    """At its beginning, with its answer, and at each of its steps."""
    can_be_read(screen, cue)
    if cue.ask:
        screen.press("PageDown")
        expect(screen.page.locator("[data-right]")).to_be_visible()
        expect(screen.page.locator(".say")).not_to_be_empty()
        screen.wait({"name": 0, "rev": -1})
        can_be_read(screen, cue)
    if screen.page.locator(STEPS_LEFT).count():
        with screen.redraw():
            lowest = screen.page.evaluate("(end) => crfviz.lowest(end)", STEPS_LEFT)
        assert lowest <= PROJECTOR["height"], cue.place
        all_in_sight(screen, cue)


def all_in_sight(screen, cue):
    """Texts large enough, and none below the edge."""

    def check():
        box = screen.page.locator("[data-stage]").bounding_box()
        assert box["y"] + box["height"] <= PROJECTOR["height"], cue.place
        assert not screen.page.locator("[data-framed]").count(), cue.place  # nothing to scroll
        texts = screen.page.evaluate("crfviz.texts()")
        wrong = [each for each in texts if each[0] < 17.9 or each[2] > PROJECTOR["height"]]
        assert not wrong, (cue.place, wrong[:5])

    screen.eventually(check)


def can_be_read(screen, cue):
    all_in_sight(screen, cue)
    screen.expect_measured("() => crfviz.clipped()", [], where=cue.place)
    assert_accessible(screen, cue.place)


def assert_kept(page, paths):
    """The browser keeps a lecture of these pages."""
    text = from_link_name(page.evaluate("localStorage.getItem('crfviz.draft')"))
    assert re.findall('^page = "(.*)"', text, re.MULTILINE) == paths


@pytest.mark.rotating
def test_lecture_is_collected_ordered_printed_and_played(screen):
    page = screen.page
    screen.open("viterbi", model="textbook/ice-cream", sentence="3 1 3")
    for number, title in enumerate(("Viterbi", "Marginals"), 1):
        if title != "Viterbi":
            with screen.redraw():
                screen.follow(title)
        page.get_by_role("button", name="Share", exact=True).click()
        page.get_by_role("button", name="Add to lecture").click()
        page.keyboard.press("Escape")
        screen.wait_for_text(f"cue {number} of your lecture")
    screen.follow("Lectures")
    lines = page.locator(".st-key-own_cues button")
    expect(lines).to_have_text(["1 · Viterbi: 3 1 3", "2 · Marginals: 3 1 3"])
    assert_accessible(screen, "the editor")
    lines.first.click()
    expect(page.locator(".st-key-own-up button")).to_be_disabled()
    expect(page.locator(".st-key-own-down button")).to_be_enabled()
    page.keyboard.press("Alt+ArrowDown")
    expect(lines).to_have_text(["1 · Marginals: 3 1 3", "2 · Viterbi: 3 1 3"])
    screen.eventually(lambda: assert_kept(page, ["marginals", "viterbi"]))
    page.reload()  # a session of its own, which has what the browser kept
    expect(lines).to_have_text(["1 · Marginals: 3 1 3", "2 · Viterbi: 3 1 3"])
    link = page.locator("a[href*='lecture=~']", has_text="Play").get_attribute("href")

    page.locator(".st-key-own-handout button").click()
    handout = page.locator(".crfviz-handout")
    expect(handout.locator("img").first).to_be_visible()
    assert_accessible(screen, "the handout")
    page.emulate_media(media="print")
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.get_by_role("button", name="Save as one file")).to_be_hidden()
    expect(handout).to_be_visible()
    page.emulate_media(media="screen")

    page.goto(f"{screen.app.url}/{link.removeprefix('./')}")
    expect(page.locator("[data-cue='1'][data-cues='2']")).to_be_attached()
    screen.wait({"name": 0, "rev": -1})
