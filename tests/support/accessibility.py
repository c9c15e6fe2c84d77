"""Assertions about accessibility: contrast, sizes, cut-off texts, WCAG 2.2 levels A and AA."""

from axe_playwright_python.base import AXE_SCRIPT

from crfviz.views.contents import ENTRIES, at_path
from tests.support.screen import STAGES

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast"]  # the only axe rule that depends on colours
MIN_CONTRAST = 4.5  # WCAG 2.2, 1.4.3, level AA
TARGET = 24  # pixels
LEAST, MIN_TEXTBOOK = 14, 20  # pixels of letters on a projector
PROJECTOR, HALL = (1280, 720), (1920, 1080)  # pixels
SCHEME = "getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"
FAINT = "(least) => crfviz.faint(least)"
SMALL = "([least, onlyStage]) => crfviz.small([least, onlyStage])"
RESTS = """() => document.querySelector("[data-testid=stApp]").dataset.testScriptState
  === "notRunning" && !document.querySelector("[data-stale=true]")"""


def violations(page, rules=WCAG):
    """Return the elements of a page that break rules of axe-core."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate("(rules) => crfviz.violations(rules)", rules)


def assert_accessible(screen, where):
    """Check WCAG in the light theme and contrast in the dark theme; leave the page light."""
    page = screen.page

    def check(rules):
        assert violations(page, rules) == [], where

    screen.eventually(lambda: check(WCAG))
    screen.expect_measured("(least) => crfviz.crowded(least)", [], TARGET, where=where)
    assert_contrast(screen, f"{where}, light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{SCHEME} === 'dark'")
    screen.eventually(lambda: check(COLOURS))
    assert_contrast(screen, f"{where}, dark")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{SCHEME} === 'light'")


def assert_contrast(screen, where=None):
    """Check the contrast of texts drawn on the stage, which axe does not read."""
    if screen.page.evaluate("Boolean(crfviz.stage())"):
        screen.expect_measured(FAINT, [], MIN_CONTRAST, where=where)


def assert_readable(screen, where=None):
    """Check that no text is cut off or has low contrast."""
    screen.expect_measured("() => crfviz.cut()", [], where=where)
    assert_contrast(screen, where)


def assert_large(screen, where=None, least=LEAST, *, only_stage=False):
    """Check that every text has at least `least` pixels."""
    screen.expect_measured(SMALL, [], [least, only_stage], where=where)


def assert_twelve_words_fit(screen):
    """Check that nothing scrolls, and that click targets are large enough or far enough apart."""
    room = """() => {
      const main = document.querySelector("[data-testid=stMain]");
      return [main.scrollHeight - main.clientHeight,
              document.documentElement.scrollWidth - innerWidth,
              crfviz.stage().getBoundingClientRect().bottom - innerHeight].filter((n) => n > 0);
    }"""
    screen.expect_measured(room, [])
    screen.expect_measured("(least) => crfviz.crowded(least)", [], TARGET)


def assert_forty_words_scroll(screen):
    """Check that the words scroll inside the picture while the row labels stay in place."""
    measure = """() => {
      const stage = crfviz.stage();
      const scroller = stage.querySelector(".scroller");
      const box = scroller.getBoundingClientRect();
      const labels = [...stage.querySelectorAll(".scroller .label")]
        .filter((label) => label.offsetHeight)
        .map((label) => label.getBoundingClientRect().left);
      const last = [...stage.querySelectorAll(".word")].at(-1).getBoundingClientRect();
      return {
        wider: scroller.scrollWidth > scroller.clientWidth,
        pageWider: document.documentElement.scrollWidth > innerWidth,
        lastWordInside: last.right <= box.right + 1 && last.left >= box.left,
        labelsInside: labels.length > 2 && labels.every((left) => Math.abs(left - box.left) <= 1),
      };
    }"""
    at_first = {"wider": True, "pageWider": False, "lastWordInside": False, "labelsInside": True}
    screen.expect_measured(measure, at_first)
    screen.page.evaluate("crfviz.stage().querySelector('.scroller').scrollLeft = 1e6")
    screen.expect_measured(measure, at_first | {"lastWordInside": True})


def resize(screen, width, height):
    with screen.redraw():
        screen.page.set_viewport_size({"width": width, "height": height})


def walk(screen, paths=tuple(entry.path for entry in ENTRIES)):
    """Open pages by their links; yield each path once the page is drawn."""
    for path in paths:
        if path in STAGES:
            with screen.redraw():
                screen.follow(at_path(path).title)
        else:
            screen.follow(at_path(path).title)
            screen.page.wait_for_function(RESTS)
        yield path
