"""Comparison of two chains whose words are aligned: changed tags and changed scores.

The alignment maps each of the T' words of the second chain to its word in the first, or to None if
it is new. All functions raise a ShapeError if the chains have different tags, or if the alignment
does not have T' places within the first chain. Changes of a word's scores are reported without
their mean over the tags, because a constant added to all tags of a word changes no path.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ShapeError

Origins = Sequence[int | None]  # T', position in the first chain of each word of the second


@dataclass(frozen=True)
class Moved:
    """One score in both chains, in nats."""

    position: int  # in the second chain
    before_tag: int | None  # of a step: the tag before; None for an emission
    tag: int
    before: float
    after: float
    change: float  # for an emission, without the mean change of its word


def flips(before: Sequence[int], after: Sequence[int], origins: Origins) -> list[int]:
    """Return the positions in the second chain of old words whose tag changed.

    `before` has T tag ids, `after` has T'.

    >>> flips([0, 1, 2], [0, 2], [0, 2]), flips([0, 1], [1, 2, 1], [0, None, 1])
    ([], [0])
    """
    _check(len(before), len(after), origins)
    return [t for t, o in enumerate(origins) if o is not None and before[o] != after[t]]


def emission_changes(before: Potentials, after: Potentials, origins: Origins) -> Tensor:
    """Return the change of each emission, without the mean over its word's tags.

    The result is (T', K) nats, 0 for new words; infinite if a tag became forbidden or allowed.
    """
    _check(before.num_tokens, after.num_tokens, origins)
    if before.tag_names != after.tag_names:
        raise ShapeError("expected two chains with the same tags, got different ones")
    old = torch.full_like(after.emissions, torch.nan)
    for t, origin in enumerate(origins):
        if origin is not None:
            old[t] = before.emissions[origin]
    change = after.emissions - old  # NaN in new words, and where a tag was and stays forbidden
    finite = change.isfinite()
    total = torch.where(finite, change, 0.0).sum(1, keepdim=True)
    mean = total / finite.sum(1, keepdim=True).clamp(min=1)
    return torch.where(change.isnan(), 0.0, change - mean)


def largest_changes(
    before: Potentials, after: Potentials, origins: Origins, number: int, least: float = 0.0
) -> list[Moved]:
    """Return the emissions that changed by more than `least` nats, largest change first."""
    change = emission_changes(before, after, origins)
    rows = []
    for t, tag in _largest(change, number):
        origin = origins[t]
        if origin is not None and abs(float(change[t, tag])) > least:
            old, new = float(before.emissions[origin, tag]), float(after.emissions[t, tag])
            rows.append(Moved(t, None, tag, old, new, float(change[t, tag])))
    return rows


def largest_step_changes(
    before: Potentials, after: Potentials, origins: Origins, number: int
) -> list[Moved]:
    """Return the transitions that moved most, of steps between words that were neighbours before.

    There are at most `number`, and none where all steps share one matrix: it does not depend on
    the words.
    """
    _check(before.num_tokens, after.num_tokens, origins)
    if after.homogeneous:
        return []
    moved: list[Moved] = []
    for t in range(1, len(origins)):
        first, second = origins[t - 1], origins[t]
        if first is None or second is None or second != first + 1:
            continue
        old, new = before.step(first), after.step(t - 1)
        change = torch.where(old == new, 0.0, new - old)
        for i, j in _largest(change, number):
            if float(change[i, j]) != 0.0:
                values = float(old[i, j]), float(new[i, j]), float(change[i, j])
                moved.append(Moved(t, i, j, *values))
    return sorted(moved, key=lambda score: -abs(score.change))[:number]


def _largest(change: Tensor, number: int) -> list[tuple[int, int]]:
    """Return the cells of a table that changed most, the largest change first."""
    order = change.abs().flatten().argsort(descending=True, stable=True)[:number]
    return [divmod(cell, change.shape[1]) for cell in order.tolist()]


def _check(before: int, after: int, origins: Origins) -> None:
    if len(origins) != after:
        raise ShapeError(f"expected a place for each of {after} words, got {len(origins)}")
    if outside := [o for o in origins if o is not None and not 0 <= o < before]:
        raise ShapeError(f"expected places from 0 to {before - 1}, got {outside[0]}")
