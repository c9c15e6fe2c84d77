"""The same name everywhere, by keyboard: the line, the list, yes, no, all, undo; and why."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.annotations.files.importing import read_items
from crfviz.annotations.settings import Settings
from crfviz.annotations.store.store import open_store
from crfviz.taggers.blank import bio_tags
from tests.browser.test_annotate import Desk, name

TEXTS = [
    "Bergen is wet",
    "Bergenhus is not Bergen",
    "I like Oslo",
    "I saw Bergen and bergen",
    "Rain in Bergen",
]


@pytest.fixture
def desk(screen):
    return Desk(screen)


@pytest.fixture
def who(request):
    return name(request)


def opened(desk, app, who, texts=TEXTS):
    with open_store(app.database) as store:
        settings = Settings(bio_tags(["TOWN", "PERSON"]))
        document = store.add(
            who, read_items("\n".join(texts).encode(), who).items, settings=settings
        )
        (key,) = [each.key for each in store.documents() if each.name == document]
    desk.open(**{"v.by": who, "v.doc": key})
    expect(desk.chips.first).to_be_visible()
    return document


def stored(app, document, who):
    with open_store(app.database) as store:
        return {
            item.position + 1: (dict(said.pins), said.revision)
            for item, said in store.annotations(document, who)
        }


def test_name_is_marked_everywhere_by_keyboard(desk, app, who):
    document = opened(desk, app, who)
    line, rows = desk.root.locator("[data-everywhere]"), desk.root.locator("[data-occurrence]")
    desk.key("t")
    expect(desk.root.locator('[data-everywhere="3"]')).to_have_text(re.compile("Bergen: 3 more.*e"))
    desk.key("e")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("Bergenhus is not Bergen")
    expect(desk.root.locator("[data-act]:visible")).to_have_count(0)  # the list has their keys
    desk.key("y")
    assert stored(app, document, who)[2] == ({3: "B-TOWN"}, 1)
    expect(rows.nth(1)).to_have_attribute("data-cursor", "true")
    desk.key("n")
    expect(desk.root.locator('[data-everywhere="1"]')).to_be_visible()
    desk.key("a")
    assert stored(app, document, who)[5] == ({2: "B-TOWN"}, 1)
    assert 4 not in stored(app, document, who)
    expect(line).to_have_count(0)
    desk.page.keyboard.press("Home")
    desk.key("Backspace")  # the yes in the second sentence
    assert stored(app, document, who)[2] == ({}, 2)
    desk.key("Shift+Backspace")
    assert stored(app, document, who)[5] == ({}, 2)
    desk.page.keyboard.press("End")
    desk.key("Escape")
    expect(rows).to_have_count(0)
    expect(desk.root.locator('[data-everywhere="3"]')).to_be_visible()
    desk.key("e")
    desk.key("n")
    desk.key("Escape")
    desk.page.reload()  # what was refused is remembered
    expect(desk.chips.first).to_be_visible()
    desk.key("x")
    desk.key("t")
    expect(desk.root.locator('[data-everywhere="2"]')).to_be_visible()


def test_places_are_whole_on_a_phone(desk, app, who):
    rain = "It has rained for two months in Bergen and Bergenhus"
    opened(desk, app, who, ["Bergen", *[rain] * 12])
    desk.page.set_viewport_size({"width": 390, "height": 844})
    desk.key("t")
    desk.key("e")
    yes = desk.root.locator('[data-answer-all="yes"]')
    expect(yes).to_be_in_viewport(ratio=1)  # the list alone scrolls
    name = desk.root.locator("[data-occurrence] b").first
    expect(name).to_be_visible()
    around = name.evaluate(
        "(b) => [b.getBoundingClientRect().right, b.parentElement.getBoundingClientRect().right]"
    )
    assert around[0] <= around[1]


def test_yes_is_undone_by_backspace_in_its_sentence(desk, app, who):
    document = opened(desk, app, who)
    for key in ("t", "e", "a", "Escape"):
        desk.key(key)
    desk.page.keyboard.press("Enter")
    expect(desk.chips).to_have_count(4)
    assert desk.tags() == ["O", "O", "O", "B-TOWN"]
    desk.key("Backspace")
    assert stored(app, document, who)[2] == ({}, 2)
    assert desk.pinned() == []


def test_remembered_name_says_where_it_was_seen_and_why(desk, app, who):
    opened(desk, app, who)
    desk.key("t")
    desk.page.keyboard.press("Enter")
    expect(desk.chips).to_have_count(4)
    expect(desk.chips.nth(3)).to_have_attribute("data-seen", "true")
    expect(desk.chips.nth(3)).to_contain_text("seen in 1")
    desk.page.keyboard.press("End")
    desk.key("?")
    expect(desk.root.locator("[data-because]")).to_contain_text("seen in 1")
    desk.key("?")
    expect(desk.root.locator("[data-because]")).to_have_count(0)


def test_question_mark_explains_the_model_under_the_annotators_tags(desk, who):
    desk.open(model="upos-en-contextfree", **{"v.by": who, "v.part": "add"}).paste("They run .")
    desk.page.keyboard.press("Home")
    desk.key("v")
    desk.page.keyboard.press("ArrowRight")
    desk.key("?")
    because = desk.root.locator('[data-because="1"]')
    expect(because).to_contain_text("its rival is")
    expect(because).to_contain_text("under 1 other tag of yours")
