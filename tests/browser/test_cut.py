"""No text of a page is cut or faint: every page, both colours, small and large windows.

Zoomed in to 200 % every control can be scrolled to, too.
"""

import pytest

from tests.browser.test_look import FAINT, LEAST_CONTRAST
from tests.browser.test_sizes import HALL, PROJECTOR, resize, visit
from tests.support.screen import STAGES, TITLES

# Texts that do not fit into what cuts them off, and have no dots that say so.
CUT = """() => {
  const owns = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const outside = "h1, .crfviz-answers span, [data-testid=stButtonGroup] p";
  const texts = [...crfviz.stage().querySelectorAll("*"), ...document.querySelectorAll(outside)];
  const clips = (style) => style.overflowX !== "visible" && style.textOverflow !== "ellipsis";
  return texts
    .filter((e) => owns(e) && e.checkVisibility({ visibilityProperty: true }))
    .filter((e) => !e.closest("title, svg"))
    .filter((e) => {
      const end = ".scroller, [data-testid=stMain]";
      for (let box = e; box && !box.matches(end); box = box.parentElement) {
        const style = getComputedStyle(box);
        if (style.textOverflow === "ellipsis" && style.overflowX !== "visible") return false;
        if (clips(style) && !["auto", "scroll"].includes(style.overflowX)) {
          return box.scrollWidth > box.clientWidth + 1;
        }
      }
      return false;
    })
    .map((e) => ({ text: e.textContent.slice(0, 40), kind: e.getAttribute("class") }));
}"""
SIZES = {"phone": (390, 844), "zoomed": (640, 360), "hall": HALL, "projector": PROJECTOR}
# Controls that no reader can scroll to: what hides its overflow scrolls for scripts only. Switches,
# radio buttons and sliders are drawn around the browser's own, which are hidden.
LOST = """() => {
  const inside = (e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])];
  const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const parent = (e) => e.parentElement ?? e.getRootNode().host ?? null;
  const own = "input:is([type=text], [type=number]), [data-testid=stSlider]";
  const controls = `button, a[href], summary, label, textarea, [data-cell], [data-node], ${own}`;
  const main = document.querySelector("[data-testid=stMain]");
  const shown = { visibilityProperty: true, opacityProperty: true };
  const hides = (e) => {
    const { overflowX, overflowY } = getComputedStyle(e);
    return (overflowX === "hidden" && e.scrollLeft) || (overflowY === "hidden" && e.scrollTop);
  };
  const isLost = (e) => {
    e.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { left, top, width, height } = e.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (width < 1 || height < 1) return false;
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return true;
    for (let box = parent(e); box && box !== main; box = parent(box)) if (hides(box)) return true;
    return false;
  };
  const all = deep(main).filter((e) => e.matches(controls) && e.checkVisibility(shown));
  const lost = all.filter(isLost);
  main.scrollTo(0, 0);
  return lost.map((e) => e.outerHTML.slice(0, 100));
}"""
SCHEMES = {"light": "dark", "dark": "light"}
# Nothing moves, as the sidebar does where it opens or closes.
STILL = """() => !document.getAnimations().some((moving) => moving.playState === "running"
  && moving.effect.target.matches("[data-testid=stSidebar]"))"""


@pytest.mark.long
def test_no_text_is_cut_or_faint(screen):
    screen.open("viterbi", model="upos-en", step="100")
    scheme = "light"
    for path in visit(screen, STAGES):
        for name, (width, height) in SIZES.items():
            resize(screen, width, height)
            screen.page.wait_for_function(STILL, polling=50)
            assert_readable(screen, f"{TITLES[path]}, {name}, {scheme}")
            if name == "zoomed":
                screen.expect_measured(LOST, [], where=TITLES[path])
            scheme = SCHEMES[scheme]
            with screen.redraw():
                screen.page.emulate_media(color_scheme=scheme)
            assert_readable(screen, f"{TITLES[path]}, {name}, {scheme}")


def assert_readable(screen, where):
    screen.expect_measured(CUT, [], where=where)
    screen.expect_measured(FAINT, [], LEAST_CONTRAST, where=where)
