"""Input that goes wrong: a plain message, the rest of the page stays, and so do the edits."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from crfviz.text.tokenizer import tokenize
from crfviz.ui.cached import first_sentence
from crfviz.views.exports.bundle import component
from tests.support.screen import (
    SENTENCE,
    STAGES,
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


def assert_kept(screen, sentence, edits=EDIT):
    """The sentence is drawn with the edits that were there before."""
    screen.expect_edits(len(edits))
    expected = chain(sentence=sentence, edits=edits)

    def check():
        shown = screen.read()
        assert shown.words == expected.words
        assert_rows(shown, expected)
        if shown.edges:
            assert_lattice(shown, expected)

    screen.eventually(check)


@pytest.mark.parametrize("blank", ["", "    ", "\u200b \u00a0"], ids=["empty", "spaces", "odd"])
@pytest.mark.parametrize("path", ["", "marginals"], ids=["Explore", "Marginals"])
def test_blank_sentence(screen, path, blank):
    if not tokenize(blank):
        screen.open(path, **LINK)
        screen.apply_sentence(blank)
        screen.wait_for_text("Type a sentence")
        expect(screen.page.locator("[data-stage]")).to_have_count(0)
        screen.expect_edits(1)
        screen.apply_sentence(SENTENCE)
        screen.wait({"name": 0, "rev": -1})
    else:
        screen.open(path, sentence=blank, **LINK)
        assert_kept(screen, blank)


def test_ten_thousand_characters(screen):
    text = "buffalo " * 1250
    assert len(text) == 10_000
    screen.open("", **LINK)
    with screen.redraw():
        screen.apply_sentence(text)
    screen.wait_for_text("cut after 5000 characters")
    screen.wait_for_text("The first 120 of 625 words are drawn.")
    assert_kept(screen, text[:5000])


def test_one_word_of_ten_thousand_characters(screen):
    screen.open("", **LINK)
    with screen.redraw():
        screen.apply_sentence("a" * 10_000)
    expect(screen.page.locator("[data-stage] .word")).to_have_count(1)
    screen.expect_measured("document.documentElement.scrollWidth <= innerWidth", True)
    screen.expect_edits(1)


@pytest.mark.parametrize("path", STAGES)
def test_two_hundred_tokens(walk, path):
    text = " ".join(f"w{i}" for i in range(200))
    assert len(tokenize(text)) == 200
    screen = walk(path, sentence=text, **LINK)
    screen.wait_for_text("The first 120 of 200 words are drawn.")
    expect(screen.page.locator("[data-stage] .word")).to_have_count(120)
    assert_kept(screen, text)


@pytest.mark.parametrize(
    "text",
    [
        "I ❤️ 👩‍👩‍👧‍👦 and 🇩🇪 too 😀 .",
        "هذا الكتاب جميل جدا .",
        "שלום world , مرحبا again",
        "buffalo buffalo buffalo buffalo buffalo buffalo buffalo",
        "Z\u0351\u036b\u0343a\u0308lgo \u202eevil\u202c tail",
        "one\ttwo\nthree",
    ],
    ids=["emoji", "arabic", "mixed", "repeated", "combining", "whitespace"],
)
def test_odd_text_is_drawn_word_by_word(screen, text):
    screen.open("", **LINK)
    with screen.redraw():
        screen.apply_sentence(text)
    typed = screen.sentence.input_value()
    assert typed != SENTENCE
    assert_kept(screen, typed)


@pytest.mark.parametrize("path", STAGES)
def test_user_text_is_text_on_every_page(walk, path):
    screen = walk(path, sentence=HOSTILE, **{"v.twin": "1"}, **LINK)
    screen.expect_param("v.twin", "1")
    words = [token.text for token in tokenize(HOSTILE)]
    expect(screen.page.locator("[data-stage] .word span")).to_have_text(words)
    expect(screen.sentence).to_have_value(HOSTILE)
    assert_kept(screen, HOSTILE)
    assert screen.page.evaluate("window.hacked") is None
    assert screen.page.locator("[data-testid=stMain] img").count() == 0


def test_user_text_is_text_in_messages(screen):
    picture = "![x](http://evil.test/c.png)<img src=http://evil.test/d.png>"
    screen.open("", model=picture, t=f"{picture}.NOUN:1", zz=picture)
    screen.wait_for_text("![x](http://evil.test/c.png)")
    assert_kept(screen, SENTENCE, Edits())
    assert screen.page.locator("[data-testid=stApp] img").count() == 0


def test_no_number_in_a_matrix_cell(screen):
    screen.open("transitions", **LINK)
    cell = screen.cell("PRON", "VERB")
    before = cell.inner_text()
    messages = {
        "abc": "“abc” is not a number",
        "1e999": "“1e999” is too large",
        "--1": "“--1” is not a number",
        "inf": "“inf” is not a number",
        "NaN": "“NaN” is not a number",
        "2000000": "“2000000” is too large",
    }
    said = screen.page.locator("[data-stage] .message")
    for typed, message in messages.items():
        screen.type_score(cell, typed)
        expect(said).to_contain_text(message)
        expect(cell).to_have_text(before)
        assert_kept(screen, SENTENCE)
    with screen.redraw():
        screen.type_score(cell, "1.5")
    expect(said).not_to_contain_text("“")
    both = Edits(transitions={("DET", "NOUN"): -3.25, ("PRON", "VERB"): 1.5})
    assert_kept(screen, SENTENCE, both)


def test_no_number_in_an_emission_cell(screen):
    screen.open("emissions", **LINK)
    cell = screen.emission(0, chain().tags.index("DET"))
    screen.type_score(cell, "x")
    screen.wait_for_text("“x” is not a number")
    assert_kept(screen, SENTENCE)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"model": "no-such-model"}, "no-such-model"),
        ({"t": "DET.NOUN:-3.25,DET.VERB:x"}, "DET.VERB:x"),
        ({"t": "DET.NOUN:1e999,DET.NOUN:-3.25"}, "DET.NOUN:1e999"),
        ({"t": "DET.NOUN:-3.25,FOO.BAR:1"}, "“BAR”, “FOO”"),
        ({"e": "999.NOUN:1", **LINK}, "999.NOUN:1"),
        ({"k": "many", **LINK}, "many"),
        ({"k": "1e308", **LINK}, "1e308"),
        ({"c": "maybe", **LINK}, "maybe"),
        ({"step": "-1", **LINK}, "-1"),
        ({"p": "x", **LINK}, "“x”"),
        ({"v.Rows": "!", **LINK}, "Rows"),
        ({"zzz": "1", **LINK}, "zzz"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else value,
)
def test_hand_edited_address(screen, params, message):
    screen.open("", **params)
    toasts = screen.page.locator("[data-testid=stToast]")
    expect(toasts.filter(has_text=message).first).to_be_visible()
    assert_kept(screen, SENTENCE, EDIT if "t" in params else Edits())


@pytest.mark.parametrize("value", ["%00%ff%fe", "1,2,,3", "a" * 3000, "%F0%9F%98%80"])
def test_every_parameter_survives_nonsense(screen, value):
    names = ["model", "t", "e", "k", "c", "p", "step", "v.rows", "v.emissions", "v.draw", "zzz"]
    query = "&".join(f"{name}={value}" for name in names)
    for path in ("emissions", "marginals"):
        screen.go(path, f"{screen.app.url}/{path}?{query}")
        screen.wait({"name": 0, "rev": -1})
        screen.expect_rows(chain())


def test_an_unknown_page_leads_home(new_screen):
    new_screen.page.goto(f"{new_screen.app.url}/no-such-page")
    new_screen.expect_title("Explore")
    new_screen.wait({"name": 0, "rev": -1})
    new_screen.expect_rows(chain("upos-en", first_sentence("upos-en")))


@pytest.mark.parametrize("path", STAGES)
def test_no_allowed_path_on_any_page(screen, path):
    forbidden = {("START", tag): float("-inf") for tag in tagger().tags}
    link = ",".join(f"START.{tag}:-inf" for tag in tagger().tags)
    screen.open(path, t=link)
    expected = chain(edits=Edits(transitions=forbidden))

    def without_path():
        assert re.search("No tag sequence is allowed|log Z = −∞", screen.text())
        assert screen.text().count("Undo an edit, or restore") <= 1
        shown = screen.read()
        assert_rows(shown, expected)
        assert shown.words == expected.words

    def with_paths():
        assert not re.search("No tag sequence is allowed|log Z = −∞", screen.text())

    screen.eventually(without_path)
    with screen.redraw():
        screen.page.locator(".st-key-reset button").click()
    assert_kept(screen, SENTENCE, Edits())
    screen.eventually(with_paths)


def test_forbidding_the_last_path_is_said_and_can_be_undone(screen):
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


def test_a_picture_that_fails_says_so_in_words(fresh, app):
    screen = Screen(fresh().new_page(), app)
    errors = []
    screen.page.on("pageerror", lambda error: errors.append(str(error)))
    begin = "fit(model);\nreturn {\nelement,\nupdate(next) {"  # of the rows of tags
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
