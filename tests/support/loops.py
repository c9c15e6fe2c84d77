"""Event loops for tests, in whatever thread a browser has left."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Value = TypeVar("Value")


def run(work: Coroutine[Any, Any, Value]) -> Value:
    """What `work` comes to, in another thread: Playwright keeps a loop in that of the tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
