"""The numbers of one sentence as arrays of the right shape: axes turned, logarithms taken."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crfviz.chain.potentials import Array
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.draft import STEPS, Draft, Part, Reading
from crfviz.taggers.textbook.markov import TOLERANCE

MOST_SAID = 5  # rows that do not sum to one


@dataclass(frozen=True, eq=False)
class ScoreArrays:
    """The numbers of one sentence."""

    where: str
    emissions: Array  # (T, K)
    transitions: Array  # (K, K) or (T-1, K, K), from and to
    start: Array | None  # (K,)
    end: Array | None  # (K,)


def read_tables(draft: Draft, part: Part, reading: Reading) -> ScoreArrays:
    """The arrays of one sentence, `[from, to]`.

    Raises:
        FormatError: there are no numbers, or not in rows of one length, or no transitions, or of
            another shape; or what should be probabilities is negative or not finite.
    """
    emissions = _numbers(part.where, "emissions", part.emissions)
    if emissions.ndim != 2 or emissions.size == 0:
        raise FormatError(
            f"{part.where}: emissions must be (T, K), a row of K scores for each of T words, "
            f"got {emissions.shape}."
        )
    steps: dict[str, Array | None] = {}
    for name in STEPS:
        own, shared = getattr(part, name), getattr(draft, name)
        value = shared if own is None else own
        steps[name] = None if value is None else _numbers(part.where, name, value)
    transitions = steps["transitions"]
    if transitions is None:
        raise FormatError(
            f"{part.where}: there are no transitions. Put them into the file as “transitions”, or "
            "bring the file of the CRF layer along with it."
        )
    if transitions.size == 0:  # JSON has one empty list for no steps at all
        transitions = transitions.reshape(0, *emissions.shape[1:] * 2)
    T, K = emissions.shape
    _require(part.where, "transitions", transitions, [(K, K), (T - 1, K, K)], (T, K))
    for name in ("start", "end"):
        _require(part.where, name, steps[name], [(K,)], (T, K))
    if reading.to_from:
        transitions = transitions.swapaxes(-1, -2)
    tables = ScoreArrays(part.where, emissions, transitions, steps["start"], steps["end"])
    if draft.probabilities:
        _require_probabilities(tables)
    return tables


def logarithms(tables: ScoreArrays, *, normalise: bool) -> ScoreArrays:
    """Scores for probabilities.

    Args:
        tables: probabilities: p(word | tag), p(tag | tag before), p(first tag), p(END | tag).
        normalise: divide each row by its sum first; END belongs to the rows of transitions.

    Raises:
        FormatError: a row that is to be divided is all zeros.
    """
    if normalise:
        tables = _normalised(tables)
    logs: dict[str, Any] = {}
    for name in ("emissions", *STEPS):
        table = getattr(tables, name)
        with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
            logs[name] = None if table is None else np.log(table)
    return replace(tables, **logs)


def unnormalised(tables: Sequence[ScoreArrays], tags: Sequence[str]) -> tuple[str, ...]:
    """The rows that do not sum to one, in words, each once; at most five of them."""
    said: dict[str, None] = {}
    for table in tables:
        for name, label, total in _sums(table, tags):
            if abs(total - 1.0) > TOLERANCE:
                said[f"{name}{f', row {label!r},' if label else ''} sums to {total:.6g}"] = None
    return tuple(said)[:MOST_SAID]


def _sums(table: ScoreArrays, tags: Sequence[str]) -> list[tuple[str, str, float]]:
    """Name, row and sum of everything that should sum to one."""
    sums = [] if table.start is None else [("start", "", float(table.start.sum()))]
    leaving = _leaving(table)
    name = "transitions" if table.end is None else "transitions with end"
    for rows in leaving.reshape(-1, leaving.shape[-1]):
        sums += [(name, tag, float(total)) for tag, total in zip(tags, rows, strict=False)]
    return sums


def _leaving(table: ScoreArrays) -> Array:
    """(K,) or (T-1, K): what each row of the transitions sums to, END included."""
    total: Array = table.transitions.sum(-1)
    return total if table.end is None else total + table.end


def _normalised(table: ScoreArrays) -> ScoreArrays:
    leaving = _leaving(table)
    starts = np.ones(1) if table.start is None else np.atleast_1d(table.start.sum())
    if not (leaving > 0).all() or not (starts > 0).all():
        raise FormatError(f"{table.where}: a row of zeros cannot be divided by its sum.")
    if table.end is not None and leaving.ndim > 1 and np.ptp(leaving, axis=0).max() > TOLERANCE:
        raise FormatError(
            f"{table.where}: the rows of the steps have different sums, so one row of end scores "
            "cannot be divided by all of them."
        )
    ends = leaving if leaving.ndim == 1 else leaving[0]
    return replace(
        table,
        transitions=table.transitions / leaving[..., None],
        start=None if table.start is None else table.start / starts,
        end=None if table.end is None else table.end / ends,
    )


def _require(
    where: str,
    name: str,
    table: Array | None,
    shapes: Sequence[tuple[int, ...]],
    size: tuple[int, int],
) -> None:
    if table is not None and table.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise FormatError(
            f"{where}: {name} must be {wanted} to match emissions {size}, got {table.shape}."
        )


def _require_probabilities(tables: ScoreArrays) -> None:
    for name in ("emissions", *STEPS):
        table = getattr(tables, name)
        good = table is None or (np.isfinite(table) & (table >= 0))
        if not np.all(good):
            raise FormatError(
                f"{tables.where}: {name} must hold probabilities, from 0 to 1, "
                f"got {table[~good].flat[0]:g}."
            )


def _numbers(where: str, name: str, value: Any) -> Array:  # noqa: ANN401 - checked in here
    """Numbers as an array; the text "-inf" is a number, too."""
    try:
        if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
            raise TypeError(f"got {value.dtype}")
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"{where}: {name} must be numbers in rows of one length ({error})."
        ) from error
