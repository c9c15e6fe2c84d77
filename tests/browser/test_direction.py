"""Sentences from right to left on the stage: in files, in pictures, and in the app."""

from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.live_page import live_page
from tests.browser.test_live_file import chain, drawn, opened

HEBREW = ("הממשלה", "החליטה", "אתמול", "להעלות", "את", "המסים", "ב", "17%", ".")
ENGLISH = ("These", "look", "fine", "to", "me", ".")
SIZES = [(1280, 720), (390, 844)]
SVG = "{http://www.w3.org/2000/svg}"
PAGE = "viterbi"

__all__ = ["opened"]


def go(opened, words=HEBREW, page=PAGE, size=SIZES[0], **fields):
    live = Live(chain(words), opens=page, **fields)
    width, height = size
    return drawn(opened(live_page(live, list(PAGES)), viewport={"width": width, "height": height}))


def middles(page, selector):
    return page.eval_on_selector_all(
        selector,
        "(all) => all.map((each) => each.getBoundingClientRect())"
        ".map(({ x, width }) => x + width / 2)",
    )


def runs_left(places):
    return len(places) > 1 and places == sorted(places, reverse=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", ["explore", "emissions", "transitions", "marginals"])
def test_words_tags_cells_and_nodes_share_columns_from_right_to_left(opened, page, size):
    shown = go(opened, page=page, size=size)
    words = middles(shown, ".word")
    assert runs_left(words)
    columns = {
        "[data-row=viterbi]": "explore transitions",
        '[data-table][data-k="0"]': "emissions marginals",
    }
    for selector, pages in columns.items():
        if page in pages:
            assert middles(shown, selector) == pytest.approx(words, abs=1)
    if page == "explore":
        nodes = middles(shown, "[data-node$=',0'] .dot")
        assert nodes == pytest.approx(words, abs=1)
    labels = shown.eval_on_selector_all(
        ".row .label", "(all) => all.map((each) => each.getBoundingClientRect().left)"
    )
    assert min(labels) > words[0]  # START is at the right, and so are the names of the rows
    box = shown.locator(".word").first.bounding_box()
    assert box["x"] >= 0  # reading begins in sight
    assert box["x"] + box["width"] <= size[0]
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_arrows_and_home_follow_the_reading_direction(opened):
    page = go(opened)
    stage = page.locator("[data-stage]")
    last = 2 * len(HEBREW)
    page.keyboard.press("Home")
    expect(stage).to_have_attribute("data-step", "0")
    expect(page.locator(".step-text")).to_have_text("Press ← or PageDown to begin.")
    for key, step in [("ArrowLeft", 1), ("ArrowLeft", 2), ("ArrowRight", 1), ("PageDown", 2)]:
        page.keyboard.press(key)
        expect(stage).to_have_attribute("data-step", str(step))
    page.keyboard.press("End")
    expect(stage).to_have_attribute("data-step", str(last))
    buttons = page.locator(".moves-on button")
    assert buttons.all_inner_texts() == ["▶|", "▶", "◀", "|◀"]
    assert runs_left(middles(page, ".moves-on button"))
    buttons.nth(0).click()
    buttons.nth(2).click()
    expect(stage).to_have_attribute("data-step", "1")
    page.get_by_role("button", name="the word after").click()
    expect(page.locator(".side-title")).to_contain_text(HEBREW[0])  # steps go before


def test_arrows_move_between_nodes_cells_and_words(opened):
    page = go(opened, page="emissions")
    page.locator('[data-table][data-t="2"][data-k="0"]').click()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-table][data-t="3"][data-k="0"]')).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-table][data-t="2"][data-k="0"]')).to_be_focused()
    page.get_by_role("button", name="Transitions").click()
    page.locator('[data-node="2,0"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator('[data-node="3,0"]')).to_be_focused()
    page.locator('[data-cell="A,B"]').focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-cell="A,C"]')).to_be_focused()  # the matrix stays as it is


def test_long_sentence_scrolls_to_its_step(opened):
    page = go(opened, HEBREW * 4)
    scroller = page.locator(".scroller")

    def in_sight(t):
        word, frame = page.locator(".word").nth(t).bounding_box(), scroller.bounding_box()
        return frame["x"] - 1 <= word["x"] and word["x"] + word["width"] <= (
            frame["x"] + frame["width"] + 1
        )

    page.keyboard.press("Home")
    page.wait_for_function("document.querySelector('.scroller').scrollLeft === 0")
    assert in_sight(0)
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function("document.querySelector('.scroller').scrollLeft < -100")
    assert in_sight(19)
    expect(page.locator(".main")).to_have_attribute("data-more-right", "true")
    expect(page.locator(".main")).to_have_attribute("data-more-left", "true")


def test_direction_option_overrides_the_sentence(opened):
    for words, other in [(HEBREW, "ltr"), (ENGLISH, "rtl")]:
        page = go(opened, words, page="explore")
        assert runs_left(middles(page, ".word")) is (words is HEBREW)
        page.get_by_role("button", name="View").click()
        switch = page.get_by_label("Direction of the columns")
        expect(switch).to_have_value("auto")
        switch.select_option(other)
        assert runs_left(middles(page, ".word")) is (other == "rtl")
        nodes = middles(page, "[data-node$=',0'] .dot")
        assert nodes == pytest.approx(middles(page, ".word"), abs=1)
        page.get_by_role("button", name="Marginals").click()
        assert runs_left(middles(page, ".word")) is (other == "rtl")  # on every page
        page.get_by_role("button", name="View").click()
        page.get_by_label("Direction of the columns").select_option("auto")
        assert runs_left(middles(page, ".word")) is (words is HEBREW)


def test_file_opens_in_the_chosen_direction(opened):
    page = go(opened, page="explore", direction="ltr")
    assert not runs_left(middles(page, ".word"))
    page.get_by_role("button", name="View").click()
    expect(page.get_by_label("Direction of the columns")).to_have_value("ltr")


def test_downloaded_picture_keeps_the_word_positions(opened, tmp_path):
    page = go(opened, page="transitions", words=HEBREW * 2)
    page.get_by_role("button", name="View").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").click()
    download.value.save_as(tmp_path / "picture.svg")
    root = ElementTree.parse(tmp_path / "picture.svg").getroot()
    clip, group = root.find(f"{SVG}clipPath/{SVG}rect"), root.find(f"{SVG}g[@clip-path]")
    assert group.get("clip-path") == "url(#words)"
    texts = [each for each in group.iter(f"{SVG}text") if each.text in HEBREW]
    places = [float(each.get("x")) for each in texts]
    assert [each.text for each in texts[:3]] == [*HEBREW[:3]]
    assert runs_left(places[:9])
    stage, frame = (
        page.locator("[data-stage]").bounding_box(),
        page.locator(".scroller").bounding_box(),
    )
    assert float(clip.get("x")) == pytest.approx(frame["x"] - stage["x"], abs=0.1)
    assert float(clip.get("width")) == pytest.approx(frame["width"], abs=0.1)


def test_link_contains_the_chosen_direction(screen):
    page = screen.open("", sentence="הילד הלך הביתה").page
    assert "v.direction" not in screen.params()
    page.get_by_role("button", name="View").click()
    with screen.redraw():
        page.get_by_label("Direction of the columns").select_option("ltr")
    assert screen.param("v.direction") == "ltr"
    screen.reload()
    screen.wait({"name": 0, "rev": -1})
    assert not runs_left(middles(page, ".word"))
    screen.open("", sentence="These look fine .", **{"v.direction": "sideways"})
    assert not runs_left(middles(page, ".word"))
