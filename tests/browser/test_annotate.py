"""Labelling in the browser: by keyboard alone, entities by mouse, two tabs, coming back."""

import re
import sqlite3
from pathlib import Path

import conllu
import pytest
from playwright.sync_api import expect

from crfviz.annotations.labelling import propose
from crfviz.annotations.store.store import open_store
from crfviz.chain.forward_backward import forward_backward
from crfviz.text.schemes import spans
from tests.support.accessibility import COLOURS, SCHEME, violations
from tests.support.screen import tagger

MODEL = "upos-en-contextfree"
# A text in the colour of a disabled button: what is disabled itself, axe does not look at.
SAMPLE = """(button) => {
  const sample = button.nextElementSibling ?? document.createElement("p");
  sample.textContent = "Teach";
  sample.style.color = getComputedStyle(button.querySelector("p")).color;
  button.parentElement.append(sample);
}"""
ADD = re.compile(r"^Add [\d,]+ (good )?sentence")


class Desk:
    """The page Annotate, as its reader sees it."""

    def __init__(self, screen):
        self.screen = screen
        self.page = screen.page
        self.root = self.page.locator("[data-labeller]")
        self.chips = self.page.locator("[data-labeller] .chip")

    def open(self, **params):
        self.screen.visit("annotate", **params)
        return self

    def paste(self, text):
        self.page.locator("textarea").fill(text)
        self.page.keyboard.press("Control+Enter")
        keep = self.page.get_by_role("button", name=ADD)
        there = self.page.get_by_role("button", name="Open the stored document")
        expect(keep.or_(there)).to_be_visible()
        if there.is_visible():  # another test has pasted the same
            self.page.get_by_role("radio", name="Store as a separate document").click()
        keep.click()
        expect(self.chips.first).to_be_visible()
        return self

    @property
    def item(self):
        return self.root.get_attribute("data-item")

    @property
    def revision(self):
        return int(self.root.get_attribute("data-revision"))

    def words(self):
        return self.page.locator("[data-labeller] .chip .word").all_inner_texts()

    def tags(self):
        return self.chips.evaluate_all("(chips) => chips.map((chip) => chip.dataset.tag)")

    def pinned(self):
        found = "(chips) => chips.filter((c) => c.dataset.pinned).map((c) => +c.dataset.word)"
        return self.chips.evaluate_all(found)

    def key(self, key):
        """Press a key that is an event, until its answer is drawn; one before has its own."""
        expect(self.root).not_to_have_attribute("data-waiting", "true")
        before = int(self.root.get_attribute("data-settled") or 0)
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "(n) => Number(crfviz.labeller()?.dataset.settled ?? 1e9) > n", arg=before
        )

    def expect_item(self, item):
        expect(self.root).to_have_attribute("data-item", str(item))

    def expect_words(self, words):
        expect(self.page.locator("[data-labeller] .chip .word")).to_have_text(words)


@pytest.fixture
def desk(screen):
    return Desk(screen)


def name(request):
    """An annotator for each test, since all share one store; one word, since pages show it."""
    return re.sub(r"[\W_]+", "", request.node.name.removeprefix("test_"))[:30]


@pytest.fixture
def who(request):
    return name(request)


def test_twenty_sentences_are_labelled_by_keyboard_and_exported(desk, who):
    sentences = [f"The old man saw boat number {n} ." for n in range(20)]
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("\n".join(sentences))
    for number, sentence in enumerate(sentences):
        desk.expect_words(sentence.split())
        if number == 10:  # the lid is closed, and opened again
            desk.screen.expect_param("v.item", desk.item)  # it follows late
            address = desk.page.url
            desk.page.goto("about:blank")
            desk.page.goto(address)
            desk.expect_words(sentence.split())
        if number % 2:
            desk.page.keyboard.press("Home")
            desk.page.keyboard.press("ArrowRight")
            desk.key("n")
            assert desk.tags()[1] == "NOUN"
            assert desk.pinned() == [1]
        desk.page.keyboard.press("Enter")
    expect(
        desk.page.get_by_text(re.compile("All sentences of The old man saw.* are done"))
    ).to_be_visible()
    export = desk.page.get_by_role("button", name="Export", exact=True)
    export.focus()
    export.press("Enter")
    button = desk.page.get_by_role("button", name="Download 20 annotated sentences")
    button.focus()
    with desk.page.expect_download() as download:
        button.press("Enter")
    rows = conllu.parse(download.value.path().read_text(encoding="utf-8"))
    assert [row.metadata["text"] for row in rows] == sentences
    assert [row[1]["upos"] for row in rows[1::2]] == ["NOUN"] * 10
    assert all(word["misc"]["Annotator"] for row in rows for word in row)


@pytest.mark.rotating
def test_sentence_is_hidden_until_its_style_sheet_loads_and_keys_work(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("They run .\nThey fish .")
    desk.key("Enter")
    desk.expect_words(["They", "fish", "."])
    desk.screen.expect_param("v.item", desk.item)
    held = []
    desk.page.route(re.compile(r"/labeller\.css"), lambda route: held.append(route))

    def check():
        assert held

    desk.page.reload()
    expect(desk.root).to_have_css("opacity", "0")
    desk.screen.eventually(check)
    for route in held:
        route.continue_()
    expect(desk.root).to_have_css("opacity", "1")
    desk.key("n")
    assert "NOUN" in desk.tags()


def test_every_correction_shows_and_stores_the_constrained_viterbi_path(desk, who, app):
    text = "Book that flight and man the boats ."
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste(text)
    words, item = text.split(), int(desk.item)
    chain = tagger(MODEL).potentials(words)
    assert tuple(desk.tags()) == propose(chain, {}).tags
    pins = {}
    with open_store(app.database) as store:
        for position, key, tag in ((0, "b", "VERB"), (4, "b", "VERB"), (1, "e", "DET")):
            desk.chips.nth(position).click()
            desk.key(key)
            pins[position] = tag
            found = propose(chain, pins)
            assert tuple(desk.tags()) == found.tags
            shown = desk.page.locator("[data-labeller] .chip .number").all_inner_texts()
            assert shown == [
                "✓" if t in pins else f"{p:.2f}" for t, p in enumerate(found.probabilities)
            ]
            stored = store.annotation(item, who)
            assert (stored.revision, tuple(stored.final)) == (len(pins), found.tags)
            assert dict(stored.pins) == pins
        for _ in pins:
            desk.key("Backspace")
        assert tuple(desk.tags()) == propose(chain, {}).tags
        assert store.annotation(item, who).pins == {}


def test_name_is_asked_until_it_is_given_or_the_first_step(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("They fish .\nThey run .")
    desk.key("n")
    document = desk.screen.param("v.doc")
    name = desk.page.get_by_role("textbox", name="Your name")
    for second in (f"{who}2", f"{who}3"):
        desk.open(model=MODEL, **{"v.by": second, "v.doc": document})
        expect(name).to_have_value(second)
    desk.page.keyboard.press("Home")
    desk.key("n")
    expect(name).to_have_count(0)
    desk.open(model=MODEL, **{"v.by": f"{who}4", "v.doc": document})
    name.fill(f"{who}5")
    name.press("Tab")
    desk.page.get_by_role("button", name="Label under this name").click()
    desk.screen.expect_param("v.by", f"{who}5")
    expect(name).to_have_count(0)
    expect(desk.chips.first).to_be_visible()


def test_phone_asks_the_name_above_the_sentence_and_names_no_keys(watch, fresh):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    desk = Desk(watch(fresh(**phone)))
    desk.open(model=MODEL, **{"v.by": "ada", "v.part": "add"}).paste("Phones ring .")
    document = desk.screen.param("v.doc")
    desk.page.locator("[data-labeller] [data-act=accept]").tap()
    expect(desk.page.get_by_text("are done")).to_be_visible()
    desk.open(model=MODEL, **{"v.by": "bo", "v.doc": document})
    expect(desk.page.get_by_role("textbox", name="Your name")).to_have_value("bo")
    expect(desk.root).to_be_in_viewport()
    desk.screen.expect_measured(
        "() => document.querySelector('.st-key-labeller').getBoundingClientRect().top <= 211", True
    )
    keys = desk.page.locator("[data-labeller] :is(kbd, .keys)").filter(visible=True)
    expect(keys).to_have_count(0)


@pytest.mark.rotating
def test_keys_pressed_in_quick_succession_all_count(desk, who, app):
    text = "The old man the boats ."
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste(f"{text}\n{text}")
    item = int(desk.item)
    desk.page.keyboard.press("Home")
    for key in ("n", "ArrowRight", "v", "ArrowRight", "b", "Enter"):
        desk.page.keyboard.press(key)
    desk.expect_item(item + 1)
    desk.page.keyboard.press("Home")
    desk.page.keyboard.press("x")
    expect(desk.chips.first).to_have_attribute("data-tag", "X")
    with open_store(app.database) as store:
        first = store.annotation(item, who)
    assert (first.state, dict(first.pins)) == ("done", {0: "NOUN", 1: "ADV", 2: "VERB"})


def test_keys_never_apply_to_an_undrawn_sentence(desk, who, app):
    texts = [f"The old man saw boat {number} ." for number in range(5)]
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("\n".join(texts))
    first = int(desk.item)
    for _ in range(10):  # held down: the browser repeats it
        desk.page.keyboard.down("Enter")
    desk.page.keyboard.up("Enter")
    desk.expect_item(first + 1)
    desk.screen.rest()
    desk.expect_item(first + 1)
    for key in ("Enter", "x", "Enter"):  # all before the third sentence is drawn
        desk.page.keyboard.press(key)
    desk.expect_item(first + 2)
    desk.screen.rest()
    desk.expect_item(first + 2)
    assert desk.pinned() == []
    with open_store(app.database) as store:
        stored = [store.annotation(first + number, who) for number in range(5)]
    assert [each and each.state for each in stored] == ["done", "done", None, None, None]


def test_entities_are_marked_by_mouse_and_by_keys(desk, who):
    text = "Mr Ford saw Ford City today ."
    desk.open(model="ner-en", **{"v.by": who, "v.part": "add"}).paste(text)
    desk.chips.nth(3).hover()
    desk.page.mouse.down()
    desk.chips.nth(4).hover()
    desk.page.mouse.up()
    desk.page.locator("[data-choice=LOC]").click()
    expect(desk.chips.nth(4)).to_have_attribute("data-tag", "I-LOC")
    assert ("LOC", 3, 5) in [(s.type, s.start, s.end) for s in spans(desk.tags())]
    desk.page.keyboard.press("Home")
    desk.page.keyboard.press("Shift+ArrowRight")
    desk.key("o")
    found = [(s.type, s.start, s.end) for s in spans(desk.tags())]
    assert {("ORG", 0, 2), ("LOC", 3, 5)} <= set(found)
    desk.key("Alt+ArrowRight")  # its end grows, with Shift its start shrinks
    assert ("ORG", 0, 3) in [(s.type, s.start, s.end) for s in spans(desk.tags())]
    desk.key("Shift+Alt+ArrowRight")
    desk.key("Alt+ArrowLeft")
    assert ("ORG", 1, 2) in [(s.type, s.start, s.end) for s in spans(desk.tags())]
    assert desk.tags()[0] == desk.tags()[2] == "O"
    desk.key("Backspace")
    desk.key("Backspace")
    desk.key("Backspace")
    assert ("ORG", 0, 2) in [(s.type, s.start, s.end) for s in spans(desk.tags())]
    desk.key("x")  # the cursor stands in the entity: all of it goes
    assert desk.tags()[:2] == ["O", "O"]


def test_words_are_split_and_joined_by_keys_and_mouse(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("greenhouse stop 🙂👍🏽x")
    desk.expect_words(["greenhouse", "stop", "🙂", "👍🏽", "x"])
    desk.chips.nth(1).click()
    desk.key("b")
    desk.page.keyboard.press("/")
    for _ in range(4):
        desk.page.keyboard.press("ArrowRight")
    desk.key(" ")
    desk.page.keyboard.press("/")
    desk.expect_words(["green", "house", "stop", "🙂", "👍🏽", "x"])
    assert desk.pinned() == [2]
    desk.page.keyboard.press("/")
    desk.page.locator("[data-labeller] .join").nth(4).click()  # whole characters, not halves
    desk.page.keyboard.press("/")
    desk.expect_words(["green", "house", "stop", "🙂", "👍🏽x"])
    desk.key("Backspace")
    desk.key("Backspace")
    desk.expect_words(["greenhouse", "stop", "🙂", "👍🏽", "x"])
    assert desk.pinned() == [1]


@pytest.mark.rotating
def test_two_tabs_never_overwrite_each_other(desk, who, watch):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("The old man the boats .")
    other = Desk(watch(desk.page.context))
    desk.screen.param("v.doc")
    desk.screen.rest()
    other.page.goto(desk.page.url)
    expect(other.chips.first).to_be_visible()
    desk.key("n")
    seen = desk.tags()
    other.key("v")
    expect(other.page.locator("[data-labeller] .note[data-problem]")).to_contain_text("another tab")
    assert (other.tags(), other.revision) == (seen, 1)
    other.key("v")
    assert other.revision == 2


@pytest.mark.rotating
def test_keys_work_after_using_another_control(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"})
    file = {"name": "gold.conll", "mimeType": "text/plain", "buffer": b"The\tX\nman\tNOUN\n"}
    desk.page.locator("input[type=file]").set_input_files([file])
    desk.page.get_by_role("radio", name="proposals to check").click()
    desk.page.get_by_role("button", name=ADD).click()
    expect(desk.chips.first).to_have_attribute("data-tag", "X")
    expect(desk.chips.first).to_contain_text("from the file")
    desk.page.keyboard.press("Home")
    desk.key("v")
    expect(desk.chips.first).to_have_attribute("data-tag", "ADV")
    desk.page.get_by_text("Disable single-key shortcuts").click()
    desk.screen.expect_param("v.no_letters", "1")
    expect(desk.chips.first).to_be_focused()  # drawn anew, it takes the keys from the switch
    desk.page.keyboard.press("n")
    desk.page.keyboard.press("1")
    desk.page.keyboard.press("ArrowRight")
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    expect(desk.chips.first).to_have_attribute("data-tag", "ADV")
    desk.page.keyboard.press("Backspace")
    desk.page.get_by_text("Disable single-key shortcuts").click()  # before that key is answered
    desk.screen.expect_param("v.no_letters", None)
    expect(desk.root.locator(".chip:focus")).to_have_count(1)
    assert desk.pinned() == []


def test_step_is_held_while_the_store_is_gone(desk, who, app):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("The old man the boats .")
    item, file = int(desk.item), Path(app.database.removeprefix("sqlite:///"))
    away = file.rename(file.with_name("away.db"))
    try:
        desk.page.keyboard.press("Home")
        desk.page.keyboard.press("n")
        note = desk.page.locator("[data-labeller] .note[data-problem]")
        expect(note).to_contain_text("was deleted or moved")
        desk.page.keyboard.press("ArrowRight")
        desk.page.keyboard.press("v")
        assert desk.pinned() == []
    finally:
        away.rename(file)
    expect(desk.chips.nth(1)).to_have_attribute("data-pinned", "true")
    with open_store(app.database) as store:
        assert store.annotation(item, who).pins == {0: "NOUN", 1: "ADV"}


@pytest.mark.rotating
def test_step_is_held_while_another_program_locks_the_store(desk, who, app):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("The old man the oars .")
    item = int(desk.item)
    other = sqlite3.connect(app.database.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        desk.page.keyboard.press("Home")
        desk.page.keyboard.press("n")
        expect(desk.page.locator("[data-labeller] .note")).to_contain_text("it may be locked")
        assert desk.pinned() == []
    finally:
        other.close()
    expect(desk.chips.nth(0)).to_have_attribute("data-pinned", "true")
    with open_store(app.database) as store:
        assert store.annotation(item, who).pins == {0: "NOUN"}


@pytest.mark.rotating
def test_tab_visits_uncertain_words_and_leaves_the_labeller(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("Time flies like an arrow .")
    found = "(chips) => chips.filter((c) => c.dataset.doubtful).map((c) => c.dataset.word)"
    doubtful = desk.chips.evaluate_all(found)
    assert len(doubtful) > 1
    seen = [desk.page.locator("[data-labeller] .chip[data-cursor]").get_attribute("data-word")]
    for _ in doubtful[1:]:
        desk.page.keyboard.press("Tab")
        seen.append(
            desk.page.locator("[data-labeller] .chip[data-cursor]").get_attribute("data-word")
        )
    assert seen == doubtful
    desk.page.keyboard.press("Tab")  # no trap: the next thing that can have the focus
    desk.page.wait_for_function("crfviz.labellerFocus().startsWith('BUTTON')")


@pytest.mark.rotating
def test_agreement_opens_a_disagreement_in_the_explorer(desk, who, watch, fresh):
    text = "The old man the boats ."
    desk.open(model=MODEL, **{"v.by": f"{who}-1", "v.part": "add"}).paste(text)
    document = desk.screen.param("v.doc")
    desk.key("n")
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_text("are done")).to_be_visible()
    other = Desk(watch(fresh())).open(model=MODEL, **{"v.by": f"{who}-2", "v.doc": document})
    expect(other.chips.first).to_be_visible()
    other.key("v")
    other.page.keyboard.press("Enter")
    expect(other.page.get_by_text("are done")).to_be_visible()
    other.page.get_by_role("radio", name="Agreement").click()
    expect(other.page.get_by_text("1 word with two tags")).to_be_visible()
    expect(other.page.get_by_text("Cohen's κ").first).to_be_visible()


@pytest.mark.rotating
def test_labelled_sentences_are_taught_and_the_new_model_is_used(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("The old man the boats .")
    desk.chips.nth(2).click()
    desk.key("b")
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_text("are done")).to_be_visible()
    desk.page.get_by_role("radio", name="Model").click()
    desk.page.get_by_placeholder(f"{MODEL}-taught").fill(who)
    desk.page.get_by_placeholder(f"{MODEL}-taught").press("Enter")
    desk.page.get_by_role("button", name="Teach").click()
    use = desk.page.get_by_role("button", name="from now on")
    expect(use).to_be_visible(timeout=120_000)
    expect(desk.page.get_by_text("trained on 1 sentence")).to_be_visible()
    use.click()

    def check():
        assert desk.screen.params()["model"] not in (MODEL, "upos-en")

    desk.screen.eventually(check)
    desk.screen.follow("Explore")
    expect(desk.page.locator("[data-stage] .word").first).to_be_visible()


@pytest.mark.rotating
def test_disabled_teach_button_is_readable_in_both_themes(desk, who):
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("They never sleep .")
    desk.page.get_by_role("radio", name="Model").click()
    button = desk.page.get_by_role("button", name="Teach", exact=True)
    expect(button).to_be_disabled()
    for scheme in ("light", "dark"):
        desk.page.emulate_media(color_scheme=scheme)
        desk.page.wait_for_function(f"{SCHEME} === '{scheme}'")
        button.evaluate(SAMPLE)
        assert violations(desk.page, COLOURS) == []


@pytest.mark.rotating
def test_teaching_can_be_cancelled(desk, who):
    text = "\n".join("The old man the boats ." for _ in range(12))
    desk.open(model="upos-en", **{"v.by": who, "v.part": "add"}).paste(text)
    for _ in range(11):
        desk.key("Enter")
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_text("are done")).to_be_visible()
    desk.page.get_by_role("radio", name="Model").click()
    desk.page.get_by_role("button", name="Teach").click()
    desk.page.get_by_role("button", name="Cancel").click()
    expect(desk.page.get_by_text("cancelled; nothing was saved")).to_be_visible()


@pytest.mark.rotating
def test_most_uncertain_sentence_is_first_with_its_reason(desk, who):
    texts = ["The dog barked .", "Time flies like an arrow .", "She reads ."]
    desk.open(model=MODEL, **{"v.by": who, "v.part": "add"}).paste("\n".join(texts))
    desk.screen.choose("view-order", "most uncertain")
    desk.page.wait_for_function("document.URL.includes('order=entropy')")
    chains = [tagger(MODEL).potentials(text.split()) for text in texts]
    entropies = [forward_backward(chain).entropy for chain in chains]
    order = sorted(range(3), key=lambda n: -entropies[n])
    for number in order:
        desk.expect_words(texts[number].split())
        reason = desk.page.locator("[data-labeller] .reason")
        expect(reason).to_contain_text(f"entropy {entropies[number]:.2f} nats")
        desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_text("are done")).to_be_visible()
