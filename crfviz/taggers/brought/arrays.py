"""The numbers of a draft as arrays that fit each other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crfviz.chain.potentials import Array
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.draft import STEPS, Draft, Part, Reading


def shared_steps(draft: Draft, reading: Reading) -> dict[str, Array]:
    """The arrays that all sentences share; matrices [from, to]."""
    given = {name: getattr(draft, name) for name in STEPS}
    return {
        name: _read("the file", name, value, reading)
        for name, value in given.items()
        if value is not None
    }


def _read(where: str, name: str, value: Any, reading: Reading) -> Array:  # noqa: ANN401
    table = _numbers(where, name, value)
    if name != "transitions" or table.ndim < 2:
        return table
    return table.swapaxes(-1, -2) if reading.to_from else table


def with_arrays(draft: Draft, part: Part, shared: Mapping[str, Array], reading: Reading) -> Part:
    """A sentence with its scores, or those of the file, as arrays that fit; matrices [from, to].

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
    T, K = emissions.shape
    own = {name: getattr(part, name) for name in STEPS}
    steps: dict[str, Any] = {  # arrays
        **shared,
        **{
            n: _read(part.where, n, value, reading) for n, value in own.items() if value is not None
        },
    }
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


def _numbers(where: str, name: str, value: Any) -> Array:  # noqa: ANN401 - checked in here
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
