"""What asks a page whether everybody can read it finds one faint text among many that are alike."""

from tests.support.accessibility import COLOURS, violations

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


def test_one_faint_text_among_many_is_detected(fresh):
    page = fresh().new_page()
    page.evaluate(STAGE)
    assert violations(page, COLOURS) == []
    for what, make in FAINT.items():
        page.evaluate(f"(() => {{ const cell = crfviz.all('.cell')[7]; {make}; }})()")
        (found,) = violations(page, COLOURS)
        assert ">7.0<" in found, what
        page.evaluate("crfviz.all('.cell, span').forEach((e) => e.removeAttribute('style'))")
    assert violations(page, COLOURS) == []
