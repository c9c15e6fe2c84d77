"""The question which copies of a sentence go on, where annotators contradict each other."""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.copies import WAYS, Pair, Way, contradicting, settled
from crfviz.ui.session.bound import bound_select
from crfviz.ui.session.current import one_of
from crfviz.views.formatting import count

OPTION = "copies"
ASK = "ask"
NAMES: dict[str, str] = {
    ASK: "choose …",
    "agreed": "only where all agree",
    "majority": "what the majority says",
    "all": "every version of everybody",
}


def ask_copies(pairs: Sequence[Pair], *, every: bool) -> list[Pair] | None:
    """Draw the question where there are contradicting copies.

    Args:
        pairs: sentences with what was said about them.
        every: whether all copies may go on, too; else each sentence goes once.

    Returns:
        The copies that go on; None before that is chosen.
    """
    if apart := len(contradicting(pairs)):
        total = count(len({item.id for item, _ in pairs}), "sentence")
        st.warning(
            f"Annotators disagree about **{apart:,} of {total}**. Choose one of them above, or "
            "which versions to use."
        )
        bound_select("Where they disagree", OPTION, _names(every=every), ASK)
    return chosen_copies(pairs, every=every)


def chosen_copies(pairs: Sequence[Pair], *, every: bool) -> list[Pair] | None:
    """The copies that go on, as it was chosen; None where it has to be and was not."""
    if not contradicting(pairs):
        return settled(pairs, None if every else "agreed")
    chosen = one_of(OPTION, _names(every=every), ASK)
    way: Way | None = next((name for name in WAYS if name == chosen), None)
    return None if way is None else settled(pairs, way)


def _names(*, every: bool) -> dict[str, str]:
    return {name: text for name, text in NAMES.items() if every or name != "all"}
