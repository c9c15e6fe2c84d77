"""What the stage is told: plain data, tables as base64 of their bytes.

Every bit arrives and few bytes travel.

Letters: `T` tokens, `K` tags. `web/model.js` is the reader of this format.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import SampleCounts
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import GradientStep
from crfviz.views.stage.entity import EntityPanel
from crfviz.views.stage.parts import (
    Bars,
    Cell,
    Gap,
    Gradient,
    Grid,
    Matrix,
    Picture,
    Row,
    Ruler,
    Subject,
)
from crfviz.views.stage.steps import Walk
from crfviz.views.theme import tag_colours

SIDES = {
    Matrix: "matrix",
    Cell: "cell",
    Bars: "bars",
    Gap: "terms",
    EntityPanel: "entity",
    Gradient: "gradient",
}  # as `web/` calls them
EXPLAINING = (Cell, Bars)  # side panels that need every table
TABLES = ("marginals", "alpha", "beta", "best")  # of results; `web/model.js` names them, too
AS_THEY_ARE = ("title", "reference", "contrast", "note", "legend", "hint", "asks")  # of a picture


def payload(subject: Subject, picture: Picture, ack: int = 0) -> dict[str, object]:
    """The stage as JSON-ready data; `ack` is the highest event number that has been applied.

    Returns:
        A dict of strings, numbers, lists and base64 texts (float64 in C order; backpointers int16).
        Scores of -inf outside the base64 texts are None.
    """
    base = subject.unedited or subject.trained.potentials
    edited = subject.now is not subject.trained
    side = picture.side
    matrix = side if isinstance(side, Matrix) else Matrix()
    explaining = isinstance(side, EXPLAINING)
    return {name: getattr(picture, name) for name in AS_THEY_ARE} | {
        "ack": ack,
        "words": list(subject.now.words),
        "tags": list(subject.now.tags),
        "colours": tag_colours(subject.now.tags),
        "panels": {
            "main": list(picture.main),
            "side": None if side is None else SIDES[type(side)],
            "compact": picture.compact,
        },
        "trained": _scores(base) if picture.changeable else None,
        "edits": _edits(subject.edits),
        "results": _results(subject.now, with_tables=explaining),
        "ghost": _ghost(subject, sent=picture.changeable, with_tables=explaining)
        if edited
        else None,
        "rows": [_row(row, subject.trained if edited else None) for row in picture.rows],
        "tables": [_grid(grid) for grid in picture.grids],
        "display": matrix.display,
        "probabilistic": subject.probabilistic,
        "margin": subject.margin,
        "pins": [[position, tag] for position, tag in subject.pins.items()],
        "terms": asdict(side) if isinstance(side, Gap) else None,  # finite: both paths are allowed
        "ruler": None if matrix.ruler is None else _ruler(matrix.ruler),
        "marks": [[mark.at, mark.label] for mark in matrix.marks],
        "messages": isinstance(side, Cell) and side.message,
        "entity": asdict(side) if isinstance(side, EntityPanel) else None,
        "heading": list(picture.heading),
        "pile": None if picture.pile is None else _pile(picture.pile),
        "gradient": _gradient(side.step) if isinstance(side, Gradient) and side.step else None,
        "asked": _listed(picture.asked),
        "constrained": subject.constrained,
        "walk": _walk(picture.walk, len(subject.now.words)),
        "step": picture.walk.at(subject.step, len(subject.now.words)),
        "nodes": subject.nodes,
        "covered": list(subject.covered),
        "withheld": [list(part) for part in subject.withheld],
        "chosen": _listed(subject.chosen),
        "panel": subject.panel,
        "folding": subject.folding,
    }


def changes(data: Mapping[str, object], before: Mapping[str, object]) -> dict[str, object]:
    """What a payload says that one before did not, and what it acknowledges.

    The tables of results stay out where the scores are sent: the browser works them out, and log Z
    and path tell it whether they came out right.
    """
    changed = {
        name: part for name, part in data.items() if name not in before or part != before[name]
    }
    results = changed.get("results")
    if isinstance(results, Mapping) and data["trained"] is not None:
        changed["results"] = {name: of for name, of in results.items() if name not in TABLES}
    return {**changed, "ack": data["ack"]}


def _walk(walk: Walk, num_words: int) -> Mapping[str, object]:
    phases = [{**asdict(phase), "parts": list(phase.parts)} for phase in walk.phases]
    told = {"start": walk.start, "never": list(walk.never), "opens": walk.opens(num_words)}
    return {"phases": phases, **told}


def _transitions(potentials: Potentials) -> Mapping[str, object]:
    """One matrix; where each step has its own, the commonest number of each cell, and the others.

    Steps differ in few cells.
    """
    transitions = potentials.transitions
    if potentials.homogeneous or len(transitions) == 0:  # a single word has no step
        return {"transitions": _floats(potentials.step(0)), "steps": None}
    common = transitions.mode(dim=0).values
    bits = transitions.contiguous().view(torch.int64), common.contiguous().view(torch.int64)
    cells = (bits[0] != bits[1]).flatten().nonzero()[:, 0]
    steps = {
        "cells": _base64(cells.numpy().astype("<i4")),
        "values": _floats(transitions.flatten()[cells]),
    }
    return {"transitions": _floats(common), "steps": steps}


def _edits(edits: Edits) -> Mapping[str, object]:
    return {
        "transitions": [[*cell, _finite(score)] for cell, score in edits.transitions.items()],
        "emissions": [[*cell, _finite(score)] for cell, score in edits.emissions.items()],
        "strength": edits.strength,
    }


def _scores(potentials: Potentials) -> Mapping[str, object]:
    return {
        "emissions": _floats(potentials.emissions),
        **_transitions(potentials),
        "start": _floats(potentials.start),
        "end": _floats(potentials.end),
    }


def _results(analysis: Analysis, *, with_tables: bool) -> Mapping[str, object]:
    """Numbers of the chain as it is now. Most tables are read by one panel alone."""
    sweeps = _sweeps(analysis) if with_tables else dict.fromkeys(("alpha", "beta", "best"))
    return {
        "log_partition": _finite(analysis.forward_backward.log_partition),
        "score": None if analysis.viterbi is None else analysis.viterbi.score,
        "path": analysis.paths["viterbi"],
        "marginals": _floats(analysis.forward_backward.marginals),
        "backpointers": _integers(analysis.reached_backpointers),
        **sweeps,
    }


def _ghost(subject: Subject, *, sent: bool, with_tables: bool) -> Mapping[str, object]:
    """The chain as trained.

    Its tables are as large as those of the chain now, so the browser works them out where it has
    the trained scores; they travel only where it does not.
    """
    trained = subject.trained
    tables = trained.forward_backward
    ghost: dict[str, object] = {
        "path": trained.paths["viterbi"],
        "probability": 0.0 if trained.viterbi is None else trained.viterbi.probability,
        "log_partition": _finite(tables.log_partition),
    }
    if sent and subject.unedited is None:
        return ghost
    ghost["marginals"] = _floats(tables.marginals)
    return ghost | _sweeps(trained) if with_tables else ghost


def _sweeps(analysis: Analysis) -> dict[str, object]:
    return {
        "alpha": _floats(analysis.forward_backward.log_alpha),
        "beta": _floats(analysis.forward_backward.log_beta),
        "best": _floats(analysis.best),
    }


def _row(row: Row, before: Analysis | None) -> Mapping[str, object]:
    """A strip; `before` is the trained chain while edits are active.

    What most rows do not have is left out: fifty of them travel with every edit.
    """
    trained = None if before is None else row.trained or before.paths.get(row.id)
    rest: dict[str, Sequence[object] | None] = {
        "texts": row.texts,
        "shares": row.shares and [round(share, 3) for share in row.shares],
        "titles": row.titles,
        "columns": row.columns or None,
        "faults": row.faults or None,
        "trained": trained,
    }
    data = {name: list(value) for name, value in rest.items() if value is not None}
    always = {"id": row.id, "label": row.label, "tags": _listed(row.tags), "value": row.value}
    return always | data | ({} if row.against is None else {"against": row.against})


def _grid(grid: Grid) -> Mapping[str, object]:
    data = {
        "name": grid.name,
        "label": grid.label,
        "values": None if grid.editable else _floats(grid.values),  # the chain's own emissions
        "scale": grid.scale,
        "digits": grid.digits,
        "kind": grid.kind,
        "editable": grid.editable,
        "outlined": _listed(grid.outlined),
    }
    if grid.frames is not None:
        data["frames"] = grid.frames
    if grid.trained is not None and not grid.editable:  # the scores under the edits are there
        data["trained"] = _floats(grid.trained)
    return data


def _listed(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def _ruler(ruler: Ruler) -> Mapping[str, object]:
    return {
        "weight": list(ruler.weight),
        "trained": _finite(ruler.trained),
        "varies": math.isnan(ruler.trained),
        "pieces": [
            {"low": _finite(low), "high": _finite(high), "label": label}
            for low, high, label in ruler.pieces
        ],
    }


def _pile(pile: SampleCounts) -> Mapping[str, object]:
    """Moves that no sample makes are left out."""
    used = pile.moves.nonzero()
    counts = pile.moves[tuple(used.T)]
    return {
        "drawn": len(pile.paths),
        "newest": pile.paths[-1].tolist() if len(pile.paths) else None,
        "uses": _integers(pile.uses),
        "moves": _integers(torch.cat([used, counts[:, None]], dim=1)),
    }


def _gradient(step: GradientStep) -> Mapping[str, object]:
    return {
        name: {part: write(getattr(counts, part)) for part in ("transitions", "start", "end")}
        for name, counts, write in (
            ("observed", step.observed, _integers),
            ("difference", step.difference, _floats),
        )
    }


def _finite(score: float) -> float | None:
    return score if math.isfinite(score) else None


def _floats(table: Tensor) -> str:
    return _base64(table.detach().numpy().astype("<f8"))


def _integers(table: Tensor) -> str:
    return _base64(table.numpy().astype("<i2"))


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
