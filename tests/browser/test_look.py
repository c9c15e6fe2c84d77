"""Legibility of representative pages; `tests/matrix/browser` has all pages, sizes and colours."""

import pytest

from tests.support.accessibility import (
    HALL,
    PROJECTOR,
    assert_contrast,
    assert_forty_words_scroll,
    assert_large,
    assert_readable,
    assert_twelve_words_fit,
    resize,
    walk,
)
from tests.support.screen import GROUPED

TWELVE = "The committee will present its report to the board on Monday ."
FORTY = (
    "When the old man who lived near the river heard that his favourite boat had been sold to a "
    "rich stranger from the city , he walked home slowly , closed the door , and wrote a long "
    "letter ."
)
COLOURS = """() => {
  const [page, stage] = [document.querySelector("[data-testid=stApp]"), crfviz.stage()];
  return [getComputedStyle(page).backgroundColor, getComputedStyle(stage).color,
          getComputedStyle(stage.querySelector(".label")).backgroundColor];
}"""
SIZES = """() => [...crfviz.stage().querySelectorAll(".word, .tag-label, .cell, .side-title")]
  .map((e) => parseFloat(getComputedStyle(e).fontSize))"""
SCROLLED = """() => {
  const { scrollHeight, clientHeight } = document.querySelector("[data-testid=stMain]");
  return scrollHeight - clientHeight;
}"""  # pixels
ENDS_BELOW = "() => crfviz.stage()?.getBoundingClientRect().bottom > innerHeight"
# Whether figures are below the picture, and how many of their texts are cut.
FIGURES = """() => {
  const figures = document.querySelector("[class*=st-key-figures]");
  const named = "[data-testid=stMetricValue], [data-testid=stMetricLabel] p";
  const texts = [...figures.querySelectorAll(named)];
  const { bottom } = crfviz.stage().getBoundingClientRect();
  return { below: figures.getBoundingClientRect().top >= bottom,
           cut: texts.filter((e) => e.scrollWidth > e.clientWidth).length };
}"""
ROWS_OF_NUMBERS = """() => new Set([...document.querySelectorAll(".st-key-em-numbers .stColumn")]
  .map((column) => Math.round(column.getBoundingClientRect().top))).size"""
# Whether a label of the curve's axis is outside of the chart; null before it is drawn.
CUT_LABELS = """() => {
  const chart = document.querySelector(".st-key-wide-curve svg.marks");
  if (!chart) return null;
  const rights = [...chart.querySelectorAll("text")].map((e) => e.getBoundingClientRect().right);
  return Math.max(...rights) > chart.getBoundingClientRect().right + 2;
}"""
NOTE_BELOW = """() => {
  const [note, matrix] = [".note", ".matrix"].map((part) => crfviz.stage().querySelector(part));
  return note.getBoundingClientRect().top >= matrix.getBoundingClientRect().bottom;
}"""
FOLDED = """() => {
  const all = (what) => [...crfviz.stage().querySelectorAll(what)];
  const dots = all(".node[data-folded] .dot").filter((dot) => dot.getClientRects().length);
  return { numbers: all(".rest text").length, dots: dots.length };
}"""
# Whether the chart of the page's width ends where its room ends; how many times larger it is drawn.
WIDE_CHART = """() => {
  const room = document.querySelector(".st-key-wide-pair").getBoundingClientRect();
  const chart = document.querySelector(".st-key-wide-pair svg.marks");
  const { left, right, width } = chart.getBoundingClientRect();
  return { fills: Math.abs(left - room.left) + Math.abs(right - room.right) < 2,
           times: Math.round((10 * width) / chart.width.baseVal.value) / 10 };
}"""


def test_twelve_words_fit_on_a_projector_and_are_readable_in_both_themes(screen):
    screen.open("transitions", sentence=TWELVE, t="DET.NOUN:-3.25")
    assert_twelve_words_fit(screen)
    assert_readable(screen)
    assert_large(screen)
    light = screen.page.evaluate(COLOURS)
    screen.page.emulate_media(color_scheme="dark")

    def check():
        dark = screen.page.evaluate(COLOURS)
        assert all(a != b for a, b in zip(light, dark, strict=True))

    screen.eventually(check)
    assert_contrast(screen)
    screen.turn("transitions", model="upos-en", sentence="My old bed got tossed in a dumpster .")
    whole = """() => {
      const { scrollWidth, clientWidth } = crfviz.stage().querySelector(".scroller");
      return scrollWidth <= clientWidth;
    }"""
    screen.expect_measured(whole, True)


@pytest.mark.rotating
@pytest.mark.parametrize("path", ["", "transitions", "entities", "rules", "forward-backward"])
def test_first_example_fits_on_a_projector(screen, path):
    screen.open(path, model="upos-en")
    screen.expect_measured(SCROLLED, 0, where=path)


@pytest.mark.rotating
@pytest.mark.parametrize("group", GROUPED)
def test_picture_of_every_page_and_view_ends_in_the_window(screen, group):
    screen.open("transitions", model="upos-en")
    for path in walk(screen, [entry.path for entry in GROUPED[group]]):
        screen.expect_measured(ENDS_BELOW, False, where=path)


@pytest.mark.rotating
@pytest.mark.parametrize("path", ["compare", "entities", "rules"])
def test_low_window_has_the_picture_before_uncut_figures(screen, path):
    screen.open(path, model="upos-en")
    resize(screen, 853, 480)
    screen.expect_measured(FIGURES, {"below": True, "cut": 0}, where=path)


@pytest.mark.rotating
def test_phone_has_the_numbers_of_em_in_rows_and_all_labels_of_its_axis(screen):
    screen.open("em", model="upos-en")
    resize(screen, 390, 844)
    screen.expect_measured(ROWS_OF_NUMBERS, 3)
    screen.expect_measured(CUT_LABELS, False)


@pytest.mark.rotating
@pytest.mark.parametrize("path", ["transitions", "learn", "rules"])
def test_phone_has_the_matrix_before_its_note(screen, path):
    screen.open(path, model="upos-en")
    resize(screen, 390, 844)
    screen.expect_measured(NOTE_BELOW, True)


@pytest.mark.rotating
def test_no_dots_lie_behind_numbers_of_folded_tags(screen):
    screen.open("viterbi", model="upos-en")
    screen.expect_measured(FOLDED, {"numbers": 9, "dots": 0})


@pytest.mark.rotating
def test_larger_window_has_larger_text(screen):
    screen.open("marginals", model="upos-en")
    small = screen.page.evaluate(SIZES)

    def check():
        large = screen.page.evaluate(SIZES)
        assert len(small) == len(large) > 0
        assert all(after >= 1.3 * before for before, after in zip(small, large, strict=True))

    resize(screen, *HALL)
    screen.eventually(check)
    screen.expect_measured(WIDE_CHART, {"fills": True, "times": HALL[0] / PROJECTOR[0]})


@pytest.mark.rotating
def test_forty_words_scroll_under_fixed_labels_and_an_edit_keeps_the_position(screen):
    screen.open("transitions", sentence=FORTY)
    assert_forty_words_scroll(screen)
    place = "crfviz.stage().querySelector('.scroller').scrollLeft"
    screen.page.evaluate(f"{place} = 600")
    before = screen.page.evaluate(place)
    assert before > 100
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-2")
    screen.expect_measured(place, before)
