"""What asks a page whether everybody can read it finds one faint text among many that are alike."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.support.accessibility import COLOURS, FOUND

STAGE = """() => {
  const host = document.body.appendChild(document.createElement("div"));
  const cells = Array.from({ length: 12 }, (_, n) => `<p class="cell"><span>${n}.0</span></p>`);
  host.attachShadow({ mode: "open" }).innerHTML =
    `<main data-stage style="color: #333; background: #fff">${cells.join("")}</main>`;
}"""
FAINT = {
    "letters": "cell.firstChild.style.color = '#aaa'",
    "ground": "cell.firstChild.style.background = '#444'",
    "ground of what holds it": "cell.style.background = '#444'",
    "all that it is in": "cell.style.opacity = 0.4",
}


@pytest.fixture
def page(shared):
    page = shared.new_page()
    page.evaluate(STAGE)
    page.evaluate(AXE_SCRIPT)
    yield page
    page.close()


def test_one_faint_text_among_many_alike_is_found(page):
    assert page.evaluate(FOUND, COLOURS) == []
    for what, make in FAINT.items():
        page.evaluate(f"(() => {{ const cell = crfviz.all('.cell')[7]; {make}; }})()")
        (found,) = page.evaluate(FOUND, COLOURS)
        assert ">7.0<" in found, what
        page.evaluate("crfviz.all('.cell, span').forEach((e) => e.removeAttribute('style'))")
    assert page.evaluate(FOUND, COLOURS) == []
