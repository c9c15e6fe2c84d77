"""Conversion of what callers pass: tags, paths, names, words, scores, counts and distributions.

Lists, tuples, arrays, tensors, and Series and Index of pandas hold the same values. Numbers may be
those of Python or NumPy, or tensors of one number, with a gradient or without. Booleans and
fractions are no tags, and a set has no order.
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from numbers import Real
from operator import index
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.exceptions import CrfvizError, ScoreError, ShapeError, UnknownTagError, errors_at
from crfviz.text.files import abbreviate_value

MAX_COUNT = 2**31 - 1  # maximum of a count, such as the number of samples
TOLERANCE = 1e-6  # allowed difference of a distribution's sum from 1
MAX_SHOWN = 30  # maximum number of values of a corrected row in a message


def whole_number(value: object) -> int | None:
    """Return a whole number as a plain integer; None for anything else, also for a boolean."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        array = value.detach().cpu() if isinstance(value, Tensor) else np.asarray(value)
        exact = isinstance(array, Tensor) and not (
            array.is_floating_point() or array.is_complex() or array.dtype is torch.bool
        )
        if array.ndim == 0 and (exact or getattr(array.dtype, "kind", "") in ("i", "u")):
            return int(array.item())
        return None
    if isinstance(value, bool):
        return None
    with suppress(TypeError):
        return index(value)  # type: ignore[arg-type]  # what is no number fails here
    return None


def text(value: object) -> str | None:
    """Return a text as a plain string; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    return str(value) if isinstance(value, str) else None


def items(name: str, values: Any) -> list[Any]:  # noqa: ANN401 - checked here
    """Return the items of a list, array, tensor, Series or Index in their order.

    Raises:
        ShapeError: it is none of these, such as a number, a set or a dictionary.
    """
    if isinstance(values, Tensor | np.ndarray) and values.ndim > 0:
        return list(values.tolist())
    ordered = isinstance(values, Iterable) and not isinstance(values, Set | Mapping)
    if not ordered or isinstance(values, Tensor | np.ndarray):
        raise ShapeError(f"{name} must be a list, got {abbreviate_value(values)}")
    return list(values)


def tag_id(tag: object, names: Sequence[str]) -> int:
    """Return the id of a tag given by name or by id.

    Raises:
        UnknownTagError: it is neither.
    """
    with suppress(ValueError):  # not among the names
        word = text(tag)
        number = whole_number(tag) if word is None else names.index(word)
        if number is not None and 0 <= number < len(names):
            return number
    raise UnknownTagError(
        f"expected one of the tags {', '.join(names)}"
        f" or an id from 0 to {len(names) - 1}, got {abbreviate_value(tag)}"
    )


def tag_ids(
    path: Any,  # noqa: ANN401 - checked here
    names: Sequence[str],
    num_tokens: int,
    name: str = "path",
) -> list[int]:
    """Return the ids of a path of T tags, by id or by name.

    Raises:
        ShapeError: it is no list of T tags.
        UnknownTagError: a tag is unknown; names its position.
    """
    plain = isinstance(path, list | tuple) and {*map(type, path)} == {int}
    if plain and len(path) == num_tokens and min(path) >= 0 and max(path) < len(names):
        return list(path)  # the common case
    if not (hasattr(path, "__len__") and isinstance(path, Iterable)):
        raise ShapeError(f"{name} must be {num_tokens} tags, got {abbreviate_value(path)}")
    tags = items(name, path)
    if len(tags) != num_tokens:
        raise ShapeError(f"{name} must have {num_tokens} tags, got {len(tags)}")
    found = []
    for position, tag in enumerate(tags):
        with errors_at(f"{name}, position {position}"):
            found.append(tag_id(tag, names))
    return found


def names(name: str, values: object) -> tuple[str, ...]:
    """Return the names of tags in id order, from a list or from `id2label` of Hugging Face.

    Raises:
        ShapeError: it is no list of names, or the ids do not run from 0 to K-1.
        CrfvizError: a name is no text, and no number that is its own id.
    """
    listed = _in_id_order(name, values) if isinstance(values, Mapping) else items(name, values)
    found = []
    for place, value in enumerate(listed):
        word = text(value)
        if word is None and whole_number(value) == place:
            word = str(place)
        if word is None:
            raise CrfvizError(f"{name} must be texts, got {abbreviate_value(value)} as id {place}")
        found.append(word)
    return tuple(found)


def _in_id_order(name: str, values: Mapping[Any, Any]) -> list[Any]:
    """Return the values of `id2label`, or the keys of `label2id`, in the order of the ids."""
    pairs = [(_label_id(key), value) for key, value in values.items()]
    if values and all(whole_number(value) is not None for value in values.values()):  # label2id
        pairs = [(whole_number(value), key) for key, value in values.items()]
    found = dict(pairs)
    if len(found) < len(pairs) or set(found) != set(range(len(pairs))):
        raise ShapeError(
            f"{name} must have the ids from 0 to {len(values) - 1} as keys, "
            f"got {abbreviate_value(list(values))}"
        )
    return [found[number] for number in range(len(pairs))]


def _label_id(key: object) -> int | None:
    """Return a key of `id2label`, which JSON turns into a text."""
    word = text(key)
    if word is None:
        return whole_number(key)
    return int(word) if word.isdecimal() and str(int(word)) == word else None


def words(values: object) -> tuple[str, ...]:
    """Return words as plain texts; whole numbers are words too, such as the observations 1 to 3.

    Raises:
        ShapeError: it is no list of words, such as one text.
        CrfvizError: an item is no word; names its position.
    """
    if text(values) is not None:
        raise ShapeError(f"tokens must be a list of words, got the text {abbreviate_value(values)}")
    found = []
    for position, value in enumerate(items("tokens", values)):
        word = text(value)
        if word is None:
            if (number := whole_number(value)) is None:
                raise CrfvizError(
                    f"expected words as texts or tokens, got {abbreviate_value(value)} "
                    f"at position {position}"
                )
            word = str(number)
        found.append(word)
    return tuple(found)


def position_in(value: object, num_tokens: int, name: str = "position") -> int:
    """Return the position of a word as a plain integer.

    Raises:
        ShapeError: it is no whole number from 0 to T-1.
    """
    number = whole_number(value)
    if number is None or not 0 <= number < num_tokens:
        raise ShapeError(f"{name} must be 0 to {num_tokens - 1}, got {abbreviate_value(value)}")
    return number


def score(name: str, value: object) -> Tensor:
    """Return one score as a float64 tensor, connected to its gradient if it has one.

    Raises:
        ShapeError: it is no number, or more than one.
    """
    if not isinstance(value, bool | str | bytes):
        found = as_numbers(name, value)
        if found.ndim == 0:
            return found
    raise ShapeError(f"{name} must be a number, got {abbreviate_value(value)}")


def require_number(name: str, value: object, at_least: float = -math.inf) -> float:
    """Return a finite number as a plain float.

    Raises:
        CrfvizError: the value is no number, NaN, infinite, or less than `at_least`.
    """
    number = math.nan
    if isinstance(value, Tensor | np.ndarray) and value.ndim == 0:
        value = value.item()
    with suppress(OverflowError):  # of an integer that no float can hold
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        number = float(value) if is_number else math.nan  # type: ignore[arg-type]  # it is one
    if math.isfinite(number) and number >= at_least:
        return number
    bound = "" if at_least == -math.inf else f" of at least {at_least:g}"
    raise CrfvizError(f"{name} must be a finite number{bound}, got {abbreviate_value(value)}")


def require_strength(value: object) -> float:
    """Return a factor of the transitions as a plain float.

    Raises:
        ScoreError: it is no number, negative or not finite.
    """
    with suppress(CrfvizError):
        return require_number("strength", value, at_least=0.0)
    raise ScoreError(f"strength must be finite and not negative, got {abbreviate_value(value)}")


def plain_tag(tag: object) -> int | str:
    """Return a tag as a plain text or integer, without knowing the chain.

    Raises:
        UnknownTagError: it is neither.
    """
    word, number = text(tag), whole_number(tag)
    if word is None and number is None:
        raise UnknownTagError(f"expected a tag by name or id, got {abbreviate_value(tag)}")
    return word if number is None else number  # type: ignore[return-value]  # one is not None


def require_count(name: str, value: object, at_least: int = 1) -> int:
    """Return a whole number as a plain integer.

    Raises:
        CrfvizError: it is no whole number, less than `at_least`, or more than `MAX_COUNT`.
    """
    number = whole_number(value)
    if number is not None and at_least <= number <= MAX_COUNT:
        return number
    received = abbreviate_value(value)
    if number is None:
        raise CrfvizError(f"{name} must be a whole number of at least {at_least}, got {received}")
    if number > MAX_COUNT:
        raise CrfvizError(f"{name} must be at most {MAX_COUNT:,}, got {received}")
    raise CrfvizError(f"{name} must be at least {at_least}, got {received}")


def distribution_problem(
    name: str, table: NDArray[np.float64], rows: Iterable[str | int]
) -> str | None:
    """Return the error in a table whose rows are distributions; None if they are.

    Args:
        name: of the table, in the message.
        table: (R, V).
        rows: R labels; "" for a table of one row.
    """
    for label, row in zip(rows, table, strict=True):
        place = name if label == "" else f"{name}, row {label!r},"
        wrong = row[~((row >= 0.0) & (row <= 1.0))]  # NaN is neither
        if len(wrong):
            return f"{place} must hold probabilities from 0 to 1, got {wrong[0]}"
        total = float(row.sum())
        if abs(total - 1.0) > TOLERANCE:
            scaled = total > 0 and len(row) < MAX_SHOWN
            return (
                f"{place} must sum to 1, got {total:.6g}; divided by its sum it would be "
                f"{np.round(row / total, 4).tolist() if scaled else 'one'}"
            )
    return None


def as_numbers(name: str, values: object) -> Tensor:
    """Return a float64 copy on the CPU; tensors that want a gradient stay connected to it.

    Raises:
        ShapeError: it is no number, or no numbers in rows of one length.
    """
    if isinstance(values, Tensor) and not values.is_complex():
        if values.dtype is torch.float64 and values.is_cpu:
            return values.clone()
        array = values if values.requires_grad else values.detach()
        return array.to("cpu", torch.float64, copy=True)
    if _holds_tensors(values):
        rows = [as_numbers(name, each) for each in values]  # type: ignore[attr-defined]
        if len({row.shape for row in rows}) == 1:
            return torch.stack(rows)
        raise ShapeError(f"{name} must be numbers in rows of one length")
    try:
        if isinstance(values, Tensor):
            raise TypeError(f"got {values.dtype}")
        if isinstance(values, np.ndarray) and values.dtype.kind in "cmM":
            raise TypeError(f"got {values.dtype}")
        with np.errstate(invalid="ignore"):  # a NaN of an odd kind; it is refused later
            return torch.from_numpy(np.array(values, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(
            f"{name} must be numbers in rows of one length: {str(error)[:80]}"
        ) from error


def _holds_tensors(values: object) -> bool:
    """Return whether nested lists hold tensors, which NumPy cannot read if they want gradients."""
    while isinstance(values, list | tuple) and len(values):
        if any(isinstance(each, Tensor) for each in values):
            return True
        values = values[0]
    return False
