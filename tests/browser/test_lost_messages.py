"""What never reaches Python is told again, once the way is free."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_annotate import MODEL, Desk
from tests.browser.test_edits import assert_edited, with_cell

SINCE = re.compile(b'"since": "[0-9a-f]{16}"')


class Line:
    """The way from the browser to the server; cut, it loses what is told and opens no more."""

    def __init__(self):
        self.cut = False
        self.lost = 0  # messages
        self.changed = 0  # answers of a stage that tell what changed, and not all of the picture
        self.garbled = False  # whether those name a picture that the browser does not have
        self.open = []

    def between(self, browser):
        if self.cut:
            browser.close()
            return
        server = browser.connect_to_server()
        self.open.append(browser)

        def forward(message):
            if self.cut:
                self.lost += 1
            else:
                server.send(message)

        def hear(message):
            if isinstance(message, bytes) and SINCE.search(message):
                self.changed += 1
                if self.garbled:
                    message = SINCE.sub(b'"since": "0000000000000000"', message)
            browser.send(message)

        browser.on_message(forward)
        server.on_message(hear)

    def wait_until_lost(self, messages, page):
        """What is sent reaches this side only while the page is asked something."""
        while self.lost < messages:
            page.evaluate("new Promise(requestAnimationFrame)")


@pytest.fixture
def line():
    return Line()


@pytest.fixture
def screen(watch, fresh, line):
    context = fresh()
    context.route_web_socket(re.compile("_stcore/stream"), line.between)
    return watch(context)


@pytest.fixture
def unheard(screen, line):
    """The screen after an edit that the server was not told."""
    screen.open("transitions")
    line.cut = True
    screen.type_score(screen.cell("DET", "NOUN"), "-3.25")
    expect(screen.page.locator("[data-stage]")).to_have_attribute("data-source", "live")
    return screen


def test_lost_edit_is_sent_again(unheard, line):
    line.wait_until_lost(1, unheard.page)
    line.cut = False
    expect(unheard.page.locator("[data-stage]")).to_have_attribute("data-source", "python")
    assert_edited(unheard, with_cell("DET", "NOUN", -3.25))


@pytest.mark.rotating
def test_lost_edit_is_sent_after_reconnecting(unheard, line):
    line.wait_until_lost(2, unheard.page)  # the second time as well
    for browser in line.open:
        browser.close()
    app = unheard.page.locator("[data-testid=stApp]")
    expect(app).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    line.cut = False
    expect(app).to_have_attribute("data-test-connection-state", "CONNECTED")
    expect(unheard.page.locator("[data-stage]")).to_have_attribute("data-source", "python")
    assert_edited(unheard, with_cell("DET", "NOUN", -3.25))


@pytest.mark.rotating
def test_changes_are_sent_to_a_known_picture_and_the_whole_otherwise(screen, line):
    screen.open("transitions")
    for score in (-3.25, 1.5):
        with screen.redraw():
            screen.type_score(screen.cell("DET", "NOUN"), str(score))
        assert_edited(screen, with_cell("DET", "NOUN", score))
    before = line.changed
    assert before
    line.garbled = True
    screen.type_score(screen.cell("DET", "NOUN"), "2.5")
    assert_edited(screen, with_cell("DET", "NOUN", 2.5))
    assert line.changed > before
    line.garbled = False
    screen.reload()
    assert_edited(screen, with_cell("DET", "NOUN", 2.5))


@pytest.mark.rotating
def test_lost_correction_is_sent_again(screen, line):
    desk = Desk(screen).open(model=MODEL, **{"v.by": "lost", "v.part": "add"}).paste("Dogs run .")
    desk.page.keyboard.press("Home")
    before, revision = desk.tags(), desk.revision
    line.cut = True
    desk.page.keyboard.press("n" if before[0] != "NOUN" else "v")
    expect(desk.page.get_by_text("Storing …")).to_be_visible()
    line.wait_until_lost(1, desk.page)
    assert desk.revision == revision
    line.cut = False
    expect(desk.root).to_have_attribute("data-revision", str(revision + 1))
    assert desk.tags()[0] != before[0]
    assert desk.pinned() == [0]
