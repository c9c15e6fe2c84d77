"""The widget's module in Chromium, with a model as anywidget hands it on."""

from base64 import b64encode

from playwright.sync_api import expect

from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, data
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


def test_an_edit_goes_to_python_and_other_data_is_drawn(fresh):
    page = fresh().new_page()
    code = b64encode(bundle.widget().encode()).decode()
    page.evaluate(RENDER, [code, data(Live(chain()), list(PAGES)), bundle.style()])
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
