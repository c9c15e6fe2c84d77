"""The result of a homework check in words and as a table, and a program's writes as a picture."""

import csv
import io
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from pandas.io.formats.style import Styler

from crfviz.chain.homework.arithmetic import number
from crfviz.chain.homework.board import ARRAYS, Step
from crfviz.chain.homework.check import Checked, WrongCell
from crfviz.chain.homework.grade import Trace, table_after
from crfviz.chain.homework.programs import ALPHA, ARRIVING, BACKPOINTERS, KINDS, MESSAGES
from crfviz.chain.homework.readings import LOG, NORMALISED
from crfviz.chain.potentials import Array
from crfviz.views.formatting import count
from crfviz.views.stage.picture import Grid, Picture
from crfviz.views.stage.walks import Phase, Walk
from crfviz.views.strips.pictures import scale_of

KIND_NAMES = dict(
    zip(KINDS, ("α forward", "β backward", "Viterbi scores", "backpointers"), strict=True)
)
AROUND = 3  # words shown on each side of the first wrong cell
FIRST, WRONG = "✗ ", "≠ "  # before a wrong cell; colour is not the only sign
_FIRST_STYLE = "background-color: rgba(213, 94, 0, 0.45); font-weight: 700"
_WRONG_STYLE = "background-color: rgba(213, 94, 0, 0.15)"
_RIGHT_STYLE = "background-color: rgba(0, 114, 178, 0.30); font-weight: 700"
YOURS = "yours"  # name of the table
MAX_STEPS = 400  # maximum number of steps of a walk; earlier writes are one step
LEGEND = "frame: written by this step · dashes: the first wrong cell · empty: not written yet"


def verdict(
    checked: Checked, kind: str, words: Sequence[str], tags: Sequence[str], *, told: bool = True
) -> str:
    """Return one sentence: that the table is right so far, or where it goes wrong.

    The right number is in it only if `told`.
    """
    wrong, empty = checked.first_wrong, checked.num_empty
    if wrong is None:
        size = checked.expected.size
        if not empty:
            return f"Right: all {size} cells."
        filled = f"Right so far: {count(size - empty, 'cell')}." if empty < size else ""
        return f"{filled} {count(empty, 'cell')} of {size} {'is' if empty == 1 else 'are'} empty."
    where = (
        f"“{words[wrong.position]}” (word {wrong.position + 1})"
        if wrong.position < len(words)
        else f"row {wrong.position + 1}, which is padding"
    )
    yours = f"The first wrong cell is {wrong.tag_name} at {where}: you have "
    yours += _cell(wrong.found, kind, tags)
    return f"{yours}; correct is {_cell(wrong.expected, kind, tags)}." if told else f"{yours}."


def how_read(checked: Checked, kind: str) -> str:
    """Describe how the table was read, and how many cells are wrong."""
    reading = checked.reading
    parts = ["a row per tag" if reading.flipped else "a row per word"]
    if kind != BACKPOINTERS:
        space = {
            LOG: "log space",
            NORMALISED: "probability space, each word's sum scaled to 1",
        }.get(reading.space, "probability space")
        parts += [space, f"written to {checked.rounding.text}"]
    if kind == ALPHA:
        held = {
            ARRIVING: "α at t without the emission at t",
            MESSAGES: "α as the message passed on, without the emission at t+1",
        }
        parts.append(held.get(reading.convention, "α with the emission at t"))
    wrong = checked.first_wrong
    counted = "" if wrong is None else f" {wrong.wrong_cells} of {checked.right.size} cells differ."
    return f"Read as: {', '.join(parts)}.{counted}"


def likely_bug(wrong: WrongCell) -> str:
    """Name the bug and its fix, or say that no known bug gives this table."""
    if wrong.bug is None:
        return (
            "No known bug gives exactly this table: every input of the marked cell is still right, "
            "so look at its arithmetic."
        )
    return f"Likely bug: {wrong.bug}. {wrong.explanation}"


def compared(
    checked: Checked, kind: str, words: Sequence[str], tags: Sequence[str], *, every: bool
) -> tuple[Styler, Styler]:
    """Return the submitted table and the right one, a row per tag and a column per word.

    With `every`, they have all words; otherwise those around the first wrong cell.
    """
    rows = len(checked.given)
    wrong = checked.first_wrong
    shown = range(rows)
    if not every and wrong is not None:
        first = min(max(0, wrong.position - AROUND), max(0, rows - 2 * AROUND - 1))
        shown = range(first, min(rows, first + 2 * AROUND + 1))
    held = checked.expected[np.minimum(np.arange(rows), len(words) - 1)]
    right = np.concatenate([checked.right, np.ones((rows - len(words), len(tags)), dtype=bool)])
    columns = [f"{t + 1} {words[t]}" if t < len(words) else f"{t + 1} padding" for t in shown]
    place = None if wrong is None else (wrong.position, wrong.tag)

    def frame(table: Array, *, ours: bool) -> Styler:
        texts, styles = [], []
        for k in range(len(tags)):
            line = [
                _marked(_cell(table[t, k], kind, tags), (t, k), place, right=right[t, k], ours=ours)
                for t in shown
            ]
            texts.append([text for text, _ in line])
            styles.append([style for _, style in line])
        names = pd.Index(list(tags), name="ours" if ours else "yours")
        numbers = pd.DataFrame(texts, index=names, columns=columns)
        marks = pd.DataFrame(styles, index=names, columns=columns)
        return numbers.style.apply(lambda _: marks, axis=None)

    return frame(checked.given, ours=False), frame(held, ours=True)


def as_text(table: Array, tags: Sequence[str], names: Sequence[str] = ()) -> str:
    """Return a (R, K) table as text to paste: a row per word, TAB between cells, quoted as in CSV.

    Ids in the cells are written as `names`, if these are given.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["word", *tags])
    for t, row in enumerate(table.tolist(), start=1):
        writer.writerow([str(t), *(_written(value, names) for value in row)])
    return text.getvalue().removesuffix("\n")


def template(words: Sequence[str], tags: Sequence[str]) -> str:
    """Return a CSV to fill in: a row per word, a column per tag in the checked order."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["word", *tags])
    writer.writerows([[f"{t} {word}", *("" for _ in tags)] for t, word in enumerate(words, 1)])
    return text.getvalue()


def order_note(order: Sequence[int], tags: Sequence[str]) -> str:
    """Return a note that the columns are in another order of tags than expected."""
    names = ", ".join(tags[k] for k in order)
    return (
        f"Your tags stand in another order: {names}. The order here is {', '.join(tags)}: the "
        "numbers are compared in that one."
    )


def _marked(
    text: str, cell: tuple[int, int], first: tuple[int, int] | None, *, right: bool, ours: bool
) -> tuple[str, str]:
    if cell == first:
        return (text, _RIGHT_STYLE) if ours else (FIRST + text, _FIRST_STYLE)
    return (text, "") if ours or right else (WRONG + text, _WRONG_STYLE)


def _cell(value: float, kind: str, tags: Sequence[str]) -> str:
    if math.isnan(value):
        return "empty"
    if kind != BACKPOINTERS:
        return number(value)
    if value == -1:
        return "–"
    whole = value == int(value) if math.isfinite(value) else False
    return tags[int(value)] if whole and 0 <= value < len(tags) else f"{value:g}"


def _written(value: float, names: Sequence[str]) -> str:
    """Return a number as text, or the name that it stands for; never a name by accident."""
    if value in range(len(names)):
        return names[int(value)]
    text = f"{value:.4f}".removesuffix(".0000") if math.isfinite(value) else str(value)
    if text not in names:
        return text
    return f"{value:.4f}" if math.isfinite(value) else ""


def trace_picture(trace: Trace) -> Picture:
    """Return the lattice and the table as the program fills them, up to the first wrong write.

    The last step shows the grade.
    """
    steps, earlier = played(trace)
    name = f"board.{ARRAYS[trace.table]}"
    values = torch.from_numpy(table_after(trace.potentials, trace.table, trace.steps))
    pointers = trace.table == BACKPOINTERS
    grid = Grid(
        YOURS,
        f"{name}, as the program writes it",
        values,
        scale_of(values),
        0 if pointers else 2,
        "written",
        writes=[torch.tensor(list(step), dtype=torch.float64) for step in steps],
        wrong=_wrong_cell(trace),
    )
    texts = [_step_text(trace, name, earlier, n, step) for n, step in enumerate(steps)]
    parts = ["nodes", YOURS]
    phases = [Phase(_literal(text), parts, nodes=[YOURS]) for text in texts]
    phases.append(Phase(_literal(trace.grade.message), parts, nodes=[YOURS]))
    return Picture(
        [YOURS] if pointers else ["lattice", YOURS],
        grids=[grid],
        walk=Walk(
            phases,
            start=f"{count(len(trace.steps), 'write')} to {name}. Press → to play them.",
            opens_done=False,
            never=["pointers", "path"],
        ),
        title="",
        note=trace.grade.arithmetic.replace("\n", " · "),  # shown after the last step
        legend=LEGEND,
        changeable=False,
    )


def played(trace: Trace) -> tuple[list[Step], int]:
    """Return the writes up to the first wrong one, and how many of them the first step holds."""
    last = len(trace.steps) if trace.grade.step is None else trace.grade.step + 1
    steps = list(trace.steps[:last])
    earlier = max(1, len(steps) - MAX_STEPS + 1)
    joined = [cell for step in steps[:earlier] for cell in step]
    return [joined, *steps[earlier:]] if steps else [], earlier


def _wrong_cell(trace: Trace) -> tuple[int, int] | None:
    position, tag = trace.grade.position, trace.grade.tag
    return None if position is None or tag is None else (position, tag)


def _step_text(trace: Trace, name: str, earlier: int, index: int, step: Step) -> str:
    if index == 0 and earlier > 1:
        return f"The first {earlier} writes at once."
    begin = f"Write {index + earlier}: "
    if len(step) > 1:
        return f"{begin}{len(step)} cells of {name}."
    t, k, value = step[0]
    tokens: Sequence[str] | None = trace.potentials.tokens
    word = "" if tokens is None else f" at “{tokens[t]}”"
    return f"{begin}{name}[{t}, {k}] = {_shown(value)} ({trace.potentials.tag_names[k]}{word})."


def _shown(value: float) -> str:
    return number(value) if not math.isfinite(value) or value != int(value) else f"{value:.0f}"


def _literal(text: str) -> str:
    """Escape the braces of a text, which are placeholders in steps."""
    return text.replace("{", "(").replace("}", ")")
