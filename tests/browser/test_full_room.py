"""A lecture in a full room: own questions, a wall, a speaker, and answers from phones."""

import pytest
from playwright.sync_api import expect

from crfviz.ui.lectures.lecture_store import read, to_link_name

PHONE = {"width": 390, "height": 844}
WALL = {"width": 1920, "height": 1080}
COUNTED = 'text = "Which tag has “3”?", answers = ["H", "C", "neither"], right = 2'
TYPED = 'text = "How many paths are there?", answers = "number", right = 8'
CUE = """
[[cue]]
page = "{page}"
model = "textbook/ice-cream"
sentence = "3 1 3"
"""
ENDS_AT_THE_EDGE = """() => {
  const { bottom } = crfviz.stage().getBoundingClientRect();
  return bottom <= innerHeight && bottom > 0.96 * innerHeight;
}"""
CUT = """() => [...document.querySelectorAll(".tag, .cell, .word span")]
  .filter((each) => each.offsetParent && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.textContent)"""
TEXT = "".join(
    [
        'title = "Ice cream"\nminutes = 5\n',
        CUE.format(page="viterbi") + 'say = "Three days."\n',
        CUE.format(page="viterbi") + f"ask = {{{COUNTED}}}\nsay = 'Now look.'\n",
        CUE.format(page="marginals"),
        CUE.format(page="viterbi") + f"ask = {{{COUNTED}}}\n",
        CUE.format(page="models") + f"ask = {{{TYPED}}}\n",
    ]
)


@pytest.fixture
def follow(fresh, app):
    def with_code(code):
        page = fresh(viewport=PHONE, has_touch=True, is_mobile=True).new_page()
        page.goto(f"{app.url}/follow")
        page.get_by_label("Code on the screen").fill(code)
        page.get_by_role("button", name="Join").click()
        return page

    return with_code


def at(page, cue):
    expect(page.locator(f"[data-cue='{cue}']")).to_be_attached()


def answered(wall, text):
    expect(wall.page.locator("[data-turnout]")).to_have_text(text)


def counts(page, name="data-count"):
    return page.locator(f"[data-question] [{name}]")


def test_room_answers_own_questions_and_sees_the_counts(watch, fresh, follow, app):
    wall = watch(fresh(viewport=WALL))
    address = f"{app.url}/?lecture={to_link_name(read(TEXT, 'lecture.toml'))}"
    wall.page.goto(f"{address}&cue=1")
    at(wall.page, 1)
    wall.wait({"name": 0, "rev": -1})
    speaker = watch(wall.page.context)
    speaker.page.goto(f"{address}&speaker=1")
    expect(speaker.page.locator(".speaker")).to_have_attribute("data-cue", "1")

    wall.page.bring_to_front()
    wall.press("j")  # opens a room, and shows the way into it
    large = wall.page.get_by_role("dialog", name="Join this lecture")
    expect(large).to_be_visible()
    code = large.locator(".code").inner_text()
    assert_readable_from_the_back_row(large)
    phones = [follow(code) for _ in range(3)]
    expect(large.locator(".count")).to_have_text("3 followers")
    wall.press("PageDown")  # any key closes the display, and does nothing else
    expect(large).to_have_count(0)
    at(wall.page, 1)
    expect(wall.page.locator(".join")).to_contain_text(code)

    speaker.page.get_by_role("button", name="Next").click()
    at(wall.page, 2)
    expect(speaker.page.locator(".now")).to_contain_text("[Which tag has “3”? C]")
    answered(wall, "0 of 3 answered")
    answered(speaker, "0 of 3 answered")
    choose(phones, (0, 1, 0))
    answered(wall, "3 of 3 answered")
    expect(wall.page.locator(".say")).to_have_text("")
    wall.page.wait_for_function(ENDS_AT_THE_EDGE)
    wall.page.get_by_role("button", name="Show me").click()
    expect(counts(wall.page)).to_have_text(["2", "1", "0"])
    expect(wall.page.locator("[data-choice='1']")).to_have_attribute("data-right", "true")
    expect(wall.page.locator("[data-question] kbd")).to_have_count(0)
    expect(wall.page.locator(".say")).to_have_text("Now look.")
    for phone in phones:
        expect(counts(phone)).to_have_text(["2", "1", "0"])

    advance(wall, 3)
    advance(wall, 4)
    choose(phones, (1, 1, 0))
    answered(wall, "3 of 3 answered")
    wall.page.get_by_role("button", name="Show me").click()
    expect(counts(wall.page)).to_have_text(["1", "2", "0"])
    expect(counts(wall.page, "data-before")).to_have_text(["2", "1", "0"])
    expect(counts(phones[0], "data-before")).to_have_text(["2", "1", "0"])

    advance(wall, 5)
    for phone, text in zip(phones, ("8", "8,0", "27"), strict=True):
        phone.get_by_label("Your answer, a number").fill(text)
        phone.get_by_role("button", name="Send").click()
        expect(phone.get_by_text("Answer sent")).to_be_visible()
    answered(wall, "3 of 3 answered")
    wall.page.get_by_role("button", name="Show me").click()
    expect(wall.page.locator("[data-choice] > span[dir]")).to_have_text(["8", "27"])
    expect(counts(wall.page)).to_have_text(["2", "1"])
    expect(wall.page.locator("[data-choice='0']")).to_have_attribute("data-right", "true")
    expect(counts(phones[0])).to_have_text(["2", "1"])


def choose(phones, choices):
    for phone, choice in zip(phones, choices, strict=True):
        phone.locator(f"[data-choice='{choice}']").tap()
        expect(phone.get_by_text("Answer sent")).to_be_visible()


def advance(wall, cue):
    wall.press("g")
    wall.page.keyboard.type(str(cue))
    wall.press("Enter")
    at(wall.page, cue)


def assert_readable_from_the_back_row(large):
    picture = large.locator("img").bounding_box()
    assert picture["height"] >= 0.9 * WALL["height"]
    code, address = (large.locator(part).bounding_box() for part in (".code", ".address"))
    assert code["height"] >= 0.15 * WALL["height"]
    assert address["height"] < 0.1 * WALL["height"]  # one line
    assert code["x"] + code["width"] <= WALL["width"]
    assert picture["x"] + picture["width"] <= code["x"]


def test_wrong_code_is_reported_beside_the_box(fresh, app):
    page = fresh(viewport=PHONE).new_page()
    page.goto(f"{app.url}/follow")
    box = page.get_by_label("Code on the screen")
    box.fill("no-one")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("alert")).to_have_text(
        "There is no room with this code. Compare it with the code on the screen."
    )
    expect(box).to_have_value("NOONE")
    page.goto(f"{app.url}/follow/WRONG")
    expect(box).to_have_value("WRONG")
    expect(page.get_by_role("alert")).to_contain_text("no room with this code")


@pytest.mark.parametrize("path", ["", pytest.param("learn", marks=pytest.mark.rotating)])
def test_no_label_is_cut_on_a_phone(watch, fresh, follow, path):
    wall = watch(fresh()).open(path, sentence="They rarely look at Peter Smith 's papers .")
    wall.page.get_by_role("button", name="Share", exact=True).click()
    wall.page.get_by_role("button", name="Let others follow").click()
    followers = wall.page.locator("[data-followers]")
    expect(followers).to_have_text("0 followers")
    phone = follow(wall.page.locator(".crfviz-code").inner_text())
    expect(phone.locator(".tag").first).to_be_visible()
    phone.wait_for_function(f"({CUT})().length === 0")
    expect(followers).to_have_text("1 follower")
    wall.page.get_by_role("button", name="Show large").click()
    large = wall.page.get_by_role("dialog", name="Join this lecture")
    expect(large.locator(".count")).to_have_text("1 follower")
    wall.press("Escape")
    expect(large).to_have_count(0)
