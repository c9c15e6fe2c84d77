"""On every page with a table its cells are marked with edits, and not without."""

import pytest

from tests.browser.test_ghosts import EDITED, SENTENCE, assert_marked, assert_unmarked


@pytest.mark.parametrize(
    ("path", "table", "digits"),
    [
        ("emissions", "emissions", 1),
        ("forward-backward", "alpha", 1),
        ("marginals", "marginals", 2),
    ],
)
def test_cells_are_marked_by_the_sign_of_change_until_reset(screen, path, table, digits):
    screen.open(path, sentence=SENTENCE, **EDITED)
    assert_marked(screen, table, digits)
    with screen.redraw():
        screen.page.locator(".st-key-reset button").click()
    assert_unmarked(screen)
