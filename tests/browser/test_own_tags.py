"""From no model to one that explains itself: own tags, ten sentences by keyboard, a model."""

import io
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from crfviz.annotations.labelling import propose
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.settings import Settings
from crfviz.annotations.store.store import open_store
from crfviz.taggers.registry import load_tagger
from tests.browser.test_annotate import ADD, Desk, name

TAGS = "WARE, FARBE, STOFF, GRÖSSE, MARKE=k, MENGE=n"
KEYS = {"WARE": "w", "FARBE": "f", "STOFF": "s", "GRÖSSE": "g", "MARKE": "k", "MENGE": "n"}
WORDS = {
    "MENGE": ("Zwei", "Drei"),
    "FARBE": ("rote", "blaue", "graue"),
    "WARE": ("Jacken", "Hosen"),
    "STOFF": ("Wolle", "Leinen"),
    "GRÖSSE": ("S", "L"),
    "MARKE": ("Nordwind", "Halm"),
}
TAG_OF = {word: tag for tag, words in WORDS.items() for word in words}
SENTENCES = [
    f"{number} {colour} {thing} aus {stuff} in {size} von {brand}"
    for number, colour, thing, stuff, size, brand in list(product(*WORDS.values()))[::8]
]
DOCUMENT = "Zwei rote Jacken aus …"  # named by its first words


def right_tags(words):
    return [f"B-{TAG_OF[word]}" if word in TAG_OF else "O" for word in words]


def finish(app, who, start, count):
    """Store finished sentences; each takes two seconds by keyboard."""
    with open_store(app.database) as store:
        for item in store.items(DOCUMENT, start, count):
            tags = tuple(right_tags([item.text[slice(*place)] for place in item.offsets]))
            store.save(Annotation(item.id, who, item.offsets, tags, tags, state="done"))


@pytest.fixture
def desk(screen):
    return Desk(screen)


@pytest.fixture
def who(request):
    return name(request)


def enter(desk, who, text, tags, *, words=False):
    desk.open(model="upos-en-contextfree", **{"v.by": who, "v.part": "add"})
    desk.page.locator("textarea").fill(text)
    desk.page.keyboard.press("Control+Enter")
    desk.page.get_by_role("radio", name="my own tags").click()
    if words:
        desk.page.get_by_role("radio", name="a tag for every word").click()
    box = desk.page.get_by_role("textbox", name="Tags, with commas between")
    box.fill(tags)
    box.press("Enter")
    desk.page.get_by_role("button", name=ADD).click()
    expect(desk.chips.first).to_be_visible()


@pytest.mark.long
def test_ten_german_sentences_with_six_labels_train_a_model(desk, who, app):
    enter(desk, who, "\n".join(SENTENCES), TAGS)
    expect(desk.page.get_by_text("From 10 finished sentences on")).to_be_visible()
    expect(desk.page.locator("[data-labeller] .palette kbd")).to_have_text([*KEYS.values(), "x"])
    finish(app, who, 3, 7)
    for sentence in SENTENCES[:3]:
        words = sentence.split()
        desk.expect_words(words)
        for position, word in enumerate(words):
            if word in TAG_OF:
                desk.page.keyboard.press(KEYS[TAG_OF[word]])
                expect(desk.chips.nth(position)).to_have_attribute("data-tag", f"B-{TAG_OF[word]}")
            desk.page.keyboard.press("ArrowRight")
        desk.page.keyboard.press("Enter")
    desk.expect_words(SENTENCES[10].split())
    expect(desk.page.get_by_text("has the model")).to_be_visible(timeout=120_000)
    with open_store(app.database) as store:
        document = next(each for each in store.documents() if each.name == DOCUMENT)
    models = Path(app.database.removeprefix("sqlite:///")).with_name("models")
    tagger = load_tagger(models / document.model)
    words = SENTENCES[10].split()
    wanted = right_tags(words)
    assert list(propose(tagger.potentials(words), {}).tags) == wanted
    expect(desk.chips.nth(1)).to_have_attribute("data-tag", "B-FARBE")
    assert desk.tags() == wanted
    assert desk.screen.params()["model"] == document.model
    expect(desk.page.get_by_text("% of the words right").first).to_be_visible()
    desk.screen.follow("Explore")
    expect(desk.page.locator("[data-stage] .word").first).to_be_visible()


def test_letter_key_moves_to_the_next_word_and_undo_moves_back(desk, who):
    enter(desk, who, "Der Hund bellt", "ART, NOMEN, VERB", words=True)
    for key, cursor in (("a", 1), ("v", 2)):
        desk.key(key)
        expect(desk.chips.nth(cursor)).to_have_attribute("data-cursor", "true")
    desk.key("Backspace")
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    assert desk.tags() == ["ART", "_", "_"]
    desk.page.get_by_text("Stay on a word after its tag").click()
    desk.page.wait_for_function("new URL(document.URL).searchParams.get('v.stay') === '1'")
    desk.key("n")
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    assert desk.tags() == ["ART", "NOMEN", "_"]


@pytest.mark.rotating
@pytest.mark.long
def test_training_survives_a_reload_and_cancelling_leaves_no_model(desk, who, app):
    words, tags = ((0, 4), (5, 12)), ("WARE", "MARKE")
    with open_store(app.database) as store:
        texts = [f"Hose Nord{n:03}" for n in range(300)]
        said = [Annotation(n, who, words, tags, tags, state="done") for n in range(299)]
        items = [Item(text, words) for text in texts]
        stored = store.add("Hosen", items, labelled=said, settings=Settings(tags))
        before = store.annotations(stored)
        document = next(each for each in store.documents() if each.name == stored)
    desk.open(model="upos-en-contextfree", **{"v.by": who, "v.doc": document.key})
    cancel = desk.page.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible()
    desk.screen.reload()
    expect(cancel).to_be_visible()
    cancel.click()
    expect(desk.page.get_by_text("nothing was saved")).to_be_visible()
    desk.page.get_by_role("radio", name="Model").click()
    expect(desk.page.get_by_role("button", name="Train now")).to_be_visible()
    with open_store(app.database) as store:
        assert document in store.documents()
        assert store.annotations(stored) == before


@pytest.mark.rotating
def test_open_desk_takes_keys_that_were_changed_elsewhere(desk, who, app):
    enter(desk, who, "Ein Vogel singt", "ART, NOMEN, VERB", words=True)
    key = desk.screen.param("v.doc")
    with open_store(app.database) as store:
        document = next(each for each in store.documents() if each.key == key)
        store.change(document.name, replace(document.settings, keys={"NOMEN": "x"}))
    desk.key("a")
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    desk.key("x")
    expect(desk.chips.nth(2)).to_have_attribute("data-cursor", "true")
    assert desk.tags() == ["ART", "NOMEN", "_"]


def test_enter_moves_to_a_word_without_a_tag(desk, who):
    enter(desk, who, "Die Katze schläft", "ART, NOMEN, VERB", words=True)
    assert desk.tags() == ["_"] * 3
    desk.page.keyboard.press("Enter")
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    desk.key("n")
    expect(desk.chips.nth(2)).to_have_attribute("data-cursor", "true")
    desk.key("v")
    expect(desk.chips.nth(2)).to_have_attribute("data-cursor", "true")
    desk.page.keyboard.press("Enter")
    expect(desk.chips.nth(0)).to_have_attribute("data-cursor", "true")
    assert desk.tags() == ["_", "NOMEN", "VERB"]
    desk.key("a")
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_text("All sentences of Die Katze schläft are done")).to_be_visible()


@pytest.mark.rotating
def test_right_to_left_sentence_is_labelled_in_its_direction(desk, who):
    enter(desk, who, "החתול ישן כאן", "א, ב", words=True)

    def runs_to_the_left():  # once the style sheet has come
        boxes = [desk.chips.nth(n).bounding_box()["x"] for n in range(3)]
        assert boxes == sorted(boxes, reverse=True)

    desk.screen.eventually(runs_to_the_left)
    desk.page.keyboard.press("Home")
    desk.page.keyboard.press("ArrowLeft")
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    desk.page.keyboard.press("ArrowRight")
    expect(desk.chips.nth(0)).to_have_attribute("data-cursor", "true")


@pytest.mark.rotating
def test_labelled_sentence_names_the_language_of_its_script(desk, who):
    enter(desk, who, "安娜 住 在 奥斯陆", "PER, LOC", words=True)
    sheet = desk.chips.first.locator("xpath=..")
    expect(sheet).to_have_attribute("lang", "zh")


def grey(screenshot):
    return np.asarray(Image.open(io.BytesIO(screenshot)).convert("L"), dtype=float)


@pytest.mark.rotating
def test_right_to_left_name_is_cut_at_its_end(desk, who):
    desk.open(model="upos-en-contextfree", **{"v.by": who, "v.part": "add"})
    desk.paste("הממשלה החליטה אתמול להעלות את המסים")
    box = desk.page.get_by_role("combobox", name="Document")
    expect(box).to_have_value("הממשלה החליטה אתמול להעלות …")
    expect(desk.chips.first).to_be_focused()
    drawn = grey(box.screenshot())
    box.evaluate("(box) => box.dir = 'rtl'")
    again = grey(box.screenshot())
    assert abs(drawn - again).mean() < abs(drawn - again[:, ::-1]).mean() / 4  # half pixels differ


def test_renamed_document_stays_open(desk, who):
    enter(desk, who, "Rote Hose", "WARE")
    document = desk.screen.param("v.doc")
    desk.page.get_by_role("radio", name="Settings").click()
    name = desk.page.get_by_role("textbox", name="Name of the document")
    for new in (f"{who} 1", f"{who} 2"):
        name.fill(new)
        name.press("Enter")
        desk.page.get_by_role("button", name="Save").click()
        expect(desk.page.get_by_role("combobox", name="Document")).to_have_value(new)
    assert desk.screen.param("v.doc") == document
