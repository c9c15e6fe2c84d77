"""Every page of the live file is accessible in both colours."""

import pytest

from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.live_page import live_page
from tests.browser.test_live_file import chain, drawn, opened
from tests.support.accessibility import violations

__all__ = ["opened"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", PAGES)
def test_axe_reports_no_violation(opened, scheme, shown):
    page = drawn(opened(live_page(Live(chain()), list(PAGES)), color_scheme=scheme))
    page.get_by_role("button", name=PAGES[shown].title, exact=True).first.click()
    assert violations(page) == []
