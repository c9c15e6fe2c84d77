"""Shared widgets: error messages for parts that fail, uploads, downloads, narrow columns."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from crfviz.exceptions import CrfvizError, ModelError, warn_once
from crfviz.ui.session.permission import uploads_allowed, uploads_off
from crfviz.ui.streamlit_compat import ColumnConfig, FragmentHandledException
from crfviz.ui.words import plain

LONGEST_NAME = 24  # characters of a name that a table shows completely
NAMES_WIDTH = 180  # pixels of a column with longer names
INDEX = "_index"  # Streamlit's name for the column of row names
_log = logging.getLogger(__name__)


@contextmanager
def guarded(what: str, *, again: bool = False) -> Iterator[None]:
    """Show a message in place of a part of the page that fails; the rest of the page stays.

    Every fragment needs this, because its exceptions do not reach the surrounding page. Streamlit's
    own exceptions, which stop and rerun scripts, are raised further.

    Args:
        what: name of the part, for message and log.
        again: whether to offer a retry, for temporary errors.

    """
    try:
        yield
    except FragmentHandledException:
        raise
    except CrfvizError as error:
        if isinstance(error, ModelError):
            warn_once(_log, what, error)
        else:  # the error quotes user input
            _log.warning("%s: %s", what, error)
        st.error(plain(str(error)))
        if again:
            st.button("Try again", key=f"again.{what}")
    except Exception:  # noqa: BLE001 - the last resort: no caller could show a message
        number = uuid4().hex[:8]
        _log.exception("%s failed, log id %s", what, number)
        st.error(
            f"{plain(what)} could not be drawn (log id {number}). Your sentence and edits are "
            "kept: undo the last change with Ctrl+Z, or go to another page."
        )


def upload(
    label: str,
    **options: Any,  # noqa: ANN401 - the widget's options
) -> Any:  # noqa: ANN401 - what st.file_uploader gives
    """Draw a file box; if uploads are off, show a message and return None."""
    if uploads_allowed():
        return st.file_uploader(label, **options)
    st.caption(uploads_off("files"))
    return None


def download(
    label: str,
    make: Callable[[], str | bytes],
    file_name: str,
    mime: str = "text/plain",
    **options: Any,  # noqa: ANN401 - the widget's options
) -> None:
    """Draw a download button; a click calls `make` in another thread, outside of any session.

    The click must not rerun the page: Streamlit deletes the files of the previous run, and a
    browser that requests a deleted file waits forever.
    """
    st.download_button(label, make, file_name=file_name, mime=mime, on_click="ignore", **options)


def narrowed(frame: pd.DataFrame) -> dict[str, ColumnConfig]:
    """Return column options for `st.dataframe` that limit the width of columns with long names.

    A double click on a cell shows all of its text, and a long header has a tooltip.
    """
    options = {}
    for name, cells in [(INDEX, frame.index), *((str(n), c) for n, c in frame.items())]:
        long_head = len(name) > LONGEST_NAME
        if long_head or any(isinstance(c, str) and len(c) > LONGEST_NAME for c in cells):
            options[name] = st.column_config.Column(
                width=NAMES_WIDTH, help=plain(name) if long_head else None
            )
    return options
