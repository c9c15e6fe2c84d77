"""What a hall sees: colours that can be read, pictures that fit, labels that stay."""

import pytest

from crfviz.text.tokenizer import tokenize
from tests.support.screen import STAGES

TWELVE = "The committee will present its report to the board on Monday ."
FORTY = (
    "When the old man who lived near the river heard that his favourite boat had been sold to a "
    "rich stranger from the city , he walked home slowly , closed the door , and wrote a long "
    "letter ."
)
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3, level AA

# Texts of the stage, the title, links and labels that contrast too little with what is behind them.
# Controls that are switched off and columns that a walk has not reached yet are pale on purpose.
FAINT = """(least) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const over = (colour, [r, g, b]) => {
    pen.fillStyle = `rgb(${r}, ${g}, ${b})`;
    pen.fillRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const parent = (element) => element.parentElement ?? element.getRootNode().host ?? null;
  const known = new Map();
  const background = (e) => {
    if (!e) return [255, 255, 255];
    if (known.has(e)) return known.get(e);
    const all = over(getComputedStyle(e).backgroundColor, background(parent(e)));
    known.set(e, all);
    return all;
  };
  const light = ([r, g, b]) => {
    const linear = (byte) => {
      const c = byte / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const contrast = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const owns = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const outside = "h1, [data-testid=stWidgetLabel] p, .st-key-pages a p, .st-key-sentence input, "
    + "[data-testid=stCaptionContainer] p, .crfviz-answers *, "
    + "[data-testid=stVegaLiteChart] [class*=role-axis] text";
  const elements = [
    ...document.querySelectorAll(outside),
    ...[...crfviz.stage().querySelectorAll("*")].filter(owns),
  ].filter((e) => e.checkVisibility({ visibilityProperty: true }));
  return elements
    .filter((e) => !e.closest("[data-later], [disabled], [data-forbidden], title"))
    .map((e) => {
      const style = getComputedStyle(e);
      const ink = e.closest("svg") ? style.fill : style.color;
      const behind = background(e);
      const ratio = contrast(over(ink, behind), behind);
      return { text: e.textContent || e.value, kind: e.getAttribute("class"), ink, ratio };
    })
    .filter(({ ratio }) => ratio < least);
}"""


@pytest.fixture(scope="module", params=["light", "dark"])
def scheme(request):
    return request.param


@pytest.mark.parametrize("path", STAGES)
def test_text_can_be_read(walk, scheme, path):
    screen = walk(path, scheme, sentence=TWELVE, t="DET.NOUN:-3.25")
    screen.expect_measured(FAINT, [], LEAST_CONTRAST)


def test_dark_and_light_are_different_and_follow_the_system(watch, fresh):
    light, dark = (watch(fresh(color_scheme=scheme)).open() for scheme in ("light", "dark"))
    colours = """() => {
      const [page, stage] = [document.querySelector("[data-testid=stApp]"), crfviz.stage()];
      return [getComputedStyle(page).backgroundColor, getComputedStyle(stage).color,
              getComputedStyle(stage.querySelector(".label")).backgroundColor];
    }"""

    def check():
        both = [screen.page.evaluate(colours) for screen in (light, dark)]
        assert all(a != b for a, b in zip(*both, strict=True))

    dark.eventually(check)


@pytest.mark.parametrize("path", STAGES)
def test_forty_words_scroll_under_labels_that_stay(walk, path):
    assert len(tokenize(FORTY)) == 40
    screen = walk(path, sentence=FORTY)
    measure = """() => {
      const stage = crfviz.stage();
      const scroller = stage.querySelector(".scroller");
      const box = scroller.getBoundingClientRect();
      const labels = [...stage.querySelectorAll(".scroller .label")]
        .filter((label) => label.offsetHeight)
        .map((label) => label.getBoundingClientRect().left);
      const last = [...stage.querySelectorAll(".word")].at(-1).getBoundingClientRect();
      return {
        wider: scroller.scrollWidth - scroller.clientWidth,
        lastWordInside: last.right <= box.right + 1 && last.left >= box.left,
        labelsInside: labels.every((left) => Math.abs(left - box.left) <= 1),
        labels: labels.length,
        pageWider: document.documentElement.scrollWidth - innerWidth,
      };
    }"""

    def at_first():
        before = screen.page.evaluate(measure)
        assert before["wider"] > 0
        assert before["pageWider"] <= 0
        assert not before["lastWordInside"]

    def scrolled():
        screen.page.evaluate("crfviz.stage().querySelector('.scroller').scrollLeft = 1e6")
        after = screen.page.evaluate(measure)
        assert after["lastWordInside"]
        assert after["labelsInside"]
        assert after["labels"] > 2

    screen.eventually(at_first)
    screen.eventually(scrolled)


def test_an_edit_leaves_the_words_where_they_were_scrolled_to(screen):
    screen.open("transitions", sentence=FORTY)
    place = "crfviz.stage().querySelector('.scroller').scrollLeft"
    screen.expect_measured(f"({place} = 600, {place} > 100)", True)
    before = screen.page.evaluate(place)
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-2")
    screen.expect_measured(place, before)


def test_the_opening_sentence_is_whole_beside_the_matrix(walk):
    screen = walk("transitions", model="upos-en", sentence="My old bed got tossed in a dumpster .")
    whole = """() => {
      const { scrollWidth, clientWidth } = crfviz.stage().querySelector(".scroller");
      return scrollWidth <= clientWidth;
    }"""
    screen.expect_measured(whole, True)
