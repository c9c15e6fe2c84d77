"""Bringing a model in the browser: look at it, use it on every page, remove it."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import expect

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from tests.support.brought import (
    DOG,
    FALLS,
    TAGS,
    TRANSITIONS,
    as_json,
    as_npz,
)
from tests.support.screen import (
    assert_matrix,
)

SENTENCE = " ".join(DOG["tokens"])
START = [1.0, 0.0, -math.inf]


def as_file(name, content):
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def bring(screen, *files):
    """Upload files, until the page says something about them."""
    screen.visit("bring")
    screen.page.locator(".st-key-bring-files input[type=file]").set_input_files(
        [as_file(*file) for file in files]
    )


def use(screen, name):
    box = screen.page.locator(".st-key-bring-name input")
    box.fill(name)
    box.press("Enter")
    screen.rest()
    before, model = screen.page.evaluate("crfviz.mark()"), screen.param("model")
    screen.page.get_by_role("button", name="Use this model").click()
    screen.expect_title("Explore")
    screen.wait(before)
    screen.page.wait_for_function(
        "(before) => ![before, null].includes(new URL(document.URL).searchParams.get('model'))",
        arg=model,
    )


def remove(screen, name):
    screen.visit("bring")
    screen.choose("bring-own", name)
    screen.rest()  # a redraw closes what is open
    screen.page.get_by_role("button", name="Remove", exact=False).first.click()
    screen.wait_for_text(f"Delete {name} for everyone?")
    screen.page.get_by_role("button", name="Remove for good").click()
    screen.wait_for_text(f"“{name}” is gone")


def expected(emissions, tokens, edits=None):
    chain = Potentials(emissions, TRANSITIONS, START, tags=TAGS, tokens=tokens)
    edits = edits or Edits()
    return SimpleNamespace(words=list(tokens), tags=TAGS, analysis=analyse(edits.apply(chain)))


@pytest.fixture
def dog(screen):
    """A model of two sentences, in use."""
    bring(screen, as_json(start=[1, 0, "-inf"]))
    screen.wait_for_text("Read so that NOUN after DET has 2")
    use(screen, "dog")
    name = screen.params()["model"]
    yield name
    remove(screen, name)


def test_brought_model_is_used_edited_and_removed(screen, dog):
    assert re.fullmatch(r"dog(-\d+)?", dog)  # names of removed models are not given again
    told = expected(DOG["emissions"], DOG["tokens"])
    screen.expect_lattice(told)
    screen.turn("transitions", model=dog, sentence="Night falls")
    falls = expected(FALLS["emissions"], FALLS["tokens"])
    screen.eventually(lambda: assert_matrix(screen.read(), falls))
    with screen.redraw():
        screen.type_score(screen.cell("NOUN", "VERB"), "-4")
    edits = Edits(transitions={("NOUN", "VERB"): -4.0})
    screen.expect_lattice(expected(FALLS["emissions"], FALLS["tokens"], edits))


def test_typed_probabilities_are_asked_about_and_used(screen):
    screen.visit("bring", **{"v.way": "tables"})
    page = screen.page
    boxes = {
        "tags": "N V",
        "words": "dogs bark",
        "transitions": "0.9 0.1\n0.3 0.7",
        "emissions": "0.2 0.8\n0.5 0.5",
    }
    for name, text in boxes.items():
        box = page.locator(f".st-key-draft-bring-{name}").locator("input, textarea")
        box.fill(text)
        box.press("Control+Enter")
        screen.rest()
    screen.wait_for_text("these look like probabilities: take logarithms?")
    expect(page.get_by_role("button", name="Use this model")).to_be_disabled()
    page.get_by_text("Take logarithms", exact=True).click()
    expect(page.get_by_role("button", name="Use this model")).to_be_enabled()
    use(screen, "typed")
    model = screen.params()["model"]
    chain = Potentials(
        [[math.log(0.2), math.log(0.8)], [math.log(0.5)] * 2],
        [[math.log(0.9), math.log(0.1)], [math.log(0.3), math.log(0.7)]],
        tags=["N", "V"],
        tokens=["dogs", "bark"],
    )
    screen.expect_lattice(
        SimpleNamespace(words=["dogs", "bark"], tags=["N", "V"], analysis=analyse(chain))
    )
    remove(screen, model)


LONG = ["O", *(f"{prefix}-{'person-organisation-' * 2}{n}" for n in "ab" for prefix in "BI")]
NAMES = (
    ".tag",
    ".tag-label",
    ".span-cell",
    ".entity-own button",
    ".matrix-label",
    ".matrix-head span",
)
SPILLED = """(names) => names.filter((name) => {
  const { textOverflow, overflowX } = getComputedStyle(name);
  const dots = textOverflow === "ellipsis" && overflowX !== "visible" && name.closest("[title]");
  return name.scrollWidth > name.clientWidth + 1 && !dots;
}).map((name) => name.outerHTML)"""


@pytest.mark.rotating
def test_long_tag_names_are_cut_and_have_a_tooltip(screen):
    zeros = [[0.0] * 5] * 5
    bring(screen, as_json({"tags": LONG, "transitions": zeros, **dog_of(LONG)}))
    screen.wait_for_text("These are BIO tags")
    model = "-".join(["long"] * 8)
    use(screen, model)
    for path in ("entities", "transitions"):
        screen.open(path, model=model, sentence=SENTENCE)
        screen.eventually(lambda: assert_none_spills(screen))
    first = screen.page.locator(".tag", has_text="B-person").first
    assert first.get_attribute("title") in LONG
    box = screen.page.locator(".st-key-model input")
    expect(box).to_have_value(model)
    expect(box).to_have_css("text-overflow", "ellipsis")
    screen.eventually(lambda: assert_overflows(box))
    remove(screen, model)


def assert_none_spills(screen):
    for names in NAMES:
        assert screen.page.locator(names).evaluate_all(SPILLED) == [], names


def assert_overflows(box):
    assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")


def dog_of(tags):
    """The dog with scores for other tags: each word has the next one."""
    emissions = [[float(k == t + 1) for k in range(len(tags))] for t in range(3)]
    return {"tokens": DOG["tokens"], "emissions": emissions}


@pytest.mark.rotating
def test_model_name_follows_the_file_and_gets_a_free_number(screen):
    box = screen.page.locator(".st-key-bring-name input")
    uploader = screen.page.locator(".st-key-bring-files input[type=file]")
    bring(screen, as_json())
    expect(box).to_have_value("scores")
    screen.page.locator(".st-key-bring-files").get_by_role("button", name="Remove").click()
    uploader.set_input_files(
        [as_file(*as_npz(emissions=np.array([[1.0, 2.0]]), transitions=np.zeros((2, 2))))]
    )
    screen.wait_for_text("The tags are not named")
    use(screen, "upos-en")
    name = screen.params()["model"]
    assert name == "upos-en-2"
    remove(screen, name)
