"""The chain of a CRF layer that no adapter knows, held to the layer's own answers.

While the model runs, the tensors that pass through its methods are recorded. Then every reading is
tried: which square parameter has the transitions and in which order, which tags or vectors are
start and stop, what forbids steps, and which tensor has the emissions. A reading counts if the best
path of its chain is the path that the layer returned, for every sentence, and if they are not also
the best tags of each word alone. Nothing of the model is called that it does not call itself.
"""

import functools
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.brought.adapters import Adapter, Batch
from crfviz.taggers.brought.seen import Seen

IMPOSSIBLE = -1000.0  # a score at most this is forbidden
MAX_BYTES = 50_000_000  # of all recorded tensors
MAX_COMPARED = 50  # sentences to which the closest reading is held
MAX_SHOWN = 12  # tags of a path
MAX_DEPTH = 3  # of lists in arguments and results
TOLERANCE = 1e-4  # share of a score that float32 rounds away
HALF_TOLERANCE = 2e-2  # the same of float16 and bfloat16
_START = re.compile(r"[<\[_]{0,4}(start|bos|root|begin|cls|s)[>\]_]{0,4}", re.IGNORECASE)
_STOP = re.compile(r"[<\[_]{0,4}(stop|end|eos|sep|e|/s)[>\]_]{0,4}", re.IGNORECASE)
_BEGINS = re.compile(r"start|begin|init|bos|first|head", re.IGNORECASE)
_ENDS = re.compile(r"end|stop|final|eos|last|tail", re.IGNORECASE)
Slot = tuple[str, str]  # the method of a module, and which argument or part of the result


@dataclass
class Call:
    """What passed through the model in one outermost call."""

    scores: dict[Slot, Tensor] = field(default_factory=dict)  # float tensors with K in the end
    masks: dict[Slot, Tensor] = field(default_factory=dict)  # (B, T) bool
    lengths: dict[Slot, list[int]] = field(default_factory=dict)
    paths: dict[Slot, list[list[int]]] = field(default_factory=dict)
    totals: dict[Slot, list[float]] = field(default_factory=dict)  # a number for each sentence


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read the parameters: a chain without emissions."""

    name: str  # for people: "transitions[to, from], START is 3, STOP is 4"
    transitions: Tensor  # (K, K) [from, to]
    start: Tensor | None  # (K,)
    end: Tensor | None  # (K,)
    kept: tuple[int, ...]  # the layer's numbers of the K tags
    size: int  # tags of the layer, with start and stop
    guessed: bool = False  # whether nothing but their positions tells start and stop


@dataclass(frozen=True, eq=False)
class Sentence:
    """The scores of a sentence and what the layer answered."""

    emissions: Tensor  # (T, n) with all tags of the layer, or (T, K)
    path: list[int]  # in the layer's numbers
    total: tuple[float, ...]  # numbers that the layer returned for it


@dataclass(frozen=True)
class Place:
    """Where a model has emissions, paths and lengths."""

    scores: Slot
    paths: Slot
    words: Slot | None  # of the mask or the lengths; None takes the lengths of the paths
    first: str  # axis of the scores that comes first: "batch", "time" or "" without batches
    turned: bool  # whether the paths have time first


Found = tuple[Reading, list[Sentence], bool]  # the last: whether it gives the scores, too


@dataclass
class Tried:
    """Outcome of all readings."""

    found: list[Found] = field(default_factory=list)  # that give all paths
    missed: list[tuple[Reading, list[Sentence]]] = field(default_factory=list)  # all others
    plain: int = 0  # readings that give no more than the best tag of each word alone
    most: int = 0  # sentences in one place
    single: int = 0  # sentences in a place where each has one word


class FoundLayer(Adapter):
    """A layer that no adapter knows, whose chain was found in what passed through it."""

    library = "the model"


class Search:
    """Recorder of an unknown layer, and the reading that reproduces its answers.

    Args:
        module: the model.
        tags: names of its tags, with or without start and stop.
    """

    def __init__(self, module: nn.Module, tags: Sequence[str] | None) -> None:
        self._module, self._tags = module, tags
        self.calls: list[Call] = []
        self.notes: list[str] = []  # which reading was found
        self._depth, self._bytes = 0, 0
        self._tolerance, self._broken = TOLERANCE, False
        tensors = [*module.named_parameters(), *module.named_buffers()]
        self._square = {
            name: tensor
            for name, tensor in tensors
            if tensor.dim() == 2 and tensor.shape[0] == tensor.shape[1] and len(tensor) > 1
        }
        self._vectors = {name: t for name, t in tensors if t.dim() == 1}
        sizes = {len(tensor) for tensor in self._square.values()}
        self._sizes = sizes | {size - 2 for size in sizes if size > 3}

    @property
    def hopeful(self) -> bool:
        """Return whether the model has a parameter that could be transitions."""
        return bool(self._square)

    def record(self, wrapped: ExitStack) -> None:
        """Record the calls of all methods that the model's own classes define, until `wrapped`."""
        for place, module in self._module.named_modules():
            known = type(module).__module__.startswith("torch.")
            names = ["forward"] if known else _own_methods(module)
            for name in names:
                where = f"{place}.{name}" if place else name
                self._wrap(wrapped, module, name, where, arguments=not known)

    def _wrap(
        self, wrapped: ExitStack, owner: nn.Module, name: str, where: str, *, arguments: bool
    ) -> None:
        original = getattr(owner, name)
        try:
            signature = inspect.signature(original)
        except (TypeError, ValueError):
            return

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the model has it
            if self._depth == 0:
                self.calls.append(Call())
            here = self.calls[-1]
            self._depth += 1
            try:
                if arguments:  # those of PyTorch's own modules are results of others
                    self._keep(here, where, signature.bind(*args, **kwargs).arguments)
                result = original(*args, **kwargs)
                self._keep(here, where, {"result": result})
            finally:
                self._depth -= 1
            return result

        if name in vars(owner):
            wrapped.callback(setattr, owner, name, vars(owner)[name])
        else:
            wrapped.callback(delattr, owner, name)
        setattr(owner, name, call)

    def _keep(self, call: Call, where: str, values: Mapping[str, object]) -> None:
        """Copy what may be emissions, masks, lengths, paths or scores."""
        for name, value in _flat(values):
            slot = (where, name)
            if isinstance(value, Tensor):
                self._keep_tensor(call, slot, value)
            elif isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size:
                call.paths[slot] = np.atleast_2d(value).tolist()
            elif isinstance(value, float):
                call.totals[slot] = [value]
            if (paths := _paths(value)) is not None:
                call.paths[slot] = paths
            if isinstance(value, list) and value and all(type(each) is int for each in value):
                call.lengths[slot] = list(value)

    def _keep_tensor(self, call: Call, slot: Slot, value: Tensor) -> None:
        size = 8 * value.numel()  # as float64
        if not value.numel() or self._bytes + size > MAX_BYTES:
            return
        scores = value.is_floating_point() and 2 <= value.dim() <= 3
        if scores and value.shape[-1] in self._sizes:
            self._bytes += size
            self._broken = self._broken or bool(value.isnan().any())
            if value.dtype in (torch.float16, torch.bfloat16):
                self._tolerance = HALF_TOLERANCE
            call.scores[slot] = value.detach().to("cpu", torch.float64, copy=True)
        if value.dim() == 2 and value[0, 0].item() in (0, 1) and _is_binary(value):
            call.masks[slot] = value.detach().cpu() != 0
        if not value.is_floating_point() and value.dtype != torch.bool:
            rows = value.detach().cpu().tolist()
            if value.dim() == 1:
                call.lengths[slot], call.paths[slot] = rows, [rows]
            elif value.dim() == 2:
                call.paths[slot] = rows
        if value.is_floating_point() and value.dim() <= 1:
            call.totals[slot] = value.detach().cpu().double().reshape(-1).tolist()

    def solve(self) -> tuple[Reading, list[Sentence], str]:
        """Return the reading that reproduces all answers, the sentences, and a note on it.

        Where none gives the paths, one that gives the scores is taken: the layer decodes wrongly.

        Raises:
            FormatError: no reading does, or two that differ; says what was found.
        """
        tried = self._tried()
        found = _preferred(tried.found)
        if len(found) == 1:
            reading, sentences, _ = found[0]
            count = len(sentences)
            return reading, sentences, f"{reading.name}; {count} of {count} paths are reproduced."
        if found or tried.plain:
            raise FormatError(self._declined(found, tried))
        scored = _preferred(list(self._by_scores(tried.missed)))
        if len(scored) == 1:
            reading, sentences, _ = scored[0]
            count = len(sentences)
            right = sum(self._is_best(reading, each) for each in sentences)
            note = (
                f"{reading.name}; {count} of {count} scores are reproduced, but the paths of the "
                f"model are the best in {right} of {count} sentences: it decodes wrongly."
            )
            return reading, sentences, note
        closest = "" if scored else self._closest(tried.missed)
        raise FormatError(f"{self._declined(scored, tried)}{closest}")

    def _tried(self) -> Tried:
        """Hold every reading to the paths in every place that may have them."""
        tried = Tried()
        seen: set[int] = set()  # hashes of what was held to the readings already
        for place in self._places():
            sentences = list(self._sentences(place))
            if not sentences or max(len(each.emissions) for each in sentences) < 2:
                tried.single = max(tried.single, len(sentences))
                continue
            tried.most = max(tried.most, len(sentences))
            content = hash(tuple((*e.path, e.emissions.numpy().tobytes()) for e in sentences))
            if content in seen:
                continue
            seen.add(content)
            for reading in self._readings(sentences[0].emissions.shape[1]):
                kept = _held_to(reading, sentences, self._tolerance)
                if kept is None:
                    tried.missed.append((reading, sentences))
                    continue
                scored = _reproduces_scores(reading, kept)
                if all(_alone(reading, each) == each.path for each in kept) and not scored:
                    tried.plain += 1
                elif not any(_same(reading, kept, *each[:2]) for each in tried.found):
                    tried.found.append((reading, kept, scored))
        return tried

    def _by_scores(self, readings: Sequence[tuple[Reading, list[Sentence]]]) -> Iterator[Found]:
        """Yield the different readings that give the scores, though not the paths, of the model."""
        found: list[tuple[Reading, list[Sentence]]] = []
        for reading, sentences in readings:
            kept = _read_as(reading, sentences)
            if kept is None or len(kept) < 2 or not reading.transitions.any():
                continue
            scored = any(_reproduces_scores(reading, kept, best=best) for best in (False, True))
            if scored and not any(_same(reading, kept, *each) for each in found):
                found.append((reading, kept))
        yield from ((*each, True) for each in found)

    def _closest(self, readings: Sequence[tuple[Reading, list[Sentence]]]) -> str:
        """Describe the reading that gives most paths, and the first one that it does not give."""
        most: tuple[int, Reading, list[Sentence]] | None = None
        for reading, sentences in readings:
            kept = _read_as(reading, sentences[:MAX_COMPARED])
            if kept is None:
                continue
            right = sum(self._is_best(reading, each) for each in kept)
            if (0 if most is None else most[0]) < right < len(kept):
                most = right, reading, kept
        if most is None:
            return ""
        right, reading, kept = most
        number = next(n for n, each in enumerate(kept) if not self._is_best(reading, each))
        worst = kept[number]
        best = viterbi(chain_of(reading, worst.emissions)).path
        return (
            f" The closest reading is {reading.name}: {right} of {len(kept)} paths. Sentence "
            f"{number + 1}: the model's path {_tags_text(worst.path)} scores "
            f"{_gap(reading, worst):.4g} less than ours, {_tags_text(best)}."
        )

    def _is_best(self, reading: Reading, sentence: Sentence) -> bool:
        """Return whether the model's path is the best one, up to rounding."""
        gap = _gap(reading, sentence)
        if gap == float("inf"):
            return False
        score = chain_of(reading, sentence.emissions).score(sentence.path)
        return gap <= self._tolerance * max(1.0, abs(score))

    def seen(self) -> list[Seen]:
        """Return the sentences of the reading that reproduces all answers, and note which it is.

        Raises:
            FormatError: as `solve` does.
        """
        with torch.no_grad():
            reading, sentences, note = self.solve()
        self.notes = [note]
        adapter = FoundLayer(self._module, "", [self._module])
        tags = self.tag_names(reading)
        found = []
        for number, sentence in enumerate(sentences):
            chain = chain_of(reading, sentence.emissions)
            batch = Batch(
                emissions=chain.emissions[None],
                transitions=reading.transitions,
                start=reading.start,
                end=reading.end,
                tags=tags,
            )
            mask = [True] * len(sentence.emissions)
            where = f"sentence {number + 1}"
            found.append(Seen(adapter, batch, 0, mask, "", sentence.path, number, where))
        return found

    @property
    def recorded(self) -> int:
        """How many outermost calls have been recorded."""
        return len(self.calls)

    def _declined(self, found: Sequence[Found], tried: Tried) -> str:
        square = ", ".join(f"{name} {tuple(t.shape)}" for name, t in self._square.items())
        advice = "Else call crfviz.register_adapter before."
        if self._broken:
            return f"No chain was found: some scores are NaN. {advice}"
        if tried.single and not tried.most:
            return (
                "No chain was found: every sentence has one word, which no transition scores. Run "
                f"longer sentences. {advice}"
            )
        if not tried.most:
            return (
                f"No chain was found: the square parameters are {square}, and no path of tags was "
                f"returned for scores of as many tags. Call what decodes inside of the with block. "
                f"{advice}"
            )
        if found:
            names = "; or ".join(reading.name for reading, *_ in found[:3])
            return f"Two readings fit all paths: {names}. Run more sentences. {advice}"
        if tried.plain:
            return (
                f"No chain was found: each word's best tag alone gives all {tried.most} paths, so "
                f"that {square} may be no transitions. Run more and longer sentences. {advice}"
            )
        return (
            f"No chain was found: no reading of {square} gives the paths that the model returned "
            f"for {tried.most} sentences. {advice}"
        )

    def _places(self) -> Iterator[Place]:
        """Yield the places whose shapes fit each other in every call that has them."""
        scores = dict.fromkeys(slot for call in self.calls for slot in call.scores)
        paths = dict.fromkeys(slot for call in self.calls for slot in call.paths)
        words: dict[Slot | None, None] = dict.fromkeys(
            slot for call in self.calls for slot in (*call.masks, *call.lengths)
        )
        for slot, path, first in product(scores, paths, ("", "batch", "time")):
            for word, turned in product((*words, None), (False, True) if first else (False,)):
                if word != path:
                    yield Place(slot, path, word, first, turned)

    def _sentences(self, place: Place) -> Iterator[Sentence]:
        """Yield the sentences of a place; none if the shapes do not fit."""
        for call in self.calls:
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

    def _names(self, size: int) -> list[str] | None:
        """Return the names of all tags of the layer, if the model or the caller has them."""
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

    def tag_names(self, reading: Reading) -> list[str] | None:
        """Return the names of the K tags of a reading; None if nobody has them."""
        if self._tags is not None and len(self._tags) == len(reading.kept):
            return list(self._tags)
        names = self._names(reading.size)
        return None if names is None else [names[number] for number in reading.kept]

    def _readings(self, width: int) -> Iterator[Reading]:
        """Yield all readings for emissions of so many tags, the simplest first."""
        for name, tensor in self._square.items():
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

    def _with_boundaries(self, said: str, scores: Tensor, width: int) -> Iterator[Reading]:
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
            yield Reading(named, inner, first, last, kept, size, not told)
            unscored = f"{named}, which is not scored"
            yield Reading(unscored, inner, first, None, kept, size, guessed=True)

    def _boundaries(self, scores: Tensor) -> dict[tuple[int, int], bool]:
        """Return pairs of start and stop, and whether names or forbidden steps tell them."""
        size = len(scores)
        names = self._names(size) or []
        starts = [k for k, name in enumerate(names) if _START.fullmatch(name)]
        stops = [k for k, name in enumerate(names) if _STOP.fullmatch(name)]
        if not (starts and stops):  # names go before
            starts = [k for k in range(size) if bool((scores[:, k] == -torch.inf).all())]
            stops = [k for k in range(size) if bool((scores[k] == -torch.inf).all())]
        last = ((size - 2, size - 1), (size - 1, size - 2), (0, size - 1), (0, 1), (1, 0))
        pairs = dict.fromkeys(last, False) | dict.fromkeys(product(starts, stops), True)
        return {pair: told for pair, told in pairs.items() if pair[0] != pair[1]}

    def _with_vectors(self, said: str, scores: Tensor) -> Iterator[Reading]:
        size = len(scores)
        kept = tuple(range(size))
        vectors = {name: t for name, t in self._vectors.items() if len(t) == size}
        begins: list[str | None] = [None, *(name for name in vectors if _BEGINS.search(name))]
        ends: list[str | None] = [None, *(name for name in vectors if _ENDS.search(name))]
        masks: list[str | None] = [None, *(name for name, t in self._square.items() if _is_mask(t))]
        for begin, end, mask in product(begins, ends, masks):
            tables = [None if n is None else _forbidden(vectors[n]) for n in (begin, end)]
            parts = [said, *(f"{what} {n}" for what, n in (("start", begin), ("end", end)) if n)]
            reading = Reading(", ".join(parts), scores, tables[0], tables[1], kept, size)
            if mask is None:
                yield reading
            elif len(self._square[mask]) in (size, size + 2):
                yield _masked(reading, self._square[mask].detach().cpu() != 0, mask)


def _preferred(found: Sequence[Found]) -> list[Found]:
    """Return the readings that the scores single out, then those that names or steps tell."""
    if any(scored for *_, scored in found):
        found = [each for each in found if each[2]]
    if not all(reading.guessed for reading, *_ in found):
        found = [each for each in found if not each[0].guessed]
    return list(found)


def _own_methods(module: nn.Module) -> list[str]:
    """Return the names of the methods that a model's own classes define."""
    classes = [
        c for c in type(module).__mro__ if not c.__module__.startswith(("torch.", "builtins"))
    ]
    names = dict.fromkeys(
        name
        for each in classes
        for name, value in vars(each).items()
        if inspect.isfunction(value) and not name.startswith("__")
    )
    return list(names)


def _flat(values: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield values and the parts of lists, tuples, dictionaries and result objects, with names."""
    if isinstance(values, Mapping):
        parts = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        parts = [(str(number), value) for number, value in enumerate(values)]
    else:
        yield name, values
        return
    if depth < MAX_DEPTH:
        for key, value in parts:
            yield from _flat(value, f"{name}.{key}" if name else key, depth + 1)


def _paths(value: object) -> list[list[int]] | None:
    """Return paths in a list: numbers, lists or tensors of them, or pairs of path and score."""
    if not isinstance(value, list) or not value:
        return None
    if all(_is_number(each) for each in value):
        return [[int(each) for each in value]]
    rows = [each[0] if isinstance(each, tuple) and each else each for each in value]
    rows = [each.tolist() if isinstance(each, Tensor | np.ndarray) else each for each in rows]
    if all(isinstance(row, list) and row and all(map(_is_number, row)) for row in rows):
        return [[int(each) for each in row] for row in rows]
    return None


def _is_number(value: object) -> bool:
    if isinstance(value, Tensor):
        return value.dim() == 0 and not value.is_floating_point()
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _by_sentence(emissions: Tensor, first: str) -> Tensor | None:
    """Return (B, T, n); None if the tensor has other axes."""
    if not first:
        return emissions[None] if emissions.dim() == 2 else None
    if emissions.dim() != 3:
        return None
    return emissions if first == "batch" else emissions.transpose(0, 1)


def _lengths(call: Call, place: Place, B: int, T: int) -> list[int | None] | None:
    """Return the words of B sentences; None in it if the path tells, None if it does not fit."""
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


def _forbidden(tensor: Tensor) -> Tensor:
    scores = tensor.detach().cpu().double().clone()
    scores[scores <= IMPOSSIBLE] = -torch.inf
    return scores


def _is_binary(tensor: Tensor) -> bool:
    return bool(((tensor == 0) | (tensor == 1)).all())


def _is_mask(tensor: Tensor) -> bool:
    return _is_binary(tensor) and bool((tensor == 1).any())


def _masked(reading: Reading, mask: Tensor, name: str) -> Reading:
    """Return the reading with the steps forbidden where a mask of steps is 0."""
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


def chain_of(reading: Reading, emissions: Tensor, **names: Any) -> Potentials:  # noqa: ANN401
    """Return the chain of one sentence."""
    columns = list(reading.kept) if emissions.shape[1] == reading.size else slice(None)
    return Potentials(
        emissions[:, columns],
        reading.transitions,
        start=reading.start,
        end=reading.end,
        **names,
    )


def _held_to(
    reading: Reading, sentences: Sequence[Sentence], tolerance: float
) -> list[Sentence] | None:
    """Return the sentences with their paths in the reading's tags; None if one is not the best."""
    kept = []
    for sentence in sentences:
        each = _read_as(reading, [sentence])
        if each is None:
            return None
        try:
            chain = chain_of(reading, sentence.emissions)
            best = viterbi(chain)
            score = chain.score(each[0].path)
        except CrfvizError:
            return None
        gap = best.score - score
        if each[0].path != best.path and not gap <= tolerance * max(1.0, abs(best.score)):
            return None
        kept += each
    return kept


def _read_as(reading: Reading, sentences: Sequence[Sentence]) -> list[Sentence] | None:
    """Return the sentences with their paths in the reading's tags; None if one has none."""
    number = {layer: tag for tag, layer in enumerate(reading.kept)}
    kept = []
    for sentence in sentences:
        path = _inner(sentence.path, len(sentence.emissions), reading)
        if path is None or not all(tag in number for tag in path):
            return None
        kept.append(replace(sentence, path=[number[tag] for tag in path]))
    return kept


def _gap(reading: Reading, sentence: Sentence) -> float:
    """Return how much less than the best path the model's path scores; infinite if forbidden."""
    try:
        chain = chain_of(reading, sentence.emissions)
        return viterbi(chain).score - chain.score(sentence.path)
    except CrfvizError:  # no scores, or no path
        return float("inf")


def _tags_text(path: Sequence[int]) -> str:
    """Return the first tags of a path."""
    more = " …" if len(path) > MAX_SHOWN else ""
    return " ".join(map(str, path[:MAX_SHOWN])) + more


def _inner(path: Sequence[int], words: int, reading: Reading) -> list[int] | None:
    """Return the path without START before and STOP behind it."""
    outside = set(range(reading.size)) - set(reading.kept)
    tags = list(path)
    if len(tags) > words and tags[0] in outside:
        tags = tags[1:]
    tags = tags[:words]
    return tags if len(tags) == words else None


def _alone(reading: Reading, sentence: Sentence) -> list[int]:
    """Return the best tag of each word alone."""
    return [int(tag) for tag in chain_of(reading, sentence.emissions).emissions.argmax(1)]


def _reproduces_scores(
    reading: Reading, sentences: Sequence[Sentence], *, best: bool = False
) -> bool:
    """Return whether one of the numbers that the layer returned is the score of each path.

    With `best`, of the best path instead of the layer's.
    """
    if not all(each.total for each in sentences):
        return False
    try:
        chains = [chain_of(reading, each.emissions) for each in sentences]
        scores = [
            viterbi(chain).score if best else chain.score(each.path)
            for chain, each in zip(chains, sentences, strict=True)
        ]
    except CrfvizError:  # no scores, or no path
        return False
    for numbers in zip(*(each.total for each in sentences), strict=False):
        if np.allclose(numbers, scores, rtol=TOLERANCE, atol=TOLERANCE):
            return True
    return False


def _same(
    one: Reading, sentences: Sequence[Sentence], other: Reading, others: Sequence[Sentence]
) -> bool:
    """Return whether two readings are the same chains, up to a constant in each sentence."""
    if len(sentences) != len(others) or one.kept != other.kept:
        return False
    return all(
        torch.equal(a.emissions, b.emissions) and _tables_equal(one, other)
        for a, b in zip(sentences, others, strict=True)
    )


def _tables_equal(one: Reading, other: Reading) -> bool:
    zero = torch.zeros(len(one.kept), dtype=torch.float64)
    pairs = [
        (one.transitions, other.transitions),
        *(
            ((a if a is not None else zero), (b if b is not None else zero))
            for a, b in ((one.start, other.start), (one.end, other.end))
        ),
    ]
    return all(torch.equal(a, b) for a, b in pairs)
