"""How a result shows itself in a notebook. What it looks like is said by the views, not here."""

from collections.abc import Callable
from typing import Any

HTML_VIEWS: dict[type, Callable[[Any], str]] = {}  # by class, what makes HTML of an object


class NotebookRepr:
    """Something that notebooks draw as HTML, where a view of it is known; else as text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        make = HTML_VIEWS.get(type(self))
        return None if make is None else make(self)
