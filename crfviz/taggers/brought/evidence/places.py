"""Sentences in recorded calls: candidates for emissions, paths, masks and lengths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from torch import Tensor

from crfviz.taggers.brought.recorder import Call, Recorder, Slot

NUM_BOUNDARIES = 2  # START and STOP, which a path may have around its words


@dataclass(frozen=True, eq=False)
class Sentence:
    """The scores of a sentence and the layer's output for it."""

    emissions: Tensor  # (T, n) with all tags of the layer, or (T, K)
    path: list[int]  # the layer's tag ids
    totals: Mapping[Slot, float]  # numbers that the layer returned for it
    call: int  # index of the outermost call
    is_padded: bool  # whether the path goes on through padding


@dataclass(frozen=True)
class Place:
    """Slots of the emissions, paths and lengths of a model."""

    method: str  # whose calls have one sentence or batch each; empty: the outermost calls
    scores: Slot
    paths: Slot
    words: Slot | None  # mask or lengths; None: use the lengths of the paths
    first: str  # axis of the scores that comes first: "batch", "time" or "" without batches
    turned: bool  # whether the paths have time first

    @property
    def is_given(self) -> bool:
        """Return whether the method that returns the paths gets the scores as an argument."""
        return self.scores[0] == self.paths[0] and not self.scores[1].startswith("result")

    def __str__(self) -> str:
        """Return the slots for messages."""
        parts = [f"scores {_text(self.scores)}", f"paths {_text(self.paths)}"]
        parts += [f"lengths {_text(self.words)}"] if self.words else []
        parts += ["time first in the scores"] if self.first == "time" else []
        parts += ["time first in the paths"] if self.turned else []
        return ", ".join(parts)


def find_places(recorder: Recorder) -> Iterator[tuple[Place, list[Call]]]:
    """Yield all combinations of slots, with the calls; `sentences_at` checks their shapes."""
    for method, calls in {"": recorder.calls, **recorder.inner}.items():
        scores = dict.fromkeys(slot for call in calls for slot in call.scores)
        paths = dict.fromkeys(slot for call in calls for slot in call.paths)
        words: dict[Slot | None, None] = dict.fromkeys(
            slot for call in calls for slot in (*call.masks, *call.lengths)
        )
        for slot, path, first in product(scores, paths, ("", "batch", "time")):
            for word, turned in product((*words, None), (False, True)):
                if word != path:
                    yield Place(method, slot, path, word, first, turned), calls


def sentences_at(place: Place, calls: Sequence[Call]) -> list[Sentence]:
    """Return the sentences of a place; empty if the shapes of a call do not fit."""
    found: list[Sentence] = []
    for call in calls:
        tensors, paths = call.scores.get(place.scores), call.paths.get(place.paths)
        if tensors is None or paths is None:
            continue
        rows = _paths(paths, turned=place.turned)
        batches = [_by_sentence(tensor, place.first) for tensor in tensors]
        shapes = [tuple(batch.shape[:2]) for batch in batches if batch is not None]
        if len(shapes) < len(batches) or sum(B for B, _ in shapes) != len(rows):
            return []
        emissions = [row for batch in batches if batch is not None for row in batch]
        ends = _ends(call, place, shapes, rows)
        if ends is None:
            return []
        totals = {slot: [n for each in lists for n in each] for slot, lists in call.totals.items()}
        totals = {slot: numbers for slot, numbers in totals.items() if len(numbers) == len(rows)}
        is_padded = is_rectangular(rows)
        for number, (scores, row, end) in enumerate(zip(emissions, rows, ends, strict=True)):
            if not 0 < end <= min(len(scores), len(row)):
                return []
            total = {slot: numbers[number] for slot, numbers in totals.items()}
            path = row[: end + NUM_BOUNDARIES]
            found.append(Sentence(scores[:end], path, total, call.number, is_padded))
    return found


def is_rectangular(rows: Sequence[Sequence[int]]) -> bool:
    """Return whether there are several paths, all of one length: they may have padding."""
    return len(rows) > 1 and len({len(row) for row in rows}) == 1


def rows_of(paths: Sequence[Sequence[list[int]]]) -> Iterator[list[list[int]]]:
    """Yield the paths of a slot in a call, with the batch first and with time first."""
    yield _paths(paths, turned=False)
    yield _paths(paths, turned=True)


def lengths_in(call: Call, slot: Slot, count: int) -> list[int] | None:
    """Return the lengths of `count` sentences from a mask or from numbers; None if none fit."""
    if masks := call.masks.get(slot):
        if sum(len(mask) for mask in masks) != count:
            masks = [mask.T for mask in masks]
        return _mask_ends(masks, count)
    lengths = [n for each in call.lengths.get(slot, ()) for n in each]
    return lengths if len(lengths) == count and all(n > 0 for n in lengths) else None


def _paths(paths: Sequence[Sequence[list[int]]], *, turned: bool) -> list[list[int]]:
    """Return the paths in all values of a slot."""
    if not turned:
        return [row for each in paths for row in each]
    if any(len({len(row) for row in each}) > 1 for each in paths):
        return []
    return [list(row) for each in paths for row in zip(*each, strict=True)]


def _by_sentence(emissions: Tensor, first: str) -> Tensor | None:
    """Return (B, T, n); None if the tensor has other axes."""
    if not first:
        return emissions[None] if emissions.dim() == 2 else None
    if emissions.dim() != 3:
        return None
    return emissions if first == "batch" else emissions.transpose(0, 1)


def _ends(
    call: Call, place: Place, shapes: Sequence[tuple[int, ...]], rows: Sequence[Sequence[int]]
) -> list[int] | None:
    """Return the number of words of each sentence; None if the lengths do not fit the paths."""
    if place.words is None:
        return [len(row) for row in rows]
    count = len(rows)
    masks = call.masks.get(place.words)
    if masks and len(masks) == len(shapes):
        each = zip(masks, shapes, strict=True)
        ends = _mask_ends([m if m.shape == shape else m.T for m, shape in each], count)
    else:
        ends = lengths_in(call, place.words, count)
    if ends is None:
        return None
    tails = [row[end:] for row, end in zip(rows, ends, strict=True)]
    if all(len(tail) <= NUM_BOUNDARIES for tail in tails):
        return ends
    is_constant = len({tag for tail in tails for tag in tail}) == 1
    is_full = bool(masks) or max(ends) == len(rows[0])  # then padding may have any tags
    return ends if is_rectangular(rows) and (is_full or is_constant) else None


def _mask_ends(masks: Sequence[Tensor], count: int) -> list[int] | None:
    """Return the number of words of each row; None if a mask has holes or other rows."""
    rows = [row for mask in masks for row in mask.tolist()]
    ends = [sum(row) for row in rows]
    whole = all(all(row[:end]) for row, end in zip(rows, ends, strict=True))
    return ends if whole and len(rows) == count else None


def _text(slot: Slot) -> str:
    return f"{slot[1]} of {slot[0]}"
