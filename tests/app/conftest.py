"""The app in AppTest."""

import pytest

from tests.support.app_pages import new_app


@pytest.fixture
def app():
    """The app in AppTest, not run yet."""
    return new_app()
