"""Recorder of the scores that pass through the CRF layers of a running model.

Methods of the layers are wrapped on the instances, because a forward hook does not see `decode`.
The wrappers are removed at the end of the `with` block.
"""

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor, nn

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, FormatError, NoPathError, ShapeError
from crfviz.taggers.brought.adapters import (
    Adapter,
    Arguments,
    Batch,
    Paths,
    Step,
    adapters_in,
    copied,
    holes,
    is_named,
)
from crfviz.taggers.brought.libraries import BUILT_IN
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


@dataclass(eq=False)
class Call:
    """The last batch of a layer, which may pass through several methods, as for loss and path."""

    methods: set[str]
    batches: list[Batch]
    sentences: list[list[Seen | None]]  # of each batch; None for one that is not kept

    def has(self, batches: Sequence[Batch]) -> bool:
        """Return whether the scores are the same."""
        return len(self.batches) == len(batches) and all(
            torch.equal(mine.emissions, other.emissions)
            and torch.equal(mine.there(), other.there())
            for mine, other in zip(self.batches, batches, strict=True)
        )


class Watch:
    """What passes through the CRF layers of a model inside of a `with` block.

    Attributes:
        words: a list of words for each sentence, in the order in which a layer gets them. Words
            that the library itself has go before. May be set after the block, too.
    """

    def __init__(
        self, model: object, tags: Sequence[str] | None, words: Sequence[Any] | None, store: Store
    ) -> None:
        self.words = [words] if words and isinstance(words[0], str) else words
        self._model = _module(model)
        self._tags = tags
        self._store = store
        self._adapters = adapters_in(self._model, BUILT_IN)
        self._check()
        self._seen: list[Seen] = []
        self._chains: list[Potentials] = []  # of the first of them; made when they are asked for
        self._calls: dict[Adapter, Call] = {}
        self._passed: Counter[tuple[Adapter, str]] = Counter()  # sentences of a layer and label
        self._remarks: dict[str, None] = {}  # each once, in order
        self._wrapped = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as wrapped:
            for adapter in self._adapters:
                for method in filter(functools.partial(hasattr, adapter.layer), adapter.methods):
                    see = functools.partial(self._see, adapter, method)
                    _wrap(wrapped, adapter.layer, method, see)
                for owner, method, step in adapter.wrapped(functools.partial(self._take, adapter)):
                    _wrap(wrapped, owner, method, step)
            self._wrapped = wrapped.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._wrapped.close()

    @property
    def potentials(self) -> list[Potentials]:
        """The chains, in the order in which they passed: one a sentence, for each layer and label.

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
            methods = ", ".join({m: None for each in self._adapters for m in each.methods})
            return [f"No call of {methods} was seen. Call the model inside of the with block."]
        holed = (
            f"{seen.scores.where}: the mask has holes at {', '.join(map(str, masked))}; the chain "
            f"joins the {sum(seen.mask)} words that are left."
            for seen in self._seen
            if (masked := holes(seen.mask))
        )
        pairs = zip(self._seen, self.potentials, strict=True)
        return [*self._remarks, *_first(holed), *_first(_difference(*pair) for pair in pairs)]

    def bring(self, name: str, label: str | None = None) -> Tagger:
        """Add the sentences to the list of models, as `crfviz.bring` does with files.

        Args:
            name: for the list.
            label: of the chains, where a sentence has several.

        Raises:
            FormatError: nothing was seen, or chains of several labels.
            ModelError: nothing can be written.
        """
        every = zip(self._seen, self.potentials, strict=True)
        pairs = [(seen, chain) for seen, chain in every if label in (None, seen.label)]
        labels = list(dict.fromkeys(seen.label for seen, _ in pairs))
        if not pairs:
            raise FormatError(f"There is nothing to bring. {' '.join(self.notes[:1])}")
        if len(labels) > 1:
            raise FormatError(
                f"The sentences have a chain for each of {', '.join(labels)}. Bring one: "
                f"seen.bring({name!r}, label={labels[0]!r})."
            )
        draft = ParsedModel(
            kind=f"Watched CRF layer of {pairs[0][0].adapter.library}",
            parts=[replace(seen.scores, tokens=chain.tokens) for seen, chain in pairs],
            tags=pairs[0][1].tags,
            notes=self.notes,
        )
        return self._store(validate(draft, Reading()), name)

    def _check(self) -> None:
        """Require a layer, and as many tags as it has."""
        if not self._adapters:
            names = ", ".join(sorted({type(each).__name__ for each in self._model.modules()}))
            raise FormatError(
                f"Expected a model with a CRF layer of {', '.join(a.library for a in BUILT_IN)}, "
                f"got {abbreviate(names)}. For another layer call crfviz.register_adapter first."
            )
        for adapter in self._adapters:
            steps = adapter.steps()
            if steps is None:
                continue
            shape = tuple(steps.transitions.shape)
            if len(shape) != 2 or shape[0] != shape[1]:
                raise ShapeError(f"{adapter.name}: transitions must be (K, K), got {shape}")
            if self._tags is not None and len(self._tags) != shape[0]:
                raise ShapeError(
                    f"{adapter.name}: expected {shape[0]} tags to match its transitions {shape}, "
                    f"got {len(self._tags)}: {abbreviate_value(list(self._tags))}"
                )

    def _see(self, adapter: Adapter, method: str, given: Arguments) -> Step:
        """Keep what passes through a method of a layer."""
        tensors = {name: value for name, value in given.items() if isinstance(value, Tensor)}
        copies = {
            name: copied(tensor) for name, tensor in tensors.items()
        }  # the call may change them
        self._remark(*_remarks(tensors.values(), self._model.training or adapter.layer.training))
        result = yield
        batches = adapter.batches({**given, **copies})
        call = self._calls.get(adapter)
        if call and method not in call.methods and call.has(batches):
            call.methods.add(method)
        else:
            sentences = [self._sentences(adapter, batch) for batch in batches]
            self._calls[adapter] = Call({method}, batches, sentences)
        self._take(adapter, adapter.paths(result, batches))

    def _take(self, adapter: Adapter, paths: Sequence[Paths]) -> None:
        """Keep the library's paths for the sentences of its last call, without padding."""
        for sentences, rows in zip(self._calls[adapter].sentences, paths, strict=False):
            for seen, path in zip(sentences, rows, strict=False):
                if seen is not None:
                    there = seen.mask if len(path) == len(seen.mask) else [True] * len(path)
                    seen.path = [tag for tag, word in zip(path, there, strict=True) if word]

    def _remark(self, *notes: str) -> None:
        self._remarks.update(dict.fromkeys(filter(None, notes)))

    def _sentences(self, adapter: Adapter, batch: Batch) -> list[Seen | None]:
        """Split a batch into sentences without padding; None for one that is not kept."""
        label = batch.label or (adapter.place if len(self._adapters) > 1 else "")
        steps = {name: _numbers(getattr(batch, name)) for name in STEPS}
        self._remark(batch.note)
        sentences: list[Seen | None] = []
        for row, mask in enumerate(batch.there()):
            sentences.append(None)
            if not mask.any():
                self._remark("A sentence without a word was left out.")
            elif len(self._seen) >= MAX_SENTENCES:
                self._remark(f"Only the first {MAX_SENTENCES:,} sentences were kept.")
            else:
                where = f"sentence {len(self._seen) + 1}"
                words = None if batch.words is None else batch.words[row]
                scores = SentenceScores(where, _numbers(batch.emissions[row][mask]), words, **steps)
                number = self._passed[adapter, label]
                seen = Seen(adapter, number, scores, batch.tags, label, mask.tolist())
                self._seen.append(seen)
                sentences[-1] = seen
                self._passed[adapter, label] += 1
        return sentences

    def _chain(self, seen: Seen) -> Potentials:
        scores, tags, words = seen.scores, self._tags, seen.scores.tokens
        T, K = scores.emissions.shape
        if tags is None and seen.tags is not None and len(seen.tags) == K:
            tags = seen.tags
        if words is None and self.words is not None:
            words = self.words[seen.number] if seen.number < len(self.words) else ()
            if len(words) != T:
                raise ShapeError(
                    f"{scores.where}: expected {T} words to match its scores, got {len(words)}: "
                    f"{abbreviate_value(list(words))}. words has {len(self.words)} sentences; set "
                    "seen.words to those that passed, in order, or to None"
                )
        tables = (getattr(scores, name) for name in ("emissions", *STEPS))
        try:
            return Potentials(*tables, tags=tags, tokens=words)
        except CrfvizError as error:
            raise type(error)(f"{scores.where}: {error}") from error


def _module(model: object) -> nn.Module:
    """Return the PyTorch module to look into: the model, or its attribute `model`."""
    if is_named(model, "spacy.language.Language", "spacy.pipeline.transition_parser.Parser"):
        raise FormatError(
            f"{type(model).__name__} of spaCy is not a linear chain: its parser and its named "
            "entities, greedy or by beam, come from actions that have no matrix of transitions."
        )
    for each in (model, getattr(model, "model", None)):
        if isinstance(each, nn.Module):
            return each
    got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
    raise FormatError(f"Expected a torch.nn.Module, a model or its CRF layer, got {got}.")


def _wrap(wrapped: ExitStack, owner: object, name: str, see: Callable[[Arguments], Step]) -> None:
    """Wrap a method of an instance until the stack is closed."""
    original = getattr(owner, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the library has it
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        with closing(see(bound.arguments)) as step:
            next(step)
            result = original(*args, **kwargs)
            with suppress(StopIteration):
                step.send(result)
        return result

    if name in vars(owner):
        wrapped.callback(setattr, owner, name, vars(owner)[name])
    else:
        wrapped.callback(delattr, owner, name)
    setattr(owner, name, call)


def _numbers(tensor: Tensor | None) -> Any:  # noqa: ANN401 - an array, or None where there is none
    return None if tensor is None else tensor.double().numpy()


def _remarks(tensors: Iterable[Tensor], training: bool) -> Iterable[str]:  # noqa: FBT001
    """Yield what is unusual about a call."""
    if training:
        yield "The model is in training mode: with dropout, scores change. Call eval() first."
    for tensor in tensors:
        if tensor.requires_grad:
            yield "Gradients are on: the scores here are copies without them."
        if not tensor.is_cpu:
            yield f"The scores are on {tensor.device}: they were copied to the CPU."
        if tensor.dtype in HALF:
            yield (
                f"The scores are {tensor.dtype}, which has 2 or 3 digits: sums here are float64, "
                "so paths and log Z may differ from the library's."
            )


def _difference(seen: Seen, chain: Potentials) -> str:
    """Return where the library's path is not the best one, and why if that is known."""
    named = f"{seen.scores.where}: the path of {seen.adapter.library}"
    try:
        best = viterbi(chain)
    except NoPathError:
        return "" if seen.path is None else f"{named} is forbidden, and so is every other."
    if seen.path is None or seen.path == best.path:
        return ""
    if len(seen.path) != chain.num_tokens:
        return f"{named} has {len(seen.path)} tags for {chain.num_tokens} words."
    t = next(t for t, tag in enumerate(best.path) if seen.path[t] != tag)
    word = f" {abbreviate(chain.tokens[t])}" if chain.tokens else ""
    own, right = (chain.tag_names[path[t]] for path in (seen.path, best.path))
    gap = best.score - chain.score(seen.path)
    loss = "is forbidden" if gap == float("inf") else f"scores {gap:.4g} less"
    if gap <= ROUNDED * max(1.0, abs(best.score)):
        loss = "ties with it"
    fault = seen.adapter.fault(seen.mask)
    why = f", because {seen.adapter.library} {fault}" if fault else ""
    return f"{named} has {own} at word {t + 1}{word}, the best path {right}: theirs {loss}{why}."


def _first(notes: Iterable[str]) -> list[str]:
    """Return the first notes that say something, and how many more there are."""
    said = list(filter(None, notes))
    more = [f"And {len(said) - MAX_SAID:,} more like these."] if len(said) > MAX_SAID else []
    return [*said[:MAX_SAID], *more]
