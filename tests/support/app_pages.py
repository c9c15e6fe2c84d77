"""The app in Streamlit's AppTest, opened at a page as if by its URL."""

import json

from streamlit.testing.v1 import AppTest

import tests.support.installed  # noqa: F401 - or each page takes ten times as long
from crfviz.views.contents import ENTRIES, VIEW, page_of, view_in
from tests.support.paths import ROOT

HOME = "pages/explore.py"
SECONDS = 120  # a busy machine imports slowly


def new_app():
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)


def open_at(app, script):
    """Run a new app directly at a page, or at a view of a page."""
    path = next(entry.path for entry in ENTRIES if entry.script == script)
    if view_in(path):
        app.query_params[VIEW] = view_in(path)
    page = page_of(path).script
    return (app if page == HOME else app.switch_page(page)).run()


def go_to(app, script):
    """Open another page, or a view of a page, in the session of an app."""
    path = next(entry.path for entry in ENTRIES if entry.script == script)
    app.switch_page(page_of(path).script).run()
    if page_of(path).views:
        app.button_group(key="view.view").set_value(path).run()
    return app


def opened(app, script, **params):
    """Run a new app at the URL of a page; fail if the page shows an error."""
    app.query_params.update(params)
    open_at(app, script)
    assert not app.exception
    assert not app.error
    return app


def assert_sound(app):
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1
    assert app.sidebar.button_group(key="view.theme")


def button(app, label):
    return next(element for element in app.button if element.label == label)


def payloads(app, part="rows"):
    """Return the payloads of the page's components that contain this field."""
    every = [json.loads(each.proto.json) for each in app.main if each.type == "bidi_component"]
    return [payload for payload in every if part in payload]


def stage_of(app):
    """Return the payload of the live stage."""
    return payloads(app)[0]
