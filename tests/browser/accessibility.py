"""What axe-core finds on a page: the rules of WCAG 2.2, levels A and AA."""

from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.test_look import FAINT, LEAST_CONTRAST

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast"]  # the one of these rules that asks for the colours
FOUND = """async (rules) => {
  const { violations } = await axe.run({ runOnly: rules, resultTypes: ["violations"] });
  const told = ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 150)}`);
  return violations.flatMap(told);
}"""
SCHEME = "getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"


def assert_accessible(screen, where):
    """In light colours, and what colours change in dark ones; the page is light afterwards."""
    page = screen.page
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    assert page.evaluate(FOUND, WCAG) == [], where
    assert_contrast(page, f"{where}, light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{SCHEME} === 'dark'")
    assert page.evaluate(FOUND, COLOURS) == [], f"{where}, dark"
    assert_contrast(page, f"{where}, dark")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{SCHEME} === 'light'")


def assert_contrast(page, where):
    """Of the stage, whose drawn texts axe does not read."""
    if page.evaluate("Boolean(crfviz.stage())"):
        assert page.evaluate(FAINT, LEAST_CONTRAST) == [], where
