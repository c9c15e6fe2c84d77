"""What the reader switched off: decoder rows, the best path, the sentence in words, the score line.

Both are page options: `rows` names the decoder rows wanted, as links always did, and `hide` the
other parts that are not.
"""

from collections.abc import Collection, Mapping, Sequence

from crfviz.views.strips.decoders import LABELS

ROWS, HIDE = "rows", "hide"
OTHERS = ("path", "note", "score")  # beside the rows
PARTS = (*LABELS, *OTHERS)
EVERY_ROW = ".".join(LABELS)
NO_ROW = "none"


def wanted_rows(chosen: str) -> list[str]:
    """The decoder rows of the option `rows`, in their order; what is no row is left out."""
    wanted = chosen.split(".")
    return [row for row in LABELS if row in wanted]


def covered(view: Mapping[str, str]) -> list[str]:
    """The parts that are switched off, in the order of `PARTS`."""
    rows, others = wanted_rows(view.get(ROWS, EVERY_ROW)), view.get(HIDE, "").split(".")
    return [part for part in PARTS if (part not in rows if part in LABELS else part in others)]


def with_covered(view: Mapping[str, str], parts: Collection[str]) -> dict[str, str]:
    """The page options after exactly these parts were switched off."""
    rows = [row for row in LABELS if row not in parts]
    options = {
        ROWS: "" if len(rows) == len(LABELS) else _joined(rows) or NO_ROW,
        HIDE: _joined([part for part in OTHERS if part in parts]),
    }
    kept = {name: value for name, value in view.items() if name not in options}
    return kept | {name: value for name, value in options.items() if value}


def _joined(parts: Sequence[str]) -> str:
    return ".".join(parts)
