"""Tags that stand for the start or the end of a sentence, or for padding.

flair has <START> and <STOP> among its tags. No step enters a start tag, no step leaves a stop tag,
and padding tags have neither: the scores of the missing steps are at most `IMPOSSIBLE`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import Reading, Steps

IMPOSSIBLE = -1000.0  # or less means "never"; flair uses -10000, which training may change
START_NAMES = ("<START>", "<BOS>", "<s>", "START_TAG")
STOP_NAMES = ("<STOP>", "<END>", "<EOS>", "</s>", "STOP_TAG")
KEEP = (
    "Keep them as tags of words (keep_boundary_tags=True, --boundary-tags keep), or leave them out "
    "of the file"
)


@dataclass(frozen=True)
class BoundaryTags:
    """Boundary tags of a model as ids, detected by name or by score."""

    tags: Sequence[str]  # all K names
    starts: Sequence[int]
    stops: Sequence[int]
    padding: Sequence[int]
    turned: bool  # the names fit the transposed matrix
    plain: bool  # there are no start or end scores, and one matrix for all steps

    @property
    def names(self) -> tuple[str, ...]:
        """Return all boundary tags, in the order of the tags."""
        return tuple(self.tags[k] for k in sorted([*self.starts, *self.stops, *self.padding]))

    @property
    def kept(self) -> list[int]:
        """The ids of all other tags."""
        return [k for k, tag in enumerate(self.tags) if tag not in self.names]

    def are_left_out(self, reading: Reading) -> bool:
        """Return whether to drop these tags; by default, if there is one start and one stop tag.

        Raises:
            FormatError: they are to be dropped, but the rows of the matrices seem to be "to", there
                are several start or stop tags, or no tag is left.
        """
        leave = self.plain and len(self.starts) == len(self.stops) == 1
        if reading.keep_boundary_tags is not None:
            leave = bool(self.names) and not reading.keep_boundary_tags
        listed = ", ".join(self.names)
        if leave and self.turned:
            raise FormatError(
                f"The scores of {listed} fit the transposed matrix: its rows seem to be “to”. "
                "Choose this (to_from=True, --to-from)."
            )
        if leave and (max(len(self.starts), len(self.stops)) > 1 or not self.kept):
            raise FormatError(
                f"Expected one start and one stop tag, and others, got {listed}. {KEEP}."
            )
        return leave

    def without(self, steps: Steps) -> Steps:
        """Return the steps without these tags; their own steps become start and end scores.

        Raises:
            FormatError: each step has its own matrix.
        """
        if steps.transitions.ndim > 2 and (self.starts or self.stops):
            listed = ", ".join(self.names)
            raise FormatError(f"each step has its own matrix, and none leads from {listed}. {KEEP}")
        ends = {n: t[self.kept] for n, t in steps.tables().items() if n != "transitions"}
        cut = cut_out(steps.transitions, self.starts, self.stops, self.kept)
        return Steps(**{**cut.tables(), **ends})


def cut_out(
    matrix: Any,  # noqa: ANN401 - an array or a tensor
    starts: Sequence[int],
    stops: Sequence[int],
    kept: Sequence[int],
) -> Steps:
    """Return the steps between the `kept` tags, from the first start and to the first stop tag."""
    return Steps(
        transitions=matrix[..., kept, :][..., kept],
        start=matrix[starts[0], kept] if starts else None,
        end=matrix[kept, stops[0]] if stops else None,
    )


def entered_and_left(matrices: Iterable[Any]) -> tuple[list[bool], list[bool]]:
    """Return for each of K tags whether a step enters it, and whether a step leaves it.

    Args:
        matrices: (..., K, K) arrays or tensors. If they have no steps, all steps count as possible.
    """
    possible = [np.asarray(matrix > IMPOSSIBLE) for matrix in matrices]
    K = possible[0].shape[-1]
    steps = [step for each in possible for step in each.reshape(-1, K, K)] or [np.ones((K, K))]
    entered: list[bool] = np.logical_or.reduce(steps, axis=(0, 1)).tolist()
    left: list[bool] = np.logical_or.reduce(steps, axis=(0, 2)).tolist()
    return entered, left


def find_boundary_tags(every: Iterable[Steps], tags: Sequence[str]) -> BoundaryTags:
    """Return the boundary tags; the scores are arrays, transitions [from, to]."""
    steps = list(every)
    matrices = {id(each.transitions): each.transitions for each in steps}
    entered, left = entered_and_left(matrices.values())
    starts = [k for k, tag in enumerate(tags) if tag in START_NAMES]
    stops = [k for k, tag in enumerate(tags) if tag in STOP_NAMES]
    turned = any(entered[k] and not left[k] for k in starts)
    turned |= any(left[k] and not entered[k] for k in stops)
    others = [k for k in range(len(tags)) if k not in (*starts, *stops)]
    return BoundaryTags(
        tags,
        starts + [k for k in others if left[k] and not entered[k]],
        stops + [k for k in others if entered[k] and not left[k]],
        [k for k in others if not entered[k] and not left[k]],
        turned=turned,
        plain=all(s.start is None and s.end is None and s.transitions.ndim < 3 for s in steps),
    )
