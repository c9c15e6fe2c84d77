"""No text of a page is cut or faint: every page, both colours, small and large windows."""

from tests.browser.screen import STAGES, TITLES
from tests.browser.test_look import FAINT, LEAST_CONTRAST
from tests.browser.test_sizes import HALL, PROJECTOR, resize, visit

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
SIZES = {"phone": (390, 844), "zoomed": (853, 480), "hall": HALL, "projector": PROJECTOR}
SCHEMES = {"light": "dark", "dark": "light"}
# Nothing moves, as the sidebar does where it opens or closes.
STILL = """() => !document.getAnimations().some((moving) => moving.playState === "running"
  && moving.effect.target.matches("[data-testid=stSidebar]"))"""


def test_no_text_is_cut_or_faint(screen):
    screen.open("viterbi", model="upos-en", step="100")
    scheme = "light"
    for path in visit(screen, STAGES):
        for name, (width, height) in SIZES.items():
            resize(screen, width, height)
            screen.page.wait_for_function(STILL, polling=50)
            assert_readable(screen, f"{TITLES[path]}, {name}, {scheme}")
            scheme = SCHEMES[scheme]
            with screen.redraw():
                screen.page.emulate_media(color_scheme=scheme)
            assert_readable(screen, f"{TITLES[path]}, {name}, {scheme}")


def assert_readable(screen, where):
    assert screen.page.evaluate(CUT) == [], where
    assert screen.page.evaluate(FAINT, LEAST_CONTRAST) == [], where
