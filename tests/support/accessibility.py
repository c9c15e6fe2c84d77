"""What axe-core finds on a page by the rules of WCAG 2.2, levels A and AA, and small targets."""

from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.test_look import FAINT, LEAST_CONTRAST

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast"]  # the one of these rules that asks for the colours
# Texts of the stage with the same letters in the same colours on the same grounds are one question
# of contrast, and axe is asked about one of them: about five hundred it thinks for a second. All of
# them are measured by `FAINT`.
FOUND = """async (rules) => {
  const numbers = new Map(); // of what is alike
  const number = (...parts) => {
    const text = parts.join("|");
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text);
  };
  const grounds = new Map();
  const ground = (e) => {
    if (!e) return "";
    if (!grounds.has(e)) {
      const { backgroundColor, backgroundImage, opacity, position, zIndex } = getComputedStyle(e);
      const below = ground(e.parentElement ?? e.getRootNode().host);
      const own = [e.className, backgroundColor, backgroundImage, opacity, position, zIndex];
      grounds.set(e, number(below, ...own));
    }
    return grounds.get(e);
  };
  const under = (e) => {
    const { left, top, width, height } = e.getBoundingClientRect();
    return e.getRootNode().elementsFromPoint(left + width / 2, top + height / 2).map(ground);
  };
  const look = (e) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(e);
    return number(e.nodeName, color, fontSize, fontWeight, textShadow, ground(e), ...under(e));
  };
  const owns = (e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
  const drawn = [...(window.crfviz?.stage()?.querySelectorAll(":not(svg, svg *)") ?? [])];
  const looks = new Set();
  const alike = drawn
    .filter((e) => owns(e) && e.checkVisibility({ visibilityProperty: true }))
    .filter((e) => looks.size === looks.add(look(e)).size);
  for (const e of alike) e.dataset.alike = "";
  axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-alike])" }] });
  const { violations } = await axe.run({ runOnly: rules, resultTypes: ["violations"] });
  for (const e of alike) delete e.dataset.alike;
  const told = ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 150)}`);
  return violations.flatMap(told);
}"""
TARGET = 24  # pixels
# What is clicked at, smaller than that, and nearer to another one than WCAG 2.2, 2.5.8, allows: a
# circle as wide as a target may be, around the middle of each, must not meet another target or its
# circle. Left out are links in a line of text, and cells that buttons of the picture reach, too.
CROWDED = """(least) => {
  const nothing = document.createDocumentFragment();
  const gather = (root) =>
    [...root.querySelectorAll("*")].flatMap((e) => [e, ...gather(e.shadowRoot ?? nothing)]);
  const kinds =
    "a[href], button, summary, label, input, select, textarea, [role=button], [role=tab], " +
    "[role=radio], [role=switch], [role=slider], [data-cell], [data-table], .hit, .span-cell";
  const label = (e) => e.matches("label") && !e.querySelector("input"); // of what is beside it
  const labelled = (e) => e.matches("input") && e.closest("label");
  const texts = (e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE);
  const inLine = (e) => e.matches("a") && texts(e.parentElement).some((n) => n.data.trim());
  const stage = (e) => e.closest("[data-stage]");
  const reached = (e) => e.matches("[data-table], .hit") && stage(e).querySelector("[data-move]");
  const cut = (e, { top, bottom }) => {
    const edges = e.closest(".scroller, .matrix-frame")?.getBoundingClientRect();
    return edges && (top < edges.top || bottom > edges.bottom); // it is scrolled to first
  };
  const targets = gather(document)
    .filter((e) => e.matches(kinds) && !e.disabled && !label(e) && !labelled(e))
    .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((e) => ({ e, box: e.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 1 && box.height > 1)
    .filter(({ e, box }) => !cut(e, box));
  const small = ({ box }) => Math.min(box.width, box.height) < least - 0.01;
  const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
  const outside = (value, from, to) => Math.max(from - value, 0, value - to);
  const meets = (one, other) => {
    const [[x, y], [u, v]] = [middle(one.box), middle(other.box)];
    const { left, right, top, bottom } = other.box;
    const away = Math.hypot(outside(x, left, right), outside(y, top, bottom));
    return away < least / 2 - 0.01 || (small(other) && Math.hypot(x - u, y - v) < least - 0.01);
  };
  const apart = (one, other) => !one.e.contains(other.e) && !other.e.contains(one.e);
  return targets
    .filter((one) => small(one) && !inLine(one.e) && !reached(one.e))
    .filter((one) => targets.some((other) => apart(one, other) && meets(one, other)))
    .map(({ e, box }) => `${e.outerHTML.slice(0, 120)} ${box.width} x ${box.height}`);
}"""
SCHEME = "getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"


def assert_accessible(screen, where):
    """In light colours, and what colours change in dark ones; the page is light afterwards."""
    page = screen.page
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    screen.expect_measured(FOUND, [], WCAG, where=where)
    screen.expect_measured(CROWDED, [], TARGET, where=where)
    assert_contrast(screen, f"{where}, light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{SCHEME} === 'dark'")
    screen.expect_measured(FOUND, [], COLOURS, where=f"{where}, dark")
    assert_contrast(screen, f"{where}, dark")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{SCHEME} === 'light'")


def assert_contrast(screen, where):
    """Of the stage, whose drawn texts axe does not read."""
    if screen.page.evaluate("Boolean(crfviz.stage())"):
        screen.expect_measured(FAINT, [], LEAST_CONTRAST, where=where)
