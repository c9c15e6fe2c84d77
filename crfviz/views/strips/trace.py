"""A program's writes on the stage: one step each, up to the first wrong one."""

import math
from collections.abc import Sequence

import torch

from crfviz.chain.homework.arithmetic import number
from crfviz.chain.homework.board import ARRAYS, Step
from crfviz.chain.homework.grade import Trace, table_after
from crfviz.chain.homework.programs import BACKPOINTERS
from crfviz.views.formatting import count
from crfviz.views.stage.picture import Grid, Phase, Picture, Walk
from crfviz.views.strips.pictures import scale_of

YOURS = "yours"  # name of the table
MAX_STEPS = 400  # of a walk; earlier writes are one step
LEGEND = "frame: written by this step · dashes: the first wrong cell · empty: not written yet"


def trace_picture(trace: Trace) -> Picture:
    """Return the lattice and the table as the program fills them, up to the first wrong write.

    The last step says what the grade says.
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
        writes=steps,
        wrong=_wrong_cell(trace),
    )
    said = [_said(trace, name, earlier, n, step) for n, step in enumerate(steps)]
    parts = ["nodes", YOURS]
    phases = [Phase(_literal(text), parts, nodes=[YOURS]) for text in said]
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
        note=trace.grade.arithmetic.replace("\n", " · "),  # seen after the last step
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


def _said(trace: Trace, name: str, earlier: int, index: int, step: Step) -> str:
    """Return the text of one step of the walk."""
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
    """Return a text with its braces escaped."""
    return text.replace("{", "(").replace("}", ")")
