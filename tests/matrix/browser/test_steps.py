"""Every page that tells a story has steps that uncover it."""

import pytest

from tests.browser.test_steps import assert_steps_uncover


@pytest.mark.parametrize("path", ["marginals", "learn", "hmm-as-crf"])
def test_steps_uncover_all_of_the_page(screen, path):
    assert_steps_uncover(screen, path)
