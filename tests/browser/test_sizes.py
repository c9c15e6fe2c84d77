"""Size follows space: what is to be read is never small, and grows with the window."""

import pytest

from crfviz.taggers.registry import list_taggers
from crfviz.text.tokenizer import tokenize
from crfviz.views.contents import ENTRIES
from tests.browser.test_look import TWELVE
from tests.support.accessibility import CROWDED, TARGET, assert_accessible
from tests.support.screen import STAGES, TITLES

PROJECTOR, HALL = (1280, 720), (1920, 1080)  # pixels
LEAST, LEAST_TEXTBOOK = 14, 20  # pixels on a projector

# Texts smaller than so many pixels, those in the stage by what the reader sees of them.
SMALL = """([least, onlyStage]) => {
  const owns = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const drawings = [crfviz.stage(), crfviz.labeller()].filter(Boolean);
  const stage = drawings.flatMap((drawing) => [...drawing.querySelectorAll("*")]);
  const page = onlyStage ? [] : [...document.querySelectorAll("[data-testid=stApp] *")];
  const drawn = (e) => {
    const seen = e.closest("svg") && e.getScreenCTM?.();
    return parseFloat(getComputedStyle(e).fontSize) * (seen ? Math.hypot(seen.a, seen.b) : 1);
  };
  return [...stage, ...page]
    .filter((e) => owns(e) && e.checkVisibility({ visibilityProperty: true }))
    .filter((e) => !e.closest("title, style, script, [data-testid=stIconMaterial], iframe"))
    .map((e) => ({ text: e.textContent.slice(0, 40), kind: e.getAttribute("class")?.slice(0, 40),
                   size: drawn(e) }))
    .filter(({ size }) => size < least - 0.01);
}"""
RESTS = """() => document.querySelector("[data-testid=stApp]").dataset.testScriptState
  === "notRunning" && !document.querySelector("[data-stale=true]")"""
SIZES = """() => [...crfviz.stage().querySelectorAll(".word, .tag-label, .cell, .side-title")]
  .map((e) => parseFloat(getComputedStyle(e).fontSize))"""
# Whether the chart of the page's width ends where its room ends; how many times larger it is drawn.
WIDE_CHART = """() => {
  const room = document.querySelector(".st-key-wide-pair").getBoundingClientRect();
  const chart = document.querySelector(".st-key-wide-pair svg.marks");
  const { left, right, width } = chart.getBoundingClientRect();
  return { fills: Math.abs(left - room.left) + Math.abs(right - room.right) < 2,
           times: Math.round((10 * width) / chart.width.baseVal.value) / 10 };
}"""
WHOLE = ["emissions", "hmm-as-crf"]  # with all rows of their tables, for the opening sentence
FITS = ["", "emissions", "transitions", "viterbi"]
TEXTBOOK = "textbook/"
WALKED = "textbook/ice-cream"  # and measured on the way, in `test_families`
MODELS = [name for name in list_taggers() if name.startswith(TEXTBOOK) and name != WALKED]


def visit(screen, paths):
    """One page after the other by the links, each at rest."""
    for path in paths:
        if path in STAGES:
            with screen.redraw():
                screen.follow(TITLES[path])
        else:
            screen.follow(TITLES[path])
            screen.page.wait_for_function(RESTS)
        yield path


@pytest.mark.long
def test_no_text_of_any_page_is_small_and_everybody_can_use_it(screen):
    """Those of other models are measured in `test_families`."""
    screen.open("viterbi", model="upos-en")
    for path in visit(screen, [entry.path for entry in ENTRIES]):
        assert_large(screen, path)
        assert_accessible(screen, path)
        if path in WHOLE:
            screen.expect_measured("crfviz.stage().hasAttribute('data-framed')", False, where=path)


def assert_large(screen, path, least=LEAST, *, only_stage=False):
    def check():
        assert screen.page.evaluate(SMALL, [least, only_stage]) == [], path

    screen.eventually(check)


@pytest.mark.parametrize("model", MODELS)
def test_textbook_models_are_written_large(screen, model):
    screen.open("viterbi", model=model)
    for path in visit(screen, STAGES):
        assert_very_large(screen, path)


def assert_very_large(screen, path):
    assert_large(screen, path, LEAST_TEXTBOOK, only_stage=True)


def test_a_larger_window_has_larger_letters(screen):
    screen.open("forward-backward", model="upos-en")
    small = screen.page.evaluate(SIZES)

    def check():
        large = screen.page.evaluate(SIZES)
        assert len(small) == len(large) > 0
        assert all(after >= 1.3 * before for before, after in zip(small, large, strict=True))

    resize(screen, *HALL)
    screen.eventually(check)
    with screen.redraw():
        screen.follow("Marginals")
    screen.expect_measured(WIDE_CHART, {"fills": True, "times": HALL[0] / PROJECTOR[0]})
    resize(screen, *PROJECTOR)


def resize(screen, width, height):
    with screen.redraw():
        screen.page.set_viewport_size({"width": width, "height": height})


@pytest.mark.parametrize("path", FITS)
@pytest.mark.parametrize("changes", [{}, {"t": "DET.NOUN:-3.25"}], ids=["trained", "edited"])
def test_twelve_words_fit_on_a_projector(walk, path, changes):
    assert len(tokenize(TWELVE)) == 12
    screen = walk(path, sentence=TWELVE, **changes)
    room = """() => {
      const main = document.querySelector("[data-testid=stMain]");
      return { down: main.scrollHeight - main.clientHeight,
               wide: document.documentElement.scrollWidth - innerWidth,
               below: crfviz.stage().getBoundingClientRect().bottom - innerHeight };
    }"""

    def check():
        found = screen.page.evaluate(room)
        assert {side: excess for side, excess in found.items() if excess > 0} == {}

    screen.eventually(check)
    screen.expect_measured(CROWDED, [], TARGET)
