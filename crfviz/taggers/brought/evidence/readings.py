"""Readings of a layer's parameters as a chain: orientation, start and stop, forbidden steps.

A reading uses one square parameter as the transitions. Start and stop are two vectors, or two of
its tags, found by name, by forbidden steps or by position. A mask may forbid steps.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from crfviz.chain.potentials import Potentials
from crfviz.taggers.brought.boundary_tags import IMPOSSIBLE
from crfviz.taggers.brought.recorder import is_binary

_START = re.compile(r"[<\[_]{0,4}(start|bos|root|begin|cls|s)[>\]_]{0,4}", re.IGNORECASE)
_STOP = re.compile(r"[<\[_]{0,4}(stop|end|eos|sep|e|/s)[>\]_]{0,4}", re.IGNORECASE)
_BEGINS = re.compile(r"start|begin|init|bos|first|head", re.IGNORECASE)
_ENDS = re.compile(r"end|stop|final|eos|last|tail", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class LayerReading:
    """One way to read the parameters: a chain without emissions."""

    name: str  # for messages: "transitions[to, from], START is 3, STOP is 4"
    transitions: Tensor  # (K, K) [from, to]
    start: Tensor | None  # (K,)
    end: Tensor | None  # (K,)
    kept: tuple[int, ...]  # the layer's ids of the K tags
    size: int  # number of the layer's tags, with start and stop
    guessed: bool = False  # start and stop, or their scores, are guesses


class Parameters:
    """The square parameters and the vectors of a model, and the names of its tags.

    Args:
        module: the model.
        tags: names of its tags, with or without start and stop.
    """

    def __init__(self, module: nn.Module, tags: Sequence[str] | None) -> None:
        self._module, self._tags = module, tags
        tensors = [*module.named_parameters(), *module.named_buffers()]
        self.square = {
            name: tensor
            for name, tensor in tensors
            if tensor.dim() == 2 and tensor.shape[0] == tensor.shape[1] and len(tensor) > 1
        }
        self._vectors = {name: t for name, t in tensors if t.dim() == 1}
        sizes = {len(tensor) for tensor in self.square.values()}
        self.sizes = sizes | {size - 2 for size in sizes if size > 3}  # K of emissions

    def readings(self, width: int) -> Iterator[LayerReading]:
        """Yield all readings for emissions with `width` tags."""
        for name, tensor in self.square.items():
            matrix = tensor.detach().cpu().double()
            size = len(matrix)
            if width not in (size, size - 2) or not torch.isfinite(matrix).any():
                continue
            symmetric = torch.equal(matrix, matrix.T)
            for order in ("from, to", "to, from")[: 1 if symmetric else 2]:
                scores = (matrix if order == "from, to" else matrix.T).clone()
                scores[scores <= IMPOSSIBLE] = -torch.inf
                said = f"{name}[{order}]" + ", which is symmetric" * symmetric
                yield from self._with_boundaries(said, scores, width)
                if width == size:
                    yield from self._with_vectors(said, scores)

    def _with_boundaries(self, said: str, scores: Tensor, width: int) -> Iterator[LayerReading]:
        size = len(scores)
        if size < 3:
            return
        for (start, stop), told in self._boundaries(scores).items():
            kept = tuple(k for k in range(size) if k not in (start, stop))
            if width == size - 2 and len(kept) != width:
                continue
            inner = scores[list(kept)][:, list(kept)]
            first, last = scores[start, list(kept)], scores[list(kept), stop]
            named = f"{said}, START is {start}, STOP is {stop}"
            yield LayerReading(named, inner, first, last, kept, size, not told)
            unscored = f"{named}, which is not scored"
            yield LayerReading(unscored, inner, first, None, kept, size, guessed=True)

    def _boundaries(self, scores: Tensor) -> dict[tuple[int, int], bool]:
        """Return pairs of start and stop; true if names or forbidden steps identify them."""
        size = len(scores)
        names = self._names(size) or []
        starts = [k for k, name in enumerate(names) if _START.fullmatch(name)]
        stops = [k for k, name in enumerate(names) if _STOP.fullmatch(name)]
        if not (starts and stops):  # names take precedence
            starts = [k for k in range(size) if bool((scores[:, k] == -torch.inf).all())]
            stops = [k for k in range(size) if bool((scores[k] == -torch.inf).all())]
        last = ((size - 2, size - 1), (size - 1, size - 2), (0, size - 1), (0, 1), (1, 0))
        pairs = dict.fromkeys(last, False) | dict.fromkeys(product(starts, stops), True)
        return {pair: told for pair, told in pairs.items() if pair[0] != pair[1]}

    def _with_vectors(self, said: str, scores: Tensor) -> Iterator[LayerReading]:
        size = len(scores)
        kept = tuple(range(size))
        vectors = {name: t for name, t in self._vectors.items() if len(t) == size}
        begins: list[str | None] = [None, *(name for name in vectors if _BEGINS.search(name))]
        ends: list[str | None] = [None, *(name for name in vectors if _ENDS.search(name))]
        masks: list[str | None] = [None, *(name for name, t in self.square.items() if _is_mask(t))]
        for begin, end, mask in product(begins, ends, masks):
            tables = [None if n is None else _forbidden(vectors[n]) for n in (begin, end)]
            parts = [said, *(f"{what} {n}" for what, n in (("start", begin), ("end", end)) if n)]
            reading = LayerReading(", ".join(parts), scores, tables[0], tables[1], kept, size)
            if mask is None:
                yield reading
            elif len(self.square[mask]) in (size, size + 2):
                yield _masked(reading, self.square[mask].detach().cpu() != 0, mask)

    def tag_names(self, reading: LayerReading) -> list[str] | None:
        """Return the names of the K tags of a reading; None if unknown."""
        if self._tags is not None and len(self._tags) == len(reading.kept):
            return list(self._tags)
        names = self._names(reading.size)
        return None if names is None else [names[number] for number in reading.kept]

    def _names(self, size: int) -> list[str] | None:
        """Return the names of all the layer's tags, from the caller or a dict in the model."""
        if self._tags is not None and len(self._tags) == size:
            return list(self._tags)
        for module in self._module.modules():
            for value in vars(module).values():
                if isinstance(value, dict) and len(value) == size:
                    names = {v: k for k, v in value.items() if isinstance(k, str)}
                    names = names or {k: v for k, v in value.items() if isinstance(v, str)}
                    if set(names) == set(range(size)):
                        return [str(names[number]) for number in range(size)]
        return None


# ANN401: arguments of Potentials
def chain_of(reading: LayerReading, emissions: Tensor, **names: Any) -> Potentials:  # noqa: ANN401
    """Return the chain of one sentence."""
    return Potentials(
        emissions_of(reading, emissions),
        reading.transitions,
        start=reading.start,
        end=reading.end,
        **names,
    )


def emissions_of(reading: LayerReading, emissions: Tensor) -> Tensor:
    """Return the (T, K) scores of the reading's tags."""
    return emissions[:, list(reading.kept)] if emissions.shape[1] == reading.size else emissions


def _masked(reading: LayerReading, mask: Tensor, name: str) -> LayerReading:
    size = len(reading.kept)
    inner = reading.transitions.masked_fill(~mask[:size, :size], -torch.inf)
    start, end = reading.start, reading.end
    if len(mask) == size + 2:
        zero = torch.zeros(size, dtype=torch.float64)
        start = (zero if start is None else start).masked_fill(~mask[size, :size], -torch.inf)
        end = (zero if end is None else end).masked_fill(~mask[:size, size + 1], -torch.inf)
    return replace(
        reading, name=f"{reading.name}, steps of {name}", transitions=inner, start=start, end=end
    )


def _forbidden(tensor: Tensor) -> Tensor:
    scores = tensor.detach().cpu().double().clone()
    scores[scores <= IMPOSSIBLE] = -torch.inf
    return scores


def _is_mask(tensor: Tensor) -> bool:
    return is_binary(tensor) and bool((tensor == 1).any())
