"""The pages in their groups: which comes next."""

import pytest

from crfviz.views.contents import GROUPS, beside


@pytest.mark.parametrize("group", GROUPS.values(), ids=list(GROUPS))
def test_beside_returns_neighbours_within_the_group(group):
    paths = [entry.path for entry in group]
    assert [beside(path, 1) for path in paths] == [*paths[1:], None]
    assert [beside(path, -1) for path in paths] == [None, *paths[:-1]]


@pytest.mark.parametrize(
    ("path", "steps", "expected"),
    [
        ("naive", 1, "log-space"),
        ("naive", -1, "forward-backward"),
        ("log-space", 1, "viterbi"),
        ("compare", -1, ""),
        ("bring", 1, None),
        ("guides", 1, None),
    ],
)
def test_beside_a_view_are_the_other_views_then_pages(path, steps, expected):
    assert beside(path, steps) == expected
