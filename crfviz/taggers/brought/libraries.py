"""Adapters of pytorch-crf, TorchCRF, flair, Stanza and EDS-NLP, as their sources have it."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.adapters import Adapter, Arguments, Batch, Paths, Step, Wrapped
from crfviz.taggers.brought.parsed_model import STEPS, Steps

IMPOSSIBLE = -1000.0  # flair has -10000 where a step must not be


class PytorchCrf(Adapter):
    """pytorch-crf 0.7.2; time comes first unless `batch_first` is set. crfviz has its names."""

    library = "pytorch-crf"
    tables = ("transitions", "start_transitions", "end_transitions")
    methods = ("decode", "forward", "log_likelihood", "marginals")
    at_holes = "follows backpointers of masked positions"

    def batches(self, given: Arguments) -> list[Batch]:  # noqa: D102
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
        matrix = self.table("transitions")
        into, out = ((matrix <= IMPOSSIBLE).all(axis).nonzero().flatten() for axis in (1, 0))
        if len(into) != 1 or len(out) != 1:
            raise FormatError(
                f"{self.name}: expected one tag that no step enters (<START>) and one that no step "
                f"leaves (<STOP>), at {IMPOSSIBLE:g} or less, got {len(into)} and {len(out)}."
            )
        self._start, self._stop = int(into), int(out)
        self._kept = [k for k in range(len(matrix)) if k not in (self._start, self._stop)]

    def steps(self) -> Steps:  # noqa: D102
        matrix, kept = self.table("transitions").T, self._kept  # now [from, to]
        start, end = matrix[self._start, kept], matrix[kept, self._stop]
        return Steps(transitions=matrix[kept][:, kept], start=start, end=end)

    def tags(self) -> Sequence[str] | None:  # noqa: D102
        names = self.holder and self.holder.label_dictionary.get_items()
        return names and [names[tag] for tag in self._kept]

    def batches(self, given: Arguments) -> list[Batch]:  # noqa: D102
        return [self.batch(given["features"][..., self._kept], None)]

    def paths(self, result: Any) -> Sequence[Paths]:  # noqa: ANN401
        """Return what flair's own decoder makes of the scores that the layer returned."""
        if self.lengths is None or self.layer.training:
            return []
        scores = result.detach(), self.lengths, self.layer.get_parameter("transitions").detach()
        rows, _ = self.holder.viterbi_decoder.decode(scores, False, [])
        ids = {name: tag for tag, name in enumerate(self.tags() or ())}
        return [[[ids[name] for name, _ in row] for row in rows]]

    def wrapped(self) -> Iterator[Wrapped]:  # noqa: D102
        yield from super().wrapped()
        if self.holder is not None:
            yield self.holder, "_prepare_tensors", self._prepare

    def _prepare(self, given: Arguments) -> Step:
        points = given["data_points"]
        result = yield
        sentences = points if isinstance(points, list) else [points]
        self._prepared = result[1], [[token.text for token in each] for each in sentences]

    def sentences(self, given: Arguments) -> tuple[Any, Any]:  # noqa: D102
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
        """Return the names in the vocabulary; the first four, such as <PAD>, are tags, too."""
        if self.holder is None:
            return None
        return list(self.holder.vocab["tag"].items(int(self.place.rpartition(".")[2])))

    def batches(self, given: Arguments) -> list[Batch]:  # noqa: D102
        self._inputs = given["inputs"].numpy()
        return super().batches(given)

    def paths(self, result: Any) -> Sequence[Paths]:  # noqa: ANN401, ARG002
        """Return what Stanza's own decoder, a function beside the layer, makes of the scores."""
        if self.lengths is None or self.layer.training:
            return []
        decode = sys.modules[self.class_name.rpartition(".")[0]].viterbi_decode
        matrix = self.table("_transitions").numpy()
        rows = zip(self._inputs, self.lengths, strict=True)
        return [[[int(tag) for tag in decode(row[:n], matrix)[0]] for row, n in rows]]

    def sentences(self, given: Arguments) -> tuple[Any, Any]:  # noqa: D102
        return given["sentlens"], given["sentences"]


class EdsNlp(Adapter):
    """EDS-NLP 0.23.0: forbidden steps, and a chain of O, I, B, L and U for each label."""

    library = "EDS-NLP"
    class_name = "LinearChainCRF"
    tables = ("transitions", "start_transitions", "end_transitions", "forbidden_transitions")
    methods = ("decode", "marginal", "forward")
    model = "TrainableNerCrf"

    def steps(self) -> Steps:
        """Return -inf where a step is forbidden; start and end only if the layer uses them."""
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
        """Its traceback wants three words, and its sweep does not stop at padding."""
        if len(mask) == 2:
            return "leaves the first of two words at tag 0"
        return "" if all(mask) else f"goes on through {mask.count(False)} positions of padding"


BUILT_IN: tuple[type[Adapter], ...] = (PytorchCrf, TorchCrf, Flair, Stanza, EdsNlp)
