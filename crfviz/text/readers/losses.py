"""What a reader could not keep of a file, said once per kind with a count."""

from collections import Counter
from dataclasses import dataclass, field

from crfviz.text.files import abbreviate


class LossWarning(UserWarning):
    """A file was read, and something in it was left out or changed; the message says what."""


@dataclass
class Losses:
    """Collector of what was lost while one file is read."""

    name: str  # of the file
    _first: dict[str, str] = field(default_factory=dict)  # by kind: where, and the text
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, line: int, text: str = "") -> None:
        """Count a loss; the first one of a kind is the example of its message."""
        place = f"line {line}" if line else ""
        got = abbreviate(text) if text else ""
        self._first.setdefault(kind, ": ".join(filter(None, (place, got))))
        self._counts[kind] += 1

    def messages(self) -> list[str]:
        """Return one message for each kind of loss, in the order in which they came first."""
        return [
            f"{self.name}: {kind}" + (f" ({_times(self._counts[kind])}{where})" if where else "")
            for kind, where in self._first.items()
        ]


def _times(count: int) -> str:
    return "in " if count == 1 else f"{count:,} times, first in "
