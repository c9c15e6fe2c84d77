"""The pages in their groups: which comes next."""

import pytest

from crfviz.views.contents import GROUPS, beside


@pytest.mark.parametrize("group", GROUPS.values(), ids=list(GROUPS))
def test_beside_returns_neighbours_within_the_group(group):
    paths = [entry.path for entry in group]
    assert [beside(path, 1) for path in paths] == [*paths[1:], None]
    assert [beside(path, -1) for path in paths] == [None, *paths[:-1]]
