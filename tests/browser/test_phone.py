"""Every page on a phone: nothing scrolls sideways but what is meant to, panels stand below."""

from functools import partial

from tests.support.screen import STAGES, TITLES

PHONE = {"width": 390, "height": 844}
BESIDE = ("viterbi", "forward-backward", "marginals", "why")  # on a projector the panel is there

ROOM = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const box = (name) => crfviz.stage()?.querySelector(name)?.getBoundingClientRect();
  const [words, side] = [box(".main"), box(".side")];
  const choices = "[data-testid=stMain] [data-testid=stButtonGroup] > *";
  const whole = document.querySelectorAll(`[data-testid=stVegaLiteChart], ${choices}`);
  return {
    cut: [...whole].filter((e) => e.scrollWidth > e.clientWidth + 1).length,
    wider: Math.max(document.documentElement.scrollWidth, main.scrollWidth) - innerWidth,
    stacked: Boolean(side) && side.top >= words.bottom && side.right <= innerWidth,
  };
}"""
CHARTS_DRAWN = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
  .every((chart) => chart.querySelector("svg, canvas"))"""


def test_no_page_scrolls_sideways_and_panels_stand_under_the_words(watch, fresh):
    phone = watch(fresh(viewport=PHONE))
    state = {"model": "ner-en", "sentence": "These look fine to me , said Ann in Paris ."}
    phone.open(**state)
    for path, title in TITLES.items():
        phone.page.evaluate("(to) => crfviz.turnTo(to)", phone.address(path, **state))
        phone.expect_title(title)
        phone.page.wait_for_function("crfviz.swept()")
        phone.page.wait_for_function(CHARTS_DRAWN)
        if path in STAGES:
            phone.wait({"name": 0, "rev": -1})
        phone.eventually(partial(assert_fits, phone, path))


# Titles of tables, and what saves one, that lie under the buttons of a table.
COVERED = """() => {
  const boxes = (name) => [...document.querySelectorAll(`[data-testid=stMain] ${name}`)]
    .map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }));
  const bars = boxes("[data-testid=stDataFrame] [data-testid=stElementToolbarButtonContainer]");
  const titles = boxes(":is(p strong, [data-testid=stButton] p, [data-testid=stDownloadButton] p)");
  const across = (a, b) => a.left < b.right && b.left < a.right;
  const meet = (a, b) => across(a, b) && a.top < b.bottom && b.top < a.bottom;
  const covered = titles.filter(({ box }) => bars.some((bar) => meet(bar.box, box)));
  return { bars: bars.length > 0, covered: covered.map(({ text }) => text) };
}"""


def test_the_buttons_of_a_table_cover_no_heading_where_they_are_always_there(watch, fresh):
    phone = watch(fresh(viewport=PHONE, has_touch=True, is_mobile=True))
    phone.visit("model-errors", model="ner-en", **{"v.tab": "How wrong"})
    phone.expect_measured(COVERED, {"bars": True, "covered": []})


def assert_fits(phone, path):
    room = phone.page.evaluate(ROOM)
    assert room["wider"] <= 0, path
    assert room["cut"] == 0, path
    assert room["stacked"] or path not in BESIDE, path
