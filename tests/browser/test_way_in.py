"""What surrounds every page: groups of links, the keyboard, the glossary, the colours, the room."""

import pytest
from playwright.sync_api import expect

from crfviz.ui.shell.glossary import GLOSSARY
from crfviz.views.contents import ENTRIES, GROUPS
from tests.support.screen import MODEL, TITLES

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
FITS = """() => {
  const side = document.querySelector("[data-testid=stSidebarContent]");
  return side.scrollHeight <= side.clientHeight;
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

BELOW_TITLE = """() => document.querySelector(".crfviz-answers").getBoundingClientRect().top
  - document.querySelector("h1").getBoundingClientRect().top"""
TERMS = """(names) => JSON.stringify(names) === JSON.stringify(
  [...document.querySelectorAll(".crfviz-terms button")].map((one) => one.ariaLabel))"""
LETTERS = 28  # pixels of the title's line that letters take


def stops(screen):
    """What Tab reaches before it enters the page."""
    screen.page.mouse.move(900, 600)  # off the sidebar, which else shows a button more
    reached = []
    while True:
        screen.press("Tab")
        focus = screen.page.evaluate(FOCUS)
        if focus["inside"] or len(reached) > 30:
            return reached
        reached.append(focus["text"])


def test_the_keyboard_reaches_the_page_in_a_few_steps_and_opens_groups(new_screen):
    new_screen.open("", **LONGEST)
    link = new_screen.page.locator(".st-key-pages a[aria-current=page]")
    expect(link).to_have_text("Explore")
    reached = stops(new_screen)
    assert reached[0] == "Skip to main content"
    assert len(reached) <= 8 + 1, reached  # the one more is for edits, which a first visit has not
    assert sum(text in TITLES.values() for text in reached) == 1

    link.focus()
    new_screen.press("ArrowDown", "ArrowUp")
    current = new_screen.page.evaluate(LOOK, ".st-key-pages a[aria-current=page]")
    assert current["ring"] == "solid"
    assert current["bar"] != "none"
    new_screen.press("ArrowDown")
    other = new_screen.page.evaluate(LOOK, ".st-key-pages a:focus")
    assert other["ring"] == "solid"
    assert other["bar"] == "none"

    new_screen.press(*["ArrowDown"] * 5)
    heading = new_screen.page.locator(".st-key-pages summary", has_text="Ask the model")
    expect(heading).to_be_focused()
    why = new_screen.page.locator(".st-key-pages a", has_text="Why this tag")
    expect(why).not_to_be_visible()
    new_screen.press("Enter")
    expect(why).to_be_visible()
    new_screen.press("Enter")
    expect(why).not_to_be_visible()
    new_screen.press("Enter", "ArrowDown")
    expect(why).to_be_focused()
    with new_screen.redraw():
        new_screen.press("Enter")
    new_screen.expect_title("Why this tag")
    assert new_screen.params()["t"] == LONGEST["t"]
    opened = new_screen.page.locator(".st-key-pages details[open] summary")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("Ask the model")


def test_the_first_visit_reaches_the_page_with_eight_steps(new_screen):
    new_screen.page.goto(new_screen.app.url)
    new_screen.wait({"name": 0, "rev": -1})
    reached = stops(new_screen)
    assert reached[0] == "Skip to main content"
    assert len(reached) <= 8, reached


def test_every_page_says_what_it_answers_and_explains_its_words(screen):
    """All pages in one visit: their links, their lines, their room on a projector."""
    screen.open("", **LONGEST)
    for entry in ENTRIES:
        if entry.path:
            screen.follow(entry.title)
        line = screen.page.locator(".crfviz-answers > span").first
        expect(line).to_have_text(entry.answers)
        screen.page.wait_for_function(f"({BELOW_TITLE})() >= {LETTERS}")
        expect(screen.page.locator(".st-key-pages a[aria-current]")).to_have_text(entry.title)
        names = [f"Glossary: {term}" for term in entry.terms]
        screen.page.wait_for_function(TERMS, arg=names)
        expect(screen.page.locator(".st-key-rows")).to_have_count(int(entry.rows))
        expect(screen.sentence).to_have_count(int(entry.sentence))
        expect(screen.page.locator(".st-key-model")).to_have_count(int(entry.model))
        screen.page.wait_for_function(FITS)
    shown = screen.page.locator(".st-key-pages summary").all_inner_texts()
    assert [text.split("\n")[-1] for text in shown] == list(GROUPS)


def test_a_word_of_the_glossary_opens_beside_its_button(screen):
    screen.open("viterbi")
    button = screen.page.get_by_role("button", name="Glossary: backpointer")
    button.click()
    panel = screen.page.locator(":popover-open")
    expect(panel).to_contain_text(GLOSSARY["backpointer"].text)
    expect(panel).to_contain_text(GLOSSARY["backpointer"].formula)

    def check():
        box, at = panel.bounding_box(), button.bounding_box()
        assert at["y"] < box["y"] < at["y"] + 3 * at["height"]
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280

    screen.eventually(check)
    screen.press("Escape")
    expect(panel).to_have_count(0)


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_colours_are_chosen_in_the_app_and_are_in_the_link(watch, fresh, system):
    screen = watch(fresh(color_scheme=system)).open()
    colours = """() => [getComputedStyle(document.querySelector("[data-testid=stApp]")).colorScheme,
                        getComputedStyle(crfviz.stage()).color]"""
    first, ink = screen.page.evaluate(colours)
    assert first == system
    other = {"light": "dark", "dark": "light"}[system]
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


def test_a_link_with_colours_never_shows_those_of_the_system(watch, fresh):
    context = fresh(color_scheme="light")
    context.add_init_script(SCHEMES)
    screen = watch(context)
    screen.open("", model=MODEL, **{"v.theme": "dark"})
    assert screen.page.evaluate("[...schemes]") == ["dark"]


def test_without_the_sidebar_the_title_stays_free_and_the_picture_is_wider(watch, fresh):
    screen = watch(fresh())  # the browser remembers that the sidebar is hidden
    screen.open("", sentence="The committee will present its report to the board on Monday .")
    measure = """() => ({
      width: crfviz.stage().getBoundingClientRect().width,
      word: [...crfviz.stage().querySelectorAll(".word")].at(-1).getBoundingClientRect().right,
      title: document.querySelector("h1").getBoundingClientRect().left
             + parseFloat(getComputedStyle(document.querySelector("h1")).paddingLeft),
    })"""
    before = screen.page.evaluate(measure)
    screen.page.locator("[data-testid=stSidebar]").hover()
    screen.page.locator("[data-testid=stSidebarCollapseButton] button").click()
    button = screen.page.locator("[data-testid=stExpandSidebarButton]")
    expect(button).to_be_visible()
    screen.page.wait_for_function(
        "(before) => crfviz.stage().getBoundingClientRect().width > before + 250",
        arg=before["width"],
    )

    def check():
        after = screen.page.evaluate(measure)
        box = button.bounding_box()
        assert after["title"] >= box["x"] + box["width"]
        assert after["word"] > 1200

    screen.eventually(check)


def test_the_whole_sentence_is_in_sight_while_somebody_types(screen):
    screen.open("", sentence="The committee will present its report to the board on Monday .")
    hidden = "(input) => input.scrollWidth - input.clientWidth"
    assert screen.sentence.evaluate(hidden) > 0
    screen.sentence.focus()
    expect(screen.sentence).to_be_focused()

    def check():
        assert screen.sentence.evaluate(hidden) <= 1

    screen.eventually(check)
