"""The fixtures of the matrix in Chromium."""

from tests.support.browser import app, chromium, fresh, screen, watch

__all__ = ["app", "chromium", "fresh", "screen", "watch"]
