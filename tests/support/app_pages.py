"""The app in AppTest, opened at a page as by its address."""

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
