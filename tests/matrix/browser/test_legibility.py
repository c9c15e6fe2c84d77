"""Every page in both colours, in windows of every size, and with every model: all can be read."""

from functools import partial

import pytest

from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.text.tokenizer import tokenize
from crfviz.views.contents import ENTRIES
from tests.browser.test_look import FORTY, TWELVE
from tests.browser.test_way_in import LONGEST
from tests.support.accessibility import (
    HALL,
    MIN_TEXTBOOK,
    PROJECTOR,
    assert_accessible,
    assert_forty_words_scroll,
    assert_large,
    assert_readable,
    assert_twelve_words_fit,
    resize,
    walk,
)
from tests.support.screen import (
    GROUPED,
    OF_SENTENCE,
    STAGES,
    TITLES,
    assert_lattice,
    assert_rows,
    chain,
)

SIZES = {"phone": (390, 844), "zoomed": (640, 360), "hall": HALL, "projector": PROJECTOR}
PHONE = {"width": 390, "height": 844}
BESIDE = ("viterbi", "forward-backward", "marginals", "why")  # on a projector the panel is there
TEXTBOOK = "textbook/"
# Nothing moves, as the sidebar does where it opens or closes.
STILL = """() => !document.getAnimations().some((moving) => moving.playState === "running"
  && moving.effect.target.matches("[data-testid=stSidebar]"))"""
# The sidebar does not scroll, and title and question stand below the bar, apart from each other.
# What is not drawn yet has no place, so nothing is true of it and the page is asked again.
HAS_ROOM = """() => {
  const side = document.querySelector("[data-testid=stSidebarContent]");
  const box = (name) => document.querySelector(name)?.getBoundingClientRect();
  const [title, asked, bar] = ["h1", ".crfviz-answers", ".st-key-topbar"].map(box);
  const apart = asked?.left >= title?.right || asked?.top >= title?.bottom;
  return side.scrollHeight <= side.clientHeight && apart && title.top >= (bar?.bottom ?? 6);
}"""
CHARTS_DRAWN = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
  .every((chart) => chart.querySelector("svg, canvas"))"""
# What is cut or scrolls sideways on a phone, and whether the panel stands below the words.
ROOM = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const box = (name) => crfviz.stage()?.querySelector(name)?.getBoundingClientRect();
  const [words, side] = [box(".main"), box(".side")];
  const choices = "[data-testid=stMain] [data-testid=stButtonGroup] > *";
  const whole = document.querySelectorAll(`[data-testid=stVegaLiteChart], ${choices}`);
  return {
    cut: [...whole].filter((e) => e.scrollWidth > e.clientWidth + 1).length,
    wider: Math.max(document.documentElement.scrollWidth, main.scrollWidth) > innerWidth,
    stacked: Boolean(side) && side.top >= words.bottom && side.right <= innerWidth,
  };
}"""


def open_any(screen, path, **params):
    """Open a page, with a stage or without."""
    if path in STAGES:
        screen.open(path, **params)
    else:
        screen.visit(path, **params)
        screen.rest()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", STAGES)
def test_no_text_is_cut_or_faint_at_any_size(watch, fresh, path, scheme):
    screen = watch(fresh(color_scheme=scheme))
    screen.open(path, model="upos-en", sentence=TWELVE, t="DET.NOUN:-3.25", step="100")
    for name, size in SIZES.items():
        resize(screen, *size)
        screen.page.wait_for_function(STILL, polling=50)
        assert_readable(screen, name)
        if name == "zoomed":
            screen.expect_measured("() => crfviz.lost()", [])


@pytest.mark.parametrize("path", [entry.path for entry in ENTRIES])
def test_every_page_is_accessible_and_large_enough(screen, path):
    open_any(screen, path, model="upos-en")
    assert_large(screen)
    assert_accessible(screen, path)
    if path in ("emissions", "hmm"):  # whose tables are there whole
        screen.expect_measured("crfviz.stage().hasAttribute('data-framed')", False)


@pytest.mark.parametrize("path", OF_SENTENCE)
def test_forty_words_scroll_under_fixed_labels(screen, path):
    screen.open(path, sentence=FORTY)
    assert_forty_words_scroll(screen)


@pytest.mark.parametrize("path", ["", "emissions", "transitions", "viterbi"])
@pytest.mark.parametrize("changes", [{}, {"t": "DET.NOUN:-3.25"}], ids=["trained", "edited"])
def test_twelve_words_fit_on_a_projector(screen, path, changes):
    assert len(tokenize(TWELVE)) == 12
    screen.open(path, sentence=TWELVE, **changes)
    assert_twelve_words_fit(screen)


@pytest.mark.parametrize("group", GROUPED)
def test_no_page_scrolls_sideways_on_a_phone(watch, fresh, group):
    phone = watch(fresh(viewport=PHONE))
    state = {"model": "ner-en", "sentence": "These look fine to me , said Ann in Paris ."}
    phone.open("hmm", **state)
    for path in [entry.path for entry in GROUPED[group]]:
        phone.page.evaluate("(to) => crfviz.turnTo(to)", phone.address(path, **state))
        phone.expect_title(TITLES[path])
        phone.page.wait_for_function("crfviz.swept()")
        phone.page.wait_for_function(CHARTS_DRAWN)
        expected = {"cut": 0, "wider": False, "stacked": True}
        if path not in BESIDE:
            del expected["stacked"]
        phone.eventually(partial(assert_room, phone, expected))


def assert_room(phone, expected):
    assert phone.page.evaluate(ROOM).items() >= expected.items()


@pytest.mark.parametrize("group", GROUPED)
def test_sidebar_and_title_of_every_page_have_room(screen, group):
    screen.open("hmm" if group == "Follow the chain" else "", **LONGEST)
    for entry in GROUPED[group]:
        screen.follow(entry.title)
        screen.page.wait_for_function(HAS_ROOM)


@pytest.mark.parametrize("group", GROUPED)
@pytest.mark.parametrize(
    "model", ["upos-en-perceptron", "upos-en-hmm", "textbook/ice-cream", "ner-en"]
)
def test_every_page_works_with_every_kind_of_model(screen, model, group):
    sentence = load_tagger(model).examples()[0].text
    expected = chain(model, sentence)
    screen.open("hmm" if group == "Follow the chain" else "", model=model, sentence=sentence)

    def check():
        shown = screen.read()
        assert shown.words == expected.words
        if shown.edges and "/viterbi" not in screen.page.url:  # whose nodes are best(t, k)
            assert_lattice(shown, expected)

    for path in walk(screen, [entry.path for entry in GROUPED[group]]):
        if path in OF_SENTENCE:
            screen.eventually(check)
        screen.rest()
        assert not screen.page.locator("[data-testid=stAlertContentError]").all_inner_texts()
        assert_large(screen, path)


SHORT = [  # all but sequences that are as long as a sentence of text
    name
    for name in list_taggers()
    if name.startswith(TEXTBOOK) and len(load_tagger(name).examples()[0].tokens) <= 12
]


@pytest.mark.parametrize("model", SHORT)
def test_pages_of_textbook_models_use_large_text(screen, model):
    screen.open("", model=model)
    for path in walk(screen, STAGES[1:]):
        assert_large(screen, path, MIN_TEXTBOOK, only_stage=True)


@pytest.mark.parametrize("model", list_taggers())
def test_every_model_draws_its_numbers(screen, model):
    textbook = load_tagger(model).observations is not None
    sentence = load_tagger(model).examples()[0].text if textbook else TWELVE
    expected = chain(model, sentence)
    shown = screen.open("", sentence=sentence, model=model).read()
    assert_rows(shown, expected)
    assert_lattice(shown, expected)
