"""Names of a chain's weights, and sparse edits of a trained chain.

    ("transition", from, to)    ("start", tag)    ("end", tag)    ("emission", position, tag)

Functions take tags by id or name and return ids. In a displayed matrix, the start scores are the
row START and the end scores the column END; there a weight is named by a move, (from, to).

A path uses a start, end or emission weight at most once, and a transition up to T-1 times: its
score is (everything else) + uses * value, a line in the value of that weight. With one matrix for
each step, a transition is still one weight, the same at every step.

Edits store only the changed cells. So a link with edits stays short, "reset" means no edits, and
the scores before and after the edits are both available.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from crfviz.chain.potentials import LARGEST, Potentials, Tag
from crfviz.chain.validation import plain_tag, require_count, require_strength, score
from crfviz.exceptions import CrfvizError, ScoreError, ShapeError
from crfviz.text.files import abbreviate_value

START = "START"  # as "from": the start scores, even if a tag has this name
END = "END"  # as "to": the end scores, even if a tag has this name
TABLES = {  # table of each kind of weight; a transition is one cell, or one per step
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
    """Return the weight of a move.

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


def require_no_border(tags: Sequence[str]) -> None:
    """Raise an error if a tag is called START or END, as a row or column of every matrix is.

    Raises:
        CrfvizError: there is such a tag.
    """
    for name, what in ((START, "row of start scores"), (END, "column of end scores")):
        if name in tags:
            raise CrfvizError(
                f"expected tags with other names than START and END, got {name}: a matrix has a "
                f"{what} of this name. Rename the tag, for example to {name}_"
            )


def path_moves(names: Sequence[str], path: Sequence[int]) -> list[Move]:
    return list(pairwise([START, *(names[tag] for tag in path), END]))


def weight_matrix(potentials: Potentials, step: int = 0) -> Tensor:
    """Return the scores of one step, (K+1, K+1) nats: START is the top row, END the right column.

    START to END is NaN, because it is no move. For a single word, see `Potentials.step`.

    Raises:
        CrfvizError: a tag is called START or END.
    """
    require_no_border(potentials.tag_names)
    matrix = potentials.transitions.new_full((potentials.num_tags + 1,) * 2, torch.nan)
    matrix[0, :-1] = potentials.start
    matrix[1:, -1] = potentials.end
    matrix[1:, :-1] = potentials.step(step)
    return matrix.detach()


def resolve(potentials: Potentials, weight: Weight) -> WeightId:
    """Return a weight with its tags as ids.

    Raises:
        CrfvizError: the weight has none of the four forms.
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
    """Return a new chain with this value for one weight, in nats."""
    return with_weights(potentials, {weight: value})


def with_weights(potentials: Potentials, values: Mapping[Weight, float]) -> Potentials:
    """Return a new chain with these values for some weights, in nats.

    It is created and validated once, because one new chain per weight would be slow.

    Raises:
        CrfvizError: the chain has no such weight, or a value is no valid score.
    """
    changes: dict[str, dict[tuple[int, ...], float]] = {}  # by table, each cell once
    for weight, value in values.items():
        kind, *where = resolve(potentials, weight)
        changes.setdefault(TABLES[kind], {})[tuple(where)] = value
    tables = {}
    for name, of_cells in changes.items():
        table = tables[name] = getattr(potentials, name).clone()
        cells: tuple[Any, ...] = (..., *map(list, zip(*of_cells, strict=True)))
        scores = list(of_cells.values())
        if table.requires_grad:
            table[cells] = table.new_tensor(scores)
        else:
            table.numpy()[cells] = scores
    return potentials.altered(**tables)


def value_of(potentials: Potentials, weight: WeightId) -> float:
    """Return the value of one weight in the chain, in nats.

    Raises:
        CrfvizError: the score of a transition differs between steps, so it has no single value.
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
    """Return how often a path of tag ids uses a weight."""
    match weight:
        case ("transition", before, after):
            return sum(move == (before, after) for move in pairwise(path))
        case ("start", tag):
            return int(path[0] == tag)
        case ("end", tag):
            return int(path[-1] == tag)
        case ("emission", position, tag):
            return int(path[position] == tag)


DECIMALS = 6  # decimals of computed scores, as opposed to typed ones


@dataclass(frozen=True)
class Edits:
    """A sparse difference from the trained model. Methods return new objects.

    Scores replace trained ones, in nats; -inf forbids. `strength` scales the trained transitions,
    start and end; then single cells are replaced.

    Raises:
        ScoreError: a score is NaN, +inf or too large, or `strength` is negative or not finite.
    """

    transitions: Mapping[Move, float] = field(default_factory=dict)
    emissions: Mapping[Cell, float] = field(default_factory=dict)
    strength: float = 1.0
    constrained: bool = True  # False: without the hard constraints of the tagger

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_strength(self.strength))
        for name, cells in (("transitions", self.transitions), ("emissions", self.emissions)):
            if not isinstance(cells, Mapping):
                raise ShapeError(f"{name} must map cells to scores, got {abbreviate_value(cells)}")
            plain = {_plain_cell(name, c): _plain_score(c, value) for c, value in cells.items()}
            object.__setattr__(self, name, plain)

    def __len__(self) -> int:
        """Count the differences from the trained model."""
        cells = len(self.transitions) + len(self.emissions)
        return cells + (self.strength != 1.0) + (not self.constrained)

    def __bool__(self) -> bool:
        return len(self) > 0

    def with_transition(self, from_tag: str, to_tag: str, score: float) -> "Edits":
        """Return these edits plus one transition; START and END name start and end scores."""
        cell: Any = _plain_cell("transitions", (from_tag, to_tag))
        return replace(self, transitions={**self.transitions, cell: score})

    def with_emission(self, position: int, tag: str, score: float) -> "Edits":
        """Return these edits plus one emission."""
        cell: Any = _plain_cell("emissions", (position, tag))
        return replace(self, emissions={**self.emissions, cell: score})

    def reaching(self, now: Potentials, target: Potentials) -> "Edits":
        """Return edits that change the transition, start and end scores of `now` to `target`.

        `now` is the chain with these edits; `target` has other weights on the same sentence, and
        forbids no weight that `now` allows. Scores are rounded to `DECIMALS` decimals, so that a
        link with all of them stays readable; smaller differences are ignored.

        Raises:
            ShapeError: the chains have a transition matrix for each step.
        """
        if not (now.homogeneous and target.homogeneous):
            raise ShapeError("edits speak of one transition matrix, not of one for each step")
        sources, targets = [START, *now.tag_names], [*now.tag_names, END]
        held, goal = weight_matrix(now), weight_matrix(target)
        moved = (goal - held).abs() >= 0.5 * 10**-DECIMALS  # False if both are -inf: NaN
        cells = {
            (sources[i], targets[j]): round(goal[i, j].item(), DECIMALS)
            for i, j in moved.nonzero().tolist()
        }
        return replace(self, transitions={**self.transitions, **cells})

    def without(self, cell: Move | Cell) -> "Edits":
        """Return these edits without the edit of one cell."""
        return replace(
            self,
            transitions={key: value for key, value in self.transitions.items() if key != cell},
            emissions={key: value for key, value in self.emissions.items() if key != cell},
        )

    def apply(self, potentials: Potentials) -> Potentials:
        """Return the edited chain of a sentence.

        Emission edits beyond the end of the sentence are ignored until it is longer again.
        `constrained` is not applied here: it is for the tagger, which builds the chain.

        Raises:
            UnknownTagError: an edit names a tag that the chain does not have.
        """
        values = {weight_of(move): value for move, value in self.transitions.items()}
        for (position, tag), value in self.emissions.items():
            if position < potentials.num_tokens:
                values["emission", position, tag] = value
        scaled = potentials if self.strength == 1.0 else potentials.scale_transitions(self.strength)
        return with_weights(scaled, values) if values else scaled


def _plain_cell(name: str, cell: object) -> tuple[int | str, int | str]:
    """Return the cell of an edit in plain integers and texts: equal cells are equal keys."""
    if not (isinstance(cell, tuple) and len(cell) == 2):
        pair = "(from, to)" if name == "transitions" else "(position, tag)"
        raise ShapeError(f"{name} must map {pair} to scores, got {abbreviate_value(cell)}")
    first, tag = cell
    if name == "transitions":
        return plain_tag(first), plain_tag(tag)
    return require_count("position", first, at_least=0), plain_tag(tag)


def _plain_score(cell: object, value: Any) -> float:  # noqa: ANN401 - checked here
    number = math.nan
    with suppress(ShapeError):
        number = value if type(value) in (int, float) else score("score", value).item()
    if abs(number) <= LARGEST or number == -math.inf:
        return number
    raise ScoreError(
        f"the score of {abbreviate_value(cell)} must be -inf or finite, "
        f"got {abbreviate_value(value)}"
    )
