"""Arrays and probabilities of an uploaded model: shapes, row sums and logarithms."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crfviz.chain.potentials import Array
from crfviz.chain.validation import TOLERANCE, as_numbers
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import MAX_SAID, Reading, SentenceScores, Steps

ROUNDED = 0.02  # difference of a sum from 1, of probabilities that are rounded to two places
ONE, PERCENT = 1, 100  # sums of the rows of probabilities, and of percentages
StepsChange = Callable[[Steps], Steps]


def with_arrays(
    shared: Steps, reading: Reading, part: SentenceScores, *, probabilities: bool
) -> SentenceScores:
    """Return a sentence with all scores as arrays; the file's steps fill the missing ones.

    Raises:
        CrfvizError: the scores make no valid chain, or a probability is negative.
    """
    emissions = as_numbers("emissions", part.emissions).numpy()
    own = step_arrays(part.steps, reading).tables()
    steps = replace(shared, **own) if own else shared
    if steps.transitions is None:
        raise FormatError(
            "there are no transitions. Put them into the file as “transitions”, or bring the file "
            "of the CRF layer along with it"
        )
    if steps.transitions.size == 0:  # JSON has [] if there are no steps
        steps = replace(steps, transitions=np.zeros((0, *emissions.shape[-1:] * 2)))
    read = replace(part, emissions=emissions, steps=steps)
    replace(read, tokens=None).chain()
    for name, table in {"emissions": emissions, **steps.tables()}.items():
        if probabilities and (table < 0).any():
            wrong = table[table < 0][0]
            raise FormatError(f"{name} must hold probabilities, from 0 to 1, got {wrong:g}")
    return read


def _probability_tables(parts: Sequence[SentenceScores], whole: int = ONE) -> tuple[str, ...]:
    """Return the names of the tables whose rows all sum to `whole`, or whose columns do.

    END belongs to the rows of transitions. A table of zeros says nothing.
    """
    steps = dict.fromkeys(part.steps for part in parts)
    sums = {"emissions": [part.emissions.sum(-1) for part in parts]}
    for each in steps:
        if each.transitions.any():
            ways = (_row_sums(each), each.transitions.sum(-1), each.transitions.sum(-2))
            found = (way for way in ways if _are(whole, way))
            sums.setdefault("transitions", []).append(next(found, ways[0]))
    if parts[0].emissions.shape[-1] == 1:
        return ()
    return tuple(name for name, totals in sums.items() if all(_are(whole, way) for way in totals))


def _may_be_probabilities(parts: Sequence[SentenceScores], whole: int = ONE) -> bool:
    """Return whether all numbers are between 0 and `whole`, and not all of them just these two."""
    steps = dict.fromkeys(part.steps for part in parts)
    tables = [part.emissions for part in parts]
    tables += [table for each in steps for table in each.tables().values()]
    largest = whole * (1 + ROUNDED)
    inside = all(bool(((table >= 0) & (table <= largest)).all()) for table in tables)
    return inside and any(bool((table % whole > 0).any()) for table in tables)


def _are(whole: int, sums: Array) -> bool:
    return bool((abs(sums - whole) <= whole * ROUNDED).all())


@dataclass(frozen=True)
class Likeness:
    """What the numbers of an upload look like, as far as their sums say."""

    names: tuple[str, ...] = ()  # of the tables whose rows sum to `whole`
    whole: int = ONE  # or PERCENT
    mixed: bool = False  # whether other numbers contradict it


def likeness(parts: Sequence[SentenceScores]) -> Likeness:
    """Return which tables look like probabilities or percentages."""
    found = (
        Likeness(names, whole, not _may_be_probabilities(parts, whole))
        for whole in (ONE, PERCENT)
        if (names := _probability_tables(parts, whole))
    )
    return min(found, key=lambda each: each.mixed, default=Likeness())


def shares(parts: Sequence[SentenceScores]) -> tuple[Callable[[Array], Array], StepsChange]:
    """Return two functions that divide emissions and steps by 100, but for tables below one.

    Transitions and END belong together.
    """
    largest = max(part.emissions.max() for part in parts)

    def of_steps(steps: Steps) -> Steps:
        tables = steps.tables()
        for names in (("transitions", "end"), ("start",)):
            own = {name: tables[name] for name in names if name in tables}
            if any((table > 1 + ROUNDED).any() for table in own.values()):
                tables |= {name: table / PERCENT for name, table in own.items()}
        return Steps(**tables)

    def of_emissions(emissions: Array) -> Array:
        return emissions / PERCENT if largest > 1 + ROUNDED else emissions

    return of_emissions, of_steps


def zero_steps(parts: Sequence[SentenceScores]) -> Steps:
    """Return steps that favour no tag; K is taken from the first readable emissions."""
    K = next(filter(None, (_width(part.emissions) for part in parts)), 0)
    return Steps(transitions=np.zeros((K, K)))


def _width(numbers: Any) -> int:  # noqa: ANN401 - not checked yet
    """Return the number of columns; 0 if it is not a table."""
    try:
        shape = np.shape(numbers)
    except ValueError:  # rows of different lengths
        return 0
    return shape[1] if len(shape) == 2 else 0


def step_arrays(steps: Steps, reading: Reading) -> Steps:
    """Return the steps as arrays, with matrices [from, to].

    Raises:
        ShapeError: a table is not numeric, or its rows differ in length.
    """
    tables = {name: as_numbers(name, table).numpy() for name, table in steps.tables().items()}
    if reading.to_from and "transitions" in tables and tables["transitions"].ndim > 1:
        tables["transitions"] = tables["transitions"].swapaxes(-1, -2)
    return Steps(**tables)


def logarithm(table: Array) -> Array:
    """Return the logarithms of probabilities."""
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
        logs: Array = np.log(table)
    return logs


def log_steps(steps: Steps, *, normalise: bool) -> Steps:
    """Return the logarithms of p(tag | previous tag), p(first tag) and p(END | tag).

    Args:
        steps: probabilities.
        normalise: divide each row by its sum first; END belongs to the rows of transitions.

    Raises:
        FormatError: a row of zeros cannot be divided by its sum.
    """
    tables = _normalised(steps) if normalise else steps.tables()
    return Steps(**{name: logarithm(table) for name, table in tables.items()})


def _normalised(steps: Steps) -> dict[str, Array]:
    tables, leaving = steps.tables(), _row_sums(steps)
    rows = np.atleast_2d(leaving)
    sums = {"transitions": leaving[..., None], "end": rows[0] if len(rows) else np.ones(1)}
    if "start" in tables:
        sums["start"] = tables["start"].sum(keepdims=True)
    if not all((total > 0).all() for total in sums.values()):
        raise FormatError("a row of zeros cannot be divided by its sum")
    if "end" in tables and (abs(rows - rows[:1]) > TOLERANCE).any():
        raise FormatError(
            "the rows of the steps have different sums, so one row of end scores cannot be "
            "divided by all of them"
        )
    return {name: table / sums[name] for name, table in tables.items()}


def _row_sums(steps: Steps) -> Array:
    total: Array = steps.transitions.sum(-1)
    return total if steps.end is None else total + steps.end


def unnormalised(every: Iterable[Steps], tags: Sequence[str]) -> tuple[str, ...]:
    """Describe the rows that do not sum to one, without duplicates, at most five."""
    said: dict[str, None] = {}
    for steps in every:
        name = "transitions" if steps.end is None else "transitions with end"
        sums = [] if steps.start is None else [("start", steps.start.sum())]
        for row in np.atleast_2d(_row_sums(steps)):
            sums += [(f"{name}, row {tag!r},", total) for tag, total in zip(tags, row, strict=True)]
        wrong = (each for each in sums if abs(each[1] - 1.0) > TOLERANCE)
        said |= {f"{row} sums to {total:.6g}": None for row, total in wrong}
    return tuple(said)[:MAX_SAID]
