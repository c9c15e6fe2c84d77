"""The two fragments that a stage event redraws: the page, and the summary of edits in the bar.

Streamlit redraws the fragment in which the user acted. Its callbacks end with `redraw`, which
requests both fragments if the summary of edits has changed, and a full rerun if the frame has.
"""

from typing import NamedTuple

import streamlit as st

from crfviz.ui.live_room import broadcast
from crfviz.ui.session.page_state import is_page_requested
from crfviz.ui.session.scenario_state import address, history, scenario, view_option
from crfviz.ui.session.session_store import get_value, messages, set_value, snapshots
from crfviz.ui.state.link_text import TOUR
from crfviz.ui.streamlit_compat import is_fragment_run

PAGE, EDITS = "page", "edits"  # keys of the fragments

# Page options that stages set, and that only the page shows.
IN_PAGE = ("at", "cell", "chosen", "entity", "folded", "hide", "nodes", "nudge", "panel", "weight")
# session keys: the state that the frame and the summary of edits showed last
_FRAME, _EDITS = "frame.drawn", "edits.drawn"


class EditsSummary(NamedTuple):
    """The summary of edits in the bar, and which of its buttons are enabled."""

    number: int
    strength: float
    can_undo: bool
    can_redo: bool
    can_reset: bool


def edits_summary() -> EditsSummary:
    """Return the summary of the edits of this session."""
    now, way = scenario(), history()
    changed = bool(now.edits or now.pins)
    return EditsSummary(
        len(now.edits), now.edits.strength, bool(way.past), bool(way.future), changed
    )


def drawn_edits() -> EditsSummary:
    """Return the summary of edits, and record that the bar shows it."""
    summary = edits_summary()
    set_value(_EDITS, summary)
    return summary


def edits_are_drawn() -> bool:
    return bool(get_value(_EDITS) == edits_summary())


def note_frame() -> None:
    set_value(_FRAME, _frame())


def frame_stands() -> bool:
    """Return whether the frame is up to date, apart from its links and the summary of edits."""
    touring = view_option(TOUR)  # the tour reacts to every action
    return not (touring or is_page_requested() or messages()) and bool(
        get_value(_FRAME) == _frame()
    )


def redraw(*, edits: bool = False) -> None:
    """Redraw the fragments that a callback has changed; call it last.

    Args:
        edits: whether to redraw the page and the summary of edits in any case.
    """
    if not is_fragment_run():
        return
    if not frame_stands():
        st.rerun()
    if edits or not edits_are_drawn():
        st.rerun([EDITS, PAGE])  # the page checks that the edits are drawn


def _frame() -> object:
    now, room = scenario(), broadcast.current_room()
    view = {name: value for name, value in now.view.items() if name not in IN_PAGE}
    return now.model, now.sentence, view, address().complete, snapshots(), room and room.code
