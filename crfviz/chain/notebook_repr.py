"""HTML representation of results in notebooks; the views register how each class looks."""

from collections.abc import Callable
from typing import Any

HTML_VIEWS: dict[type, Callable[[Any], str]] = {}  # by class, what makes HTML of an object


class NotebookRepr:
    """Base of results that notebooks show as HTML if a view is registered, else as text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        make = HTML_VIEWS.get(type(self))
        return None if make is None else make(self)
