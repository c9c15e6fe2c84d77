"""The bar on top of a page: the sentence, its examples, the model, and the edits."""

from collections.abc import Callable

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.fragments import EDITS, drawn_edits, redraw
from crfviz.ui.panels.cards import summary
from crfviz.ui.panels.rules import rule_chip
from crfviz.ui.session.bound_widgets import bound, bound_to
from crfviz.ui.session.scenario_state import (
    change,
    redo,
    reset,
    scenario,
    undo,
)
from crfviz.ui.session.typed_text import (
    set_typed_sentence,
    show_of_paragraph,
    typed_paragraph,
)
from crfviz.ui.state.scenario import Scenario
from crfviz.views.contents import Entry
from crfviz.views.formatting import claim_text, count

NOTES = {cached.LESSON_MODEL: "for lessons: no word sees its neighbours, only the chain decides"}
LONGEST_LABEL = 300  # characters of an example in the list
EXAMPLES_WIDTH, MODEL_WIDTH = 112, 148  # pixels


def topbar(page: Entry) -> None:
    """Draw the bar on pages about one sentence; it stays usable if the model is broken."""
    if page.sentence:
        with st.container(key="topbar", horizontal=True, vertical_alignment="center"):
            _sentence()
            _examples()
            model_box()
            _edits()
        _others()
        rule_chip(page.path)


def _sentence() -> None:
    typed = scenario().sentence
    bound_to(
        st.text_input,
        "Sentence",
        "sentence",
        typed,
        set_typed_sentence,
        placeholder="Type a sentence, press Enter",
        label_visibility="collapsed",
    )


def _others() -> None:
    typed = typed_paragraph()
    if typed is None:
        return
    at, total = typed.at, len(typed.sentences)
    said = f"All {total} sentences as one." if at is None else f"Sentence {at + 1} of {total}."
    offers: dict[str, int | None] = {"Only the first": 0} if at is None else {"All as one": None}
    if at is not None and at + 1 < total:
        offers = {"Next sentence": at + 1, **offers}
    with st.container(key="typed", horizontal=True, vertical_alignment="center"):
        st.caption(said, width="content")
        for label, place in offers.items():
            st.button(
                label,
                on_click=show_of_paragraph,
                args=(typed, place),
                type="tertiary",
                key=f"typed.{label}",
            )


def _examples() -> None:
    gallery = _gallery(scenario().model)

    def choose(label: str | None) -> None:
        if label in gallery:
            change(model=gallery[label].model, sentence=gallery[label].sentence)

    bound_to(
        st.selectbox,
        "Examples",
        "example",
        None,
        choose,
        options=list(gallery),
        placeholder="Examples",
        label_visibility="collapsed",
        width=EXAMPLES_WIDTH,
    )


def _gallery(model: str) -> dict[str, Scenario]:
    """Return the examples by label: those of `model`, then the first of each other model.

    The list is short, because every redraw sends it. Of uploaded models it has only the chosen one.
    """
    gallery: dict[str, Scenario] = {}
    others = [name for name in cached.ready_models() if name != model]
    for name in [model, *others] if model in cached.models() else others:
        for example in cached.examples(name)[: None if name == model else 1]:
            text = example.text[:LONGEST_LABEL] + "…" * (len(example.text) > LONGEST_LABEL)
            label = f"{text} – {claim_text(example.claim)}"
            gallery[label if name == model else f"{name}: {label}"] = Scenario(name, example.text)
    return gallery


def model_box(label_visibility: str = "collapsed") -> None:
    """Draw the select box of models, in the bar or the head of a page."""
    names = cached.models()
    if not names:
        st.error("There is no model. Train one with `python -m crfviz train`.")
        return
    current = scenario().model
    # the current model may be missing from the list, because its folder was removed
    options = names if current in names else [*names, current]

    def label(name: str) -> str:
        about = "" if name == current else NOTES.get(name) or summary(name)
        return f"{name} – {about}" if about else name

    bound(
        st.selectbox,
        "Model",
        "model",
        options=options,
        format_func=label,
        label_visibility=label_visibility,
        width=MODEL_WIDTH,
    )


@st.fragment(key=EDITS)
def _edits() -> None:
    number, strength, past, future, changed = drawn_edits()
    with st.container(key="edits", horizontal=True, vertical_alignment="center", width="content"):
        st.caption(f"**{count(number, 'edit')}**", width="content")
        for label, change_them, able in (
            ("Undo", undo, past),
            ("Redo", redo, future),
            ("Reset", reset, changed),
        ):
            st.button(
                label,
                on_click=_change_edits,
                args=(change_them,),
                disabled=not able,
                key=label.lower(),
                type="tertiary",
            )
    if strength != 1.0:
        st.caption(f"CRF strength {strength:g}")


def _change_edits(change_them: Callable[[], None]) -> None:
    change_them()
    redraw(edits=True)
