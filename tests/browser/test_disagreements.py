"""Two annotators, one answer: their disagreements are settled at the desk by key."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.records import CURATED, Annotation
from crfviz.annotations.store.store import open_store
from tests.browser.test_annotate import MODEL, Desk, name
from tests.support.accessibility import assert_accessible
from tests.support.screen import tagger

SENTENCES = ("They can fish .", "Dogs cannot run .", "Book that flight !")
WHOLE = ((0, 4), (5, 11), (12, 15), (16, 17))
SPLIT = ((0, 4), (5, 8), (8, 11), (12, 15), (16, 17))
ANNA = ("PRON AUX VERB PUNCT", "NOUN AUX VERB PUNCT", "VERB DET NOUN PUNCT")
BEN = ("PRON VERB NOUN PUNCT", "NOUN AUX PART VERB PUNCT", "NOUN PRON NOUN PUNCT")


@pytest.fixture
def desk(screen):
    return Desk(screen)


@pytest.fixture
def who(request):
    return name(request)


@pytest.fixture
def document(app, who):
    """A document with two versions of each sentence; the second is split in another way."""
    with open_store(app.database) as store:
        stored = keep(store, read_items("\n".join(SENTENCES).encode(), who))[-1]
        for item, *rows in zip(store.items(stored), ANNA, BEN, strict=True):
            for annotator, row in zip(("anna", "ben"), rows, strict=True):
                tags = tuple(row.split())
                offsets = item.offsets
                if "cannot" in item.text:
                    offsets = SPLIT if annotator == "ben" else WHOLE
                said = Annotation(item.id, annotator, offsets, tags, tags, state="done")
                store.save(said, tagger(MODEL).tags)
        yield next(each for each in store.documents() if each.name == stored)


def taken(desk):
    return desk.page.locator("[data-labeller] .versions .row").first


def test_disagreements_are_settled_by_key_and_exported(desk, who, document, app):
    desk.open(model=MODEL, **{"v.by": who, "v.doc": document.key, "v.part": "agreement"})
    desk.page.get_by_role("button", name="Settle 3 disagreements").press("Enter")
    expect(desk.page.get_by_text("0 of 3 disagreements settled")).to_be_visible()

    desk.expect_words(SENTENCES[0].split())
    assert desk.pinned() == [0, 3]
    lanes = desk.chips.nth(1).locator(".lanes span")
    expect(lanes).to_have_text(["1 AUX", "2 VERB"])
    expect(desk.chips.nth(1)).to_have_attribute("data-cursor", "true")
    expect(desk.chips.nth(1)).to_have_attribute("aria-label", re.compile("anna says AUX, ben says"))
    expect(taken(desk)).to_contain_text("1annacan AUX2bencan VERB")
    link = taken(desk).get_by_role("link", name="Why does the model say so?")
    assert "at=1" in link.get_attribute("href")
    desk.key("2")
    assert desk.tags()[1] == "VERB"
    desk.key("Backspace")
    assert desk.pinned() == [0, 3]
    desk.key("1")
    assert desk.tags()[1] == "AUX"
    desk.page.keyboard.press("Enter")
    expect(desk.chips.nth(2)).to_have_attribute("data-cursor", "true")
    assert desk.pinned() == [0, 1, 3]
    desk.key("1")
    desk.page.keyboard.press("Enter")

    desk.expect_words(["Dogs", "cannot", "run", "."])
    expect(taken(desk)).to_contain_text("They split the words differently.")
    expect(desk.chips.nth(1).locator(".lanes span")).to_have_text(["1 AUX", "2 split"])
    desk.key("2")
    desk.expect_words(["Dogs", "can", "not", "run", "."])
    assert desk.tags() == BEN[1].split()
    desk.page.keyboard.press("Enter")

    desk.expect_words(SENTENCES[2].split())
    desk.key("Shift+2")
    assert desk.tags() == BEN[2].split()
    desk.page.keyboard.press("Home")
    desk.key("b")
    desk.page.keyboard.press("Enter")
    expect(desk.page.get_by_text(f"All 3 disagreements of {who}")).to_be_visible()

    answers = [ANNA[0], BEN[1], BEN[2].replace("NOUN", "VERB", 1)]
    with open_store(app.database) as store:
        curated = [each for _, each in store.annotations(document.name, CURATED)]
    assert [" ".join(each.final) for each in curated] == answers
    assert {each.curation.by for each in curated} == {who}
    assert all(set(each.curation.versions) == {"anna", "ben"} for each in curated)
    desk.page.get_by_role("button", name="Export", exact=True).press("Enter")
    desk.screen.choose("view-format", "JSONL")
    desk.screen.expect_param("v.format", "jsonl")
    download = desk.page.get_by_role("button", name="Download 3 annotated sentences")
    expect(download).to_be_visible()


@pytest.mark.rotating
def test_reading_is_taken_by_mouse_without_letter_keys(desk, who, document):
    view = {"v.by": who, "v.doc": document.key, "v.order": "disputed", "v.no_letters": "1"}
    desk.open(model=MODEL, **view)
    desk.expect_words(SENTENCES[0].split())
    assert_accessible(desk.screen, "two versions at the desk")
    desk.page.get_by_role("button", name="2 ben can VERB").click()
    expect(desk.chips.nth(1)).to_have_attribute("data-pinned", "true")
    assert desk.tags()[1] == "VERB"
