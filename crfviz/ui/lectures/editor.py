"""The lecture editor: collect screens, order them, and write a text for each.

The session keeps the draft, and the browser keeps its text for the next session. After each change
the draft is written as TOML and parsed again, so it can always be saved.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urljoin

import streamlit as st

from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.lectures.draft import (
    Draft,
    moved,
    with_below,
    with_cue,
    with_parts_covered,
    with_screen,
    without,
)
from crfviz.ui.lectures.handout import data_uri, thumbnail
from crfviz.ui.lectures.lecture import BELOW, LONGEST_FILE, Cue, Lecture
from crfviz.ui.lectures.lecture_store import (
    LINK_PREFIX,
    from_link_name,
    read,
    to_link_name,
    to_toml,
)
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.scenario_state import NO_LETTERS, flag_option, scenario, set_view_option
from crfviz.ui.session.session_store import (
    BROWSER_DRAFT,
    DRAFT,
    errors_as_messages,
    get_value,
    notify,
    session_value,
    set_value,
    widget_value,
)
from crfviz.ui.state.scenario import PARTS, covered
from crfviz.ui.widgets import download, upload
from crfviz.ui.words import plain
from crfviz.views.contents import at_path
from crfviz.views.formatting import count
from crfviz.views.quiz.question import FORMS
from crfviz.views.strips.decoders import LABELS

PAGE = "lectures"  # the page of the editor, which cannot be a cue
FILE = "lecture.toml"
HANDOUT, OWN = "handout", "~"  # page option: the lecture of the handout; its value for the draft
_DRAFT, _TYPED = "lecture.draft", "lecture.typed"
_LONGEST_LINE = 60  # characters of a cue in the list
_LIST_HEIGHT = 460  # pixels; more cues scroll
_NAMES = {**LABELS, "path": "best path", "note": "sentence", "score": "score line"}


def add_button(path: str) -> None:
    """Draw the button that adds the current screen as a cue, except on the page Lectures."""
    if path != PAGE:
        st.button(
            "Add to lecture",
            on_click=_add,
            args=(path,),
            key="add_screen",
            icon=":material/playlist_add:",
            help="to your lecture, on the page Lectures",
        )


def own() -> Lecture:
    """Return the lecture of the draft."""
    return _draft().lecture


def in_the_making() -> bool:
    """Return whether the draft has a cue."""
    return _draft().cue is not None


def edit_lecture() -> None:
    """Draw the editor: title, cues, the chosen cue, downloads, and the box for a file."""
    now = _draft()
    with st.container(key="own", horizontal=True, vertical_alignment="bottom"):
        _head(now)
    if now.cue is None:
        st.caption(
            "“Add to lecture”, in the menu Share of each page, adds the screen to your lecture. "
            "Here you order the cues and write a text for each."
        )
    else:
        left, right = st.columns((5, 6))
        with left:
            _list(now)
        with right:
            _cue(now.cue)
        _ways_out(now.lecture)
    _open()


def edit(lecture: Lecture) -> None:
    """Replace the draft with another lecture; this can be undone."""
    for problem in lecture.problems:
        notify(problem)
    _change(replace(lecture, problems=()), 0)


def _head(now: Draft) -> None:
    def title(text: str) -> None:
        _change(replace(_draft().lecture, title=text))

    def minutes(number: float | None) -> None:
        _change(replace(_draft().lecture, minutes=float(number or 0)))

    lecture = now.lecture
    bound_to(st.text_input, "Your lecture", "own.title", lecture.title, title, max_chars=100)
    bound_to(
        st.number_input,
        "Minutes",
        "own.minutes",
        lecture.minutes,
        minutes,
        min_value=0.0,
        max_value=1000.0,
        step=1.0,
        format="%g",
        width=130,
    )
    undo, redo = (
        (lambda: _store(_draft().undone())),
        (lambda: _store(_draft().redone())),
    )
    st.button("Undo", on_click=undo, disabled=not now.history.past, key="own.undo")
    st.button("Redo", on_click=redo, disabled=not now.history.future, key="own.redo")


def _list(now: Draft) -> None:
    """Draw the list of cues with thumbnails, and buttons to move or remove the chosen cue."""
    at, last = now.chosen, len(now.lecture.cues) - 1

    def move(by: int) -> None:
        _change(moved(_draft().lecture, at, by), at + by)

    def drop() -> None:
        _change(without(_draft().lecture, at))

    with st.container(horizontal=True):
        st.button(
            "Up", on_click=move, args=(-1,), disabled=at == 0, key="own.up", shortcut="Alt+Up"
        )
        st.button(
            "Down",
            on_click=move,
            args=(1,),
            disabled=at == last,
            key="own.down",
            shortcut="Alt+Down",
        )
        st.button("Remove", on_click=drop, key="own.drop")
    with st.container(key="own_cues", height=_LIST_HEIGHT if last > 4 else "content", border=False):
        for place, cue in enumerate(now.lecture.cues):
            picture, line = st.columns((2, 5), gap="small", vertical_alignment="center")
            picture.html(_picture(cue, "crfviz-thumb"))
            line.button(
                plain(_line(place, cue)),
                on_click=_choose,
                args=(place,),
                key=f"own.cue.{place}",
                type="primary" if place == at else "tertiary",
            )


def _cue(cue: Cue) -> None:
    """Draw the form for the text, the covered parts and the question of the chosen cue."""

    def say_it(text: str) -> None:
        _try("say", text, lambda cue: replace(cue, say=text.strip()))

    def ask(text: str) -> None:
        _try("ask", text, lambda cue: replace(cue, ask=text.strip()))

    def cover(parts: list[str]) -> None:
        _change_cue(lambda cue: with_parts_covered(cue, parts))

    st.html(_picture(cue, "crfviz-still"))
    bound_to(
        st.text_area,
        "What to say",
        "own.say",
        _text("say", cue.say),
        say_it,
        height=90,
        placeholder="Alone, “got” is {greedy('got')}; on the best path it is {viterbi('got')}.",
        help="Expressions go in braces: [the guide](guides?v.guide=lectures) lists them.",
    )
    bound_to(
        st.pills,
        "Covered",
        "own.cover",
        covered(cue.scenario.view),
        cover,
        options=list(PARTS),
        format_func=lambda part: _NAMES.get(part, part),
        selection_mode="multi",
        wrap=True,
    )
    bound_to(
        st.toggle,
        "Show what is below the picture instead",
        "own.below",
        cue.scenario.view.get(BELOW) == "1",
        lambda wanted: _change_cue(lambda cue: with_below(cue, wanted=wanted)),
    )
    forms = ", ".join(f"{kind}({', '.join(given)})" for kind, given in FORMS.items())
    bound_to(
        st.text_input,
        "Question before the answer shows",
        "own.ask",
        _text("ask", cue.ask),
        ask,
        placeholder="viterbi(3)",
        help=f"One of {plain(forms)}. A word is its number, or its text in quotes.",
    )


def _ways_out(lecture: Lecture) -> None:
    """Draw the download, the handout button, and the links that contain the lecture."""
    with st.container(horizontal=True, vertical_alignment="center", key="own_out"):
        text = to_toml(lecture)
        download("Download", lambda: text, FILE, "application/toml", key="own.file")
        st.button("Handout", on_click=set_view_option, args=(HANDOUT, OWN), key="own.handout")
        try:
            name = to_link_name(lecture)
        except FormatError as error:
            st.caption(plain(str(error)))
            return
        st.link_button("Play", played(name), type="primary")
        st.link_button("Speaker view", played(name, speaker="1"))
        with st.popover("Link"):
            st.caption("It contains the whole lecture:")
            st.code(urljoin(st.context.url or "", played(name)), language=None, wrap_lines=True)


def played(name: str, **more: str) -> str:
    """Return the URL that plays a lecture, relative to the pages."""
    letters = {f"v.{NO_LETTERS}": "1"} if flag_option(NO_LETTERS) else {}
    return f"./?{urlencode({'lecture': name, **more, **letters})}"


def _open() -> None:
    def take() -> None:
        file = widget_value("own.upload")
        if file is None:
            return
        with errors_as_messages():
            edit(read(_decoded(file), FILE))

    upload("Open the file of a lecture", type="toml", key="own.upload", on_change=take)


def _decoded(file: Any) -> str:  # noqa: ANN401 - the value of st.file_uploader
    """Return the text of an uploaded file.

    Raises:
        FormatError: the file is too long, or is not UTF-8 text.
    """
    content = file.getvalue()
    if len(content) > LONGEST_FILE:
        raise FormatError(f"expected at most {LONGEST_FILE:,} bytes, got {len(content):,}")
    try:
        return str(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError(f"The file cannot be read as text in UTF-8 ({error.reason}).") from error


def _add(path: str) -> None:
    with errors_as_messages():
        lecture = with_screen(_draft().lecture, path, scenario())
        _settle(lecture, len(lecture.cues) - 1)
        notify(f"This screen is cue {len(lecture.cues)} of your lecture, on the page Lectures.")


def _choose(place: int) -> None:
    set_value(_DRAFT, _draft().after(_draft().lecture, place))
    set_value(_TYPED, None)


def _change_cue(change: Callable[[Cue], Cue]) -> None:
    now = _draft()
    if now.cue is not None:
        _change(with_cue(now.lecture, now.chosen, change(now.cue)))


def _try(field: str, text: str, change: Callable[[Cue], Cue]) -> None:
    """Apply a typed text to the chosen cue; an invalid text stays in its box, with a message.

    Args:
        field: name of the text box.
        text: the typed text.
        change: returns the cue with this text.
    """
    before = _draft()
    set_value(_TYPED, (before.chosen, field, text))
    with errors_as_messages():
        if before.cue is not None:
            _settle(with_cue(before.lecture, before.chosen, change(before.cue)))
        set_value(_TYPED, None)


def _text(field: str, saved: str) -> str:
    typed = get_value(_TYPED)
    return typed[2] if typed and typed[:2] == (_draft().chosen, field) else saved


def _change(lecture: Lecture, chosen: int | None = None) -> None:
    with errors_as_messages():
        _settle(lecture, chosen)


def _settle(lecture: Lecture, chosen: int | None = None) -> None:
    """Store the lecture after writing and parsing it.

    Raises:
        FormatError: the written file is invalid; the message says where.
    """
    if lecture.cues:
        lecture = read(to_toml(lecture), FILE)
        if lecture.problems:
            raise FormatError(lecture.problems[0])
    _store(_draft().after(lecture, chosen))


def _store(draft: Draft) -> None:
    """Store the draft in the session and in the browser; without cues, delete the browser's."""
    set_value(_DRAFT, draft)
    if draft.cue is None:
        set_value(DRAFT, "")
        return
    try:
        set_value(DRAFT, to_link_name(draft.lecture))  # compressed: every redraw sends it
    except FormatError:  # too long for a link
        set_value(DRAFT, to_toml(draft.lecture))


def _draft() -> Draft:
    stored = get_value(BROWSER_DRAFT)
    if stored:
        set_value(BROWSER_DRAFT, None)
        if get_value(_DRAFT) in (None, Draft()):
            _take_up(stored)
    return session_value(_DRAFT, Draft)


def _take_up(text: str) -> None:
    """Restore the draft from the browser's text; report and delete an invalid one."""
    set_value(DRAFT, "")
    with errors_as_messages():
        lecture = read(from_link_name(text) if text.startswith(LINK_PREFIX) else text, FILE)
        _store(Draft(replace(lecture, problems=())))


def _line(place: int, cue: Cue) -> str:
    edits = f" ({count(len(cue.scenario.edits), 'edit')})" if cue.scenario.edits else ""
    line = f"{place + 1} · {at_path(cue.page).title}{edits}: {cue.say or cue.scenario.sentence}"
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


def _picture(cue: Cue, kind: str) -> str:
    """Return the thumbnail of a cue as HTML."""
    try:
        return f'<img class="{kind}" alt="" src="{data_uri(thumbnail(cue))}">'
    except CrfvizError:  # the player shows why
        return f'<div class="{kind}">cannot be drawn</div>'
