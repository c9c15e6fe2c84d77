"""The stage's payload: one picture as JSON-ready data, in the format of `payload_types`.

`decode` in `web/model.js` reads it. Letters: `T` tokens, `K` tags.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import SampleCounts
from crfviz.chain.edits import Edits, require_no_border
from crfviz.chain.patterns import Automaton
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.path_sets import PathSet
from crfviz.chain.questions.sensitivity import GradientStep
from crfviz.text.direction import right_to_left
from crfviz.views.stage.entity import EntityPanel
from crfviz.views.stage.payload_types import (
    CopiesData,
    EditList,
    Floats,
    GradientData,
    GridData,
    Indices,
    Integers,
    OverviewData,
    Payload,
    PileData,
    Results,
    RowData,
    Scores,
    Side,
    StepMatrices,
    TrainedResults,
    UsedData,
)
from crfviz.views.stage.picture import (
    SPARSE,
    Bars,
    Cell,
    Gap,
    Gradient,
    Grid,
    Matrix,
    Picture,
    Row,
    Subject,
)
from crfviz.views.stage.walks import ALPHA, BEST, BETA
from crfviz.views.theme import tag_colours

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SIDES: Mapping[type, Side] = {
    Matrix: "matrix",
    Cell: "cell",
    Bars: "bars",
    Gap: "terms",
    EntityPanel: "entity",
    Gradient: "gradient",
}
# Fields that are sent as they are declared.
OF_SUBJECT = (
    *("probabilistic", "margin", "constrained", "nodes", "covered", "withheld", "chosen", "panel"),
    *("folding", "direction"),
)
OF_PICTURE = (
    *("heading", "asked", "title", "reference", "contrast", "note", "legend", "hint", "asks"),
)
EXPLAINING = (Cell, Bars)  # side panels that need every table


def payload(
    subject: Subject, picture: Picture, ack: int = 0, *, with_tables: bool = False
) -> Payload:
    """Return the stage as JSON-ready data.

    Args:
        subject: the chain.
        picture: how it is drawn.
        ack: the highest event number that was applied.
        with_tables: whether to send tables that the browser can compute from the scores.

    Raises:
        CrfvizError: a tag is called START or END.
    """
    require_no_border(subject.now.tags)
    base = subject.unedited or subject.trained.sentence.potentials
    edited = subject.now is not subject.trained
    side = picture.side
    matrix = side if isinstance(side, Matrix) else Matrix()
    stepped = {node for phase in picture.walk.phases for node in phase.nodes}
    explaining = isinstance(side, EXPLAINING) or not stepped.isdisjoint((ALPHA, BETA, BEST))
    num_words = len(subject.now.words)
    computed: dict[str, object] = {
        "ack": ack,
        "words": list(subject.now.words),
        "offset": subject.now.first,
        "total": subject.now.sentence.potentials.num_tokens,
        "tags": list(subject.now.tags),
        "colours": tag_colours(_tags(subject)),
        "panels": {
            "main": list(picture.main),
            "side": None if side is None else SIDES[type(side)],
            "compact": picture.compact,
        },
        "trained": _scores(base) if picture.changeable else None,
        "edits": _edits(subject.edits),
        "copies": None if subject.rule is None else _copies(subject.rule),
        "kept": None if picture.rule is None else _copies(picture.rule),
        "overview": None if picture.changeable else _overview(subject.now),
        "results": _results(
            subject.now, sent=with_tables or not picture.changeable, explaining=explaining
        ),
        "ghost": _ghost(subject, sent=picture.changeable, explaining=explaining)
        if edited
        else None,
        "rows": [_row(row, subject.trained if edited else None) for row in picture.rows],
        "tables": [_grid(grid) for grid in picture.grids],
        "display": matrix.display,
        "pins": list(subject.pins.items()),
        "terms": encoded(side) if isinstance(side, Gap) else None,
        "ruler": None if matrix.ruler is None else encoded(matrix.ruler),
        "marks": [(mark.at, mark.label) for mark in matrix.marks],
        "messages": isinstance(side, Cell) and side.message,
        "entity": encoded(side) if isinstance(side, EntityPanel) else None,
        "pile": None if picture.pile is None else _pile(picture.pile),
        "used": None if picture.used is None else _used(picture.used),
        "gradient": _gradient(side.step) if isinstance(side, Gradient) and side.step else None,
        "walk": encoded(picture.walk),
        "step": picture.walk.at(subject.step, num_words),
        "rtl": right_to_left(" ".join(subject.now.sentence.words)),
    }
    return cast("Payload", computed | _copied(subject, OF_SUBJECT) | _copied(picture, OF_PICTURE))


def _copied(described: "DataclassInstance", names: Sequence[str]) -> dict[str, object]:
    return {name: _encoded(getattr(described, name)) for name in names}


def changes(data: Mapping[str, object], before: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a payload that differ from an earlier one, and `ack`."""
    changed = {
        name: part for name, part in data.items() if name not in before or part != before[name]
    }
    return {**changed, "ack": data["ack"]}


def _transitions(potentials: Potentials) -> tuple[Floats, StepMatrices | None]:
    """Return one matrix and, if each step has its own, the cells that differ from it.

    The matrix has the most frequent score of each cell, because steps differ in few cells.
    """
    transitions = potentials.transitions
    if potentials.homogeneous or len(transitions) == 0:  # a single word has no step
        return _floats(potentials.step(0)), None
    common = transitions.mode(dim=0).values
    bits = transitions.contiguous().view(torch.int64), common.contiguous().view(torch.int64)
    cells = (bits[0] != bits[1]).flatten().nonzero()[:, 0]
    indices = Indices(_base64(cells.numpy().astype("<i4")))
    return _floats(common), {"cells": indices, "values": _floats(transitions.flatten()[cells])}


def _edits(edits: Edits) -> EditList:
    return {
        "transitions": [(*move, _finite(score)) for move, score in edits.transitions.items()],
        "emissions": [(*cell, _finite(score)) for cell, score in edits.emissions.items()],
        "strength": edits.strength,
    }


def _tags(subject: Subject) -> list[str]:
    """Return the fields on tags; under a rule, also the tags that these are copies of."""
    tags = subject.now.tags
    if subject.rule is None:
        return list(tags)
    return [subject.rule.tags[tag] for tag in subject.rule.product.tags]


def _copies(rule: Automaton) -> CopiesData:
    copies = rule.product
    first = torch.cat([copies.start, ~copies.start.new_ones(1)])  # no step from START to END
    moves = torch.cat([first[None], torch.cat([copies.transitions, copies.end[:, None]], 1)])
    of = [rule.tags[tag] for tag in copies.tags]
    return {"of": of, "allowed": _integers(moves)}


def _scores(potentials: Potentials) -> Scores:
    transitions, steps = _transitions(potentials)
    return {
        "emissions": _floats(potentials.emissions),
        "transitions": transitions,
        "steps": steps,
        "start": _floats(potentials.start),
        "end": _floats(potentials.end),
    }


def _results(analysis: Analysis, *, sent: bool, explaining: bool) -> Results:
    """Return the numbers of the current chain.

    If the browser has the scores, it computes the tables itself, and checks them against log Z and
    the best path.
    """
    tables = analysis.forward_backward
    results: Results = {
        "log_partition": _finite(tables.log_partition),
        "score": None if analysis.viterbi is None else analysis.viterbi.score,
        "path": analysis.paths["viterbi"],
    }
    if sent:
        results["marginals"] = _floats(tables.marginals)
        results["backpointers"] = _integers(analysis.reached_backpointers)
    if sent and explaining:  # only one panel reads these
        results["alpha"] = _floats(tables.log_alpha)
        results["beta"] = _floats(tables.log_beta)
        results["best"] = _floats(analysis.best)
    return results


def _overview(window: Analysis) -> OverviewData | None:
    whole = window.whole
    if whole is None:
        return None
    return {
        "path": whole.paths["viterbi"],
        "marginals": _floats(whole.forward_backward.marginals),
    }


def _ghost(subject: Subject, *, sent: bool, explaining: bool) -> TrainedResults:
    """Return the numbers of the trained chain.

    Its tables are as large as those of the current chain. They are sent only if the browser lacks
    the trained scores to compute them.
    """
    trained = subject.trained
    tables = trained.forward_backward
    ghost: TrainedResults = {
        "path": trained.paths["viterbi"],
        "probability": 0.0 if trained.viterbi is None else trained.viterbi.probability,
        "log_partition": _finite(tables.log_partition),
    }
    if sent and subject.unedited is None:
        return ghost
    ghost["marginals"] = _floats(tables.marginals)
    if explaining:
        ghost["alpha"] = _floats(tables.log_alpha)
        ghost["beta"] = _floats(tables.log_beta)
        ghost["best"] = _floats(trained.best)
    return ghost


def _row(row: Row, before: Analysis | None) -> RowData:
    """Return a row; `before` is the trained chain while edits are active."""
    trained = None if before is None else row.trained or before.paths.get(row.id)
    shares = None if row.shares is None else [round(share, 3) for share in row.shares]
    return encoded(replace(row, trained=trained, shares=shares))


def _grid(grid: Grid) -> GridData:
    data = encoded(grid)
    if grid.editable:  # the browser has the emissions, before and after the edits
        data.pop("values")
        data.pop("trained", None)
    return data


def encoded(described: "DataclassInstance") -> dict[str, Any]:
    """Return a dataclass as JSON-ready data: tables as base64, infinite numbers as None."""
    pairs = ((each.name, getattr(described, each.name)) for each in fields(described))
    sparse = sparse_fields(type(described))
    return {
        name: _encoded(part)
        for name, part in pairs
        if name not in sparse or isinstance(part, Tensor) or part
    }


@cache
def sparse_fields(kind: "type[DataclassInstance]") -> frozenset[str]:
    """Return the names of the fields that are sent only if they are set."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if SPARSE in get_args(hint))


def _encoded(value: object) -> object:
    if isinstance(value, Tensor):
        return _floats(value)
    if isinstance(value, float):
        return _finite(value)
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Sequence):
        return [_encoded(part) for part in value]
    return encoded(cast("DataclassInstance", value))


def _pile(pile: SampleCounts) -> PileData:
    """Return the samples' counts, without transitions that no sample uses."""
    used = pile.moves.nonzero()
    counts = pile.moves[tuple(used.T)]
    return {
        "drawn": len(pile.paths),
        "newest": pile.paths[-1].tolist() if len(pile.paths) else None,
        "uses": _integers(pile.uses),
        "moves": _integers(torch.cat([used, counts[:, None]], dim=1)),
    }


def _used(used: PathSet) -> UsedData:
    return {"tags": [list(tags) for tags in used.tags], "steps": used.steps}


def _gradient(step: GradientStep) -> GradientData:
    observed, difference = step.observed, step.difference
    return {
        "observed": {
            "transitions": _floats(observed.transitions),
            "start": _floats(observed.start),
            "end": _floats(observed.end),
        },
        "difference": {
            "transitions": _floats(difference.transitions),
            "start": _floats(difference.start),
            "end": _floats(difference.end),
        },
    }


def _finite(score: float) -> float | None:
    return score if math.isfinite(score) else None


def _floats(table: Tensor) -> Floats:
    return Floats(_base64(table.detach().numpy().astype("<f8")))


def _integers(table: Tensor) -> Integers:
    return Integers(_base64(table.numpy().astype("<i2")))


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
