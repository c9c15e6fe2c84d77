"""Adapters to CRF layers of other libraries: their attributes, axis order and masks.

A layer is recognised by its class names and attributes, so no library is imported. Each library
has a subclass of `Adapter`; `register_adapter` adds more.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from crfviz.chain.validation import as_numbers
from crfviz.exceptions import FormatError, ShapeError, errors_at
from crfviz.taggers.brought.boundary_tags import IMPOSSIBLE, cut_out, entered_and_left
from crfviz.taggers.brought.parsed_model import STEPS, Steps, require_fields

Arguments = Mapping[str, Any]  # arguments of a call, by parameter name
Paths = Sequence[Sequence[int]]  # one for each sentence of a batch
Step = Generator[None, Any, None]  # pauses during a call; `yield` returns the result
Wrapped = tuple[object, str, Callable[[Arguments], Step]]  # owner, method name, hook
Read = Callable[[nn.Module, Arguments], Mapping[str, Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch(Steps):
    """The scores of one call; transitions are [from, to]."""

    emissions: Tensor  # (B, T, K)
    mask: Tensor | None = None  # (B, T) true at words; None if all positions are words
    tags: Sequence[str] | None = None  # K names
    words: Sequence[Sequence[str]] | None = None  # words of B sentences
    label: str = ""  # entity label, if each label has its own chain
    note: str = ""  # remark shown with the sentences

    def __post_init__(self) -> None:
        """Check the shapes.

        Raises:
            ShapeError: the shapes do not match.
        """
        shape = tuple(self.emissions.shape)
        if len(shape) != 3:
            raise ShapeError(f"emissions must be (B, T, K), got {shape}")
        if self.mask is not None and self.mask.shape != shape[:2]:
            raise ShapeError(
                f"mask must be {shape[:2]} to match the emissions, got {tuple(self.mask.shape)}"
            )
        if self.words is not None and len(self.words) != shape[0]:
            raise ShapeError(f"expected the words of {shape[0]} sentences, got {len(self.words)}")

    def there(self) -> Tensor:
        """Return (B, T) bool, true at words."""
        every = torch.ones(self.emissions.shape[:2], dtype=torch.bool)
        return every if self.mask is None else self.mask.bool()


class Adapter:
    """Adapter to the CRF layer of one library.

    Args:
        layer: the CRF layer.
        place: its name in the model; empty if it is the model.
        around: the modules that contain it, outermost first.
    """

    library = ""  # shown in messages
    kind = "CRF layer"  # shown in messages
    class_name = "CRF"  # class of the layer or a base class; with module if ambiguous
    tables: Sequence[str] = ()  # attributes: transitions, start and end if any, others
    methods: Sequence[str] = ("decode", "forward")  # methods that take scores
    scores = "emissions"  # argument with the scores
    mask = "mask"  # argument that is true at words; empty if the model has lengths instead
    model = ""  # class around the layer, which gets the lengths
    at_holes = ""  # fault of its decoder under a mask with holes
    no_words = ""  # message for chains without words

    def __init__(self, layer: nn.Module, place: str, around: Sequence[nn.Module]) -> None:
        self.layer, self.place, self.around = layer, place, around
        name = type(layer).__name__
        self.name = name if name == self.library else f"{name} of {self.library}"  # for messages
        self.holder: Any = next((each for each in around if is_named(each, self.model)), None)
        self.lengths: Sequence[int] | None = None  # lengths in the current call of the model
        self.words: Sequence[Sequence[str]] | None = None

    @classmethod
    def fits(cls, module: nn.Module) -> bool:
        """Return whether a module is a layer of this library."""
        return is_named(module, cls.class_name) and all(hasattr(module, t) for t in cls.tables)

    def steps(self) -> Steps | None:
        """Return transitions [from, to], start and end; None if only a call shows them."""
        return Steps(**{to: self.table(t) for to, t in zip(STEPS, self.tables, strict=False)})

    def table(self, attribute: str) -> Tensor:
        """Return a copy of a tensor of the layer."""
        tensor = getattr(self.layer, attribute)
        if not isinstance(tensor, Tensor):
            got = type(tensor).__name__
            raise FormatError(f"{self.name}: expected a tensor {attribute}, got {got}.")
        return copied(tensor)

    def tags(self) -> Sequence[str] | None:
        """Return the tag names from `id2label` of a model around the layer; None if missing."""
        configs = [getattr(module, "config", None) for module in self.around]
        names: Mapping[Any, Any] = next(
            (c.id2label for c in configs if c and hasattr(c, "id2label")), {}
        )
        return [str(names[tag]) for tag in sorted(names, key=int)] or None

    def batches(self, given: Arguments) -> list[Batch]:
        """Return the scores of a call, one batch for each chain over the same words."""
        return [self.batch(given[self.scores], given.get(self.mask))]

    # ANN401: fields of a batch
    def batch(self, emissions: Tensor, mask: Tensor | None, **others: Any) -> Batch:  # noqa: ANN401
        """Return a batch with the layer's transitions and tags, and the words of this call."""
        note = ""
        if self.lengths is not None:
            mask = torch.arange(emissions.shape[1]) < torch.as_tensor(self.lengths)[:, None]
            if not mask.all():
                note = f"{self.library} passes the longest sentence first: compare the words."
        elif not self.mask:
            note = f"Padding counts as words: watch the {self.model}, which has the lengths."
        fields = {**vars(self.steps()), "tags": self.tags(), "note": note, **others}
        return Batch(emissions=emissions, mask=mask, words=self.words, **fields)

    def paths(self, result: Any) -> Sequence[Paths]:  # noqa: ANN401 - of any method
        """Return the paths in a call's result, for each batch; empty if there are none."""
        if isinstance(result, Tensor) and not result.is_floating_point() and result.dim() > 1:
            return [each.tolist() for each in (result.unbind(2) if result.dim() > 2 else [result])]
        rows: list[Any] = result if isinstance(result, list) else [None]
        if all(isinstance(path, list) and all(isinstance(t, int) for t in path) for path in rows):
            return [rows]
        return []

    def wrapped(self) -> Iterator[Wrapped]:
        """Yield methods of other objects that receive lengths or words, with their hooks."""
        if self.holder is not None and not self.mask:
            yield self.holder, "forward", self._within

    def _within(self, given: Arguments) -> Step:
        self.lengths, self.words = self.sentences(given)
        try:
            yield
        finally:
            self.lengths = self.words = None

    def sentences(self, given: Arguments) -> tuple[Sequence[int], Sequence[Sequence[str]] | None]:
        """Return lengths and words of the sentences in a call of the model."""
        raise NotImplementedError

    def fault(self, mask: list[bool]) -> str:
        """Return the known fault of the library's decoder under a mask; empty if there is none."""
        return self.at_holes if holes(mask) else ""


class PytorchCrf(Adapter):
    """pytorch-crf 0.7.2 and crfviz's own CRF; time comes first unless `batch_first` is set."""

    library = "pytorch-crf"
    tables = ("transitions", "start_transitions", "end_transitions")
    methods = ("decode", "forward", "log_likelihood", "marginals")
    at_holes = "follows backpointers of masked positions"

    def batches(self, given: Arguments) -> list[Batch]:
        emissions, mask = given["emissions"], given["mask"]
        if not getattr(self.layer, "batch_first", True):
            emissions = emissions.transpose(0, 1)
            mask = None if mask is None else mask.transpose(0, 1)
        return [self.batch(emissions, mask)]


class TorchCrf(Adapter):
    """TorchCRF 1.1.0."""

    library = "TorchCRF"
    tables = ("trans_matrix", "start_trans", "end_trans")
    methods = ("viterbi_decode", "forward")
    scores = "h"
    at_holes = "decodes as many positions as there are words, masked or not"


class Flair(Adapter):
    """flair 0.15.1: transitions are [to, from], with a row and a column for <START> and <STOP>."""

    library = "flair"
    class_name = "flair.models.sequence_tagger_utils.crf.CRF"
    tables = ("transitions",)
    methods = ("forward",)
    mask = ""
    model = "SequenceTagger"

    def __init__(self, layer: nn.Module, place: str, around: Sequence[nn.Module]) -> None:
        super().__init__(layer, place, around)
        self._prepared: tuple[Any, Any] = (None, None)  # lengths, with their words
        entered, left = entered_and_left([self.table("transitions").T])  # now [from, to]
        starts = [k for k, there in enumerate(entered) if not there]
        stops = [k for k, there in enumerate(left) if not there]
        if len(starts) != 1 or len(stops) != 1:
            raise FormatError(
                f"{self.name}: expected one tag that no step enters (<START>) and one that no step "
                f"leaves (<STOP>), at {IMPOSSIBLE:g} or less, got {len(starts)} and {len(stops)}."
            )
        self._starts, self._stops = starts, stops
        self._kept = [k for k in range(len(entered)) if k not in (*starts, *stops)]

    def steps(self) -> Steps:
        return cut_out(self.table("transitions").T, self._starts, self._stops, self._kept)

    def tags(self) -> Sequence[str] | None:
        names = self.holder and self.holder.label_dictionary.get_items()
        return names and [names[tag] for tag in self._kept]

    def batches(self, given: Arguments) -> list[Batch]:
        return [self.batch(given["features"][..., self._kept], None)]

    def paths(self, result: Any) -> Sequence[Paths]:  # noqa: ANN401 - as in the base class
        """Return the paths of flair's own decoder for the scores that the layer returned."""
        if self.lengths is None or self.layer.training:
            return []
        scores = result.detach(), self.lengths, self.layer.get_parameter("transitions").detach()
        rows, _ = self.holder.viterbi_decoder.decode(scores, False, [])
        ids = {name: tag for tag, name in enumerate(self.tags() or ())}
        return [[[ids[name] for name, _ in row] for row in rows]]

    def wrapped(self) -> Iterator[Wrapped]:
        yield from super().wrapped()
        if self.holder is not None:
            yield self.holder, "_prepare_tensors", self._prepare

    def _prepare(self, given: Arguments) -> Step:
        points = given["data_points"]
        result = yield
        sentences = points if isinstance(points, list) else [points]
        self._prepared = result[1], [[token.text for token in each] for each in sentences]

    def sentences(self, given: Arguments) -> tuple[Any, Any]:
        lengths, words = self._prepared
        return given["lengths"], words if given["lengths"] is lengths else None


class Stanza(Adapter):
    """Stanza 1.15.0: its mask is true at padding, and at words without a gold tag."""

    library = "Stanza"
    class_name = "stanza.models.common.crf.CRFLoss"
    tables = ("_transitions",)
    methods = ("forward",)
    scores = "inputs"
    mask = ""
    model = "NERTagger"

    def tags(self) -> Sequence[str] | None:
        """Return the tag vocabulary, including its four special entries such as <PAD>."""
        if self.holder is None:
            return None
        return list(self.holder.vocab["tag"].items(int(self.place.rpartition(".")[2])))

    def batches(self, given: Arguments) -> list[Batch]:
        self._inputs = given["inputs"].numpy()
        return super().batches(given)

    def paths(self, result: Any) -> Sequence[Paths]:  # noqa: ANN401, ARG002 - as in the base class
        """Return the paths of Stanza's own decoder, a function in the module of the layer."""
        if self.lengths is None or self.layer.training:
            return []
        decode = sys.modules[self.class_name.rpartition(".")[0]].viterbi_decode
        matrix = self.table("_transitions").numpy()
        rows = zip(self._inputs, self.lengths, strict=True)
        return [[[int(tag) for tag in decode(row[:n], matrix)[0]] for row, n in rows]]

    def sentences(self, given: Arguments) -> tuple[Any, Any]:
        return given["sentlens"], given["sentences"]


class EdsNlp(Adapter):
    """EDS-NLP 0.23.0: it forbids steps, and each label has a chain of O, I, B, L and U."""

    library = "EDS-NLP"
    class_name = "LinearChainCRF"
    tables = ("transitions", "start_transitions", "end_transitions", "forbidden_transitions")
    methods = ("decode", "marginal", "forward")
    model = "TrainableNerCrf"
    no_words = "EDS-NLP passes no words to its layer: set seen.words, in the order of the chains."

    def steps(self) -> Steps:
        """Return the steps, -inf where forbidden; start and end only if the layer uses them."""
        used = self.tables[: 3 if self.layer.with_start_end_transitions else 1]
        masks = (self.table(t.replace("transitions", "forbidden_transitions")) for t in used)
        scores = (
            self.table(t).masked_fill(m, -torch.inf) for t, m in zip(used, masks, strict=True)
        )
        return Steps(**dict(zip(STEPS, scores, strict=False)))

    def batches(self, given: Arguments) -> list[Batch]:
        """Return the scores of each label, from (B, T, K) or (B, T, labels, K)."""
        emissions, mask = given["emissions"], given["mask"]
        if emissions.dim() == 3:
            return [self.batch(emissions, mask, tags=list("OIBLU"))]
        window = getattr(self.holder, "window", 0)
        note = f"A chain is a window of {window} words, which may overlap." if window > 1 else ""
        labels = getattr(self.holder, "labels", None) or map(str, range(emissions.shape[2]))
        batches = []
        for scores, label in zip(emissions.unbind(2), labels, strict=True):
            tags = ["O", *(f"{kind}-{label}" for kind in "IBLU")]
            batches.append(self.batch(scores, mask, tags=tags, label=label, note=note))
        return batches

    def fault(self, mask: list[bool]) -> str:
        """Return the decoder's fault: it needs three words, and does not stop at padding."""
        if len(mask) == 2:
            return "leaves the first of two words at tag 0"
        return "" if all(mask) else f"goes on through {mask.count(False)} positions of padding"


BUILT_IN: tuple[type[Adapter], ...] = (PytorchCrf, TorchCrf, Flair, Stanza, EdsNlp)
_registered: dict[str, type[Adapter]] = {}


def register_adapter(
    class_name: str, read: Read, methods: Sequence[str] = ("decode", "forward")
) -> None:
    """Register a CRF layer of another library, or your own, with `watch`.

    Args:
        class_name: class of the layer or a base class. It takes precedence over the built-in
            adapters, and replaces an earlier one of this name.
        read: called with the layer and the arguments of a call by name, tensors copied to the CPU.
            Returns `emissions` (B, T, K) and `transitions` [from, to], (K, K) or (T-1, K, K), and,
            optionally, `mask` (B, T), true at words, `start` and `end` (K,), `tags`
            (K names) and `words` (B lists).
        methods: the layer's methods that take the scores. If a result is B lists of ids or an
            integer tensor (B, T), it counts as the library's own paths.

    Example:
        A layer with a matrix [to, from], and a mask that is true at padding:

        >>> def read(layer, given):
        ...     mask = ~given["padding"]
        ...     return {"emissions": given["scores"], "transitions": layer.weight.T, "mask": mask}
        >>> register_adapter("MyCRF", read, methods=["best_path"])
    """

    class Registered(Adapter):
        library = class_name

        def steps(self) -> None:
            return None

        def batches(self, given: Arguments) -> list[Batch]:
            tables = {n: v for n, v in read(self.layer, given).items() if v is not None}
            require_fields(self.name, tables, [each.name for each in fields(Batch)])
            if not {"emissions", "transitions"} <= tables.keys():
                got = ", ".join(tables) or "nothing"
                raise FormatError(f"{self.name}: expected emissions and transitions, got {got}.")
            with errors_at(self.name):
                for name in {"emissions", "mask", *STEPS} & tables.keys():
                    tables[name] = as_numbers(name, tables[name]).detach()
                return [Batch(**tables)]

    Registered.class_name, Registered.methods = class_name, tuple(methods)
    _registered[class_name] = Registered


def adapters_in(model: nn.Module) -> list[Adapter]:
    """Return an adapter for each CRF layer in a model, which may be the layer itself."""
    known = (*reversed(_registered.values()), *BUILT_IN)
    found: list[Adapter] = []
    for place, module in model.named_modules():
        for adapter in [adapter for adapter in known if adapter.fits(module)][:1]:
            around = [each for each in model.modules() if module in [*each.modules()][1:]]
            found.append(adapter(module, place, around))
    return found


def is_named(thing: object, *names: str) -> bool:
    """Return whether the class or a base class has one of these names, bare or with its module."""
    classes = type(thing).__mro__
    return any({each.__name__, f"{each.__module__}.{each.__name__}"} & {*names} for each in classes)


def copied(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)


def holes(mask: list[bool]) -> list[int]:
    """Return the masked positions before the last word, from 1."""
    last = max((t for t, there in enumerate(mask) if there), default=0)
    return [t + 1 for t in range(last) if not mask[t]]
