"""Representations of results: short texts, and HTML in notebooks.

The views register how each class looks as HTML.
"""

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from reprlib import Repr
from typing import Any

HTML_VIEWS: dict[type, Callable[[Any], str]] = {}  # by class, what makes HTML of an object
VIEWS: list[str] = []  # modules to import, and to `register`, before the first result is shown

_BRIEF = Repr()
_BRIEF.maxlevel = 2
_BRIEF.maxlist = _BRIEF.maxtuple = 10
_BRIEF.maxstring, _BRIEF.maxother = 30, 80


class ShortRepr:
    """Base of dataclasses with a short `repr`: shapes of tables, and first items of lists."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the fields in a few lines at most, whatever their content."""
        # mypy: mixed into dataclasses
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={_brief(value)}" for name, value in values.items())
        return f"{type(self).__name__}({shown})"


class NotebookRepr(ShortRepr):
    """Base of results that notebooks show as HTML if a view is registered, else as text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        while VIEWS:
            import_module(VIEWS.pop()).register()
        make = HTML_VIEWS.get(type(self))
        return None if make is None else make(self)


def _brief(value: object) -> str:
    if shape := getattr(value, "shape", None):
        return f"<table {' x '.join(map(str, shape))}>"
    return repr(value) if isinstance(value, ShortRepr) else _BRIEF.repr(value)
