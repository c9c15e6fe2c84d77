"""The left side of every page: its links, the model, the sentence and its edits, or who labels."""

import re
from collections.abc import Sequence

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.panels.cards import summary
from crfviz.ui.session.annotator import NOBODY
from crfviz.ui.session.bound import bound, bound_text, bound_to
from crfviz.ui.session.current import (
    change,
    history,
    redo,
    reset,
    scenario,
    set_view_option,
    undo,
    view_option,
)
from crfviz.ui.session.kept import forget, messages
from crfviz.ui.session.permission import LoginError, account, logged_in, login_asked
from crfviz.ui.shell.snapshot_panel import snapshot_panel
from crfviz.ui.state.covers import EVERY_ROW, NO_ROW, ROWS, wanted_rows
from crfviz.ui.state.link import Link
from crfviz.ui.state.scenario import Scenario
from crfviz.ui.words import plain
from crfviz.views.numbers import count
from crfviz.views.strips.decoders import LABELS

ANNOTATE = "annotate"  # the page with sentences of its own
_CODE = re.compile(r"`([^`]+)`")  # how claims mark words; the gallery shows no markdown
_OWN_SENTENCE = "your own sentence"
_MOST_MESSAGES = 2  # shown at once
LONGEST_NAME = 40  # characters


def sidebar(pages: Sequence[st.Page], link: Link, path: str) -> None:
    """Draw the left side of the page at a path; it stays usable when the model is broken.

    The links to the pages stand in their order, and open what `link` says is on the screen.
    """
    with st.sidebar:
        with st.container(key="brand", horizontal=True, vertical_alignment="center"):
            st.html('<div class="crfviz-name">crfviz</div>', width="content")
            snapshot_panel()
        _links(pages, link)
        _model()
        if path == ANNOTATE:
            annotator_box()
        else:
            _sentence()
        _status(link)
    _messages()


def _messages() -> None:
    """What has to be said once; of many messages the last are only counted."""
    said = messages()
    shown, more = said[:_MOST_MESSAGES], len(said) - _MOST_MESSAGES
    if more > 0:
        shown = [*shown, f"And {more} more like these."]
    for message in shown:
        st.toast(plain(message), icon=":material/info:", duration="long")
    forget(said)


def _links(pages: Sequence[st.Page], link: Link) -> None:
    """Links that carry the scenario, so that a page opened in another tab shows the same."""
    with st.container(key="pages"):
        for page in pages:
            st.page_link(page, query_params=link.params)


def _model() -> None:
    names = cached.models()
    if not names:
        st.error("There is no model. Train one with `python -m crfviz train`.")
        return
    current = scenario().model
    options = names if current in names else [*names, current]  # a folder may have gone meanwhile
    bound(st.selectbox, "Model", "model", options=options)
    if description := summary(current):
        with st.container(key="summary"):
            st.caption(plain(description))


def _sentence() -> None:
    bound(st.text_input, "Sentence", "sentence", placeholder="Type a sentence, press Enter")
    _examples()
    _edits()
    _rows()


def _examples() -> None:
    """The gallery; it has no state of its own, but shows the example that the sentence is."""
    now = scenario()
    gallery = _gallery(now.model)
    here = Scenario(now.model, now.sentence)
    showing = next((label for label, example in gallery.items() if example == here), None)

    def choose(label: str) -> None:
        if label in gallery:
            change(model=gallery[label].model, sentence=gallery[label].sentence)

    options = list(gallery) if showing else [_OWN_SENTENCE, *gallery]
    value = showing or _OWN_SENTENCE
    bound_to(st.selectbox, "Try one with a point", "example", value, choose, options=options)
    if showing:
        st.caption(plain(showing))


def _gallery(model: str) -> dict[str, Scenario]:
    """What people read, to what it means: this model's examples, then the first of each other.

    The list travels with every redraw, which is why it does not hold all of them. Of models that
    people brought only the chosen one is in it.
    """
    gallery: dict[str, Scenario] = {}
    others = [name for name in cached.ready_models() if name != model]
    for name in [model, *others] if model in cached.models() else others:
        for example in cached.examples(name)[: None if name == model else 1]:
            claim = _CODE.sub(r"“\1”", example.claim)
            label = claim if name == model else f"{name}: {claim}"
            label = f"{label} ({example.text})" if label in gallery else label
            gallery[label] = Scenario(name, example.text)
    return gallery


def _edits() -> None:
    now, past, future = scenario(), history().past, history().future
    with st.container(key="edits", horizontal=True, vertical_alignment="center"):
        st.caption(f"**{count(len(now.edits), 'edit')}**", width="content")
        st.button("Undo", on_click=undo, disabled=not past, key="undo", type="tertiary")
        st.button("Redo", on_click=redo, disabled=not future, key="redo", type="tertiary")
        unchanged = not now.edits and not now.pins
        st.button("Reset", on_click=reset, disabled=unchanged, key="reset", type="tertiary")
    if now.edits.strength != 1.0:
        st.caption(f"CRF strength {now.edits.strength:g}")


def _rows() -> None:
    def choose(rows: Sequence[str]) -> None:
        kept = ".".join(row for row in LABELS if row in rows)
        set_view_option(ROWS, kept or NO_ROW, EVERY_ROW)

    bound_to(
        st.pills,
        "Rows",
        "rows",
        wanted_rows(view_option(ROWS, EVERY_ROW)),
        choose,
        options=list(LABELS),
        format_func=LABELS.__getitem__,
        selection_mode="multi",
    )


def _status(link: Link) -> None:
    """What it runs on, and how to keep what is on the screen."""
    if link.complete:
        hint = "the address is the link"
    else:
        hint = "too long for a link: the address holds a part"
    tagger, device = cached.known_tagger(scenario().model), "no model"
    if tagger:
        device = "GPU" if tagger.device.startswith("cuda") else "CPU"
    st.caption(f"{device} · {hint}")


def annotator_box() -> None:
    """Draw the sidebar's part about the annotator."""
    try:
        asked = login_asked()
    except LoginError:  # the page says so
        return
    if not asked:
        bound_text(
            "Annotator",
            "by",
            max_chars=LONGEST_NAME,
            placeholder=NOBODY,
            help="Two people need two names. The address holds yours: take `v.by` out of it "
            "before you send it to somebody.",
        )
    elif logged_in():
        st.caption(f"Annotator **{plain(account() or 'nobody')}**")
        st.button("Log out", on_click=st.logout, type="tertiary")
    else:
        st.button("Log in to label", on_click=st.login, type="primary")
