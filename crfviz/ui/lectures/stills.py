"""What a cue shows, as a picture that stands still."""

import base64

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.lectures.lecture import Cue
from crfviz.ui.state.covers import covered
from crfviz.ui.state.scenario import BEFORE_FIRST, Scenario
from crfviz.views.figures.still import MARGINALS, still

WITH_MATRIX = ("transitions", "hmm-as-crf", "learn")  # pages with the matrix on them
_FOUND = ("viterbi", "max_marginal", "path", MARGINALS)  # what steps come to


def still_of(cue: Cue, *, key: bool = False) -> str:
    """The picture as SVG; what is covered, is to be stepped to or asked for only in the `key`.

    Raises:
        CrfvizError: the scene cannot be drawn.
    """
    hidden: set[str] = set()
    if not key:
        hidden.update(covered(cue.scenario.view))
        if cue.ask or cue.scenario.step == BEFORE_FIRST:
            hidden.update(_FOUND)
        if cue.ask:
            hidden.update(("greedy", "left_to_right"))
    return _still(cue.page in WITH_MATRIX, tuple(sorted(hidden)), repr(cue.scenario), cue.scenario)


def as_address(svg: str) -> str:
    """A picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@st.cache_data(max_entries=512, show_spinner=False)
def _still(matrix: bool, hidden: tuple[str, ...], state: str, _scenario: Scenario) -> str:  # noqa: ARG001, FBT001 - parts of the key
    return still(cached.edited(_scenario), hidden=hidden, matrix=matrix)
