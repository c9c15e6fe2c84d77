"""What the reader switched off: rows, best path, sentence in words, score line, lattice.

They are two page options: `rows` names the decoder rows wanted, as links always did, and `hide` the
other parts that are not.
"""

from collections.abc import Collection, Mapping

from crfviz.views.strips.decoders import LABELS, USUAL_ROWS

ROWS, HIDE = "rows", "hide"
OTHERS = ("path", "note", "score", "lattice")  # beside the rows
PARTS = (*LABELS, *OTHERS)
EVERY_ROW = ".".join(USUAL_ROWS)
NO_ROW = "none"


def wanted_rows(chosen: str) -> list[str]:
    """The decoder rows of the option `rows`, in their order; what is no row is left out."""
    wanted = chosen.split(".")
    return [row for row in LABELS if row in wanted]


def rows_option(wanted: Collection[str]) -> str:
    """The option `rows` that names these decoder rows: what `wanted_rows` reads."""
    return ".".join(row for row in LABELS if row in wanted) or NO_ROW


def covered(view: Mapping[str, str]) -> list[str]:
    """The parts that are switched off, in the order of `PARTS`."""
    rows, others = wanted_rows(view.get(ROWS, EVERY_ROW)), view.get(HIDE, "").split(".")
    hidden = {*USUAL_ROWS} - {*rows} | {*OTHERS} & {*others}
    return [part for part in PARTS if part in hidden]


def with_covered(view: Mapping[str, str], parts: Collection[str]) -> dict[str, str]:
    """The page options after exactly these parts were switched off."""
    there = {*USUAL_ROWS, *wanted_rows(view.get(ROWS, EVERY_ROW))}
    rows = rows_option([row for row in there if row not in parts])
    hidden = ".".join(part for part in OTHERS if part in parts)
    options = {name: value for name, value in view.items() if name not in (ROWS, HIDE)}
    if rows != EVERY_ROW:
        options[ROWS] = rows
    if hidden:
        options[HIDE] = hidden
    return options
