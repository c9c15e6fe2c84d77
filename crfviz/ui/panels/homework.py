"""The page Homework: check a pasted or uploaded table, or replay the trace of a program."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.homework.bugs import example_table, known_bugs
from crfviz.chain.homework.check import Checked, check
from crfviz.chain.homework.grade import FORMAT, Trace
from crfviz.chain.homework.programs import BACKPOINTERS
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.text.number_tables import MAX_BYTES, NumberTable, parse_number_table, read_number_table
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_draft, bound_flag, bound_select, bound_to
from crfviz.ui.session.page_options import choice_option
from crfviz.ui.session.scenario_state import change, scenario, set_view_option, view_option
from crfviz.ui.session.session_store import draft, errors_as_messages, set_draft
from crfviz.ui.stage import draw
from crfviz.ui.state.scenario import BEFORE_FIRST, MAX_WORDS
from crfviz.ui.widgets import download, narrowed, upload
from crfviz.ui.words import plain
from crfviz.views.frames.homework import (
    as_text,
    compared,
    how_read,
    likely_bug,
    order_note,
    template,
    trace_picture,
    verdict,
)
from crfviz.views.stage.picture import Subject

RIGHT = "the right table"
_BOX, _FILE = "homework", "homework.file"  # drafts: the text of the box, the id of its file
_TRACE = "homework.trace"  # draft: the text of a trace
_TRACE_HEAD = 200  # bytes in which a trace names its format
EXAMPLE_ROWS, EXAMPLE_TAGS = 3, 5  # maximum size of the example table
_BOX_HEIGHT = 122  # pixels
_ROW_HEIGHT = 24


def table_box(scene: Scene, kind: str) -> NumberTable | None:
    """Draw the text box, the upload and the examples; return the table in the box.

    Returns:
        The parsed table; None, with instructions, if the box is empty.

    Raises:
        CrfvizError: the text is no valid table.
    """
    box, file, example = st.columns([5, 2.6, 2.4])
    with file:
        problem = _upload(scene, kind)
    bound_select("or an example", "homework", _names(kind), _names(kind)[0], at=example)
    example.button("Fill it in", on_click=_fill, args=(scene, kind))
    text = bound_draft(
        st.text_area,
        "Your table: a row per word and a column per tag, or the other way round",
        _BOX,
        height=_BOX_HEIGHT,
        placeholder="Paste CSV, columns from a spreadsheet, JSON, or NumPy output",
        at=box,
    )
    if problem:
        st.error(plain(problem))
    if not text.strip():
        _nothing_yet(scene, kind)
        return None
    return parse_number_table(
        text, names=scene.tags, words=scene.words, prefer=kind, ids=kind == BACKPOINTERS
    )


def _cell_names(scene: Scene, kind: str) -> Sequence[str]:
    """Return the names that stand for ids in the cells."""
    return scene.tags if kind == BACKPOINTERS else ()


def _nothing_yet(scene: Scene, kind: str) -> None:
    T, K = len(scene.words), len(scene.tags)
    st.info(
        f"Paste your table of {T} words by {K} tags: logarithms or probabilities, rounded as "
        "you like, labels allowed. Or fill in an example."
    )
    st.text(f"The tags, in this order: {' '.join(scene.tags)}")
    empty = template(scene.words, scene.tags)
    download("Template (CSV)", lambda: empty, f"{kind}.csv", "text/csv")
    st.caption("The table:" if _answers_hidden() else "The table, with its first row filled in:")
    cells = np.full((T, K), "…", dtype=object)
    first = example_table(scene.now.potentials, kind)[0]
    if not _answers_hidden():
        cells[0] = [str(value) if kind == BACKPOINTERS else f"{value:.4f}" for value in first[:K]]
    frame = pd.DataFrame(cells, list(scene.numbered().values()), list(scene.tags))
    st.dataframe(frame, column_config=narrowed(frame))
    wrong = _with_a_mistake(scene, kind)
    if wrong is not None:
        more = " and tags" if K > EXAMPLE_TAGS else ""
        st.caption(f"Such a table as text, of the first words{more}, with a likely mistake in it:")
        shown = wrong[:EXAMPLE_ROWS, :EXAMPLE_TAGS]
        text = as_text(shown, scene.tags[:EXAMPLE_TAGS], _cell_names(scene, kind))
        st.code(text, language=None)


def _with_a_mistake(scene: Scene, kind: str) -> np.ndarray | None:
    for bug in known_bugs(kind):
        with suppress(CrfvizError):
            return example_table(scene.now.potentials, kind, bug.name)
    return None


def ordered(scene: Scene, kind: str, table: NumberTable) -> Checked:
    """Check a table; if its tags are in another order, draw a button that reorders them."""
    checked = check(scene.now.potentials, kind, table.values, table.units)
    names = table.labels if checked.reading.flipped else table.header
    if checked.first_wrong is not None and names is not None and set(names) == set(scene.tags):
        order = tuple(scene.tags.index(name) for name in names)
        checked = _as_labelled(scene, kind, replace(checked, order=order))
    if checked.out_of_order:
        st.warning(plain(order_note(checked.order, scene.tags)))
        right = checked.ordered
        st.button(
            "Put the tags in the model's order",
            on_click=lambda: set_draft(_BOX, as_text(right, scene.tags, _cell_names(scene, kind))),
        )
    return checked


def _as_labelled(scene: Scene, kind: str, checked: Checked) -> Checked:
    """Return the check with backpointers read in the order of the labels or of the model.

    The order that gives fewer wrong cells is chosen. Other kinds of tables stay unchanged.
    """
    if kind != BACKPOINTERS:
        return checked

    def wrong(ways: Checked) -> int:
        first = check(scene.now.potentials, kind, ways.ordered).first_wrong
        return first.wrong_cells if first else 0

    return min((replace(checked, renamed=renamed) for renamed in (True, False)), key=wrong)


def show_checked(scene: Scene, kind: str, checked: Checked) -> None:
    """Draw the verdict, the likely bug, and both tables."""
    wrong = checked.first_wrong
    told = _answers_shown() if wrong is not None else not _answers_hidden()
    text = verdict(checked, kind, scene.words, scene.tags, told=told)
    if wrong is None:
        (st.info if checked.num_empty else st.success)(plain(text))
    elif checked.out_of_order:  # no likely bug yet: the numbers may be right in another order
        st.error(plain(f"{text} What else is wrong is looked for once the tags are in order."))
    else:
        st.error(plain(f"{text} {likely_bug(wrong)}"))
        if told:
            st.text(wrong.arithmetic)
    read, every = st.columns([4, 1], vertical_alignment="center")
    read.caption(plain(how_read(checked, kind)))
    with every:
        every_row = draft("homework.every") == "1"
        bound_to(st.toggle, "Every word", "homework.every", every_row, _keep_every)
    tables = compared(checked, kind, scene.words, scene.tags, every=every_row)
    height = _ROW_HEIGHT * (len(scene.tags) + 1) + 16
    for column, table in zip(st.columns(2), tables if told else tables[:1], strict=False):
        names = narrowed(pd.DataFrame(index=table.index, columns=table.columns))
        column.dataframe(table, row_height=_ROW_HEIGHT, height=height, column_config=names)


def _answers_hidden() -> bool:
    """Return whether a lecturer's link keeps the right numbers hidden (`v.answers=hidden`)."""
    return view_option("answers") == "hidden"


def _answers_shown() -> bool:
    """Draw the switch for the right numbers, unless the link hides them; return its state."""
    shown = view_option("answers") == "shown"
    if _answers_hidden():
        return False
    bound_to(st.toggle, "Show the right numbers", "homework.answers", shown, _show_answers)
    return shown


def _show_answers(chosen: bool) -> None:  # noqa: FBT001 - the value of a toggle
    set_view_option("answers", "shown" if chosen else "")


def _keep_every(chosen: bool) -> None:  # noqa: FBT001 - the value of a toggle
    set_draft("homework.every", "1" if chosen else "")


def _upload(scene: Scene, kind: str) -> str:
    """Draw the upload, and put a new file into the box or open its trace.

    Returns an error message, or an empty text.
    """
    file = upload("or a file: CSV, JSON, .npz, a trace", max_upload_size=MAX_BYTES // 1_000_000)
    if file is None:
        return ""
    data = file.getvalue()
    try:
        if is_trace(data):
            if draft(_FILE) != file.file_id:
                open_trace(data)
                set_draft(_FILE, file.file_id)
                st.rerun()
            return ""
        table = read_number_table(
            data, names=scene.tags, words=scene.words, prefer=kind, ids=kind == BACKPOINTERS
        )
    except CrfvizError as error:
        return f"{file.name}: {error} The box is unchanged."
    if draft(_FILE) != file.file_id:
        set_draft(_FILE, file.file_id)
        set_draft(_BOX, _readable(data, table))
    return ""


def _readable(data: bytes, table: NumberTable) -> str:
    """Return a text file unchanged, or an array as text with all digits."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "\n".join("\t".join(map(repr, row)) for row in table.values.tolist())


def _fill(scene: Scene, kind: str) -> None:
    """Put the chosen example into the box; the choice may be newer than the clicked button."""
    name = choice_option("homework", _names(kind), _names(kind)[0])
    with errors_as_messages():
        table = example_table(scene.now.potentials, kind, "" if name == RIGHT else name)
        set_draft(_BOX, as_text(table, scene.tags, _cell_names(scene, kind)))


def _names(kind: str) -> list[str]:
    bugs = [bug.name for bug in known_bugs(kind)]
    return bugs if _answers_hidden() else [RIGHT, *bugs]


def is_trace(data: bytes) -> bool:
    """Return whether a file names the trace format in its first bytes."""
    return f'"{FORMAT}"'.encode() in data[:_TRACE_HEAD]


def open_trace(data: bytes) -> None:
    """Open the trace of an uploaded file.

    Raises:
        FormatError: it is not a trace.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"expected a trace as UTF-8 text: {error}") from error
    _read(text)
    set_draft(_TRACE, text)
    change(step=BEFORE_FIRST)


def show_trace() -> bool:
    """Draw the opened trace; return whether one is open and valid."""
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
    """Parse a trace and analyse its chain.

    Raises:
        FormatError: it is not a trace, or has too many words.
    """
    trace = Trace.from_json(text)
    if trace.potentials.num_tokens > MAX_WORDS:
        raise FormatError(f"a trace of at most {MAX_WORDS} words can be drawn")
    return trace, analyse(trace.potentials)


def _writes(trace: Trace, analysis: Analysis) -> pd.DataFrame:
    rows = [
        (n, f"{t + 1} {analysis.words[t]}", analysis.tags[k], value)
        for n, step in enumerate(trace.steps, start=1)
        for t, k, value in step
    ]
    return pd.DataFrame(rows, columns=["write", "word", "tag", "value"])
