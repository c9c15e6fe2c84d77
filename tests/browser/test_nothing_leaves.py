"""Nothing on a page asks another server for anything, whatever names are on it, and no export does.

The policy that the server sends would hide a fault here: the browser of these tests ignores it,
but for the test that is about it.
"""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from benchmarks.serving import running_app
from crfviz.annotations.store.store import open_store
from tests.support.forked_server import fork
from tests.support.marked_names import ANNOTATORS, WORDS, marked_places
from tests.support.screen import PATIENCE, TITLES, WITHOUT_STAGE, Screen
from tests.unit.views.exports.test_exports_send_nothing import report

TRIES_EVAL = """() => new Promise((done) => setTimeout(() => {
  try { eval("1"); done("allowed"); } catch { done("refused"); }
}))"""  # later, as what the browser is told to evaluate at once may
CHART = "[data-testid=stVegaLiteChart] .marks"
MARKED = {"model": "marked", "sentence": "  ".join(WORDS), "v.by": ANNOTATORS[0]}
VIEWS = [
    ("annotate", {"v.part": "agreement"}),
    ("annotate", {"v.part": "export"}),
    ("model-errors", {"v.corpus": "labelled", "v.tab": "Why"}),
    ("model-errors", {"v.corpus": "labelled", "v.tab": "Is it the gold?"}),
    ("entities", {"model": "marked-bio"}),
]


@pytest.fixture(scope="module")
def marked(chromium, tmp_path_factory):  # noqa: ARG001 - without Chromium no server either
    """A server on which everything is named so that Markdown would load a picture."""
    folder = tmp_path_factory.mktemp("marked")
    with running_app(folder / "server.log", marked_places(folder), fork) as app:
        yield app


@pytest.fixture
def unguarded(fresh):
    """A page of a browser that ignores policies, and the other hosts that it asked."""
    page = fresh(bypass_csp=True).new_page()
    outside = []

    def note(request):
        host = urlsplit(request.url).hostname
        if host not in (None, "", "127.0.0.1"):
            outside.append(request.url)

    page.on("request", note)
    return page, outside


def assert_nothing_loads(marked, unguarded, views):
    page, outside = unguarded
    screen = Screen(page, marked)
    with open_store(marked.database) as store:
        (document,) = store.documents()
    of_document = {"v.doc": document.key}
    screen.open("hmm", **MARKED)
    for path, view in views:
        page.evaluate(
            "(to) => crfviz.turnTo(to)", screen.address(path, **MARKED | of_document | view)
        )
        screen.expect_title(TITLES[path])
        if path not in WITHOUT_STAGE:
            screen.wait({"name": 0, "rev": -1})
        assert_nothing_left(screen, outside, path)
    assert "could not be drawn" not in screen.text()


def assert_nothing_left(screen, outside, path):
    screen.rest()
    expect(screen.page.locator("[data-testid=stSpinner]")).to_have_count(0)
    assert outside == [], path


@pytest.mark.rotating
def test_clicks_keys_and_hovering_load_nothing_from_other_servers(marked, unguarded):
    page, outside = unguarded
    screen = Screen(page, marked).open("marginals", **MARKED)
    page.locator(CHART).hover(position={"x": 150, "y": 120})
    expect(page.locator(".vega-actions")).to_have_count(0)
    for name in ("stAppDeployButton", "stMainMenu"):
        expect(page.locator(f"[data-testid={name}]")).to_have_count(0)
    page.keyboard.press("c")  # Streamlit's key to clear all caches
    expect(page.get_by_role("dialog")).to_have_count(0)
    screen.turn("why", **MARKED)
    page.get_by_role("button", name=re.compile("^Pin ")).click()
    expect(page.get_by_text("Pinned: ")).to_be_visible()
    assert outside == []


def test_report_buttons_link_to_no_other_server(unguarded, tmp_path):
    page, outside = unguarded
    file = tmp_path / "export.html"
    file.write_text(report(), encoding="utf-8")
    page.goto(file.as_uri())
    page.get_by_text("Accuracy", exact=True).click()  # tables and charts are folded
    expect(page.locator(".main-svg").first).to_be_visible()
    expect(page.locator(".modebar-btn")).to_have_count(0)
    assert outside == []


def test_every_page_works_under_the_strict_content_policy(app, fresh):
    page = fresh(bypass_csp=False).new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    screen = Screen(page, app)
    page.goto(screen.address("hmm"))
    expect(page.locator("h1")).to_be_visible()
    for path, title in TITLES.items():  # in one session: a fifth of the work of loading each
        page.evaluate("(to) => crfviz.turnTo(to)", screen.address(path))
        while not page.evaluate("crfviz.rests()"):
            page.wait_for_timeout(40)  # the policy refuses `wait_for_function`
        expect(page.locator("h1", has_text=title).last).to_be_visible()
        if path not in WITHOUT_STAGE:
            expect(page.locator("[data-stage][data-source=python]").last).to_be_visible()
    page.goto(screen.address("transitions"))
    screen.type_score(screen.cell("DET", "NOUN"), "-3")
    screen.expect_edits(1)
    page.goto(screen.address("models"))
    expect(page.locator(CHART).first).to_be_visible()
    page.goto(screen.address("model-errors", **{"v.tab": "How sure"}))
    expect(page.locator(CHART).first).to_be_visible(timeout=PATIENCE)
    refused = [text for text in said if "Content Security Policy" in text]
    assert refused == []
    with page.expect_console_message(lambda message: "leak.invalid" in message.text) as caught:
        page.evaluate("new Image().src = 'http://leak.invalid/x'")
    assert "Content Security Policy" in caught.value.text
    assert page.evaluate(TRIES_EVAL) == "refused"
