"""CRF layers of other libraries: where their scores are, in which order, and what their masks mean.

A layer is known by the name of its class or of a base class, and by its attributes, so that no
library is imported. A new library is a subclass of `Adapter`, or a call of `register_adapter`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import STEPS, Steps

Arguments = Mapping[str, Any]  # of a call, by the names of the parameters
Paths = Sequence[Sequence[int]]  # B paths


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch(Steps):
    """The scores of one call; transitions are [from, to]."""

    emissions: Tensor  # (B, T, K)
    mask: Tensor | None = None  # (B, T) true at words; None where all are
    tags: Sequence[str] | None = None  # K names
    words: Sequence[Sequence[str]] | None = None  # of B sentences
    label: str = ""  # which of several chains over the same words this is


class Adapter:
    """What is known of the CRF layer of one library.

    Args:
        layer: the CRF layer.
        place: its name in the model; empty if it is the model.
        around: the modules that the layer is in.
    """

    library = ""  # for people
    names: tuple[str, ...] = ("CRF",)  # of the class or of a base class
    attributes: tuple[str, ...] = ()  # tell classes of one name apart
    methods: tuple[str, ...] = ("decode", "forward")  # that get the scores of a batch

    def __init__(self, layer: nn.Module, place: str, around: Sequence[nn.Module]) -> None:
        self.layer = layer
        self.place = place
        self.around = around

    @property
    def name(self) -> str:
        """The layer, for people."""
        return f"{type(self.layer).__name__} of {self.library}"

    @classmethod
    def fits(cls, module: nn.Module) -> bool:
        """Return whether a module is a layer of this library."""
        return is_named(module, *cls.names) and all(hasattr(module, a) for a in cls.attributes)

    def steps(self) -> Steps | None:
        """Return transitions [from, to], start and end; None if they are known in a call only."""
        return Steps(**{name: self.table(name) for name in STEPS})

    def table(self, name: str) -> Tensor:
        """Return the tensor of the layer that holds the transitions, start or end."""
        attribute = dict(zip(STEPS, self.attributes, strict=False))[name]
        tensor = getattr(self.layer, attribute)
        if not isinstance(tensor, Tensor):
            raise FormatError(
                f"{self.name}: expected a tensor {attribute}, got {type(tensor).__name__}."
            )
        return copied(tensor)

    def tags(self) -> Sequence[str] | None:
        """Return the names of the tags if a module around the layer has them, as `id2label`."""
        for module in self.around:
            names = getattr(getattr(module, "config", None), "id2label", None)
            if isinstance(names, Mapping):
                return [str(name) for _, name in sorted(names.items())]
        return None

    def batches(self, given: Arguments) -> list[Batch]:
        """Return the scores of a call, one batch for each chain over the same words."""
        raise NotImplementedError

    def paths(self, result: Any) -> list[Paths] | None:  # noqa: ANN401 - of any method
        """Return the paths that a call returned, for each batch; None if it returned none."""
        if isinstance(result, Tensor) and not result.is_floating_point() and result.dim() == 2:
            return [result.tolist()]
        return [result] if _are_paths(result) else None

    def fault(self, n: int, T: int, *, holes: bool) -> str:  # noqa: ARG002 - of the signature
        """Return why the library's path over n words of T positions may not be the best one."""
        return ""


class PytorchCrf(Adapter):
    """pytorch-crf 0.7.2, and the layer of crfviz, which has its names."""

    library = "pytorch-crf"
    attributes = ("transitions", "start_transitions", "end_transitions")
    methods = ("decode", "forward", "log_likelihood", "marginals")

    def batches(self, given: Arguments) -> list[Batch]:
        """Return the scores; time comes first unless `batch_first` is set."""
        emissions, mask = given["emissions"], given["mask"]
        if not getattr(self.layer, "batch_first", True):
            emissions = emissions.transpose(0, 1)
            mask = None if mask is None else mask.transpose(0, 1)
        return [Batch(emissions=emissions, mask=mask, tags=self.tags(), **vars(self.steps()))]

    def fault(self, n: int, T: int, *, holes: bool) -> str:  # noqa: ARG002
        """Return what it does at holes."""
        return "follows backpointers of masked positions" if holes else ""


BUILT_IN: tuple[type[Adapter], ...] = (PytorchCrf,)
_registered: dict[str, type[Adapter]] = {}

Read = Callable[[nn.Module, Arguments], Mapping[str, Any]]


def register_adapter(
    class_name: str, read: Read, methods: Sequence[str] = ("decode", "forward")
) -> None:
    """Let `watch` know a CRF layer of another library, or your own.

    Args:
        class_name: name of the layer's class or of a base class. It goes before the built-in
            adapters, and replaces an earlier one of this name.
        read: called with the layer and the arguments of a call by name, tensors copied to the CPU.
            Returns `emissions` (B, T, K) and `transitions` [from, to], (K, K) or (T-1, K, K), and,
            where there are any, `mask` (B, T), true at words, `start` and `end` (K,), `tags`
            (K names) and `words` (B lists).
        methods: of the layer, that get the scores. What they return is taken for the library's
            own paths where it is B lists of ids or an integer tensor (B, T).

    Example:
        A layer with a matrix [to, from], and a mask that is true at padding:

        >>> def read(layer, given):
        ...     mask = ~given["padding"]
        ...     return {"emissions": given["scores"], "transitions": layer.weight.T, "mask": mask}
        >>> register_adapter("MyCRF", read, methods=["best_path"])
    """

    class Registered(Adapter):
        library = class_name
        names = (class_name,)

        def steps(self) -> None:
            return None

        def batches(self, given: Arguments) -> list[Batch]:
            tables = dict(read(self.layer, given))
            missing = [name for name in ("emissions", "transitions") if tables.get(name) is None]
            if missing:
                raise FormatError(
                    f"The adapter of {class_name} must return emissions and transitions, got "
                    f"{', '.join(map(str, tables)) or 'nothing'}."
                )
            for name in ("emissions", "mask", *STEPS):
                if tables.get(name) is not None:
                    tables[name] = copied(torch.as_tensor(tables[name]))
            return [Batch(**tables)]

    Registered.methods = tuple(methods)
    _registered[class_name] = Registered


def adapters_in(model: nn.Module) -> list[Adapter]:
    """Return an adapter for each CRF layer in a model, which may be the layer itself."""
    known = (*reversed(_registered.values()), *BUILT_IN)
    found: list[Adapter] = []
    for place, module in model.named_modules():
        fitting = next((adapter for adapter in known if adapter.fits(module)), None)
        if fitting is not None:
            around = [each for each in model.modules() if module in [*each.modules()][1:]]
            found.append(fitting(module, place, around))
    return found


def libraries() -> str:
    """Return the known libraries, for people."""
    return ", ".join(adapter.library for adapter in (*BUILT_IN, *_registered.values()))


def is_named(thing: object, *names: str) -> bool:
    """Return whether its class or a base class has one of these names."""
    return any(each.__name__ in names for each in type(thing).__mro__)


def copied(tensor: Tensor) -> Tensor:
    """Return a copy on the CPU that no gradient flows through."""
    return tensor.detach().to("cpu", copy=True)


def _are_paths(result: object) -> bool:
    return isinstance(result, list) and all(
        isinstance(path, list) and all(isinstance(tag, int) for tag in path) for path in result
    )
