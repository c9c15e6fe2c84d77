"""Sentences in recorded calls: candidates for emissions, paths, masks and lengths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from torch import Tensor

from crfviz.taggers.brought.recorder import Call, Slot


@dataclass(frozen=True, eq=False)
class Sentence:
    """The scores of a sentence and the layer's output for it."""

    emissions: Tensor  # (T, n) with all tags of the layer, or (T, K)
    path: list[int]  # the layer's tag ids
    total: tuple[float, ...]  # numbers that the layer returned for it


@dataclass(frozen=True)
class Place:
    """Slots of the emissions, paths and lengths of a model."""

    scores: Slot
    paths: Slot
    words: Slot | None  # mask or lengths; None: use the lengths of the paths
    first: str  # axis of the scores that comes first: "batch", "time" or "" without batches
    turned: bool  # whether the paths have time first


def find_places(calls: Sequence[Call]) -> Iterator[Place]:
    """Yield all combinations of slots; `sentences_at` checks their shapes."""
    scores = dict.fromkeys(slot for call in calls for slot in call.scores)
    paths = dict.fromkeys(slot for call in calls for slot in call.paths)
    words: dict[Slot | None, None] = dict.fromkeys(
        slot for call in calls for slot in (*call.masks, *call.lengths)
    )
    for slot, path, first in product(scores, paths, ("", "batch", "time")):
        for word, turned in product((*words, None), (False, True) if first else (False,)):
            if word != path:
                yield Place(slot, path, word, first, turned)


def sentences_at(place: Place, calls: Sequence[Call]) -> Iterator[Sentence]:
    """Yield the sentences of a place; stop at the first call whose shapes do not fit."""
    for call in calls:
        emissions, paths = call.scores.get(place.scores), call.paths.get(place.paths)
        if emissions is None or paths is None:
            continue
        batch = _by_sentence(emissions, place.first)
        if batch is None:
            return
        B, T, _ = batch.shape
        rows = [list(each) for each in zip(*paths, strict=False)] if place.turned else paths
        lengths = _lengths(call, place, B, T)
        if len(rows) != B or lengths is None:
            return
        totals = [tuple(n[b] for n in call.totals.values() if len(n) == B) for b in range(B)]
        for scores, row, length, total in zip(batch, rows, lengths, totals, strict=True):
            words = len(row) if length is None else length
            if not 0 < words <= T or len(row) < words:
                return
            yield Sentence(scores[:words], row if length is None else row[: words + 2], total)


def _by_sentence(emissions: Tensor, first: str) -> Tensor | None:
    """Return (B, T, n); None if the tensor has other axes."""
    if not first:
        return emissions[None] if emissions.dim() == 2 else None
    if emissions.dim() != 3:
        return None
    return emissions if first == "batch" else emissions.transpose(0, 1)


def _lengths(call: Call, place: Place, B: int, T: int) -> list[int | None] | None:
    """Return the lengths of B sentences, each None if unknown; None if they do not fit."""
    if place.words is None:
        return [None] * B
    mask, lengths = call.masks.get(place.words), call.lengths.get(place.words)
    if mask is not None:
        mask = mask if mask.shape == (B, T) else mask.T
        if mask.shape != (B, T):
            return None
        ends = mask.sum(1).tolist()
        whole = all(bool(row[:end].all()) for row, end in zip(mask, ends, strict=True))
        return ends if whole else None
    fits = lengths is not None and len(lengths) == B and all(0 < n <= T for n in lengths)
    return list(lengths or ()) if fits else None
