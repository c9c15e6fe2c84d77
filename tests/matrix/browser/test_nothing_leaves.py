"""No page asks another server for anything, whatever names are on it."""

import pytest

from tests.browser.test_nothing_leaves import VIEWS, assert_nothing_loads, marked, unguarded
from tests.support.screen import GROUPED

__all__ = ["marked", "unguarded"]


@pytest.mark.parametrize("group", GROUPED)
def test_names_load_nothing_on_the_pages_of_a_group(marked, unguarded, group):
    assert_nothing_loads(marked, unguarded, [(entry.path, {}) for entry in GROUPED[group]])


@pytest.mark.parametrize("view", VIEWS, ids=["-".join([path, *view]) for path, view in VIEWS])
def test_names_load_nothing_in_another_view(marked, unguarded, view):
    assert_nothing_loads(marked, unguarded, [view])
