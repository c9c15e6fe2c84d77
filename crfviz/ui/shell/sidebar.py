"""The left side of every page: its links, the model, the sentence and its edits, or who labels."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from secrets import token_hex

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.fragments import EDITS, drawn_edits, redraw
from crfviz.ui.live_room import broadcast
from crfviz.ui.panels.cards import summary
from crfviz.ui.panels.rules import rule_chip
from crfviz.ui.scene import reserve_claim
from crfviz.ui.session.bound_widgets import bound, bound_flag, bound_tabs, bound_text, bound_to
from crfviz.ui.session.components import component
from crfviz.ui.session.permission import (
    NOBODY,
    LoginError,
    account,
    is_logged_in,
    is_login_required,
)
from crfviz.ui.session.scenario_state import (
    change,
    redo,
    request_page,
    reset,
    scenario,
    set_typed_sentence,
    set_view_option,
    undo,
    view_option,
)
from crfviz.ui.session.session_store import (
    BROWSER_DRAFT,
    DRAFT,
    discard_messages,
    get_value,
    messages,
    notify,
    session_value,
    set_value,
    widget_value,
)
from crfviz.ui.shell.frame import HIDDEN, SHOWN, SIDEBAR
from crfviz.ui.shell.panels import follow_panel, snapshot_panel
from crfviz.ui.state.link import NOT_ELSEWHERE, Link
from crfviz.ui.state.scenario import ASK, EVERY_ROW, ROWS, Scenario, rows_option, wanted_rows
from crfviz.ui.words import plain
from crfviz.views.contents import GROUPS, Entry, at_path
from crfviz.views.formatting import claim_text, count
from crfviz.views.quiz.selection import can_ask
from crfviz.views.strips.decoders import LABELS

ANNOTATE = "annotate"  # the page with sentences of its own
NOTES = {
    cached.LESSON_MODEL: " – for lessons: no word sees its neighbours, only the chain decides"
}  # what the picker says of a model
THEMES = ("system", "light", "dark")
_MAX_MESSAGES = 2  # shown at once
LONGEST_NAME = 40  # characters
LONGEST_LABEL = 300  # characters of an example in the list


def sidebar(pages: Sequence[st.Page], link: Link, path: str, tool: Callable[[str], None]) -> None:
    """Draw the left side of the page at a path; it stays usable when the model is broken.

    The links to the pages stand in their order, and open what `link` says is on the screen. On top
    `tool` draws what else acts on the page at the path.
    """
    with st.sidebar:
        with st.container(key="brand", horizontal=True, vertical_alignment="center"):
            snapshot_panel()
            tool(path)
        page = at_path(path)
        _links(pages, page, link)
        if page.model:
            _model()
        if path == ANNOTATE:
            annotator_box()
        elif page.sentence:
            _sentence()
        if page.rows:
            _rows()
        if page.sentence:
            rule_chip(path)
        with st.container(key="status"):
            _status(link, path)
    show_messages()


def show_messages() -> None:
    """Show the pending messages once; the last of many are only counted."""
    shown_messages = messages()
    shown, more = shown_messages[:_MAX_MESSAGES], len(shown_messages) - _MAX_MESSAGES
    if more > 0:
        shown = [*shown, f"{more} more not shown."]
    for message in shown:
        st.toast(plain(message), icon=":material/info:", duration="long")
    discard_messages(shown_messages)


def _links(pages: Sequence[st.Page], here: Entry, link: Link) -> None:
    """Draw links that carry the scenario, so that a page in another tab shows the same.

    The group of the page that is open is unfolded. Edits that come later the browser adds.
    """
    following = iter(pages)
    with st.container(key="pages"):
        for heading, group in GROUPS.items():
            is_open = here in group
            with st.expander(heading, expanded=is_open, key=f"group.{heading}.{is_open}"):
                for page in islice(following, len(group)):
                    st.page_link(page, query_params=link.params)


def _model() -> None:
    names = cached.models()
    if not names:
        st.error("There is no model. Train one with `python -m crfviz train`.")
        return
    current = scenario().model
    options = names if current in names else [*names, current]  # a folder may have gone meanwhile

    def label(name: str) -> str:
        return name if name == current else f"{name}{NOTES.get(name, '')}"

    bound(st.selectbox, "Model", "model", options=options, format_func=label)
    if description := summary(current):
        with st.container(key="summary"):
            st.caption(plain(description))


def _sentence() -> None:
    hint = "Type a sentence, press Enter"
    typed = scenario().sentence
    bound_to(st.text_input, "Sentence", "sentence", typed, set_typed_sentence, placeholder=hint)
    _examples()
    _edits()


def _examples() -> None:
    """Draw the gallery of examples, and reserve space for the claim of one."""
    now = scenario()
    gallery = _gallery(now.model)

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
    )
    reserve_claim(now)


def _gallery(model: str) -> dict[str, Scenario]:
    """Return the examples by label: those of this model, then the first of each other.

    The list travels with every redraw, which is why it does not hold all of them. Of models that
    people brought only the chosen one is in it.
    """
    gallery: dict[str, Scenario] = {}
    others = [name for name in cached.ready_models() if name != model]
    for name in [model, *others] if model in cached.models() else others:
        for example in cached.examples(name)[: None if name == model else 1]:
            text = example.text[:LONGEST_LABEL] + "…" * (len(example.text) > LONGEST_LABEL)
            label = f"{text} – {claim_text(example.claim)}"
            gallery[label if name == model else f"{name}: {label}"] = Scenario(name, example.text)
    return gallery


@st.fragment(key=EDITS)
def _edits() -> None:
    number, strength, past, future, changed = drawn_edits()
    with st.container(key="edits", horizontal=True, vertical_alignment="center"):
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


def _rows() -> None:
    def choose(rows: Sequence[str]) -> None:
        set_view_option(ROWS, rows_option(rows), EVERY_ROW)

    bound_to(
        st.pills,
        "Rows",
        "rows",
        wanted_rows(view_option(ROWS, EVERY_ROW)),
        choose,
        options=list(LABELS),
        format_func=LABELS.__getitem__,
        selection_mode="multi",
        label_visibility="collapsed",
    )


def _status(link: Link, path: str) -> None:
    """Draw the options for colours and questions, the device, and how to save the screen."""
    with st.container(key="look", horizontal=True, vertical_alignment="center"):
        place = st.container(key="theme", width="content")
        theme = bound_tabs("Colours", "theme", THEMES, THEMES[0], at=place)
        if can_ask(path):
            bound_flag(st.toggle, "Ask me", ASK)
    use_colours(theme)
    tagger = cached.known_tagger(scenario().model)
    device = "GPU" if tagger and tagger.device.startswith("cuda") else "CPU"
    with st.container(key="foot", horizontal=True, vertical_alignment="center"):
        st.caption(f"Running on {device}" if tagger else "No model", width="content")
        copies = "Copy link" if link.complete else "Copy partial link"  # it would be too long
        st.html(
            f'<button type="button" class="crfviz-copy" aria-live="polite">{copies}</button>',
            width="content",
        )
        follow_panel()


def use_colours(theme: str) -> None:
    """Have the browser show one of `THEMES`."""
    frame = component("frame", "ui/shell/web", ["frame"])
    frame(
        key="frame",
        data={
            "theme": theme,
            "lead": broadcast.room_key(),
            "draft": get_value(DRAFT),
            "own": NOT_ELSEWHERE,
            "session": session_value("frame.session", lambda: token_hex(8)),
        },
        on_draft_change=_take_draft,
        on_sidebar_change=_keep_sidebar,
        on_lead_change=_go_on,
        on_turn_change=_turn,
        on_page_change=_open,
        on_back_change=_draw,
        on_anew_change=_say_what_is_lost,
    )


def _draw() -> None:
    """Do nothing: the run itself redraws after a lost connection and handles the events."""


def _say_what_is_lost() -> None:
    """Tell the reader that the server knows only the address and what the browser has sent."""
    notify(
        "The connection is back, in a new session. Your scores are kept; undo, snapshots and "
        "unsaved texts are gone."
    )


def _go_on() -> None:
    """Lead the room that this browser leads in another tab, or led before a reload."""
    event = widget_value("frame")
    if isinstance(event, Mapping):
        broadcast.resume_room(event.get("lead"))


def _take_draft() -> None:
    """Load the browser's draft of a lecture if this session has none."""
    event = widget_value("frame")
    text = event.get("draft") if isinstance(event, Mapping) else None
    if isinstance(text, str) and get_value(DRAFT) is None:
        set_value(BROWSER_DRAFT, text)
        set_value(DRAFT, text)


def _turn() -> None:
    """Go to the next or previous page, where no picture took the key."""
    event = widget_value("frame")
    if isinstance(event, Mapping):
        request_page(event.get("turn"))


def _open() -> None:
    """Open another page, by the path of a link in the browser."""
    event = widget_value("frame")
    if isinstance(event, Mapping):
        request_page(event.get("page"))


def _keep_sidebar() -> None:
    """Store whether the sidebar is open."""
    event = widget_value("frame")
    if isinstance(event, Mapping) and event.get("sidebar") in (SHOWN, HIDDEN):
        set_view_option(SIDEBAR, event["sidebar"], SHOWN)


def annotator_box() -> None:
    """Draw the sidebar's part about the annotator."""
    try:
        has_login = is_login_required()
    except LoginError:  # the page says so
        return
    if not has_login:
        bound_text(
            "Annotator",
            "by",
            max_chars=LONGEST_NAME,
            placeholder=NOBODY,
            help="Two people need two names. The address holds yours: take `v.by` out of it "
            "before you send it to somebody.",
        )
    elif is_logged_in():
        st.caption(f"Annotator **{plain(account() or 'nobody')}**")
        st.button("Log out", on_click=st.logout, type="tertiary")
    else:
        st.button("Log in to label", on_click=st.login, type="primary")
