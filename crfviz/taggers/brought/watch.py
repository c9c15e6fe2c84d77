"""Recorder of the scores that pass through the CRF layers of a running model.

Methods of the layers are wrapped on the instances, because a forward hook does not see `decode`.
The wrappers are removed at the end of the `with` block.
"""

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor, nn

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, FormatError, NoPathError, ShapeError
from crfviz.taggers.brought.adapters import Adapter, Batch, adapters_in, copied, is_named, libraries
from crfviz.taggers.brought.parsed_model import (
    MAX_SAID,
    MAX_SENTENCES,
    STEPS,
    ParsedModel,
    Reading,
    SentenceScores,
)
from crfviz.taggers.brought.validated_model import ValidatedModel, validate
from crfviz.taggers.tagger import Tagger
from crfviz.text.files import abbreviate, abbreviate_value

Store = Callable[[ValidatedModel, str], Tagger]  # adds a model to the list under a name
ROUNDED = 1e-5  # share of a score that float32 rounds away
HALF = (torch.float16, torch.bfloat16)


@dataclass(eq=False)
class Seen:
    """One sentence under one layer; words, tags and path as the library has them."""

    adapter: Adapter
    number: int  # from 0, among those of this layer and label
    scores: SentenceScores
    tags: Sequence[str] | None
    label: str
    mask: list[bool]  # T positions of the batch
    path: list[int] | None = None

    def holes(self) -> list[int]:
        """Return the masked positions before the last word, from 1."""
        last = len(self.mask) - self.mask[::-1].index(True)
        return [t + 1 for t in range(last) if not self.mask[t]]

    def fault(self) -> str:
        """Return why the library's path may not be the best one; empty if nothing is known."""
        holes = bool(self.holes())
        return self.adapter.fault(sum(self.mask), len(self.mask), holes=holes)


@dataclass(eq=False)
class Call:
    """The last batch of a layer, which may pass through several methods, as for loss and path."""

    methods: set[str]
    batches: list[Batch]
    sentences: list[list[Seen | None]]  # of each batch; None without a word

    def has(self, batches: Sequence[Batch]) -> bool:
        """Return whether the scores are the same."""
        return len(self.batches) == len(batches) and all(
            torch.equal(mine.emissions, other.emissions) and torch.equal(_mask(mine), _mask(other))
            for mine, other in zip(self.batches, batches, strict=True)
        )


class Watch:
    """What passes through the CRF layers of a model inside of a `with` block.

    Attributes:
        words: a list of words for each sentence, in the order in which a layer gets them. Words
            that the library itself has go before. May be set after the block, too.
    """

    def __init__(
        self,
        model: object,
        tags: Sequence[str] | None,
        words: Sequence[Any] | None,
        store: Store,
    ) -> None:
        self.words = [words] if words and isinstance(words[0], str) else words
        self._model = _module(model)
        self._tags = tags
        self._store = store
        self._adapters = adapters_in(self._model)
        self._check()
        self._seen: list[Seen] = []
        self._chains: list[Potentials] = []
        self._calls: dict[Adapter, Call] = {}
        self._passed: Counter[tuple[Adapter, str]] = Counter()  # sentences of a layer and label
        self._remarks: dict[str, None] = {}  # each once, in order
        self._wrapped = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as wrapped:
            for adapter in self._adapters:
                for method in adapter.methods:
                    if hasattr(adapter.layer, method):
                        self._wrap(wrapped, adapter, method)
            self._wrapped = wrapped.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._wrapped.close()

    def __repr__(self) -> str:
        found = ", ".join(adapter.library for adapter in self._adapters)
        return f"<Watch of {found}: {len(self._seen)} sentences>"

    @property
    def potentials(self) -> list[Potentials]:
        """The chains of the sentences, in the order in which they passed.

        A sentence has one chain for each layer and label that it passed.

        Raises:
            ShapeError: tags or words do not fit the scores.
            ScoreError: a score is NaN or +inf.
        """
        self._chains += [self._chain(seen) for seen in self._seen[len(self._chains) :]]
        return list(self._chains)

    @property
    def theirs(self) -> list[list[int] | None]:
        """The library's own paths as tag ids, beside `potentials`; None where it returned none."""
        return [seen.path for seen in self._seen]

    @property
    def notes(self) -> list[str]:
        """What to know of the scores, in sentences; among it where `theirs` is not the best."""
        if not self._seen:
            methods = {method for adapter in self._adapters for method in adapter.methods}
            names = ", ".join(sorted(methods))
            return [f"No call of {names} was seen. Call the model inside of the with block."]
        notes = [
            f"{seen.scores.where}: the mask has holes at positions {', '.join(map(str, holes))}; "
            f"the chain here joins the {sum(seen.mask)} words that are left."
            for seen in self._seen
            if (holes := seen.holes())
        ]
        pairs = zip(self._seen, self.potentials, strict=True)
        differing = [note for note in (_difference(*pair) for pair in pairs) if note]
        return [*self._remarks, *_first(notes), *_first(differing)]

    def bring(self, name: str, label: str | None = None) -> Tagger:
        """Add the sentences to the list of models, as `crfviz.bring` does with files.

        Args:
            name: for the list.
            label: of the chains, where a sentence has several.

        Raises:
            FormatError: nothing was seen, or chains with different tags.
            ModelError: nothing can be written.
        """
        chains = self.potentials
        pairs = [p for p in zip(self._seen, chains, strict=True) if label in (None, p[0].label)]
        if not pairs:
            raise FormatError(f"There is nothing to bring. {self.notes[0]}")
        labels = list(dict.fromkeys(seen.label for seen, _ in pairs))
        if len(labels) > 1:
            raise FormatError(
                f"The sentences have a chain for each of {', '.join(labels)}. Bring one: "
                f"seen.bring({name!r}, label={labels[0]!r})."
            )
        parts = [replace(seen.scores, tokens=chain.tokens) for seen, chain in pairs]
        kind = f"Watched CRF layer of {pairs[0][0].adapter.library}"
        draft = ParsedModel(kind=kind, parts=parts, tags=pairs[0][1].tags, notes=self.notes)
        return self._store(validate(draft, Reading()), name)

    def _check(self) -> None:
        """Require a layer, and as many tags as it has."""
        if not self._adapters:
            names = ", ".join(sorted({type(each).__name__ for each in self._model.modules()}))
            raise FormatError(
                f"Expected a model with a CRF layer of {libraries()}, got {abbreviate(names)}. "
                "For another layer call crfviz.register_adapter first."
            )
        for adapter in self._adapters:
            steps = adapter.steps()
            shape = () if steps is None else tuple(steps.transitions.shape)
            if steps is not None and (len(shape) != 2 or shape[0] != shape[1]):
                raise ShapeError(f"{adapter.name}: transitions must be (K, K), got {shape}")
            if shape and self._tags is not None and len(self._tags) != shape[0]:
                raise ShapeError(
                    f"{adapter.name}: expected {shape[0]} tags to match its transitions {shape}, "
                    f"got {len(self._tags)}: {abbreviate_value(list(self._tags))}"
                )

    def _wrap(self, wrapped: ExitStack, adapter: Adapter, method: str) -> None:
        """Wrap a method of a layer until the stack is closed."""
        original = getattr(adapter.layer, method)
        signature = inspect.signature(original)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the library has it
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            copies = {  # before the call, which may change them
                name: copied(value) if isinstance(value, Tensor) else value
                for name, value in given.items()
            }
            result = original(*args, **kwargs)
            self._remark(adapter, [v for v in given.values() if isinstance(v, Tensor)])
            self._record(adapter, method, adapter.batches(copies), result)
            return result

        _replace(wrapped, adapter.layer, method, call)

    def _remark(self, adapter: Adapter, tensors: Sequence[Tensor]) -> None:
        """Note what is unusual about a call."""
        remarks = []
        if self._model.training or adapter.layer.training:
            remarks.append(
                "The model is in training mode: with dropout, the scores change from call to call. "
                "Call eval() first."
            )
        if any(tensor.requires_grad for tensor in tensors):
            remarks.append("Gradients are on: the scores here are copies without them.")
        for tensor in tensors:
            if not tensor.is_cpu:
                remarks.append(f"The scores are on {tensor.device}: they were copied to the CPU.")
            if tensor.dtype in HALF:
                remarks.append(
                    f"The scores are {tensor.dtype}, which has 2 or 3 digits; here sums are "
                    "float64, so paths and log Z may differ from the library's."
                )
        self._remarks.update(dict.fromkeys(remarks))

    def _record(self, adapter: Adapter, method: str, batches: list[Batch], result: object) -> None:
        """Keep the sentences of a call, and the paths that it returned."""
        call = self._calls.get(adapter)
        if call and method not in call.methods and call.has(batches):
            call.methods.add(method)
        else:
            split = [self._sentences(adapter, batch) for batch in batches]
            call = self._calls[adapter] = Call({method}, batches, split)
        for sentences, paths in zip(call.sentences, adapter.paths(result) or (), strict=False):
            for seen, path in zip(sentences, paths, strict=False):
                if seen is not None:
                    seen.path = _at_words(path, seen.mask)

    def _sentences(self, adapter: Adapter, batch: Batch) -> list[Seen | None]:
        """Split a batch into sentences without padding; None for one that is not kept."""
        label = batch.label or (adapter.place if len(self._adapters) > 1 else "")
        steps = {name: _numbers(getattr(batch, name)) for name in STEPS}
        sentences: list[Seen | None] = []
        for row, mask in enumerate(_mask(batch)):
            remark = None
            if not mask.any():
                remark = "A sentence without a word was left out."
            elif len(self._seen) >= MAX_SENTENCES:
                remark = f"Only the first {MAX_SENTENCES:,} sentences were kept."
            if remark:
                self._remarks[remark] = None
                sentences.append(None)
                continue
            where = f"sentence {len(self._seen) + 1}"
            words = None if batch.words is None else batch.words[row]
            scores = SentenceScores(where, _numbers(batch.emissions[row][mask]), words, **steps)
            number = self._passed[adapter, label]
            self._passed[adapter, label] += 1
            seen = Seen(adapter, number, scores, batch.tags, label, mask.tolist())
            self._seen.append(seen)
            sentences.append(seen)
        return sentences

    def _chain(self, seen: Seen) -> Potentials:
        scores, tags, words = seen.scores, self._tags, seen.scores.tokens
        if tags is None and seen.tags is not None and len(seen.tags) == scores.emissions.shape[-1]:
            tags = seen.tags
        if words is None and self.words is not None:
            words = self._words_of(seen)
        tables = (getattr(scores, name) for name in ("emissions", *STEPS))
        try:
            return Potentials(*tables, tags=tags, tokens=words)
        except CrfvizError as error:
            raise type(error)(f"{scores.where}: {error}") from error

    def _words_of(self, seen: Seen) -> Sequence[str]:
        """Return the words that the user gave for a sentence."""
        given = self.words or ()
        words = given[seen.number] if seen.number < len(given) else ()
        T = len(seen.scores.emissions)
        if len(words) != T:
            raise ShapeError(
                f"{seen.scores.where}: expected {T} words to match its scores, got {len(words)}: "
                f"{abbreviate_value(list(words))}. words has {len(given)} sentences; set "
                "seen.words to those that passed, in order, or to None"
            )
        return words


def _module(model: object) -> nn.Module:
    """Return the PyTorch module to look into: the model, or its attribute `model`."""
    if is_named(model, "Language", "TrainablePipe") and type(model).__module__.startswith("spacy"):
        raise FormatError(
            f"{type(model).__name__} of spaCy is not a linear chain: its parser and its named "
            "entities, greedy or by beam, come from actions that have no matrix of transitions."
        )
    for each in (model, getattr(model, "model", None)):
        if isinstance(each, nn.Module):
            return each
    name = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
    raise FormatError(
        f"Expected a model of PyTorch or its CRF layer, a torch.nn.Module, got {name}."
    )


def _replace(wrapped: ExitStack, owner: object, name: str, function: object) -> None:
    """Set an attribute of an object until the stack is closed."""
    if name in vars(owner):
        wrapped.callback(setattr, owner, name, vars(owner)[name])
    else:
        wrapped.callback(delattr, owner, name)
    setattr(owner, name, function)


def _mask(batch: Batch) -> Tensor:
    """Return (B, T) bool."""
    mask = batch.mask
    return torch.ones(batch.emissions.shape[:2], dtype=torch.bool) if mask is None else mask.bool()


def _numbers(tensor: Tensor | None) -> Any:  # noqa: ANN401 - an array, or None where there is none
    return None if tensor is None else tensor.double().numpy()


def _at_words(path: Sequence[int], mask: Sequence[bool]) -> list[int]:
    """Return the tags at words; some libraries return tags at padding, too."""
    if len(path) == sum(mask):
        return list(path)
    return [tag for tag, there in zip(path, mask, strict=False) if there]


def _difference(seen: Seen, chain: Potentials) -> str:
    """Return where the library's path is not the best one, and why if that is known."""
    if seen.path is None:
        return ""
    named = f"{seen.scores.where}: the path of {seen.adapter.library}"
    try:
        best = viterbi(chain)
    except NoPathError:
        return f"{named} is forbidden, and so is every other."
    if best.path == seen.path:
        return ""
    if len(seen.path) != chain.num_tokens:
        return f"{named} has {len(seen.path)} tags for {chain.num_tokens} words."
    t = next(t for t, tag in enumerate(best.path) if seen.path[t] != tag)
    word = f"word {t + 1}" + (f" ({abbreviate(chain.tokens[t])})" if chain.tokens else "")
    names = chain.tag_names
    gap = best.score - chain.score(seen.path)
    if gap <= ROUNDED * max(1.0, abs(best.score)):
        loss = "ties with it"
    else:
        loss = "is forbidden" if gap == float("inf") else f"scores {gap:.4g} less"
    why = seen.fault()
    return (
        f"{named} has {names[seen.path[t]]} at {word}, the best path {names[best.path[t]]}: "
        f"theirs {loss}{f', because {seen.adapter.library} {why}' if why else ''}."
    )


def _first(notes: list[str]) -> list[str]:
    """Return the first notes, and how many more there are."""
    more = [f"And {len(notes) - MAX_SAID:,} more like these."] if len(notes) > MAX_SAID else []
    return [*notes[:MAX_SAID], *more]
