"""Widgets bound to the scenario: each one shows and changes one field or page option."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import streamlit as st

from crfviz.ui.session.page_options import (
    Number,
    choice_option,
    flag_option,
    number_option,
    tag_option,
)
from crfviz.ui.session.scenario_state import change, scenario, set_view_option, view_option
from crfviz.ui.session.session_store import (
    draft,
    may_be_unsent,
    session_value,
    set_draft,
    widget_value,
)
from crfviz.ui.state.link_text import LONGEST_OPTION, read_tag, tag_text
from crfviz.ui.streamlit_compat import DeltaGenerator

Widget = Callable[..., object]  # st.text_input and similar functions
Options = Any  # keyword arguments of any widget
Names = Sequence[str] | Mapping[str, str]  # the values to choose from; a mapping adds labels


def bound(widget: Widget, label: str, field: str, **options: Options) -> None:
    """Draw `widget`, which edits a field of the scenario; the field's name is its key."""
    value = getattr(scenario(), field)
    bound_to(widget, label, field, value, lambda chosen: change(**{field: chosen}), **options)


def bound_select(label: str, name: str, options: Names, default: str, **more: Options) -> str:
    """Draw a select box for a page option; return the choice, `default` if none is valid."""
    return _one_of(st.selectbox, label, name, options, default, **more)


def bound_tag(label: str, name: str, tags: Sequence[str], default: str, **more: Options) -> str:
    """Draw a select box of tags for a page option; return the choice or `default`."""
    tag, names = tag_option(name, tags, default), {tag_text(each): each for each in tags}
    more |= {"options": list(names), "format_func": names.get}
    _bound_option(st.selectbox, label, name, tag_text(tag), tag_text(default), **more)
    return tag


def bound_filter(label: str, name: str, tags: Sequence[str]) -> str | None:
    """Draw a select box of tags for a page option; return the choice, None for every tag."""
    every = "any"
    while every in tags:
        every += " tag"
    tag = read_tag(view_option(name), tags)
    names = {"": every} | {tag_text(each): each for each in tags}
    _bound_option(
        st.selectbox,
        label,
        name,
        "" if tag is None else tag_text(tag),
        "",
        options=list(names),
        format_func=names.get,
    )
    return tag


def bound_buttons(label: str, name: str, options: Names, default: str, **more: Options) -> str:
    """Draw a row of buttons for a page option, with exactly one selected; return the choice."""
    return _one_of(st.segmented_control, label, name, options, default, required=True, **more)


def bound_tabs(label: str, name: str, options: Names, default: str, **more: Options) -> str:
    """Draw buttons like `bound_buttons`, with the label only for screen readers."""
    return bound_buttons(label, name, options, default, label_visibility="collapsed", **more)


def bound_place(
    label: str, name: str, places: Mapping[int, str], default: int, **more: Options
) -> int:
    """Draw a select box for a page option that is an integer, such as a position; return it.

    `places` has the label of each value.
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
    """Draw `widget`, which edits a numeric page option, and return the number."""
    value = number_option(name, default, least, most)
    limits = {"min_value": least, "max_value": most}
    _bound_option(widget, label, name, value, default, **limits, **options)
    return value


def bound_flag(widget: Widget, label: str, name: str, **options: Options) -> bool:
    """Draw `widget`, a toggle for a page option that is off by default; return its state."""
    value = flag_option(name)

    def store(chosen: bool) -> None:  # noqa: FBT001 - the value of a toggle
        set_view_option(name, "1" if chosen else "")

    bound_to(widget, label, f"view.{name}", value, store, **options)
    return value


def bound_text(label: str, name: str, default: str = "", **options: Options) -> str:
    """Draw a text box for a page option; return the text, `default` if it is empty."""
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
    """Draw `widget`, which edits a draft: a text that the session keeps, too long for a link.

    Returns:
        The text; `default` until the reader edits it.
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
    """Draw `widget` with `value`, and call `store` with each new choice.

    Setting a widget's state interrupts typing. It is therefore set only if it differs from `value`,
    if the browser may not have received it, or if the label of the choice has changed.

    `at` is the container to draw in; all functions of this module accept it.
    """
    labels = session_value("labels of choices", dict[str, object])
    label_of = options.get("format_func")
    shown = label_of(value) if label_of and isinstance(value, str) else None
    if may_be_unsent(key) or st.session_state[key] != value or labels.get(key, shown) != shown:
        st.session_state[key] = value
    labels[key] = shown

    def changed() -> None:
        if key in st.session_state.to_dict():  # else a change of page has dropped its value
            store(widget_value(key))

    with at or nullcontext():
        widget(label, key=key, on_change=changed, **options)


def _one_of(
    widget: Widget, label: str, name: str, options: Names, default: str, **more: Options
) -> str:
    value = choice_option(name, options, default)
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
    """Draw `widget` for a page option, which stores the value as text; None means the default."""

    def store(chosen: object) -> None:
        set_view_option(name, str(default if chosen is None else chosen), str(default))

    bound_to(widget, label, f"view.{name}", value, store, **options)
