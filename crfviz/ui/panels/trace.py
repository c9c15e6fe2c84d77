"""The trace of a program on the page Homework: its file is played, no code runs here."""

from functools import partial

import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.homework.grade import FORMAT, Trace
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.pictures import draw
from crfviz.ui.session.bound import bound_flag
from crfviz.ui.session.current import change, scenario
from crfviz.ui.session.kept import draft, set_draft
from crfviz.ui.state.scenario import BEFORE_FIRST, MAX_WORDS
from crfviz.ui.words import plain
from crfviz.views.stage.picture import Subject
from crfviz.views.strips.trace import trace_picture

_TRACE = "homework.trace"  # draft: the text of the file
_BEGINNING = 200  # bytes in which the format is named


def is_trace(data: bytes) -> bool:
    """Whether a file claims to be a trace."""
    return f'"{FORMAT}"'.encode() in data[:_BEGINNING]


def open_trace(data: bytes) -> None:
    """Play a file from now on.

    Raises:
        FormatError: it is no trace.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"expected a trace as UTF-8 text: {error}") from error
    _read(text)
    set_draft(_TRACE, text)
    change(step=BEFORE_FIRST)


def show_trace() -> bool:
    """Play the opened trace; gives whether there is one."""
    text = draft(_TRACE)
    if not text:
        return False
    try:
        trace, analysis = _read(text)
    except CrfvizError as error:
        st.error(plain(str(error)))
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Close the trace", on_click=partial(set_draft, _TRACE, ""))
        st.text("The program ran on your machine. This page plays what it wrote.")
    subject = Subject(analysis, analysis, step=scenario().step)
    draw(subject, trace_picture(trace), key="homework.trace")
    if bound_flag(st.toggle, "Show tables", "twin"):
        st.dataframe(_writes(trace, analysis))
    return True


@st.cache_data(max_entries=16, show_spinner=False)
def _read(text: str) -> tuple[Trace, Analysis]:
    """The trace and its chain.

    Raises:
        FormatError: it is no trace, or longer than what is drawn.
    """
    trace = Trace.from_json(text)
    if trace.potentials.num_tokens > MAX_WORDS:
        raise FormatError(f"a trace of at most {MAX_WORDS} words can be drawn")
    return trace, analyse(trace.potentials)


def _writes(trace: Trace, analysis: Analysis) -> pd.DataFrame:
    """Every write as a row."""
    rows = [
        (n, f"{t + 1} {analysis.words[t]}", analysis.tags[k], value)
        for n, step in enumerate(trace.steps, start=1)
        for t, k, value in step
    ]
    return pd.DataFrame(rows, columns=["write", "word", "tag", "value"])
