"""The fixtures of the tests in Chromium."""

from tests.support.browser import app, caching, chromium, fresh, returning, screen, watch

__all__ = ["app", "caching", "chromium", "fresh", "returning", "screen", "watch"]
