"""The fixtures of the tests in Chromium."""

from tests.support.browser import app, caching, chromium, fresh, returning, screen, watch
from tests.support.guest import guests

__all__ = ["app", "caching", "chromium", "fresh", "guests", "returning", "screen", "watch"]
