"""What the stage is told: plain data, tables as base64 of their bytes.

Every bit arrives and few bytes travel.

Letters: `T` tokens, `K` tags. `web/model.js` is the reader of this format.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.demonstrations.sample_counts import Pile
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.views.stage.parts import Gradient, Row, Ruler, Stage, Table
from crfviz.views.theme import tag_colours

EXPLAINING = ("cell", "bars")  # side panels that need every table


def payload(stage: Stage) -> dict[str, object]:
    """The stage as JSON-ready data.

    Args:
        stage: what to draw.

    Returns:
        A dict of strings, numbers, lists and base64 texts (float64 in C order; backpointers int16).
        Scores of -inf outside the base64 texts are None.
    """
    base = stage.unedited or stage.trained.potentials
    edited = stage.now is not stage.trained
    return {
        "ack": stage.ack,
        "words": list(stage.words),
        "tags": list(stage.tags),
        "colours": tag_colours(stage.tags),
        "panels": {
            "main": list(stage.panels.main),
            "side": stage.panels.side,
            "stepper": stage.panels.stepper,
            "compact": stage.panels.compact,
        },
        "title": stage.title,
        "trained": _scores(base) if stage.changeable else None,
        "edits": _edits(stage.edits),
        "results": _results(stage.now, with_tables=stage.panels.side in EXPLAINING),
        "ghost": _ghost(stage) if edited else None,
        "rows": [_row(row, stage.trained if edited else None) for row in stage.rows],
        "tables": [_table(table) for table in stage.tables],
        "reference": stage.reference,
        "contrast": stage.contrast,
        "display": stage.display,
        "probabilistic": stage.probabilistic,
        "margin": stage.margin,
        "note": stage.note,
        "legend": stage.legend,
        "hint": stage.hint,
        "pins": [[position, tag] for position, tag in stage.pins.items()],
        "terms": None
        if stage.terms is None
        else asdict(stage.terms),  # finite: both paths are allowed
        "ruler": None if stage.ruler is None else _ruler(stage.ruler),
        "marks": [[mark.at, mark.label] for mark in stage.marks],
        "entity": None if stage.entity is None else asdict(stage.entity),
        "heading": list(stage.heading),
        "pile": None if stage.pile is None else _pile(stage.pile),
        "gradient": None if stage.gradient is None else _gradient(stage.gradient),
        "asks": stage.asks,
        "asked": None if stage.asked is None else list(stage.asked),
        "constrained": stage.constrained,
        "step": stage.step,
    }


def _transitions(potentials: Potentials) -> Mapping[str, object]:
    """One matrix; where each step has its own, the commonest number of each cell, and the others.

    Steps differ in few cells, and everything travels with every edit.
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
    """Numbers of the chain as it is now. The tables are large, and only one panel reads them."""
    tables = analysis.forward_backward
    return {
        "log_partition": _finite(analysis.forward_backward.log_partition),
        "score": None if analysis.viterbi is None else analysis.viterbi.score,
        "path": analysis.paths["viterbi"],
        "marginals": _floats(analysis.forward_backward.marginals),
        "backpointers": _integers(analysis.reached_backpointers),
        "alpha": _floats(tables.log_alpha) if with_tables else None,
        "beta": _floats(tables.log_beta) if with_tables else None,
        "best": _floats(analysis.best) if with_tables else None,
    }


def _ghost(stage: Stage) -> Mapping[str, object]:
    """The chain as trained.

    Its tables are as large as those of the chain now, so the browser works them out where it has
    the trained scores; they travel only where it does not.
    """
    trained = stage.trained
    tables = trained.forward_backward
    ghost: dict[str, object] = {
        "path": trained.paths["viterbi"],
        "probability": 0.0 if trained.viterbi is None else trained.viterbi.probability,
        "log_partition": _finite(tables.log_partition),
    }
    if stage.changeable and stage.unedited is None:
        return ghost
    ghost["marginals"] = _floats(tables.marginals)
    if stage.panels.side not in EXPLAINING:
        return ghost
    return ghost | {
        "alpha": _floats(tables.log_alpha),
        "beta": _floats(tables.log_beta),
        "best": _floats(trained.best),
    }


def _row(row: Row, before: Analysis | None) -> Mapping[str, object]:
    """A strip; `before` is the trained chain while edits are active.

    What most rows do not have is left out: fifty of them travel with every edit.
    """
    data: dict[str, object] = {
        "id": row.id,
        "label": row.label,
        "tags": _ids(row.tags),
        "value": row.value,
    }
    if row.texts is not None:
        data["texts"] = list(row.texts)
    if row.shares is not None:
        data["shares"] = [round(share, 3) for share in row.shares]
    if row.titles is not None:
        data["titles"] = list(row.titles)
    if row.columns:
        data["columns"] = list(row.columns)
    trained = None if before is None else row.trained or before.paths.get(row.id)
    if row.faults:
        data["faults"] = list(row.faults)
    if trained is not None:
        data["trained"] = list(trained)
    if row.against is not None:
        data["against"] = row.against
    return data


def _table(table: Table) -> Mapping[str, object]:
    data = {
        "name": table.name,
        "label": table.label,
        "values": None if table.editable else _floats(table.values),  # the chain's own emissions
        "scale": table.scale,
        "digits": table.digits,
        "kind": table.kind,
        "editable": table.editable,
        "outlined": _ids(table.outlined),
    }
    if table.trained is not None and not table.editable:  # the scores under the edits are there
        data["trained"] = _floats(table.trained)
    return data


def _ids(tags: Sequence[int] | None) -> list[int] | None:
    return None if tags is None else list(tags)


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


def _pile(pile: Pile) -> Mapping[str, object]:
    """Moves that no sample makes are left out."""
    used = pile.moves.nonzero()
    counts = pile.moves[tuple(used.T)]
    return {
        "drawn": len(pile.paths),
        "newest": pile.paths[-1].tolist() if len(pile.paths) else None,
        "uses": _integers(pile.uses),
        "moves": _integers(torch.cat([used, counts[:, None]], dim=1)),
    }


def _gradient(gradient: Gradient) -> Mapping[str, object]:
    return {
        name: {part: write(getattr(counts, part)) for part in ("transitions", "start", "end")}
        for name, counts, write in (
            ("observed", gradient.observed, _integers),
            ("difference", gradient.difference, _floats),
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
