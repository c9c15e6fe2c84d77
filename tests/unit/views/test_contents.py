"""The pages in their groups: which comes next."""

import pytest

from crfviz.views.contents import GROUPS, beside


@pytest.mark.parametrize("group", GROUPS.values(), ids=list(GROUPS))
def test_pages_follow_each_other_within_their_group_and_end_with_it(group):
    paths = [entry.path for entry in group]
    assert [beside(path, 1) for path in paths] == [*paths[1:], None]
    assert [beside(path, -1) for path in paths] == [None, *paths[:-1]]
