"""A button that downloads what is only worked out when it is clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st


def download(
    label: str,
    make: Callable[[], str | bytes],
    file_name: str,
    mime: str = "text/plain",
    **options: Any,  # noqa: ANN401 - the widget's options
) -> None:
    """Draw the button.

    The click must not run the page anew: Streamlit throws away the files of the run before, and a
    browser that asks for one of these waits for ever.

    Args:
        label: of the button.
        make: the content; called in another thread, outside of any session.
        file_name: that the browser suggests.
        mime: type of the content.
        **options: handed to `st.download_button`.
    """
    st.download_button(label, make, file_name=file_name, mime=mime, on_click="ignore", **options)
