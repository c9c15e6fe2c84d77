"""Arrays and probabilities of an uploaded model: shapes, row sums and logarithms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crfviz.chain.potentials import Array
from crfviz.chain.validation import TOLERANCE
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import (
    MAX_SAID,
    ParsedModel,
    Reading,
    SentenceScores,
    Steps,
    readable_sentences,
)


def shared_steps(draft: ParsedModel, reading: Reading) -> dict[str, Array]:
    """Return the arrays that all sentences share; matrices [from, to]."""
    return _read("the file", draft, reading)


def _read(where: str, steps: Steps, reading: Reading) -> dict[str, Array]:
    given = steps.tables().items()
    tables = {n: _to_array(where, n, value) for n, value in given if value is not None}
    if reading.to_from and "transitions" in tables and tables["transitions"].ndim > 1:
        tables["transitions"] = tables["transitions"].swapaxes(-1, -2)
    return tables


def with_arrays(
    draft: ParsedModel, part: SentenceScores, shared: Mapping[str, Array], reading: Reading
) -> SentenceScores:
    """A sentence with its scores, or those of the file, as arrays that fit; matrices [from, to].

    Raises:
        FormatError: there are no numbers, or not in rows of one length, or no transitions, or of
            another shape; or what should be probabilities is negative or not finite.
    """
    emissions = _to_array(part.where, "emissions", part.emissions)
    if emissions.ndim != 2 or emissions.size == 0:
        raise FormatError(
            f"{part.where}: emissions must be (T, K), a row of K scores for each of T words, "
            f"got {emissions.shape}."
        )
    T, K = emissions.shape
    steps: dict[str, Any] = {**shared, **_read(part.where, part, reading)}  # arrays
    if "transitions" not in steps:
        raise FormatError(
            f"{part.where}: there are no transitions. Put them into the file as “transitions”, or "
            "bring the file of the CRF layer along with it."
        )
    if steps["transitions"].size == 0:  # JSON has one empty list for no steps at all
        steps["transitions"] = np.zeros((0, K, K))
    _require_shapes(part.where, steps, T, K)
    if draft.probabilities:
        _require_probabilities(part.where, {"emissions": emissions, **steps})
    return replace(part, emissions=emissions, **steps)


def _require_shapes(where: str, steps: Mapping[str, Array], T: int, K: int) -> None:
    for name, table in steps.items():
        shapes = [(K, K), (T - 1, K, K)] if name == "transitions" else [(K,)]
        if table.shape not in shapes:
            raise FormatError(
                f"{where}: {name} must be {' or '.join(map(str, shapes))} to match emissions "
                f"{(T, K)}, got {table.shape}."
            )


def _require_probabilities(where: str, tables: Mapping[str, Array]) -> None:
    for name, table in tables.items():
        good = np.isfinite(table) & (table >= 0)
        if not good.all():
            raise FormatError(
                f"{where}: {name} must hold probabilities, from 0 to 1, "
                f"got {table[~good].flat[0]:g}."
            )


def _to_array(where: str, name: str, value: Any) -> Array:  # noqa: ANN401 - checked in here
    """Numbers as an array; the text "-inf" is a number, too."""
    try:
        if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
            raise TypeError(f"got {value.dtype}")
        with np.errstate(invalid="ignore"):  # a NaN of an odd kind; scores are checked later
            return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"{where}: {name} must be numbers in rows of one length ({str(error)[:80]})."
        ) from error


def logarithms(
    parts: Sequence[SentenceScores], *, normalise: bool
) -> tuple[list[SentenceScores], list[str]]:
    """Return scores for p(word | tag), p(tag | tag before), p(first tag) and p(END | tag).

    Args:
        parts: sentences with probabilities.
        normalise: divide each row by its sum first.

    Returns:
        The sentences, and for each of the others that a row of zeros cannot be divided by its sum.
    """
    known: dict[tuple[int, ...], dict[str, Any]] = {}  # of tables that sentences share

    def read(part: SentenceScores) -> SentenceScores:
        tables = part.tables()
        shared = tuple(map(id, tables.values()))
        if shared not in known:
            whole = _normalised(part).tables() if normalise else tables
            known[shared] = {n: None if t is None else _logarithm(t) for n, t in whole.items()}
        return replace(part, emissions=_logarithm(part.emissions), **known[shared])

    return readable_sentences(parts, read)


def _logarithm(table: Array) -> Array:
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
        logs: Array = np.log(table)
    return logs


def unnormalised(parts: Sequence[SentenceScores], tags: Sequence[str]) -> tuple[str, ...]:
    """Return the rows that do not sum to one, in words, each once; at most five of them."""
    said: dict[str, None] = {}
    different = {tuple(map(id, part.tables().values())): part for part in parts}
    for part in different.values():
        sums = [] if part.start is None else [("start", part.start.sum())]
        name = "transitions" if part.end is None else "transitions with end"
        for rows in np.atleast_2d(_row_sums(part)):
            sums += [
                (f"{name}, row {tag!r},", total) for tag, total in zip(tags, rows, strict=False)
            ]
        for row, total in sums:
            if abs(total - 1.0) > TOLERANCE:
                said[f"{row} sums to {total:.6g}"] = None
    return tuple(said)[:MAX_SAID]


def _row_sums(part: SentenceScores) -> Array:
    """Return (K,) or (T-1, K): what each row of the transitions sums to, END included."""
    total: Array = part.transitions.sum(-1)
    return total if part.end is None else total + part.end


def _normalised(part: SentenceScores) -> SentenceScores:
    """Return each row divided by its sum; END belongs to the rows of transitions."""
    leaving = _row_sums(part)
    starts = np.ones(1) if part.start is None else np.atleast_1d(part.start.sum())
    if not (leaving > 0).all() or not (starts > 0).all():
        raise FormatError(f"{part.where}: a row of zeros cannot be divided by its sum.")
    if part.end is not None and leaving.ndim > 1 and np.ptp(leaving, axis=0).max() > TOLERANCE:
        raise FormatError(
            f"{part.where}: the rows of the steps have different sums, so one row of end scores "
            "cannot be divided by all of them."
        )
    ends = leaving if leaving.ndim == 1 else leaving[0]
    return replace(
        part,
        transitions=part.transitions / leaving[..., None],
        start=None if part.start is None else part.start / starts,
        end=None if part.end is None else part.end / ends,
    )
