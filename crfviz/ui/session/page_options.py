"""Page options as flags, numbers, choices and tags."""

from collections.abc import Collection, Sequence
from math import isnan
from typing import TypeVar

from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.state.link_text import read_tag

Number = TypeVar("Number", int, float)


def flag_option(name: str) -> bool:
    """Return whether a page option is on; it is off by default."""
    return view_option(name) == "1"


def number_option(name: str, default: Number, least: Number, most: Number) -> Number:
    """Return a numeric page option, clipped to [`least`, `most`]; `default` if it is no number."""
    try:
        value = type(default)(view_option(name, str(default)))
    except ValueError:
        return default
    return default if isnan(value) else max(least, min(most, value))


def choice_option(name: str, options: Collection[str], default: str) -> str:
    chosen = view_option(name, default)
    return chosen if chosen in options else default


def tag_option(name: str, tags: Sequence[str], default: str) -> str:
    """Return the tag that a page option names; `default` if it names none of the tags."""
    tag = read_tag(view_option(name), tags)
    return default if tag is None else tag


def increment_option(name: str, most: int) -> None:
    """Add 1 to a page option that counts from 0; it stops at `most`."""
    set_view_option(name, str(min(most, number_option(name, 0, 0, most) + 1)))
