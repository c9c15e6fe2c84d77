"""A sequence too long to draw: the strip of the whole, a window, and the numbers of the whole."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import expect

import crfviz
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.taggers.user_models import remove_model
from crfviz.views.stage.picture import WINDOW
from tests.support.screen import MARGINAL, assert_lattice, assert_rows, assert_table, named, tagger

CPG = "textbook/cpg"
T, FIRST = 2000, 700
LETTERS = "".join(np.random.default_rng(5).choice(list("ACGT"), T))


@pytest.fixture(scope="module")
def potentials():
    return tagger(CPG).potentials(list(LETTERS))


def in_sight(analysis, first):
    """What a picture draws of the numbers of the whole sequence."""
    span = slice(first, first + WINDOW)
    return SimpleNamespace(
        words=list(LETTERS[span]),
        tags=list(tagger(CPG).tags),
        analysis=SimpleNamespace(
            greedy=analysis.greedy[span],
            left_to_right=analysis.left_to_right[span],
            max_marginal=analysis.max_marginal[span],
            viterbi=SimpleNamespace(path=analysis.viterbi.path[span]),
            forward_backward=SimpleNamespace(marginals=analysis.forward_backward.marginals[span]),
            backpointers=analysis.backpointers[span],
            best=analysis.best[span],
        ),
    )


def assert_window(screen, analysis, first):
    expected = in_sight(analysis, first)

    def check():
        shown = screen.read()
        assert shown.source == "python"
        assert_rows(shown, expected)
        assert_lattice(shown, expected)

    screen.eventually(check)


def test_window_is_moved_by_keys_and_by_clicking_the_strip(screen, potentials):
    screen.open("", model=CPG, sentence=LETTERS)
    place, slider = screen.page.locator(".overview-place"), screen.page.locator(".overview input")
    expected = analyse(potentials)
    expect(place).to_have_text("1–120 of 2,000")
    assert_window(screen, expected, 0)
    slider.focus()
    screen.press("ArrowRight", "ArrowRight")
    expect(place).to_have_text("121–240 of 2,000")
    expect(slider).to_be_focused()
    assert_window(screen, expected, 120)
    screen.press("End")
    expect(place).to_have_text("1,881–2,000 of 2,000")
    screen.expect_param("v.from", "1880")
    box = slider.bounding_box()
    screen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(place).to_have_text(re.compile(r"^(9|1,0)\d\d–1,0\d\d of 2,000$"))
    painted = "c => c.getContext('2d').getImageData(0, 0, c.width, 12).data.some(v => v > 0)"
    assert screen.page.locator(".overview canvas").evaluate(painted)


def test_edits_in_a_window_change_the_whole_sentence(screen, potentials):
    link = {"model": CPG, "sentence": LETTERS, "v.from": str(FIRST)}
    screen.open("transitions", **link)
    cell = screen.cell("C+", "G+")
    cell.focus()
    screen.press(*"4.4816890703380645", "Enter")  # exp(1.5): the page shows probabilities
    screen.expect_edits(1)
    screen.expect_param("t", "C%2B.G%2B:1.5")
    edits = Edits({("C+", "G+"): 1.5})
    assert_window(screen, analyse(edits.apply(potentials)), FIRST)


@pytest.mark.rotating
def test_emission_edited_in_a_window_has_its_sentence_position(screen):
    screen.open("emissions", model=CPG, sentence=LETTERS, **{"v.from": str(FIRST)})
    k = tagger(CPG).tags.index("A-")
    cell = screen.emission(3, k)
    cell.focus()
    screen.press(*"0.5", "Enter")
    screen.expect_edits(1)
    assert screen.param("e").startswith(f"{FIRST + 3}.A-:-0.69314")


@pytest.mark.rotating
def test_window_shows_the_rule_path_of_the_whole_sentence(screen, potentials):
    rule = '[^ "A-"]*'
    link = {"v.from": str(FIRST), "v.rule": rule, "v.ask": "1"}
    screen.open("transitions", model=CPG, sentence=LETTERS, **link)

    found = crfviz.match(potentials, rule).path
    assert found != crfviz.viterbi(potentials).path
    in_sight = named(found[FIRST : FIRST + WINDOW], tagger(CPG).tags)
    screen.eventually(lambda: assert_equal(screen.read().rows["rule"], in_sight))
    expect(screen.page.get_by_text("Questions are asked of sentences of up to 120")).to_be_visible()
    expect(screen.page.get_by_text("found in sentences of up to 1,000 words")).to_be_visible()


def test_window_marginals_are_conditioned_on_the_rule(screen, potentials):
    rule = '[^ "A-"]*'
    link = {"v.from": str(FIRST), "v.rule": rule}
    screen.open("marginals", model=CPG, sentence=LETTERS, **link)
    found = crfviz.match(potentials, rule)

    def is_given():
        shown = screen.read()
        assert shown.rows["best_1"] == named(found.path[FIRST : FIRST + WINDOW], tagger(CPG).tags)
        assert_table(shown, "marginals", found.marginals[FIRST : FIRST + WINDOW])

    screen.eventually(is_given)
    painted = "c => c.getContext('2d').getImageData(0, 0, c.width, 12).data.some(v => v > 0)"
    assert screen.page.locator(".overview canvas").evaluate(painted)
    screen.page.locator(".overview input").focus()
    screen.press("End")
    expect(screen.page.locator(".overview-place")).to_have_text("1,881–2,000 of 2,000")
    last = named(found.path[-WINDOW:], tagger(CPG).tags)
    screen.eventually(lambda: assert_equal(screen.read().rows["best_1"], last))


def assert_equal(found, expected):
    assert found == expected


@pytest.fixture
def wide(app, tmp_path, monkeypatch):
    """A chain of 500 words and 50 tags, which the server has as the model “wide”."""
    monkeypatch.setenv("CRFVIZ_USER_MODELS", app.models)
    dice, words = np.random.default_rng(0), [f"w{t}" for t in range(500)]
    scores = {
        "emissions": 2 * dice.normal(size=(500, 50)),
        "transitions": dice.normal(size=(50, 50)),
    }
    np.savez(tmp_path / "scores.npz", tags=[f"T{k:02}" for k in range(50)], tokens=words, **scores)
    tagger = crfviz.bring(tmp_path / "scores.npz", name="wide")
    yield tagger.potentials(words)
    remove_model(tagger.name)


def test_fifty_tags_and_five_hundred_words_are_drawn_and_edited(screen, wide):
    words = " ".join(wide.tokens)
    screen.open("", model="wide", sentence=words)
    expect(screen.page.locator(".overview-place")).to_have_text("1–120 of 500")
    assert_in_sight(screen, analyse(wide), has=0, lacks=119)
    node = screen.node(1, 7)
    node.focus()
    for t in range(2, 40):
        screen.press("ArrowRight")
        expect(screen.node(t, 7)).to_be_focused()
    assert_in_sight(screen, analyse(wide), has=39, lacks=0)

    screen.open("transitions", model="wide", sentence=words)
    screen.cell("T00", "T01").focus()
    screen.press(*"4.5", "Enter")
    screen.expect_edits(1)
    edited = analyse(Edits({("T00", "T01"): 4.5}).apply(wide))
    assert_in_sight(screen, edited, has=0, lacks=119)
    screen.page.locator(".scroller").evaluate("box => (box.scrollLeft = box.scrollWidth)")
    assert_in_sight(screen, edited, has=119, lacks=30)


def assert_in_sight(screen, analysis, *, has, lacks):
    """The rows are there, and of the lattice the words that are not scrolled away."""

    def check():
        shown = screen.read()
        assert shown.source == "python"
        path = analysis.viterbi.path[:WINDOW]
        assert shown.rows["viterbi"] == [f"T{k:02}" for k in path]
        places = [tuple(map(int, place.split(","))) for place in shown.marginals]
        columns = {t for t, _ in places}
        assert has in columns
        assert lacks not in columns
        expected = [analysis.forward_backward.marginals[place].item() for place in places]
        assert list(shown.marginals.values()) == pytest.approx(expected, abs=MARGINAL)
        assert set(shown.best) == {f"{t},{path[t]}" for t in columns}

    screen.eventually(check)


def test_live_file_moves_its_window_without_a_server(screen, potentials, tmp_path):
    file = tmp_path / "dna.html"
    crfviz.export_html(potentials, file, pages=["explore", "viterbi"])
    page = screen.page
    page.goto(file.as_uri())
    place, slider = page.locator(".overview-place"), page.locator(".overview input")
    expect(place).to_have_text("1–120 of 2,000")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(place).to_have_text("61–180 of 2,000")
    expect(slider).to_be_focused()
    marginals = crfviz.forward_backward(potentials).marginals
    for t, k in [(0, 0), (50, 5), (119, 7)]:
        node = page.locator(f'[data-node="{t},{k}"]')
        expect(node).to_have_attribute("data-marginal", f"{marginals[60 + t, k].item():.6f}")
    page.get_by_role("button", name="Viterbi").click()
    expect(place).to_have_text("61–180 of 2,000")
