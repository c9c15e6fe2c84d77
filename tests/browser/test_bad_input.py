"""Input that goes wrong: a plain message, the rest of the page stays, and so do the edits."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from crfviz.ui.cached import first_sentence
from crfviz.views.exports.bundle import component
from tests.support.screen import (
    MODEL,
    SENTENCE,
    Screen,
    assert_lattice,
    assert_rows,
    chain,
    tagger,
    with_cell,
)

EDIT = with_cell("DET", "NOUN", -3.25)
LINK = {"t": "DET.NOUN:-3.25"}
HOSTILE = (
    "<script>window.hacked=1</script> ![x](http://evil.test/a.png) "
    "<img src=http://evil.test/b.png onerror=window.hacked=1> [y](javascript:window.hacked=1) "
    "$x^2$ :red[z] &lt; `code` **bold**"
)
ODD = (
    HOSTILE,
    "I ❤️ 👩‍👩‍👧‍👦 and 🇩🇪 too 😀 .",
    "هذا الكتاب جميل جدا .",
    "שלום world , مرحبا again",
    "buffalo buffalo buffalo buffalo buffalo buffalo buffalo",
    "Z\u0351\u036b\u0343a\u0308lgo \u202eevil\u202c tail",
    "one\ttwo\nthree",
)


def assert_kept(screen, sentence, edits=EDIT, model=MODEL):
    """The sentence is drawn with the edits that were there before."""
    screen.expect_edits(len(edits))
    windowed = len(tagger(model).split(sentence)) > 120 and screen.page.locator(".overview").count()
    expected = chain(model, sentence, edits, windowed=bool(windowed))

    def check():
        shown = screen.read()
        assert shown.words == expected.words
        assert_rows(shown, expected)
        if shown.edges:
            assert_lattice(shown, expected)

    screen.eventually(check)


@pytest.mark.rotating
def test_long_and_unusual_sentences_are_drawn_word_by_word(screen):
    long = "buffalo " * 2500
    assert len(long) == 20_000
    screen.open("", **LINK)
    screen.type_sentence(long)
    screen.wait_for_text("cut after 15,000 characters")
    expect(screen.page.locator(".overview-place")).to_have_text("1–120 of 1,875")
    assert_kept(screen, long[:15_000])
    screen.type_sentence("a" * 10_000)
    expect(screen.page.locator("[data-stage] .word")).to_have_count(1)
    screen.expect_measured("document.documentElement.scrollWidth <= innerWidth", True)
    for text in ODD:
        screen.type_sentence(text)
        typed = screen.sentence.input_value()
        assert typed != SENTENCE
        assert_kept(screen, typed)
    assert screen.page.evaluate("window.hacked") is None
    assert screen.page.locator("[data-testid=stMain] img").count() == 0


def test_invalid_number_in_a_matrix_cell_is_reported(screen):
    screen.open("transitions", **LINK)
    cell = screen.cell("PRON", "VERB")
    before = cell.inner_text()
    said = screen.page.locator("[data-stage] .message")
    for typed, message in (("NaN", "“NaN” is not a number"), ("1e999", "“1e999” is too large")):
        screen.type_score(cell, typed)
        expect(said).to_contain_text(message)
        expect(cell).to_have_text(before)
    assert_kept(screen, SENTENCE)
    with screen.redraw():
        screen.type_score(cell, "1.5")
    expect(said).not_to_contain_text("“")
    both = Edits(transitions={("DET", "NOUN"): -3.25, ("PRON", "VERB"): 1.5})
    assert_kept(screen, SENTENCE, both)


def test_messages_at_the_bottom_cover_nothing(screen):
    screen.visit("", t="DET.NOUN:1,x", k="high", model="none")
    messages = screen.page.locator("[data-testid=stToast]")
    expect(messages).to_have_count(3)
    uncovered = """() => {
      const boxes = (selector) =>
        [...document.querySelectorAll(selector)].map((each) => each.getBoundingClientRect());
      const top = Math.min(...boxes("[data-testid=stToast]").map((box) => box.top));
      return boxes("[data-testid=stMain]")[0].bottom <= Math.max(top, 0);
    }"""
    for width, height in ((1280, 720), (390, 844), (640, 360)):
        screen.page.set_viewport_size({"width": width, "height": height})
        screen.expect_measured(uncovered, True, where=(width, height))
        expect(messages).to_have_count(3)
    while messages.count():
        messages.first.locator("[slot=close]").click()
    screen.expect_measured(
        "() => document.querySelector('[data-testid=stMain]').clientHeight === innerHeight", True
    )


@pytest.mark.rotating
def test_unknown_page_opens_explore_and_suggests_similar_pages(screen):
    screen.page.goto(f"{screen.app.url}/vitrebi")
    screen.expect_title("Explore")
    screen.wait({"name": 0, "rev": -1})
    screen.expect_rows(chain("upos-en", first_sentence("upos-en")))
    toast = screen.page.locator("[data-testid=stToast]")
    expect(toast).to_contain_text("There is no page “vitrebi”. Did you mean Viterbi?")
    expect(screen.page.get_by_role("dialog")).to_have_count(0)
    screen.expect_params({})


@pytest.mark.rotating
def test_forbidding_the_last_path_is_reported_and_can_be_undone(screen):
    tags = [tag for tag in tagger().tags if tag != "DET"]
    screen.open("transitions", t=",".join(f"START.{tag}:-inf" for tag in tags))
    before = Edits(transitions={("START", tag): float("-inf") for tag in tags})
    assert_kept(screen, SENTENCE, before)
    with screen.redraw():
        screen.type_score(screen.cell("START", "DET"), "-inf")
    screen.wait_for_text("No tag sequence is allowed")
    assert_kept(screen, SENTENCE, before.with_transition("START", "DET", float("-inf")))
    with screen.redraw():
        screen.press("Control+z")
    assert_kept(screen, SENTENCE, before)

    def is_gone():
        assert "No tag sequence is allowed" not in screen.text()

    screen.eventually(is_gone)


def test_exception_in_the_stage_shows_a_message(fresh, app):
    screen = Screen(fresh().new_page(), app)
    errors = []
    screen.page.on("pageerror", lambda error: errors.append(str(error)))
    begin = "fit(model);\nreturn{\nelement,\nupdate(next){"  # of the rows of tags
    stage = component(Path("crfviz/views/stage/web/stage.js"))
    assert stage.count(begin) == 1
    broken = stage.replace(begin, f'{begin} throw new Error("boom");')
    screen.page.route(
        "**/stage.js*", lambda route: route.fulfill(body=broken, content_type="text/javascript")
    )
    screen.visit("", **LINK)
    expect(screen.page.locator("[data-stage] [role=alert]")).to_contain_text("could not be drawn")
    expect(screen.page.locator("body")).not_to_contain_text("boom")
    screen.expect_edits(1)
    screen.eventually(lambda: assert_boom(errors))


def assert_boom(errors):
    assert "boom" in errors[0]
