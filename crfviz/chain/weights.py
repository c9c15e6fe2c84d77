"""One weight of a chain, named by what it scores.

    ("transition", from, to)    ("start", tag)    ("end", tag)    ("emission", position, tag)

Tags are given by id or by name and come back as ids. Where a matrix is shown, the start scores are
its row START and the end scores its column END: there a weight is a move.

A path uses a start, end or emission weight at most once, and a transition up to T-1 times: its
score is (everything else) + uses * value, a line in the value of that one weight.

With one matrix for each step, a transition is still one weight: its value is what
`Potentials.with_transition` writes into every step.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from crfviz.chain.potentials import Potentials, Tag
from crfviz.exceptions import CrfvizError

START = "START"  # as "from" it means the start scores, even if there is a tag of that name
END = "END"  # as "to" it means the end scores, likewise
TABLES = {  # where each kind of weight stands; a transition is one cell, or one for each step
    "transition": "transitions",
    "start": "start",
    "end": "end",
    "emission": "emissions",
}

Move = tuple[str, str]  # tag names, from and to
Cell = tuple[int, str]  # position and tag name
Kind = Literal["transition", "start", "end", "emission"]
Weight = (
    tuple[Literal["transition"], Tag, Tag]  # from, to
    | tuple[Literal["start"], Tag]
    | tuple[Literal["end"], Tag]
    | tuple[Literal["emission"], int, Tag]
)
WeightId = (  # the same in tag ids
    tuple[Literal["transition"], int, int]
    | tuple[Literal["start"], int]
    | tuple[Literal["end"], int]
    | tuple[Literal["emission"], int, int]
)


def weight_of(move: Move) -> Weight:
    """The weight of a move.

    Example:
        >>> weight_of(("DET", "NOUN")), weight_of((START, "DET"))
        (('transition', 'DET', 'NOUN'), ('start', 'DET'))
    """
    before, after = move
    if before == START:
        return ("start", after)
    if after == END:
        return ("end", before)
    return ("transition", before, after)


def path_moves(names: Sequence[str], path: Sequence[int]) -> list[Move]:
    """The T+1 moves of a path of tag ids: the way in, the steps, the way out."""
    return list(pairwise([START, *(names[tag] for tag in path), END]))


def weight_matrix(potentials: Potentials, step: int = 0) -> Tensor:
    """(K+1, K+1) one step's scores: those of START on top, those of END at the right, nats.

    NaN from START to END, which is no move; for transitions of a single word see `Potentials.step`.
    """
    matrix = potentials.transitions.new_full((potentials.num_tags + 1,) * 2, torch.nan)
    matrix[0, :-1] = potentials.start
    matrix[1:, -1] = potentials.end
    matrix[1:, :-1] = potentials.step(step)
    return matrix.detach()


def resolve(potentials: Potentials, weight: Weight) -> WeightId:
    """The same weight in tag ids.

    Raises:
        CrfvizError: it has none of the four forms.
    """
    match weight:
        case ("transition", before, after):
            return ("transition", potentials.tag_id(before), potentials.tag_id(after))
        case ("start", tag):
            return ("start", potentials.tag_id(tag))
        case ("end", tag):
            return ("end", potentials.tag_id(tag))
        case ("emission", position, tag):
            return ("emission", potentials.position(position), potentials.tag_id(tag))
    raise CrfvizError(
        "weight must be ('transition', from, to), ('start', tag), ('end', tag)"
        f" or ('emission', position, tag), got {weight!r}"
    )


def with_weight(potentials: Potentials, weight: Weight, value: float) -> Potentials:
    """The same with another value for one weight, in nats; a transition at every step."""
    return with_weights(potentials, {weight: value})


def with_weights(potentials: Potentials, values: Mapping[Weight, float]) -> Potentials:
    """The same with other values for some weights, in nats; a transition at every step.

    All in one new chain, which is checked once: a chain for each is slow where there are many.

    Raises:
        CrfvizError: one of them is no weight of the chain, or its value no score.
    """
    told: dict[str, dict[tuple[int, ...], float]] = {}  # by table, each cell once
    for weight, value in values.items():
        kind, *where = resolve(potentials, weight)
        told.setdefault(TABLES[kind], {})[tuple(where)] = value
    tables = {}
    for name, of_cells in told.items():
        table = tables[name] = getattr(potentials, name).clone()
        cells: tuple[Any, ...] = (..., *map(list, zip(*of_cells, strict=True)))
        scores = list(of_cells.values())
        if table.requires_grad:
            table[cells] = table.new_tensor(scores)
        else:
            table.numpy()[cells] = scores
    return potentials.altered(**tables)


def value_of(potentials: Potentials, weight: WeightId) -> float:
    """The value of one weight in the chain, in nats.

    Raises:
        CrfvizError: a transition has another score at each step, so that it has no one value.
    """
    kind, *where = weight
    cells: tuple[Any, ...] = (..., *where)
    values = set(getattr(potentials, TABLES[kind])[cells].flatten().tolist())
    if len(values) != 1:
        raise CrfvizError(
            f"expected one value for the transition {weight[1:]}, got {len(values)}:"
            " the chain has a matrix for each step"
        )
    return float(values.pop())


def uses(weight: WeightId, path: Sequence[int]) -> int:
    """How often a path of tag ids uses a weight."""
    match weight:
        case ("transition", before, after):
            return sum(move == (before, after) for move in pairwise(path))
        case ("start", tag):
            return int(path[0] == tag)
        case ("end", tag):
            return int(path[-1] == tag)
        case ("emission", position, tag):
            return int(path[position] == tag)
