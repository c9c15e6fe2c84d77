"""The steps of a pickle, as far as `torch.save` writes them for a `state_dict`.

Source: Python's `pickletools` describes them.
"""

import struct
from collections.abc import Iterator
from typing import Any

from crfviz.exceptions import FormatError

PICKLE = "data.pkl"
MORE = (
    "This .pt holds more than tensors, and what it holds may be a program: it was not loaded. Save "
    "the state_dict alone: torch.save(model.state_dict(), …)."
)
DAMAGED = "The .pt file is damaged"

_CODES = {  # of steps with an argument of a fixed layout, or none; see `struct`
    0x80: ("PROTO", "<B"),
    0x95: ("FRAME", "<Q"),
    0x2E: ("STOP", ""),
    0x28: ("MARK", ""),
    0x4E: ("NONE", ""),
    0x88: ("NEWTRUE", ""),
    0x89: ("NEWFALSE", ""),
    0x7D: ("EMPTY_DICT", ""),
    0x5D: ("EMPTY_LIST", ""),
    0x29: ("EMPTY_TUPLE", ""),
    0x74: ("TUPLE", ""),
    0x85: ("TUPLE1", ""),
    0x86: ("TUPLE2", ""),
    0x87: ("TUPLE3", ""),
    0x4A: ("BININT", "<i"),
    0x4B: ("BININT1", "<B"),
    0x4D: ("BININT2", "<H"),
    0x47: ("BINFLOAT", ">d"),
    0x71: ("BINPUT", "<B"),
    0x72: ("LONG_BINPUT", "<I"),
    0x94: ("MEMOIZE", ""),
    0x68: ("BINGET", "<B"),
    0x6A: ("LONG_BINGET", "<I"),
    0x93: ("STACK_GLOBAL", ""),
    0x51: ("BINPERSID", ""),
    0x52: ("REDUCE", ""),
    0x62: ("BUILD", ""),
    0x61: ("APPEND", ""),
    0x65: ("APPENDS", ""),
    0x73: ("SETITEM", ""),
    0x75: ("SETITEMS", ""),
}
_LONG = {  # of steps that say how long their argument is
    0x58: ("BINUNICODE", "<I"),
    0x8C: ("SHORT_BINUNICODE", "<B"),
    0x8A: ("LONG1", "<B"),
}
_GLOBAL = 0x63  # two lines of text follow


def steps_of(program: bytes) -> Iterator[tuple[str, Any]]:
    """The steps of a pickle, each with its argument; ends with the bytes.

    Raises:
        FormatError: it is damaged, or has a step that no `state_dict` needs.
    """
    place = 0
    try:
        while place < len(program):
            code, place = program[place], place + 1
            if code in _CODES:
                name, layout = _CODES[code]
                argument = struct.unpack_from(layout, program, place)
                yield name, argument[0] if argument else None
                place += struct.calcsize(layout)
            elif code in _LONG:
                name, layout = _LONG[code]
                (length,) = struct.unpack_from(layout, program, place)
                begin = place + struct.calcsize(layout)
                place = begin + length
                if place > len(program):
                    raise FormatError(f"{DAMAGED}: its {PICKLE} is cut off.")
                yield name, _value(name, program[begin:place])
            elif code == _GLOBAL:
                lines = program[place : place + 300].split(b"\n", 2)
                place += len(lines[0]) + len(lines[1]) + 2
                yield "GLOBAL", f"{lines[0].decode()} {lines[1].decode()}"
            else:
                raise FormatError(MORE)
    except FormatError:
        raise
    except (struct.error, ValueError, IndexError) as error:  # cut off; no UTF-8; no second line
        raise FormatError(f"{DAMAGED}: its {PICKLE} cannot be read ({str(error)[:80]}).") from error


def _value(name: str, raw: bytes) -> str | int:
    return int.from_bytes(raw, "little", signed=True) if name == "LONG1" else raw.decode()
