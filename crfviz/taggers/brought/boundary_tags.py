"""Tags that stand for the start or the end of a sentence, or for padding.

flair has <START> and <STOP> among its tags. No step enters a start tag, no step leaves a stop tag,
and padding has neither: all these scores are at most `IMPOSSIBLE`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import Reading, SentenceScores

IMPOSSIBLE = -1000.0  # or less stands for "never"; flair has -10000, and training may move it
START_NAMES = ("<START>", "<BOS>", "<s>", "START_TAG")
STOP_NAMES = ("<STOP>", "<END>", "<EOS>", "</s>", "STOP_TAG")
KEEP = "Keep them as tags of words (keep_boundary_tags=True), or leave them out of the file."


@dataclass(frozen=True)
class BoundaryTags:
    """Those of a model, as ids, by their names or by their scores."""

    tags: Sequence[str]  # all K names
    starts: Sequence[int]
    stops: Sequence[int]
    padding: Sequence[int]
    turned: bool  # the names fit the transposed matrix
    plain: bool  # there are no start or end scores, and one matrix for all steps

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order of the tags."""
        return tuple(self.tags[k] for k in sorted([*self.starts, *self.stops, *self.padding]))

    @property
    def listed(self) -> str:
        """Their names, for people."""
        return ", ".join(self.names)

    def are_left_out(self, reading: Reading) -> bool:
        """Return whether they are no tags of words; by default one start and one stop are none."""
        if reading.keep_boundary_tags is not None:
            return bool(self.names) and not reading.keep_boundary_tags
        return self.plain and len(self.starts) == len(self.stops) == 1

    def notes(self, reading: Reading) -> list[str]:
        """Return what was assumed of them."""
        if not self.names:
            return []
        if self.are_left_out(reading):
            return [f"{self.listed} left out as tags: their steps are start and end scores."]
        return [f"{self.listed} kept as tags of words, which a path can pass."]


def find_boundary_tags(parts: Sequence[SentenceScores], tags: Sequence[str]) -> BoundaryTags:
    """Return the boundary tags of sentences whose scores are arrays, transitions [from, to]."""
    K = len(tags)
    tables = {id(part.transitions): part.transitions for part in parts}.values()
    steps = np.concatenate([table.reshape(-1, K, K) for table in tables])
    possible: NDArray[np.bool_] = np.ones((1, K, K), dtype=np.bool_)
    if len(steps):
        possible = np.asarray(steps > IMPOSSIBLE)
    entered: list[bool] = np.logical_or.reduce(possible, axis=(0, 1)).tolist()
    left: list[bool] = np.logical_or.reduce(possible, axis=(0, 2)).tolist()
    starts = [k for k in range(K) if tags[k] in START_NAMES]
    stops = [k for k in range(K) if tags[k] in STOP_NAMES]
    turned = any(entered[k] and not left[k] for k in starts)
    turned |= any(left[k] and not entered[k] for k in stops)
    others = [k for k in range(K) if k not in (*starts, *stops)]
    return BoundaryTags(
        tags,
        starts + [k for k in others if left[k] and not entered[k]],
        stops + [k for k in others if entered[k] and not left[k]],
        [k for k in others if not entered[k] and not left[k]],
        turned=turned,
        plain=all(p.start is None and p.end is None and p.transitions.ndim < 3 for p in parts),
    )


def without_boundary_tags(
    parts: Sequence[SentenceScores], boundary: BoundaryTags
) -> list[SentenceScores]:
    """Return the sentences without these tags; their steps become start and end scores.

    Raises:
        FormatError: the rows of the matrices seem to be "to", a sentence has several start or stop
            tags or a matrix for each step, or no tag is left.
    """
    listed = boundary.listed
    kept = [k for k, tag in enumerate(boundary.tags) if tag not in boundary.names]
    if boundary.turned:
        raise FormatError(
            f"The scores of {listed} fit the transposed matrix: its rows seem to be “to”. "
            "Choose this (to_from=True)."
        )
    if max(len(boundary.starts), len(boundary.stops)) > 1 or not kept:
        raise FormatError(f"Expected one start and one stop tag, and others, got {listed}. {KEEP}")
    known: dict[int, dict[str, Any]] = {}  # tables that sentences share

    def read(part: SentenceScores) -> SentenceScores:
        matrix = part.transitions
        if matrix.ndim > 2 and (boundary.starts or boundary.stops):
            raise FormatError(
                f"{part.where}: each step has its own matrix, and none leads from {listed}. {KEEP}"
            )
        if id(matrix) not in known:
            known[id(matrix)] = {
                "transitions": matrix[..., kept, :][..., kept],
                "start": matrix[boundary.starts[0], kept] if boundary.starts else None,
                "end": matrix[kept, boundary.stops[0]] if boundary.stops else None,
            }
        own = {n: getattr(part, n) for n in ("start", "end")}
        tables = {n: table[kept] for n, table in own.items() if table is not None}
        return replace(part, emissions=part.emissions[:, kept], **{**known[id(matrix)], **tables})

    return [read(part) for part in parts]
