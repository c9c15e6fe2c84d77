"""What if? Every change of the sentence tried at once, one of them drawn, and ways on from it."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.exceptions import CrfvizError
from crfviz.taggers.perturbations import DRAWN, KINDS, perturb
from crfviz.text.tokenizer import sentence_of
from crfviz.ui import cached
from crfviz.ui.pictures import draw
from crfviz.ui.session.bound import bound_buttons
from crfviz.ui.session.current import change, count_up, number_option, one_of, scenario
from crfviz.ui.session.kept import refusals_said
from crfviz.ui.state.link import encode, home_address
from crfviz.ui.state.scenario import MAX_WORDS, Scenario
from crfviz.views.numbers import count
from crfviz.views.stage.parts import Picture, Subject
from crfviz.views.strips.what_if import (
    WhatIf,
    flip_frame,
    moved_frame,
    moved_grid,
    what_if_note,
    what_if_rows,
)

MOST_DRAWS = 999_999
Tried = Mapping[str, WhatIf | None]  # by kind; None: there is nothing to change


def tried(now: Scenario) -> Tried:
    """The sentence after every kind of change, decoded by the same model.

    Edited transitions act on both sides; edits of single words and pins act on neither.

    Raises:
        CrfvizError: the model knows a few observations only, which have no case and no typos.
    """
    seed = number_option("draw", 0, 0, MOST_DRAWS)
    return _tried(replace(now, edits=replace(now.edits, emissions={}), pins={}), seed)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=cached.BY_NUMBERS)
def _tried(now: Scenario, seed: int) -> Tried:
    tagger = cached.tagger(now.model)
    if tagger.observations is not None:
        known = ", ".join(tagger.observations)
        raise CrfvizError(
            f"{tagger.name} knows only {known}, and these have neither case nor spelling. Choose a "
            "model of words on the left"
        )
    edits = now.edits
    words = cached.words(now.model, now.sentence)[:MAX_WORDS]
    before = cached.edited(now)
    path = before.paths["viterbi"] or before.greedy
    tags = [tagger.tags[tag] for tag in path]
    changed: dict[str, WhatIf | None] = {}
    for kind in KINDS:
        perturbed = perturb(kind, words, tags, seed)
        if perturbed is None:
            changed[kind] = None
            continue
        chain = tagger.potentials(perturbed.words, constrained=edits.constrained)
        changed[kind] = WhatIf(before, perturbed, analyse(edits.apply(chain)))
    return changed


def choose_change(every: Tried) -> str:
    """One button for each change, with how many tags it flips; another draw for those by chance."""
    flips = {
        kind: "–" if changed is None else len(changed.flips) for kind, changed in every.items()
    }
    names = {kind: f"{kind} · {number}" for kind, number in flips.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = bound_buttons("Change, and how many tags flip", "change", names, _first(every))
        st.button(
            "Draw another",
            on_click=count_up,
            args=("draw", MOST_DRAWS),
            disabled=kind not in DRAWN or every[kind] is None,
            help="A typo, a name and a number are drawn by chance; the number is in the link",
        )
    return kind


def show_changed(changed: WhatIf, kind: str) -> None:
    """Draw the changed sentence with its tags before and now, and how far every emission moved."""
    grid = moved_grid(changed)
    picture = Picture(
        ["strips", grid.name],
        what_if_rows(changed),
        [grid],
        compact=True,
        title="",
        note=what_if_note(changed, kind),
        legend="red dashes: the tag is not what it was",
        changeable=False,
    )
    subject = Subject(changed.after, changed.after)
    draw(subject, picture, key="what-if")


def show_numbers(changed: WhatIf) -> None:
    """The flips and the scores that moved most, as tables."""
    flipped, moved = st.columns(2)
    with flipped:
        st.markdown("**Tags that flip**")
        frame = flip_frame(changed)
        _show(frame)
    with moved:
        st.markdown("**Scores that moved most**, in nats")
        frame = moved_frame(changed)
        _show(frame)
        st.caption(
            "An emission's change is without the mean change of its word: what is added to all "
            "tags of a word moves no path. "
            + (
                "Transitions do not depend on the words."
                if changed.after.potentials.homogeneous
                else "Each step has transitions of its own; they are among the scores."
            )
        )


def ways_on(changed: WhatIf) -> None:
    """The changed sentence in the explorer, or in place of the one in the box."""
    model, text = scenario().model, _text(changed)
    if text is None:
        st.caption("The tokenizer would split these words elsewhere: they have no link.")
        return
    now = scenario()
    state = Scenario(model, text, edits=replace(now.edits, emissions={}))
    link = encode(state)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Take this sentence",
            on_click=_take,
            help="For all pages, so that Compare can put two models side by side on it",
        )
        st.link_button("Open in the explorer", home_address(link))
        dropped = len(now.edits.emissions) + len(now.pins)
        if dropped:
            st.caption(f"{count(dropped, 'edit or pin')} of single words left out on both sides.")


def _take() -> None:
    """The change that is chosen now: the button may be that of the run before the choice."""
    with refusals_said():
        every = tried(scenario())
        changed = every[one_of("change", every, _first(every))]
        change(sentence=_text(changed) if changed else None)


def _text(changed: WhatIf) -> str | None:
    """The changed sentence; None where the model would split it into other words."""
    return sentence_of(changed.perturbed.words, cached.tagger(scenario().model).split)


def _first(every: Tried) -> str:
    """The first change that flips a tag, for a reader who has not chosen."""
    return next(
        (kind for kind, changed in every.items() if changed and changed.flips), "lower case"
    )


def _show(frame: pd.DataFrame) -> None:
    if frame.empty:
        st.caption("None.")
        return
    numbers = {
        name: st.column_config.NumberColumn(format="%.3f")
        for name in frame.columns
        if pd.api.types.is_float_dtype(frame[name])
    }
    st.dataframe(frame, hide_index=True, column_config=numbers)
