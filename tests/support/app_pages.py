"""The app in AppTest, opened at a page as by its address."""

import json

from streamlit.testing.v1 import AppTest

import tests.support.installed  # noqa: F401 - or each page takes ten times as long
from tests.support.paths import ROOT

HOME = "pages/explore.py"
SECONDS = 120  # a busy machine imports slowly


def new_app():
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)


def open_at(app, script):
    """Run a new app at a page, with no other page before it."""
    return (app if script == HOME else app.switch_page(script)).run()


def opened(app, script, **params):
    """Run a new app at an address of a page, which shows no error."""
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
    """What the components of the page that have this part were sent."""
    every = [json.loads(each.proto.json) for each in app.main if each.type == "bidi_component"]
    return [payload for payload in every if part in payload]


def stage_of(app):
    """What the live stage was sent."""
    return payloads(app)[0]
