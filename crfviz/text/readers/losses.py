"""Losses of a reader, reported once per kind with a count."""

from collections import Counter
from dataclasses import dataclass, field

from crfviz.text.files import abbreviate


class LossWarning(UserWarning):
    """A reader dropped or changed a part of a file, which the message names."""


@dataclass
class Losses:
    """Collector of the losses while one file is read."""

    name: str  # name of the file
    _first: dict[str, str] = field(default_factory=dict)  # place and text of the first loss by kind
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, line: int, text: str = "") -> None:
        """Count a loss; the first one of a kind becomes the example in its message."""
        place = f"line {line}" if line else ""
        got = abbreviate(text) if text else ""
        self._first.setdefault(kind, ": ".join(filter(None, (place, got))))
        self._counts[kind] += 1

    def messages(self) -> list[str]:
        """Return one message per kind of loss, in order of first occurrence."""
        return [
            f"{self.name}: {kind}" + (f" ({_times(self._counts[kind])}{where})" if where else "")
            for kind, where in self._first.items()
        ]


def _times(count: int) -> str:
    return "in " if count == 1 else f"{count:,} times, first in "
