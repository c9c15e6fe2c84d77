"""Recorder of the scores that pass through the CRF layers of a running model.

Methods of the layers are wrapped on the instances, because a forward hook does not see `decode`.
The wrappers are removed at the end of the `with` block.
"""

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Any, Self

import torch
from torch import Tensor, nn

from crfviz.chain import validation
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import FormatError, NoPathError, ShapeError, errors_at
from crfviz.taggers.brought.adapters import (
    BUILT_IN,
    Adapter,
    Arguments,
    Batch,
    Step,
    adapters_in,
    copied,
    holes,
    is_named,
)
from crfviz.taggers.brought.classifier import Classifier, WordIds, classifier_in
from crfviz.taggers.brought.parsed_model import (
    MAX_SAID,
    ParsedModel,
    Reading,
    SentenceScores,
    precision_notes,
    steps_of,
)
from crfviz.taggers.brought.recorder import replace_method
from crfviz.taggers.brought.search import Search
from crfviz.taggers.brought.seen import Seen
from crfviz.taggers.brought.validated_model import ValidatedModel, validate
from crfviz.taggers.tagger import Tagger
from crfviz.text.files import abbreviate, abbreviate_value

Store = Callable[[ValidatedModel, str], Tagger]  # adds a model to the list under a name
ROUNDED = 1e-5  # relative rounding error of a score in float32


@dataclass(eq=False)
class Pass:
    """Batches of one pass through a layer; calls for the loss and for decoding share it."""

    batches: Sequence[Batch]
    sentences: Sequence[Sequence[Seen]]  # sentences of each batch
    methods: set[str] = field(default_factory=set)  # names of methods called with these batches


class Watch:
    """Record of the calls of a model's CRF layers inside a `with` block."""

    def __init__(
        self, model: object, tags: Sequence[str] | None, words: Sequence[Any] | None, store: Store
    ) -> None:
        self._model = _module(model)
        tags = self._tags = None if tags is None else validation.names("tags", tags)
        self._store = store
        self._adapters = adapters_in(self._model)
        self._search: Search | Classifier | None = None
        if not self._adapters:
            classifier = classifier_in(self._model)
            self._search = Classifier(classifier) if classifier else Search(self._model, tags)
        self._seen: list[Seen] = []
        self._chains: list[Potentials] = []  # of the first sentences; made on access
        self.words = words
        self._last: dict[Adapter, Pass] = {}
        self._passed: Counter[tuple[Adapter, str]] = Counter()  # sentences of a layer and label
        self._remarks: dict[str, None] = {}  # without duplicates, in order
        self._solved = 0  # number of recorded calls already searched
        self._problem: FormatError | None = None  # why no chain was found
        self._wrapped_now = False
        self._wrapped = ExitStack()
        self._check()

    def __repr__(self) -> str:
        """Return the layers and the number of sentences in one line."""
        self._searched()
        layers = ", ".join(adapter.name for adapter in self._adapters) or (
            "a token classifier" if isinstance(self._search, Classifier) else "a layer to be found"
        )
        return f"{type(self).__name__}({layers}, {len(self._seen):,} sentences)"

    def __enter__(self) -> Self:
        self._wrapped.close()  # a nested block must not record twice
        with ExitStack() as wrapped:
            for adapter in self._adapters:
                layer = adapter.layer
                for name in [name for name in adapter.methods if hasattr(layer, name)]:
                    _wrap(wrapped, layer, name, functools.partial(self._see, adapter, name))
                for owner, name, see in adapter.wrapped():
                    _wrap(wrapped, owner, name, see)
            if self._search is not None:
                self._search.record(wrapped)
            self._wrapped = wrapped.pop_all()
        self._wrapped_now = True
        return self

    def __exit__(self, *_: object) -> None:
        self._wrapped.close()
        self._wrapped_now = False

    @property
    def words(self) -> Sequence[Sequence[str]] | None:
        """The words of each sentence, in the order in which a layer gets them.

        Words from the library take precedence. May be set after the block, too.
        """
        return self._words

    @words.setter
    def words(self, words: Sequence[Any] | None) -> None:
        self._words = [words] if words and isinstance(words[0], str) else words
        self._chains = []  # they have the old words

    @property
    def word_ids(self) -> WordIds | None:
        """The word of each piece of each sentence, None for special pieces; classifiers only.

        A word has the scores of its first piece. May be set after the block, too.
        """
        return self._search.word_ids if isinstance(self._search, Classifier) else None

    @word_ids.setter
    def word_ids(self, word_ids: WordIds | None) -> None:
        if not isinstance(self._search, Classifier):
            raise FormatError("word_ids belong to a token classifier without a CRF layer.")
        self._search.word_ids = word_ids
        self._solved = 0  # its sentences have the old words

    @property
    def potentials(self) -> list[Potentials]:
        """The chains in the order of the calls: one for each sentence, layer and label.

        Raises:
            ShapeError: tags or words do not fit the scores.
            ScoreError: a score is NaN or +inf.
            FormatError: no reading of an unknown layer reproduces its paths, or two do.
        """
        if problem := self._searched():
            raise problem
        self._chains += [self._chain(seen) for seen in self._seen[len(self._chains) :]]
        return list(self._chains)

    @property
    def theirs(self) -> list[list[int] | None]:
        """The library's paths as tag ids, one for each of `potentials`; None if not returned."""
        self._searched()
        return [seen.path for seen in self._seen]

    def _searched(self) -> FormatError | None:
        """Search for the chain of a layer without an adapter; return the error if none is found."""
        search = self._search
        if search is None or self._wrapped_now or not search.recorded:
            return None
        if search.recorded != self._solved:
            self._solved, self._seen, self._chains = search.recorded, [], []
            self._problem = None
            try:
                self._seen = search.seen()
                self._remarks.update(dict.fromkeys(_remarks([], training=self._model.training)))
            except FormatError as error:
                self._problem = error
        return self._problem

    @property
    def notes(self) -> list[str]:
        """Return notes on the scores, for example where `theirs` is not the best path."""
        if problem := self._searched():
            return [str(problem)]
        if self._search is not None and not self._seen:
            return ["No call of the model was seen. Call it inside of the with block."]
        if not self._seen:
            methods = ", ".join({m: None for each in self._adapters for m in each.methods})
            return [f"No call of {methods} was seen. Call the model inside of the with block."]
        holed = [
            f"{seen.where}: the mask has holes at {', '.join(map(str, masked))}; the chain joins "
            f"the {sum(seen.mask)} words that are left."
            for seen in self._seen
            if not isinstance(self._search, Classifier) and (masked := holes(seen.mask))
        ]
        chains = self.potentials
        wordless = {
            seen.adapter.no_words: None
            for seen, chain in zip(self._seen, chains, strict=True)
            if chain.tokens is None and seen.adapter.no_words
        }
        differing = list(filter(None, map(_difference, self._seen, chains)))
        found = [] if self._search is None else self._search.notes
        return [*found, *self._remarks, *wordless, *_first(holed), *_first(differing)]

    def bring(self, name: str, label: str | None = None) -> Tagger:
        """Add the sentences to the list of models, as `crfviz.bring` does with files.

        Args:
            name: name of the model in the list.
            label: selects a chain if a sentence has several.

        Raises:
            FormatError: no sentence was recorded, or chains of several labels were.
            ModelError: the model cannot be written.
        """
        if problem := self._searched():
            raise problem
        every = zip(self._seen, self.potentials, strict=True)
        pairs = [(seen, chain) for seen, chain in every if label in (None, seen.label)]
        if not pairs:
            raise FormatError(f"There are no sentences to add. {' '.join(self.notes[:1])}")
        if labels := {seen.label: None for seen, _ in pairs if seen.label != pairs[0][0].label}:
            raise FormatError(
                f"A sentence has a chain for each of {', '.join([pairs[0][0].label, *labels])}. "
                f"Bring one: seen.bring({name!r}, label={pairs[0][0].label!r})."
            )
        adapter = pairs[0][0].adapter
        kind = f"Watched {adapter.kind} of {adapter.library}"
        parts = [
            SentenceScores(seen.where, c.emissions, c.tokens, steps=steps_of(vars(c)))
            for seen, c in pairs
        ]
        draft = ParsedModel(kind=kind, parts=parts, tags=pairs[0][1].tags, notes=self.notes)
        return self._store(validate(draft, Reading()), name)

    def _check(self) -> None:
        """Require a CRF layer, or parameters that may be one, and as many tags as it has."""
        if self._search is not None and not self._search.hopeful:
            modules = list(self._model.modules())
            names = ", ".join(sorted({type(each).__name__ for each in modules}))
            like = [each for each in modules if is_named(each, "CRF")]
            held = ", ".join(name for each in like for name, _ in each.named_parameters()) or "none"
            one = next((n for n, p in self._model.named_parameters() if p.shape == (1, 1)), None)
            got = abbreviate(names)
            if one is not None:
                got += f"; {one} is (1, 1), and one tag has nothing to decode"
            raise FormatError(
                f"Expected a model with a CRF layer of {', '.join(a.library for a in BUILT_IN)}, "
                f"or a square parameter that may have its transitions, got {got}"
                f"{f' with the parameters {held[:200]}' if like else ''}. "
                "For another layer call crfviz.register_adapter first."
            )
        for adapter in self._adapters:
            steps = adapter.steps()
            shape = None if steps is None else tuple(steps.transitions.shape)
            if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
                raise ShapeError(f"{adapter.name}: transitions must be (K, K), got {shape}")
            if shape is not None and self._tags is not None and len(self._tags) != shape[0]:
                raise ShapeError(
                    f"{adapter.name}: expected {shape[0]} tags to match its transitions {shape}, "
                    f"got {len(self._tags)}: {abbreviate_value(list(self._tags))}"
                )

    def _see(self, adapter: Adapter, method: str, given: Arguments) -> Step:
        tensors = {name: value for name, value in given.items() if isinstance(value, Tensor)}
        copies = {n: copied(value) for n, value in tensors.items()}  # the call may change them
        training = self._model.training or adapter.layer.training
        self._remarks.update(dict.fromkeys(_remarks(tensors.values(), training=training)))
        result = yield
        batches = adapter.batches({**given, **copies})
        last = self._last.get(adapter)
        if last is None or method in last.methods or not _are_equal(last.batches, batches):
            last = Pass(batches, [self._split(adapter, batch) for batch in batches])
            self._last[adapter] = last
        last.methods.add(method)
        for sentences, paths in zip(last.sentences, adapter.paths(result), strict=False):
            for seen, path in zip(sentences, paths, strict=False):
                words = [t for t, word in enumerate(seen.mask) if word]
                seen.path = [path[t] for t in words] if len(path) == len(seen.mask) else list(path)

    def _split(self, adapter: Adapter, batch: Batch) -> list[Seen]:
        """Return the sentences of a batch, and record those that have a word."""
        label = batch.label or (adapter.place if len(self._adapters) > 1 else "")
        masks = batch.there().tolist()
        sentences = [Seen(adapter, batch, row, mask, label) for row, mask in enumerate(masks)]
        for seen in sentences:
            if any(seen.mask):
                seen.number = self._passed[adapter, label]
                seen.where = f"sentence {len(self._seen) + 1}"
                self._passed[adapter, label] += 1
                self._seen.append(seen)
            else:
                self._remarks["A sentence without a word was left out."] = None
        self._remarks.update({batch.note: None} if batch.note else {})
        return sentences

    def _chain(self, seen: Seen) -> Potentials:
        batch = seen.batch
        emissions = batch.emissions[seen.row][torch.tensor(seen.mask)]
        T, K = emissions.shape
        tags = batch.tags if batch.tags is not None and len(batch.tags) == K else None
        words = None if batch.words is None else batch.words[seen.row]
        if words is None and self.words is not None:
            words = self.words[seen.number] if seen.number < len(self.words) else ()
            if len(words) != T:
                raise ShapeError(
                    f"{seen.where}: expected {T} words to match its scores, got {len(words)}: "
                    f"{abbreviate_value(list(words))}. words has {len(self.words)} sentences; set "
                    "seen.words to those that passed, in order, or to None"
                )
        # The caller's tags may include START and STOP, which the batch's tags lack.
        whole = tags is not None and set(tags) < set(self._tags or ())
        names = tags if whole else self._tags or tags
        with errors_at(seen.where):
            return Potentials(emissions, **batch.tables(), tags=names, tokens=words)


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
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the method's signature
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        with closing(see(bound.arguments)) as step:
            next(step)
            result = original(*args, **kwargs)
            with suppress(StopIteration):
                step.send(result)
        return result

    replace_method(wrapped, owner, name, call)


def _are_equal(batches: Sequence[Batch], others: Sequence[Batch]) -> bool:
    return len(batches) == len(others) and all(
        torch.equal(one.emissions, other.emissions) and torch.equal(one.there(), other.there())
        for one, other in zip(batches, others, strict=True)
    )


def _remarks(tensors: Collection[Tensor], *, training: bool) -> Iterator[str]:
    """Yield notes on unusual properties of a call."""
    if training:
        yield "The model is in training mode: with dropout, scores change. Call eval() first."
    for tensor in tensors:
        if tensor.requires_grad:
            yield "Gradients are on: the scores here are copies without them."
        if not tensor.is_cpu:
            yield f"The scores are on {tensor.device}: they were copied to the CPU."
    yield from precision_notes(str(tensor.dtype).removeprefix("torch.") for tensor in tensors)


def _difference(seen: Seen, chain: Potentials) -> str:
    """Describe where the library's path is not the best one, and the fault if known."""
    if seen.path is None:
        return ""
    library, path = seen.adapter.library, seen.path
    named = f"{seen.where}: the path of {library}"
    if len(path) != chain.num_tokens:
        return f"{named} has {len(path)} tags for {chain.num_tokens} words."
    try:
        best = viterbi(chain)
    except NoPathError:
        return f"{named} is forbidden, and so is every other."
    if path == best.path:
        return ""
    t = next(t for t, tag in enumerate(best.path) if path[t] != tag)
    word = f"{t + 1} {abbreviate(chain.tokens[t])}" if chain.tokens else f"{t + 1}"
    own, right = (chain.tag_names[tags[t]] for tags in (path, best.path))
    gap = best.score - chain.score(path)
    loss = f"scores {gap:.4g} less" if gap < float("inf") else "is forbidden"
    if gap <= ROUNDED * max(1.0, abs(best.score)):
        loss = "ties with it"
    fault = seen.adapter.fault(seen.mask)
    why = f", because {library} {fault}" if fault else ""
    return f"{named} has {own} at word {word}, the best path {right}: theirs {loss}{why}."


def _first(notes: Sequence[str]) -> list[str]:
    """Return the first notes, and how many more there are."""
    more = [f"And {len(notes) - MAX_SAID:,} more like these."] if len(notes) > MAX_SAID else []
    return [*notes[:MAX_SAID], *more]
