"""What the pickle in a .pt makes: the tensors of a `state_dict`, as views of stored numbers.

A pickle is a program: this reader follows the few steps that `torch.save` writes for a
`state_dict`, and stands still at any other. No step makes more than the file has bytes.

Source: `torch/serialization.py` (1.6 to 2.13) writes the steps.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.pickle_steps import DAMAGED, MORE, PICKLE, steps_of

STORAGES = {  # of the tensors with numbers that can be scores: how NumPy calls them
    "DoubleStorage": "f8",
    "FloatStorage": "f4",
    "HalfStorage": "f2",
    "BFloat16Storage": "u2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
}
_DICT, _TENSOR, _PARAMETER, _OTHER = "dict", "tensor", "parameter", "other"
_CALLS = {  # what may be called, and what comes of it
    "collections OrderedDict": _DICT,
    "torch._utils _rebuild_tensor_v2": _TENSOR,
    "torch._utils _rebuild_parameter": _PARAMETER,
    "torch Size": _OTHER,
    "torch device": _OTHER,
    "torch.serialization _get_layout": _OTHER,
    "torch._utils _rebuild_parameter_with_state": _OTHER,
    "torch._utils _rebuild_qtensor": _OTHER,
    "torch._utils _rebuild_sparse_tensor": _OTHER,
    "torch._utils _rebuild_tensor": _OTHER,
    "torch._utils _rebuild_tensor_v3": _OTHER,
}


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor as a view of stored numbers, which are not read yet."""

    storage: str  # the kind: a key of STORAGES
    key: str  # the member of the archive
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class _Global:
    """What the pickle calls by a name."""

    name: str  # "torch._utils _rebuild_tensor_v2"


@dataclass(frozen=True)
class _Other:
    """Something that is no tensor and no program: a device, a sparse tensor."""


class Machine:
    """Follows the steps of a pickle; refuses what no `state_dict` needs."""

    def __init__(self) -> None:
        self.stack: list[Any] = []  # above the last mark
        self.below: list[list[Any]] = []  # what stands below each mark
        self.memo: dict[int, Any] = {}

    def run(self, program: bytes) -> object:
        """What the pickle makes.

        Raises:
            FormatError: it is damaged or does anything else.
        """
        for name, argument in steps_of(program):
            if name == "STOP":
                return self._pop()
            self._step(name, argument)
        raise FormatError(f"{DAMAGED}: its {PICKLE} has no end.")

    def _step(self, name: str, argument: Any) -> None:  # noqa: ANN401 - as the step has it
        if name in _PLAIN:
            self.stack.append(argument)
        elif name in _MADE:
            self.stack.append(_MADE[name]())
        elif name in _TUPLES:
            self.stack.append(tuple(reversed([self._pop() for _ in range(_TUPLES[name])])))
        elif name in _STEPS:
            _STEPS[name](self, argument)

    def _get(self, number: int) -> None:
        if number not in self.memo:
            raise FormatError(f"{DAMAGED}: its {PICKLE} asks for what is not there.")
        self.stack.append(self.memo[number])

    def _put(self, number: int) -> None:
        self.memo[number] = self._top()

    def _pop(self) -> Any:  # noqa: ANN401 - anything
        if not self.stack:
            raise FormatError(f"{DAMAGED}: its {PICKLE} takes more than there is.")
        return self.stack.pop()

    def _top(self) -> Any:  # noqa: ANN401
        value = self._pop()
        self.stack.append(value)
        return value

    def _mark(self, _: object) -> None:
        self.below.append(self.stack)
        self.stack = []

    def _marked(self) -> list[Any]:
        """What stands above the last mark."""
        if not self.below:
            raise FormatError(f"{DAMAGED}: its {PICKLE} takes more than there is.")
        values, self.stack = self.stack, self.below.pop()
        return values

    def _tuple(self, _: object) -> None:
        values = tuple(self._marked())
        self.stack.append(values)

    def _memoize(self, _: object) -> None:
        self.memo[len(self.memo)] = self._top()

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        known = argument in _CALLS or (module == "torch" and name in _NAMES)
        if not known and not (module == "torch" and name.endswith("Storage")):
            raise FormatError(MORE)
        self.stack.append(_Global(argument))

    def _stack_global(self, _: object) -> None:
        name, module = self._pop(), self._pop()
        self._global(f"{module} {name}")

    def _persistent(self, _: object) -> None:
        """A storage: ("storage", kind, key, device, number of its elements)."""
        self.stack.append(self._pop())

    def _reduce(self, _: object) -> None:
        arguments, called = self._pop(), self._pop()
        if not isinstance(called, _Global) or not isinstance(arguments, tuple):
            raise FormatError(MORE)
        what = _CALLS.get(called.name)
        if what is None:
            raise FormatError(MORE)
        if what == _DICT and arguments in ((), ([],)):
            self.stack.append({})
        elif what == _TENSOR:
            self.stack.append(_tensor(arguments))
        elif what == _PARAMETER and arguments:
            self.stack.append(arguments[0])
        else:
            self.stack.append(_Other())

    def _build(self, _: object) -> None:
        """Attributes, such as the versions of the modules in a state_dict: left out."""
        self._pop()
        self._top()

    def _append(self, _: object) -> None:
        self._extend([self._pop()])

    def _appends(self, _: object) -> None:
        self._extend(self._marked())

    def _extend(self, values: Sequence[Any]) -> None:
        whole = self._top()
        if not isinstance(whole, list):
            raise FormatError(MORE)
        whole.extend(values)

    def _setitem(self, _: object) -> None:
        value, key = self._pop(), self._pop()
        self._update([key, value])

    def _setitems(self, _: object) -> None:
        self._update(self._marked())

    def _update(self, items: Sequence[Any]) -> None:
        whole = self._top()
        if not isinstance(whole, dict) or len(items) % 2:
            raise FormatError(MORE)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int):
                raise FormatError(f"{DAMAGED}: its {PICKLE} names something by no text.")
            whole[key] = value


_PLAIN = frozenset(
    ("BINUNICODE", "SHORT_BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT")
)
_MADE: Mapping[str, Callable[[], object]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_STEPS: Mapping[str, Callable[[Machine, Any], None]] = {  # PROTO and FRAME do nothing
    "BINPUT": Machine._put,
    "LONG_BINPUT": Machine._put,
    "BINGET": Machine._get,
    "LONG_BINGET": Machine._get,
    "MARK": Machine._mark,
    "TUPLE": Machine._tuple,
    "GLOBAL": Machine._global,
    "STACK_GLOBAL": Machine._stack_global,
    "MEMOIZE": Machine._memoize,
    "BINPERSID": Machine._persistent,
    "REDUCE": Machine._reduce,
    "BUILD": Machine._build,
    "APPEND": Machine._append,
    "APPENDS": Machine._appends,
    "SETITEM": Machine._setitem,
    "SETITEMS": Machine._setitems,
}
_NAMES = frozenset(  # of dtypes and layouts, which may stand beside a tensor
    ("bfloat16", "bool", "complex128", "complex64", "float16", "float32", "float64", "int16")
) | frozenset(("int32", "int64", "int8", "sparse_coo", "strided", "uint8"))


def _tensor(arguments: tuple[Any, ...]) -> StoredTensor | _Other:
    """A tensor of numbers; the arguments are storage, offset, shape, strides, and others."""
    if len(arguments) < 4:
        raise FormatError(f"{DAMAGED}: a tensor has no shape.")
    storage, offset, shape, strides = arguments[:4]
    kinds = (str, _Global, str, str, int)
    known = isinstance(storage, tuple) and len(storage) == len(kinds)
    if not known or not all(isinstance(v, kind) for v, kind in zip(storage, kinds, strict=True)):
        raise FormatError(f"{DAMAGED}: a tensor has no numbers.")
    if not all(map(_are_sizes, ([offset], shape, strides))) or len(shape) != len(strides):
        raise FormatError(f"{DAMAGED}: a tensor has an odd shape.")
    kind = storage[1].name.removeprefix("torch ")
    if kind not in STORAGES:
        return _Other()
    return StoredTensor(kind, storage[2], offset, shape, strides)


def _are_sizes(values: object) -> bool:
    return isinstance(values, tuple | list) and all(
        type(value) is int and value >= 0 for value in values
    )
