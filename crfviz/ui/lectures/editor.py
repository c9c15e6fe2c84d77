"""The lecture editor: collect screens, order them, and write a text for each.

`crfviz.ui.lectures.draft_state` keeps the draft.
"""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urljoin

import streamlit as st

from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.lectures.draft import (
    Draft,
    moved,
    with_below,
    with_parts_covered,
    with_screen,
    without,
)
from crfviz.ui.lectures.draft_state import (
    FILE,
    change_cue,
    change_lecture,
    choose,
    current_draft,
    keep_invalid,
    problems_of,
    renumber,
    settle,
    travel,
    try_field,
    typed_value,
)
from crfviz.ui.lectures.handout import data_uri, thumbnail
from crfviz.ui.lectures.lecture import BELOW, LONGEST_FILE, Cue, Lecture
from crfviz.ui.lectures.lecture_store import (
    read,
    to_link_name,
    to_toml,
)
from crfviz.ui.lectures.question_editor import question_fields, show_problem
from crfviz.ui.lectures.question_form import QuestionForm, form_of, read_form
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.scenario_state import NO_LETTERS, scenario, set_view_option
from crfviz.ui.session.session_store import (
    errors_as_messages,
    get_value,
    notify,
    set_value,
    widget_value,
)
from crfviz.ui.state.scenario import PARTS, covered
from crfviz.ui.widgets import download, upload
from crfviz.ui.words import plain
from crfviz.views.contents import at_path
from crfviz.views.formatting import count
from crfviz.views.strips.decoders import LABELS

PAGE = "lectures"  # the page of the editor, which cannot be a cue
HANDOUT, OWN = "handout", "~"  # page option: the lecture of the handout; its value for the draft
_PROBLEMS = "lecture.problems"  # session key: what was left out of the opened file
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
    return current_draft().lecture


def in_the_making() -> bool:
    """Return whether the draft has a cue."""
    return current_draft().cue is not None


def edit_lecture() -> None:
    """Draw the editor: title, cues, the chosen cue, downloads, and the box for a file."""
    now = current_draft()
    with st.container(key="own", horizontal=True, vertical_alignment="bottom"):
        _head(now)
    if now.cue is None:
        st.caption(
            "“Add to lecture”, in the menu Share of other pages, adds the screen to your lecture. "
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
    set_value(_PROBLEMS, lecture.problems)
    renumber(())
    change_lecture(replace(lecture, problems=()), 0)


def _head(now: Draft) -> None:
    def title(text: str) -> None:
        change_lecture(replace(current_draft().lecture, title=text))

    def minutes(number: float | None) -> None:
        change_lecture(replace(current_draft().lecture, minutes=float(number or 0)))

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
        (lambda: travel(current_draft().undone())),
        (lambda: travel(current_draft().redone())),
    )
    st.button("Undo", on_click=undo, disabled=not now.history.past, key="own.undo")
    st.button("Redo", on_click=redo, disabled=not now.history.future, key="own.redo")


def _list(now: Draft) -> None:
    """Draw the list of cues with thumbnails, and buttons to move or remove the chosen cue."""
    at, last = now.chosen, len(now.lecture.cues) - 1

    places = list(range(last + 1))

    def move(by: int) -> None:
        change_lecture(moved(current_draft().lecture, at, by), at + by)
        places.insert(at + by, places.pop(at))
        renumber(places)

    def drop() -> None:
        change_lecture(without(current_draft().lecture, at))
        renumber([place for place in places if place != at])

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
                on_click=choose,
                args=(place,),
                key=f"own.cue.{place}",
                type="primary" if place == at else "tertiary",
            )


def _cue(cue: Cue) -> None:
    """Draw the form for the text, the covered parts and the question of the chosen cue."""

    def say_it(text: str) -> None:
        try_field("say", text, lambda cue: replace(cue, say=text.strip()))

    def cover(parts: list[str]) -> None:
        change_cue(lambda cue: with_parts_covered(cue, parts))

    st.html(_picture(cue, "crfviz-still"))
    bound_to(
        st.text_area,
        "What to say",
        "own.say",
        typed_value("say", cue.say),
        say_it,
        height=90,
        placeholder="Alone, “got” is {greedy('got')}; on the best path it is {viterbi('got')}.",
        help="Expressions go in braces: [the guide](guides?v.guide=lectures) lists them.",
    )
    show_problem(problems_of("say").get("say"))
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
        lambda wanted: change_cue(lambda cue: with_below(cue, wanted=wanted)),
    )
    question_fields(
        typed_value("ask", form_of(cue.ask, cue.page)), problems_of("ask"), cue.page, _ask
    )


def _ask(form: QuestionForm) -> None:
    """Take over the question of a form if it is valid; otherwise keep the form as it is."""
    now = current_draft()
    if now.cue is None:
        return
    question, wrong = read_form(form, now.cue.page)
    if wrong:
        keep_invalid("ask", form, wrong)
    else:
        try_field("ask", form, lambda cue: replace(cue, ask=question))
        if form.by != form_of(question, now.cue.page).by:
            keep_invalid("ask", form, {})  # there is nothing to save yet


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
    for problem in get_value(_PROBLEMS) or ():
        st.warning(plain(f"Left out: {problem}"))


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
        lecture = with_screen(current_draft().lecture, path, scenario())
        settle(lecture, len(lecture.cues) - 1)
        notify(f"This screen is cue {len(lecture.cues)} of your lecture, on the page Lectures.")


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
