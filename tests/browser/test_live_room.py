"""Who follows a lecturer: on a telephone, without a session, with answers that are counted."""

import pytest
from playwright.sync_api import expect

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def follow(app, fresh):
    """Opens the page of those who follow a room; each browser is somebody else."""

    def open_room(code):
        page = fresh(viewport=PHONE).new_page()
        page.goto(f"{app.url}/follow/{code}")
        return page

    return open_room


def lead(screen):
    screen.page.get_by_role("button", name="Share", exact=True).click()
    screen.page.get_by_role("button", name="Let others follow").click()
    code = screen.page.locator(".crfviz-code")
    expect(code).to_be_visible()
    text = code.inner_text()
    screen.page.keyboard.press("Escape")
    expect(code).to_be_hidden()
    return text


@pytest.fixture
def wall(watch, fresh):
    """The screen of who leads, in a browser of its own."""
    return watch(fresh())


def at_step(page, step):
    expect(page.locator(f"[data-stage][data-step='{step}']")).to_be_attached()


def test_follower_can_leave_and_reopen_the_screen(wall, follow, watch, app):
    wall.open("viterbi", step="2")
    code = lead(wall)
    phone = follow(code)
    at_step(phone, 2)
    phone.wait_for_function(
        "(width) => document.documentElement.scrollWidth <= width", arg=PHONE["width"]
    )
    wall.press("PageDown")
    at_step(phone, 3)
    phone.keyboard.press("PageDown")
    phone.keyboard.press("PageDown")
    at_step(phone, 5)
    expect(phone.get_by_role("status").first).to_have_text("You are exploring on your own.")
    wall.press("PageDown")
    wall.expect_param("step", "4")
    at_step(phone, 5)
    phone.get_by_role("button", name="Back to the lecture").click()
    at_step(phone, 4)
    wall.page.reload()  # another session of the same browser leads on
    expect(wall.page.get_by_role("button", name=f"Room {code}")).to_be_visible()
    at_step(wall.page, 4)
    wall.press("PageDown")
    at_step(phone, 5)
    lecture = watch(wall.page.context)
    lecture.page.goto(f"{app.url}/?lecture=viterbi&cue=1")
    expect(lecture.page.locator("[data-cue='1']")).to_be_visible()
    expect(phone.locator(".follow-say")).not_to_be_empty()
    wall.page.get_by_role("button", name=f"Room {code}").click()
    wall.page.get_by_role("button", name="Close the room").click()
    expect(phone.get_by_text("The speaker closed this room.")).to_be_visible()


def test_votes_from_phones_are_counted(wall, follow):
    wall.open("", **{"v.ask": "1"})
    code = lead(wall)
    question = wall.page.locator("[data-question]")
    phones = [follow(code) for _ in range(3)]
    expect(question.locator("[data-choice]").first).to_be_visible()
    texts = question.locator("[data-choice]").all_inner_texts()
    for phone in phones:
        expect(phone.locator("[data-question] [data-choice]")).to_have_count(len(texts))
    for phone, choice in zip(phones, (0, 1, 1), strict=True):
        phone.locator(f"[data-choice='{choice}']").click()
        expect(phone.get_by_text("Answer sent")).to_be_visible()
    with phones[0].expect_response("**/answers"):
        phones[0].locator("[data-choice='1']").click()  # thought better of it
    expect(phones[0].locator("[data-choice='1']")).to_have_attribute("aria-pressed", "true")
    phones[1].reload()
    expect(phones[1].locator("[data-count]")).to_have_count(0)
    wall.page.get_by_role("button", name="Show me").click()
    counts = ["0", "3", *["0"] * (len(texts) - 2)]
    for count, place in zip(counts, range(len(texts)), strict=True):
        expect(question.locator(f"[data-choice='{place}'] [data-count]")).to_contain_text(count)
    for phone in phones:
        expect(phone.locator("[data-right]")).to_have_count(1)
        expect(phone.locator("[data-count]")).to_have_text(counts)
