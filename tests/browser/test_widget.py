"""The widget's module in Chromium, with a model as anywidget hands it on."""

from base64 import b64encode

import pytest
from playwright.sync_api import expect

from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, data
from crfviz.views.exports.notebook import framed
from tests.browser.test_live_file import assert_marginals, chain

RENDER = """
async ([code, data, sheet]) => {
  const { default: widget } = await import(`data:text/javascript;base64,${code}`);
  const state = { data, sheet, edits: {} };
  const heard = {};
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; heard[`change:${name}`]?.(); },
    save_changes: () => { window.saved = structuredClone(state.edits); },
    on: (name, act) => { heard[name] = act; },
    off: (name) => { delete heard[name]; },
  };
  const el = document.body.appendChild(document.createElement("div"));
  window.stop = widget.render({ model: window.model, el });
}
"""


# Of pages with a saved output: as in VS Code, and one that runs only scripts that it knows.
NOTEBOOKS = {
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src https: data:; connect-src https:; child-src https: data:": "[data-stage]",
    "default-src 'none'; script-src 'nonce-abc'; style-src 'unsafe-inline'": "#why",
}


@pytest.mark.parametrize("policy", NOTEBOOKS, ids=["inline", "nonce"])
def test_saved_output_is_live_or_static_as_its_policy_allows(fresh, policy):
    page = fresh(bypass_csp=False).new_page()
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page.set_content(f"<!DOCTYPE html>{head}<p>Out[1]:</p>{framed(Live(chain()))}")
    inside = page.frame_locator("iframe")
    expect(inside.locator("[data-stage], #why")).to_have_count(1)
    expect(inside.locator(NOTEBOOKS[policy])).to_be_visible()


def rendered(page):
    code = b64encode(bundle.widget().encode()).decode()
    page.evaluate(RENDER, [code, data(Live(chain()), list(PAGES)), bundle.style()])
    return page


def test_widget_follows_the_notebook_theme_not_the_system(fresh):
    frame = rendered(fresh(color_scheme="dark").new_page()).locator(".live")
    expect(frame).to_have_css("color", "rgb(250, 250, 250)")
    expect(frame).to_have_css("background-color", "rgb(14, 17, 23)")
    expect(frame).to_have_css("min-height", "0px")  # nor does it take the room of a page


def test_widget_sends_edits_to_python_and_draws_new_data(fresh):
    page = rendered(fresh().new_page())
    assert_marginals(page, chain())
    page.get_by_role("button", name="Transitions").click()
    page.locator('[data-cell="A,B"]').click()
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    assert_marginals(page, chain().with_transition("A", "B", 2.5))
    page.wait_for_function("window.saved")
    saved = page.evaluate("window.saved")
    assert saved == {"transitions": [["A", "B", 2.5]], "emissions": [], "strength": 1}
    other = chain(seed=9)
    page.evaluate("data => window.model.set('data', data)", data(Live(other), list(PAGES)))
    assert_marginals(page, other)
    expect(page.locator("[data-stage]")).to_have_count(1)
    page.evaluate("window.stop()")
    expect(page.locator("[data-stage]")).to_have_count(0)
