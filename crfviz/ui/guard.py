"""The last resort when a part of a page fails: words for the reader, the trace for the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import streamlit as st
from streamlit.errors import FragmentHandledException

from crfviz.exceptions import CrfvizError
from crfviz.ui.words import plain

_log = logging.getLogger(__name__)


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Draw what fails inside as a plain message; everything around it stays.

    Streamlit stops and repeats scripts by exceptions of its own; those pass.

    Args:
        what: name of the part, for message and log.
    """
    try:
        yield
    except FragmentHandledException:
        raise
    except CrfvizError as error:
        _log.warning("%s", what, exc_info=True)
        st.error(plain(str(error)))
    except Exception:  # noqa: BLE001 - the last resort: nobody above could say it in words
        number = uuid4().hex[:8]
        _log.exception("%s failed, log id %s", what, number)
        st.error(
            f"{plain(what)} could not be drawn (log id {number}). Your sentence and edits are "
            "kept: change them on the left, press Reset there, or go to another page."
        )
