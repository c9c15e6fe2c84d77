"""A number typed into every cell of a matrix is found in its cell, whatever the tags are called."""

import json
from itertools import pairwise, product

import pytest
from playwright.sync_api import expect

import crfviz
from crfviz.taggers.examples import Example
from crfviz.taggers.registry import store_model
from crfviz.views.exports.live import Live
from crfviz.views.exports.live_page import live_page
from crfviz.views.site.folder import write_site
from tests.browser.test_bring import bring, remove, use
from tests.support.brought import understand

TAGS = {
    "commas": [",", "NN", "VB"],
    "parts": ["a", "a,b", "b", "b,a"],
    "borders": ["START", "END", "any"],
    "features": ["NOUN|Case=Nom|Number=Sing", "__proto__", "B-geo,loc:x.y%2C " + "long" * 9],
}
WORDS = ["Well", ",", "look"]


def cases(name):
    """Every list of tags; in each place, one of them, by name, is tried at every commit."""
    marks = {each: () if each == name else pytest.mark.rotating for each in TAGS}
    return pytest.mark.parametrize(
        "tags", [pytest.param(tags, id=each, marks=marks[each]) for each, tags in TAGS.items()]
    )


def scores(tags):
    K = len(tags)
    rows = [[(3 * i + j) % 5 / 4 for j in range(K)] for i in range(K + len(WORDS))]
    sentences = [{"tokens": WORDS, "emissions": rows[K:]}]
    return {"tags": tags, "transitions": rows[:K], "sentences": sentences}


def numbers(tags, first=2):
    """Return a number for each cell, by the ids of its ends: START is -1, END is K."""
    K = len(tags)
    cells = [(i, j) for i in range(-1, K) for j in range(K + 1) if (i, j) != (-1, K)]
    return {cell: f"0.{n}3" for n, cell in enumerate(cells, first)}


def cell(page, ends):
    return page.locator(f"[data-stage] [data-ends='{ends[0]},{ends[1]}']")


def type_numbers(page, wanted):
    for ends, number in wanted.items():
        cell(page, ends).focus()  # a click could meet a neighbour, while answers move the picture
        page.keyboard.type(number)
        page.keyboard.press("Enter")
        expect(cell(page, ends), f"cell {ends}").to_have_attribute("aria-valuetext", number)


def expect_numbers(page, wanted):
    expect(page.locator("[data-stage] [data-ends]")).to_have_count(len(wanted))
    for ends, number in wanted.items():
        expect(cell(page, ends), f"cell {ends}").to_have_attribute("aria-valuetext", number)


@pytest.fixture
def watched(fresh):
    """A page; afterwards no script has failed."""
    broken = []
    page = fresh().new_page()
    page.on("pageerror", lambda error: broken.append(str(error)))
    yield page
    assert not broken


@cases("parts")
def test_every_cell_of_an_upload_keeps_its_number(screen, tags):
    bring(screen, ("a.json", json.dumps(scores(tags)).encode()))
    use(screen, "rare")
    model = screen.params()["model"]
    screen.open("transitions", model=model, sentence="  ".join(WORDS), **{"v.folded": "no"})
    wanted = numbers(tags)
    type_numbers(screen.page, wanted)
    screen.expect_edits(len(wanted))
    expect_numbers(screen.page, wanted)
    expect(screen.page.locator("[data-ruler]")).to_be_visible()
    screen.page.reload()
    expect_numbers(screen.page, wanted)
    screen.expect_edits(len(wanted))
    expect(screen.page.locator("[data-ruler]")).to_be_visible()
    remove(screen, model)


@cases("borders")
def test_every_cell_of_a_live_file_keeps_its_number(watched, tmp_path, monkeypatch, tags):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "models"))
    store_model(understand(("a.json", json.dumps(scores(tags)).encode())), "rare")
    chain = crfviz.load_tagger("rare").potentials(WORDS)
    tags = chain.tag_names
    path = tmp_path / "live.html"
    path.write_text(live_page(Live(chain), ["transitions"]), "utf-8")
    watched.goto(path.as_uri())
    wanted = numbers(tags)
    type_numbers(watched, wanted)
    expect_numbers(watched, wanted)
    names = ["START", *tags, "END"]
    edits = {(names[i + 1], names[j + 1]): float(number) for (i, j), number in wanted.items()}
    path.write_text(live_page(Live(chain, edits=crfviz.Edits(edits)), ["transitions"]), "utf-8")
    watched.reload()
    expect_numbers(watched, wanted)


APP = """
import crfviz, streamlit as st

chain = crfviz.Potentials({emissions}, {transitions}, tags={tags!r}, tokens={words!r})
shown = crfviz.st_lattice(chain, view="transitions", key="k")
path = crfviz.viterbi(shown.potentials)
st.text(f"{{len(shown.edits)}} edits, {{path.path}} {{path.score:.6f}}")
"""


@cases("commas")
def test_every_cell_of_an_element_keeps_its_number(watched, guests, tags):
    tags = [f"{tag}_" if tag in ("START", "END") else tag for tag in tags]
    rows = scores(tags)
    emissions, transitions = rows["sentences"][0]["emissions"], rows["transitions"]
    parts = {"emissions": emissions, "transitions": transitions, "tags": tags, "words": WORDS}
    guests.open(watched, APP.format(**parts))
    wanted = numbers(tags)
    type_numbers(watched, wanted)
    expect_numbers(watched, wanted)
    path, score = best_path(emissions, {cell: float(text) for cell, text in wanted.items()})
    expect(watched.get_by_text(f"{len(wanted)} edits, {path} {score:.6f}")).to_be_visible()


def best_path(emissions, weights):
    """Return the best of all paths, by the weights of the matrix's cells, and its score."""
    K = len(emissions[0])
    every = {}
    for path in product(range(K), repeat=len(emissions)):
        moves = sum(weights[cell] for cell in pairwise([-1, *path, K]))
        every[path] = moves + sum(row[tag] for row, tag in zip(emissions, path, strict=True))
    best = max(every, key=every.get)
    return [*best], every[best]


@cases("features")
def test_every_cell_of_a_site_keeps_its_number(watched, tmp_path, tags):
    tags = [f"{tag}_" if tag in ("START", "END") else tag.replace(" ", "-") for tag in tags]
    K = len(tags)
    even = [[1 / K] * K] * K
    ends = [[1 / (K + 1)] * K] * K
    symbols = [[1 / len(WORDS)] * len(WORDS)] * K
    tagger = crfviz.from_hmm(even[0], ends, symbols, WORDS, tags, end=[1 / (K + 1)] * K)
    tagger.examples = lambda: [Example(" ".join(WORDS), tuple(WORDS), "", "agree")]
    write_site(tmp_path / "site", [tagger])
    address = (tmp_path / "site" / "index.html").as_uri()
    watched.goto(f"{address}#page=transitions")
    wanted = numbers(tags)
    type_numbers(watched, wanted)
    expect_numbers(watched, wanted)
    watched.wait_for_function("(n) => location.hash.split('%3A').length > n", arg=len(wanted))
    watched.reload()
    expect_numbers(watched, wanted)
