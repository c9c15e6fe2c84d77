"""Widgets bound to the scenario: they show what it says, and what is chosen goes into it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import streamlit as st

from crfviz.ui.session.current import (
    Number,
    change,
    flag_option,
    number_option,
    one_of,
    scenario,
    set_view_option,
    view_option,
)
from crfviz.ui.session.kept import choice, draft, is_untold, set_draft
from crfviz.ui.state.link import LONGEST_OPTION
from crfviz.ui.streamlit_compat import DeltaGenerator

Widget = Callable[..., object]  # st.text_input and its like
Options = Any  # of any widget
Names = Sequence[str] | Mapping[str, str]  # values; as a mapping with what people read for them


def bound(widget: Widget, label: str, field: str, **options: Options) -> None:
    """Draw `widget` so that it edits one field of the scenario and survives a page change.

    Its key is the name of the field.
    """
    value = getattr(scenario(), field)
    bound_to(widget, label, field, value, lambda chosen: change(**{field: chosen}), **options)


def bound_select(label: str, name: str, options: Names, default: str, **more: Options) -> str:
    """A box for a page option that is one of `options`.

    Returns:
        The option chosen, `default` where none is or an unknown one.
    """
    return _one_of(st.selectbox, label, name, options, default, **more)


def bound_buttons(label: str, name: str, options: Names, default: str, **more: Options) -> str:
    """The same as a row of buttons; one is always on, and a click on it changes nothing."""
    return _one_of(st.segmented_control, label, name, options, default, required=True, **more)


def bound_tabs(label: str, name: str, options: Names, default: str, **more: Options) -> str:
    """A row of buttons that say by themselves what they choose; the label is for screen readers."""
    return bound_buttons(label, name, options, default, label_visibility="collapsed", **more)


def bound_place(
    label: str, name: str, places: Mapping[int, str], default: int, **more: Options
) -> int:
    """A select box for a page option that is a number, such as the position of a word.

    `places` says what people read for each number.
    """
    names = {str(place): text for place, text in places.items()}
    return int(bound_select(label, name, names, str(default), **more))


def bound_number(
    widget: Widget,
    label: str,
    name: str,
    default: Number,
    least: Number,
    most: Number,
    **options: Options,
) -> Number:
    """Draw `widget`, which chooses a number, so that it edits a page option."""
    value = number_option(name, default, least, most)
    limits = {"min_value": least, "max_value": most}
    _bound_option(widget, label, name, value, default, **limits, **options)
    return value


def bound_flag(widget: Widget, label: str, name: str, **options: Options) -> bool:
    """Draw `widget`, which is on or off, so that it edits a page option; it is off at first."""
    value = flag_option(name)

    def store(chosen: bool) -> None:  # noqa: FBT001 - what a toggle hands over
        set_view_option(name, "1" if chosen else "")

    bound_to(widget, label, f"view.{name}", value, store, **options)
    return value


def bound_text(label: str, name: str, default: str = "", **options: Options) -> str:
    """A box for a page option that is a short text, `default` where it is empty."""
    value = view_option(name, default)

    def store(typed: str) -> None:
        set_view_option(name, typed.strip()[:LONGEST_OPTION] or default, default)

    bound_to(st.text_input, label, f"view.{name}", value, store, **options)
    return value


def bound_draft(
    widget: Widget,
    label: str,
    name: str,
    default: str = "",
    **options: Options,
) -> str:
    """Draw `widget` so that it edits a draft: a text of this session, too long for a link.

    Returns:
        The text, `default` until somebody types another.
    """
    text = draft(name, default)
    bound_to(
        widget, label, f"draft.{name}", text, lambda typed: set_draft(name, typed or ""), **options
    )
    return text


def bound_to(
    widget: Widget,
    label: str,
    key: str,
    value: object,
    store: Callable[[Any], None],
    at: DeltaGenerator | None = None,
    **options: Options,
) -> None:
    """Draw `widget` so that it shows `value` and hands what the reader chooses to `store`.

    It stands `at` a column, or where the page is; every function here takes that. The widget's own
    state is set only when it differs, or the browser may have heard nothing of it: setting it anew
    would disturb who is typing.
    """
    if is_untold(key) or st.session_state[key] != value:
        st.session_state[key] = value
    with at or nullcontext():
        widget(label, key=key, on_change=lambda: store(choice(key)), **options)


def _one_of(
    widget: Widget, label: str, name: str, options: Names, default: str, **more: Options
) -> str:
    value = one_of(name, options, default)
    if isinstance(options, Mapping):
        more["format_func"] = options.get
    _bound_option(widget, label, name, value, default, options=list(options), **more)
    return value


def _bound_option(
    widget: Widget,
    label: str,
    name: str,
    value: object,
    default: object,
    **options: Options,
) -> None:
    """Draw `widget` with a value whose text is the page option; None stands for the default."""

    def store(chosen: object) -> None:
        set_view_option(name, str(default if chosen is None else chosen), str(default))

    bound_to(widget, label, f"view.{name}", value, store, **options)
