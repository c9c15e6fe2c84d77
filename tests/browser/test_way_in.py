"""What surrounds every page: groups of links, the keyboard, the glossary, the colours, the room."""

import pytest
from playwright.sync_api import expect

from crfviz.ui.shell.glossary import GLOSSARY
from tests.support.accessibility import assert_accessible
from tests.support.screen import MODEL, TITLES, assert_rows, chain

LONGEST = {
    "model": "textbook/casino",
    "sentence": "T T T H H H H H H T H H H H H H H H T T T",  # the longest caption of all examples
    "t": "F.B:-1",  # Undo and Reset can be reached
    "p": "0.F",
}
FOCUS = """() => {
  const focused = document.activeElement;
  return { text: (focused.getAttribute("aria-label") ?? focused.textContent).trim(),
           inside: Boolean(focused.closest("[data-testid=stMain]")) };
}"""
LOOK = """(selector) => {
  const style = getComputedStyle(document.querySelector(selector));
  return { ring: style.outlineStyle, bar: style.boxShadow };
}"""

# Of all frames, the colours of the empty page and of the app that is drawn on it.
SCHEMES = """
  globalThis.schemes = new Set();
  const look = () => {
    const app = document.querySelector("[data-testid=stApp]");
    for (const element of [document.documentElement, app]) {
      if (element) schemes.add(getComputedStyle(element).colorScheme);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
"""


def stops(screen):
    """What Tab reaches before it enters the page."""
    screen.page.mouse.move(900, 600)  # off the sidebar, which else shows a button more
    expect(screen.page.locator("[data-testid=stSidebarCollapseButton] button")).to_be_hidden()
    marked = screen.page.locator(".st-key-pages a[aria-current=page]")  # with each group's one stop
    expect(marked).to_be_attached()
    reached = []
    while True:
        screen.press("Tab")
        focus = screen.page.evaluate(FOCUS)
        if focus["inside"] or len(reached) > 30:
            return reached
        reached.append(focus["text"])


@pytest.mark.rotating
def test_keyboard_reaches_the_page_in_a_few_steps_and_opens_groups(screen):
    screen.open("", **LONGEST)
    link = screen.page.locator(".st-key-pages a[aria-current=page]")
    expect(link).to_have_text("Explore")
    reached = stops(screen)
    assert reached[0] == "Skip to main content"
    assert len(reached) <= 8 + 1, reached  # the one more is for edits, which a first visit has not
    assert sum(text in TITLES.values() for text in reached) == 1

    link.focus()
    screen.press("ArrowDown", "ArrowUp")
    current = screen.page.evaluate(LOOK, ".st-key-pages a[aria-current=page]")
    assert current["ring"] == "solid"
    assert current["bar"] != "none"
    screen.press("ArrowDown")
    other = screen.page.evaluate(LOOK, ".st-key-pages a:focus")
    assert other["ring"] == "solid"
    assert other["bar"] == "none"

    screen.press(*["ArrowDown"] * 5)
    heading = screen.page.locator(".st-key-pages summary", has_text="Ask the model")
    expect(heading).to_be_focused()
    why = screen.page.locator(".st-key-pages a", has_text="Why this tag")
    expect(why).not_to_be_visible()
    screen.press("Enter")
    expect(why).to_be_visible()
    screen.press("Enter")
    expect(why).not_to_be_visible()
    screen.press("Enter", "ArrowDown")
    expect(why).to_be_focused()
    with screen.redraw():
        screen.press("Enter")
    screen.expect_title("Why this tag")
    assert screen.params()["t"] == LONGEST["t"]
    opened = screen.page.locator(".st-key-pages details[open] summary")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("Ask the model")


def test_first_visit_shows_an_example_within_eight_tab_steps(screen):
    screen.page.goto(screen.app.url)
    screen.wait({"name": 0, "rev": -1})
    shown = screen.read()
    assert_rows(shown, chain("upos-en", " ".join(shown.words)))
    assert shown.rows["viterbi"] == shown.rows["gold"]
    assert shown.rows["greedy"] != shown.rows["viterbi"]
    assert screen.params() == {}
    screen.rest()  # what a page draws last, it may still move
    reached = stops(screen)
    assert reached[0] == "Skip to main content"
    assert len(reached) <= 8, reached


@pytest.mark.rotating
def test_glossary_opens_below_its_button_and_is_searchable(screen):
    screen.open("viterbi")
    button = screen.page.get_by_role("button", name="Terms", exact=True)
    button.click()
    panel = screen.page.locator(":popover-open")
    entry = panel.locator("[data-term=backpointer]")
    expect(entry).to_contain_text(GLOSSARY["backpointer"].text)
    expect(entry).to_contain_text(GLOSSARY["backpointer"].formula)
    other = panel.locator("[data-term=gradient]")
    expect(other).not_to_be_visible()
    search = panel.get_by_role("searchbox", name="Search terms")
    search.fill("GRAD")
    expect(other).to_be_visible()
    expect(entry).not_to_be_visible()
    search.fill("zzz")
    expect(panel.get_by_text("No term matches.")).to_be_visible()
    search.fill("")
    expect(entry).to_be_visible()
    assert_accessible(screen, "the terms")

    def check():
        box, at = panel.bounding_box(), button.bounding_box()
        assert at["y"] < box["y"] < at["y"] + 3 * at["height"]
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280

    screen.eventually(check)
    screen.press("Escape")
    expect(panel).to_have_count(0)


def test_theme_is_chosen_in_the_app_and_in_the_link(watch, fresh):
    system, other = "dark", "light"
    screen = watch(fresh(color_scheme=system)).open()
    colours = """() => [getComputedStyle(document.querySelector("[data-testid=stApp]")).colorScheme,
                        getComputedStyle(crfviz.stage()).color]"""
    first, ink = screen.page.evaluate(colours)
    assert first == system
    screen.page.get_by_role("radio", name=other).click()
    screen.expect_param("v.theme", other)
    app = screen.page.locator("[data-testid=stApp]")
    expect(app).to_have_css("color-scheme", other)
    screen.page.wait_for_function(f"(ink) => ({colours})()[1] !== ink", arg=ink)
    screen.page.reload()
    screen.wait({"name": 0, "rev": -1})
    expect(app).to_have_css("color-scheme", other)
    screen.page.get_by_role("radio", name="system").click()
    expect(app).to_have_css("color-scheme", system)
    screen.page.wait_for_function("!new URL(document.URL).searchParams.has('v.theme')")
    assert screen.params() == {"model": MODEL}


@pytest.mark.rotating
def test_link_with_a_theme_never_shows_the_system_theme(watch, fresh):
    context = fresh(color_scheme="light")
    context.add_init_script(SCHEMES)
    screen = watch(context)
    screen.open("", model=MODEL, **{"v.theme": "dark"})
    assert screen.page.evaluate("[...schemes]") == ["dark"]


@pytest.mark.rotating
def test_long_sentence_is_fully_visible_while_typing_and_wider_without_the_sidebar(screen):
    short = "The committee will present its report to the board on Monday ."
    screen.open("", sentence=f"{short} {short.lower()}")
    measure = """() => ({
      width: crfviz.stage().getBoundingClientRect().width,
      word: [...crfviz.stage().querySelectorAll(".word")].at(-1).getBoundingClientRect().right,
      first: document.querySelector(".st-key-sentence input").getBoundingClientRect().left,
    })"""
    hidden = "(input) => input.scrollWidth - input.clientWidth"
    assert screen.sentence.evaluate(hidden) > 0
    screen.sentence.focus()
    expect(screen.sentence).to_be_focused()
    screen.eventually(lambda: assert_most(screen.sentence.evaluate(hidden), 1))
    screen.page.locator("h1").click()
    before = screen.page.evaluate(measure)
    screen.page.locator("[data-testid=stSidebar]").hover()
    screen.page.locator("[data-testid=stSidebarCollapseButton] button").click()
    button = screen.page.locator("[data-testid=stExpandSidebarButton]")
    expect(button).to_be_visible()
    screen.page.wait_for_function(
        "(before) => crfviz.stage().getBoundingClientRect().width > before + 170",
        arg=before["width"],
    )

    def check():
        after = screen.page.evaluate(measure)
        box = button.bounding_box()
        assert after["first"] >= box["x"] + box["width"]

    screen.eventually(check)


def assert_most(found, most):
    assert found <= most
