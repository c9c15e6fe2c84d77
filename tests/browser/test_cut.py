"""No text of a page is cut or faint: every page, both colours, small and large windows."""

import pytest

from crfviz.ui.shell.contents import ENTRIES
from tests.browser.screen import STAGES, TITLES
from tests.browser.test_look import FAINT, LEAST_CONTRAST
from tests.browser.test_sizes import visit

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
SIZES = {"projector": (1280, 720), "hall": (1920, 1080), "zoomed": (853, 480)}


@pytest.mark.parametrize(("width", "height"), SIZES.values(), ids=list(SIZES))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_text_is_cut_or_faint(watch, fresh, scheme, width, height):
    screen = watch(fresh(viewport={"width": width, "height": height}, color_scheme=scheme))
    screen.open("viterbi", model="upos-en", step="100")
    for path in visit(screen, [entry.path for entry in ENTRIES if entry.path in STAGES]):
        assert screen.page.evaluate(CUT) == [], TITLES[path]
        assert screen.page.evaluate(FAINT, LEAST_CONTRAST) == [], TITLES[path]
