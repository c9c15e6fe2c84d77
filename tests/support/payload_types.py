"""TypeScript declarations of the payload, and a check of data against its Python types.

`python -m tests.support.payload_types` writes `payload.d.ts`, by which tsc checks the JavaScript.
"""

import inspect
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Literal,
    NewType,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from torch import Tensor

from crfviz.views.stage import payload_types
from crfviz.views.stage.payload import sparse_fields
from crfviz.views.stage.picture import SPARSE
from tests.support.paths import ROOT

FILE = ROOT / "crfviz" / "views" / "stage" / "web" / "payload.d.ts"
HEADER = "// Written by `make types` from crfviz/views/stage/payload_types.py: do not edit.\n"
PLAIN = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Tensor: "Floats",
}
UNIONS = (UnionType, Union)
FIELD = re.compile(r"^    (\w+): .*?(?:  # (.*))?$", re.MULTILINE)


def declaration():
    """Return the text of `payload.d.ts`."""
    names = vars(payload_types)
    aliases = [
        f"export type {name} = {'string' if isinstance(kind, NewType) else script(kind, name)};\n"
        for name, kind in names.items()
        if isinstance(kind, NewType) or get_origin(kind) in (tuple, Literal)
    ]
    described = [interface(kind) for kind in dataclasses_in(names.values())]
    classes = [interface(kind) for kind in names.values() if is_typeddict(kind)]
    return "\n".join([HEADER, "".join(aliases), *described, *classes])


def dataclasses_in(kinds):
    """Return the dataclasses of the payload, each after the dataclasses of its fields."""
    found = {}
    for kind in kinds:
        inner = get_args(kind)[1:] if get_origin(kind) is Annotated else get_args(kind)
        if is_dataclass(kind):
            found |= dict.fromkeys([*dataclasses_in(hints_of(kind).values()), kind])
        elif get_origin(kind) is not Literal:
            found |= dict.fromkeys(dataclasses_in(inner))
    return list(found)


def interface(kind):
    """Return a TypedDict or a dataclass as an interface, with the comments of its fields."""
    source = inspect.getsource(kind).replace("None:", "null:")
    remarks = dict(FIELD.findall(source))
    lines = [
        f"  {name}{'' if name in required(kind) else '?'}: {script(hint)};"
        + (f" // {remarks[name]}" if remarks[name] else "")
        for name, hint in hints_of(kind).items()
        if name in remarks
    ]
    head = f"// {inspect.getdoc(kind).splitlines()[0]}\nexport interface {name_of(kind)} {{"
    return "\n".join([head, *lines, "}\n"])


def name_of(kind):
    return f"{kind.__name__}Data" if is_dataclass(kind) else kind.__name__


def required(kind):
    """Return the names of the fields that are always present."""
    if is_typeddict(kind):
        return kind.__required_keys__
    return {each.name for each in fields(kind)} - sparse_fields(kind)


def hints_of(kind):
    """Return the types of the fields, without the marker for optional ones."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: present(hint) for name, hint in hints.items()}


def present(hint):
    """Return the type inside `NotRequired` or `Sparse`; other types unchanged."""
    parts = get_args(hint)
    if get_origin(hint) is NotRequired:
        return parts[0]
    if SPARSE not in parts:
        return hint
    inner = get_args(parts[0])
    return inner[0] if NoneType in inner else parts[0]


def script(kind, own=""):
    """Return a type in TypeScript syntax; `own` is the alias that is being declared."""
    names = {id(each): name for name, each in vars(payload_types).items() if name[0].isupper()}
    name = names.get(id(kind))
    if get_origin(kind) is Annotated:
        return name_of(get_args(kind)[1])
    if kind in PLAIN:
        return PLAIN[kind]
    if is_dataclass(kind):
        return name_of(kind)
    if name and name != own:
        return name
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if origin in UNIONS:
        return " | ".join(script(part) for part in parts)
    if origin is tuple:
        return f"[{', '.join(map(script, parts))}]"
    if origin is dict:
        return f"Record<{', '.join(map(script, parts))}>"
    inner = script(parts[0])
    return f"({inner})[]" if " | " in inner else f"{inner}[]"


def faults(data, kind, path="payload"):
    """Return messages on each place where data differ from a type; JSON lists match tuples."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return faults(data, parts[1], path)
    if (is_typeddict(kind) or is_dataclass(kind)) and isinstance(data, dict):
        return field_faults(data, kind, path)
    if kind is Tensor:
        return faults(data, str, path)
    if isinstance(kind, NewType):
        return faults(data, kind.__supertype__, path)
    if origin in CONTAINERS and isinstance(data, CONTAINERS[origin]):
        return part_faults(data, origin, parts, path)
    if origin is Literal:
        fits = data in parts
    elif origin in UNIONS:
        fits = not all(faults(data, part, path) for part in parts)
    else:
        fits = type(data) is kind or (kind is float and type(data) is int)
    return [] if fits else [f"{path}: expected {getattr(kind, '__name__', kind)}, got {data!r:.60}"]


CONTAINERS = {list: list, Sequence: list, tuple: list | tuple, dict: dict}


def field_faults(data, kind, path):
    hints = hints_of(kind)
    absent = [f"{path}: no {name}" for name in sorted(set(required(kind)) - set(data))]
    unknown = [f"{path}: undeclared {name}" for name in sorted(set(data) - set(hints))]
    known = [name for name in data if name in hints]
    return absent + unknown + each(faults(data[k], hints[k], f"{path}.{k}") for k in known)


def part_faults(data, origin, parts, path):
    if origin is dict:
        return each(faults(value, parts[1], f"{path}.{name}") for name, value in data.items())
    if origin is tuple and len(data) != len(parts):
        return [f"{path}: expected {len(parts)} parts, got {data!r:.60}"]
    wanted = parts if origin is tuple else parts * len(data)
    pairs = enumerate(zip(data, wanted, strict=True))
    return each(faults(part, each_kind, f"{path}[{i}]") for i, (part, each_kind) in pairs)


def each(lists):
    return [fault for faults in lists for fault in faults]


if __name__ == "__main__":
    FILE.write_text(declaration(), "utf-8")
