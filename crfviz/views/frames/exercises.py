"""Exercises as pictures and as data for the browser: only what one may use is shown.

Letters: `T` tokens, `K` tags.
"""

from collections.abc import Mapping
from json import dumps

import torch

from crfviz.chain.homework.exercise import LETTERS, WRONG_BEFORE_SHOWN, Exercise, Progress
from crfviz.chain.homework.programs import BETA, VITERBI
from crfviz.views.stage.picture import Grid, Picture
from crfviz.views.stage.walks import Walk
from crfviz.views.strips.pictures import scale_of

KIND_NAMES = {VITERBI: "Viterbi", "alpha": "α forward", BETA: "β backward"}
CELLS = "cells"  # name of the table that the reader fills
STEP_NAMES = {
    "write": "next cell",
    "read": "inputs",
    "value": "values",
    "pointer": "backpointers",
    "path": "best path",
}


def exercise_picture(task: Exercise, progress: Progress) -> Picture:
    """Return the lattice with the cells computed so far, above the emissions."""
    in_factors = task.kind != VITERBI
    table, emissions = task.table, task.potentials.arrays()[0]
    shown = [
        torch.from_numpy(each).exp() if in_factors else torch.from_numpy(each).clone()
        for each in (table, emissions)
    ]
    filled = sorted(task.filled(progress.step))
    values = [[t, k, float(shown[0][t, k])] for t, k in filled]
    unit = "factors exp(score)" if in_factors else "scores (nats)"
    grids = [
        Grid(
            CELLS,
            LETTERS[task.kind],
            shown[0],
            scale_of(shown[0]),
            2,
            "written",
            writes=[torch.tensor(values, dtype=torch.float64).reshape(-1, 3)],
        ),
        Grid("scores", f"Emissions: {unit}", shown[1], scale_of(shown[1]), 1, "written"),
    ]
    walk = Walk((), never=["pointers", "path"], nodes=[CELLS])
    return Picture(["lattice", "scores"], grids=grids, walk=walk, title="", changeable=False)


def panel(task: Exercise, progress: Progress, tries: str) -> Mapping[str, object]:
    """Return the question, the last verdict and the transitions as data for the browser."""
    done = progress.step == len(task.steps)
    step = None if done else task.steps[progress.step]
    name = f"{task.kind}.{task.seed}"
    _, steps, start, end = task.potentials.arrays()
    names = list(task.potentials.tag_names)
    rows = [["from \\ to", *names, "END"]]
    values = [(start, None), *((steps[0][j], end[j]) for j in range(len(names)))]
    for label, (moves, last) in zip(["START", *names], values, strict=True):
        rows.append([label, *(_shown(task, each) for each in moves), _shown(task, last)])
    verdict = progress.verdict
    return {
        "id": name,
        "tries": tries,
        "step": progress.step,
        "steps": len(task.steps),
        "ask": None if step is None else step.kind,
        "question": "" if step is None else step.question,
        "cell": None if step is None or step.kind in ("write", "path") else list(step.cell),
        "size": list(task.table.shape),
        "z": None if task.kind == VITERBI else _sum(task, done=done),
        "may_show": progress.wrong >= WRONG_BEFORE_SHOWN,
        "unit": "a factor or nats" if task.kind != VITERBI else "nats",
        "verdict": None if verdict is None else vars(verdict),
        "shown": verdict is None and bool(tries),
        "rows": rows,
        "score": f"{progress.score}/{len(task.steps)}",
        "kinds": _by_kind(task, progress) if done else [],
        "line": f'crfviz.exercise("{task.kind}", {task.seed}).replay({dumps(tries)}).score',
    }


def _sum(task: Exercise, *, done: bool) -> Mapping[str, object]:
    """Return the cell of Z, which is empty until the sweep has come to it."""
    value = task.arithmetic_of_z.rpartition("= ")[2] if done else ""
    return {
        "node": "{},{}".format(*task.steps[-1].cell),
        "label": f"Z at {'START' if task.kind == BETA else 'END'}",
        "value": value,
    }


def _by_kind(task: Exercise, progress: Progress) -> list[str]:
    counts: dict[str, list[bool]] = {}
    for step, right in zip(task.steps, progress.first, strict=True):
        counts.setdefault(step.kind, []).append(right)
    return [f"{STEP_NAMES[kind]} {sum(all_)}/{len(all_)}" for kind, all_ in counts.items()]


def _shown(task: Exercise, score: float | None) -> str:
    if score is None:
        return ""
    value = score if task.kind == VITERBI else torch.tensor(score).exp().item()
    return f"{round(value, 2):g}".replace("-", "−")
