"""The page Guides: every document is drawn, and its links stay inside of the app."""

import re

import pytest

from crfviz.ui.panels.guides import DOCS, GUIDES
from tests.support.app_pages import assert_sound, button, open_at, opened

LINK = re.compile(r"\]\(([^)]+)\)")


@pytest.mark.parametrize("name", GUIDES)
def test_guide_is_drawn_with_valid_links(app, name):
    opened(app, "pages/guides.py", **{"v.guide": name})
    assert_sound(app)
    text = "\n".join(each.value for each in app.markdown)
    headings = re.findall(r"^## .+$", (DOCS / f"{name}.md").read_text("utf-8"), re.M)
    assert all(heading in text for heading in headings)
    for target in LINK.findall(text):
        assert target.startswith(("https://", "#", "guides?v.guide="))
        if target.startswith("guides"):
            assert re.split("[=#]", target)[1] in GUIDES


def test_sidebar_opens_the_guides(app):
    app.run()
    button(app, "Guides").click().run()
    assert_sound(app)
    assert app.title[0].value == "Guides"


def test_missing_guide_is_reported(app, monkeypatch, tmp_path):
    monkeypatch.setattr("crfviz.ui.panels.guides.DOCS", tmp_path)
    open_at(app, "pages/guides.py")
    assert_sound(app)
    assert "pages.md is not part of this installation" in app.info[0].value
