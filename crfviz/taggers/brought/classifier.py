"""Recorder of the scores of a running token classifier that has no CRF layer.

A token classifier of Hugging Face transformers, or one like it, returns `logits` (B, T, K). It has
the names of its tags in `config.id2label` and gets an `attention_mask`. All transitions are 0.
"""

import functools
import inspect
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from crfviz.exceptions import FormatError, ShapeError
from crfviz.taggers.brought.adapters import Adapter, Batch, copied
from crfviz.taggers.brought.parsed_model import Steps, precision_notes
from crfviz.taggers.brought.recorder import MAX_BYTES, replace_method
from crfviz.taggers.brought.scores_file import in_order
from crfviz.taggers.brought.seen import Seen
from crfviz.text.files import abbreviate_value
from crfviz.text.schemes import is_bio

IGNORED = -100  # the label of a position that the loss leaves out
WordIds = Sequence[Sequence[int | None]]


class NoLayer(Adapter):
    """A token classifier in the place of a CRF layer."""

    library = "the model"
    kind = "token classifier"

    def steps(self) -> Steps:
        """Return transitions of 0 among the classifier's tags."""
        K = len(tag_names(self.layer) or ())
        return Steps(transitions=torch.zeros(K, K))


class Classifier:
    """Recorder of a token classifier, with the interface of `search.Search`.

    Args:
        module: the classifier, which has `config.id2label`.
    """

    hopeful = True  # a model without transitions needs no parameter for them

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._names = tag_names(module) or []
        self.calls: list[tuple[Tensor, Tensor]] = []  # logits (B, T, K) and words (B, T) bool
        self.notes: list[str] = []
        self.word_ids: WordIds | None = None  # for each sentence, the word of each piece
        self._faults: dict[str, None] = {}  # why calls were refused, without duplicates
        self._remarks: dict[str, None] = {}
        self._bytes, self._labelled = 0, True

    @property
    def recorded(self) -> int:
        """The number of recorded calls, refused ones included."""
        return len(self.calls) + len(self._faults)

    def record(self, wrapped: ExitStack) -> None:
        """Record the calls of the classifier until `wrapped` is closed."""
        forward = self._module.forward
        signature = inspect.signature(forward)

        @functools.wraps(forward)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the model's signature
            output = forward(*args, **kwargs)
            self._keep(_by_name(signature, args, kwargs), output)
            return output

        replace_method(wrapped, self._module, "forward", call)

    def _keep(self, given: Mapping[str, object], output: object) -> None:
        logits = _logits_of(output)
        name, K = type(self._module).__name__, len(self._names)
        if logits is None:
            self._faults[f"The output of {name} has no tensor “logits”."] = None
            return
        shape = tuple(logits.shape)
        if len(shape) != 3 or shape[2] != K:
            self._faults[
                f"The logits of {name} are {shape}. A tagger of words with its {K} labels has "
                f"(sentences, words, {K})."
            ] = None
            return
        size = 8 * logits.numel()  # as float64
        if self._bytes + size > MAX_BYTES:
            limit = f"the limit is {MAX_BYTES // 1_000_000} MB of scores"
            if self.calls:
                self._remarks[f"Later calls are not recorded: {limit}."] = None
            else:
                self._faults[f"The call is too large: {limit}. Pass fewer sentences."] = None
            return
        self._bytes += size
        there = torch.ones(shape[:2], dtype=torch.bool)
        for argument, kept in (("attention_mask", lambda m: m != 0), ("labels", _is_label)):
            tensor = given.get(argument)
            if isinstance(tensor, Tensor) and tuple(tensor.shape) == shape[:2]:
                there &= kept(copied(tensor))
            elif argument == "labels":
                self._labelled = False
        self._remarks |= dict.fromkeys(precision_notes([str(logits.dtype).removeprefix("torch.")]))
        self.calls.append((copied(logits), there))

    def seen(self) -> list[Seen]:
        """Return the recorded sentences, and set `notes`.

        Raises:
            FormatError: the model returned no scores of words.
            ShapeError: `word_ids` do not fit the pieces.
        """
        if self._faults:
            raise FormatError(" ".join(self._faults))
        K = len(self._names)
        self.notes = [
            f"The model has {K} tags and no CRF layer: all transitions are 0, so each word's best "
            "tag alone is on the best path.",
            *self._remarks,
        ]
        if is_bio(self._names):
            self.notes.append(
                "These are BIO tags: crfviz.constraint_effect(chain) decodes by their rules."
            )
        if self.word_ids is None and not self._labelled:
            self.notes.append(
                "Each piece counts as a word, and so do pieces such as [CLS]: set seen.word_ids to "
                "those of the tokenizer, a list for each sentence."
            )
        adapter = NoLayer(self._module, "", [self._module])
        found: list[Seen] = []
        number = 0  # index of the sentence in `word_ids`
        for logits, there in self.calls:
            batch = Batch(emissions=logits, tags=self._names, **vars(adapter.steps()))
            for row, mask in enumerate(there.tolist()):
                where = f"sentence {number + 1}"
                kept = mask if self.word_ids is None else self._firsts(number, mask, where)
                if any(kept):
                    found.append(Seen(adapter, batch, row, kept, "", None, number, where))
                else:
                    self.notes.append(f"{where} has no word and was left out.")
                number += 1
        return found

    def _firsts(self, number: int, mask: list[bool], where: str) -> list[bool]:
        """Return T booleans, true at the first piece of each word."""
        every = self.word_ids or []
        ids = list(every[number]) if number < len(every) else []
        if len(ids) != len(mask):
            raise ShapeError(
                f"{where}: expected word_ids of {len(mask)} pieces, got {len(ids)}: "
                f"{abbreviate_value(ids)}. word_ids has {len(every)} sentences"
            )
        before = [None, *ids[:-1]]
        return [
            there and word is not None and word != last
            for there, word, last in zip(mask, ids, before, strict=True)
        ]


def classifier_in(model: nn.Module) -> nn.Module | None:
    """Return the outermost module with tag names; None if it has a square table of tags."""
    for module in model.modules():
        names = tag_names(module)
        if names and len(names) > 1:
            sizes = {(K, K) for K in (len(names), len(names) + 2)}
            tables = [*module.parameters(), *module.buffers()]
            return None if any(tuple(table.shape) in sizes for table in tables) else module
    return None


def tag_names(module: nn.Module) -> list[str] | None:
    """Return the names in `config.id2label` in the order of their ids; None if missing.

    Raises:
        FormatError: an id is missing.
    """
    names = in_order(getattr(getattr(module, "config", None), "id2label", None))
    return [str(name) for name in names] if isinstance(names, list) else None


def _by_name(
    signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments of a call by name, those of `**kwargs` included."""
    bound = signature.bind(*args, **kwargs)
    given: dict[str, object] = {}
    for name, value in bound.arguments.items():
        extra = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        given |= value if extra else {name: value}
    return given


def _logits_of(output: object) -> Tensor | None:
    """Return `logits` of an output object, a mapping or a tuple without names."""
    logits = getattr(output, "logits", None)
    if logits is None and isinstance(output, Mapping):
        logits = output.get("logits")
    if logits is None and isinstance(output, tuple):
        logits = next(
            (each for each in output if isinstance(each, Tensor) and each.dim() > 1), None
        )
    return logits if isinstance(logits, Tensor) and logits.is_floating_point() else None


def _is_label(labels: Tensor) -> Tensor:
    return labels != IGNORED
