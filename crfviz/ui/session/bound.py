"""Widgets bound to the scenario: they show what it says, and what is chosen goes into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from crfviz.ui.session.current import change, scenario, set_view_option, view_option
from crfviz.ui.session.kept import choice, draft, set_draft

Widget = Callable[..., object]  # st.text_input and its like


def bound(widget: Widget, label: str, field: str, **options: Any) -> None:  # noqa: ANN401 - any widget's
    """Draw `widget` so that it edits one field of the scenario and survives a page change.

    Its key is the name of the field.
    """
    value = getattr(scenario(), field)
    bound_to(widget, label, field, value, lambda chosen: change(**{field: chosen}), **options)


def bound_view(
    widget: Widget,
    label: str,
    name: str,
    options: Sequence[str],
    default: str,
    **widget_options: Any,  # noqa: ANN401 - any widget's options
) -> str:
    """Draw `widget`, which chooses one of `options`, so that it edits a page option.

    Returns:
        The option chosen, `default` where none is or an unknown one.
    """
    value = view_option(name, default)
    if value not in options:
        value = default

    def store(chosen: str | None) -> None:
        set_view_option(name, chosen or default, default)

    bound_to(widget, label, f"view.{name}", value, store, options=options, **widget_options)
    return value


def bound_buttons(
    label: str,
    name: str,
    options: Sequence[str],
    default: str,
    **widget_options: Any,  # noqa: ANN401 - the widget's options
) -> str:
    """A row of buttons for a page option; one is always on, and a click on it changes nothing."""
    return bound_view(
        st.segmented_control, label, name, options, default, required=True, **widget_options
    )


def bound_to(
    widget: Widget,
    label: str,
    key: str,
    value: object,
    store: Callable[[Any], None],
    **options: Any,  # noqa: ANN401 - any widget's options
) -> None:
    """Draw `widget` so that it shows `value` and hands what the reader chooses to `store`.

    The widget's own state is set only when it differs: setting it anew would disturb who is typing.
    """
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    widget(label, key=key, on_change=lambda: store(choice(key)), **options)


def bound_draft(
    widget: Widget,
    label: str,
    name: str,
    default: str = "",
    **options: Any,  # noqa: ANN401 - any widget's options
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
