"""Losses of a reader, reported once per kind with a count; and its questions.

A question ends with what to do, in terms of the library: `words=`, `tags=` and `sentences=`. Other
surfaces have pickers or flags instead, and pass each message through `worded`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_value


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


MAX_FIELDS = 12  # in a question
MAX_NAME = 40  # characters of a column or key in a message
MAX_EXAMPLE = 40  # characters of a value
COLUMN_HELP = (
    "name them with words=, tags= (a column or its number) and sentences= (a column, blank or "
    "restart)"
)
KEY_HELP = "name the keys with words= and tags="
LIST_HELP = "name one with sentences="
TAGS_HELP = "name one with tags="
END_HELP = (
    "sort the rows, or name what ends a sentence with sentences= (a column, blank or restart)"
)
KEYWORD = re.compile(r"\b(words|tags|sentences)=([\w.:-]*)")  # with its value, if it has one


def question(
    name: str, problem: str, names: Sequence[str], columns: Sequence[Sequence[str]]
) -> FormatError:
    """Return the error for columns whose roles are open: each column with a value."""
    fields = {
        names[n] if n < len(names) and names[n] else str(n + 1): _example(values)
        for n, values in enumerate(columns)
    }
    return key_question(name, problem, fields, COLUMN_HELP)


def key_question(
    where: str, problem: str, fields: Mapping[str, object], action: str = KEY_HELP
) -> FormatError:
    """Return the error for fields whose roles are open: each with a value."""
    names = (key if len(key) <= MAX_NAME else f"{key[:MAX_NAME]}…" for key in fields)
    pairs = zip(names, fields.values(), strict=True)
    shown = [f"{name}: {_brief(value)}" for name, value in pairs][:MAX_FIELDS]
    more = ", …" if len(fields) > MAX_FIELDS else ""
    return FormatError(f"{where}: {problem}; found {', '.join(shown)}{more}; {action}")


def worded(message: str, say: Callable[[str], str]) -> str:
    """Return a message whose action, behind the last semicolon, `say` puts into other words."""
    problem, mark, action = message.rpartition("; ")
    return f"{problem}{mark}{say(action)}" if mark and KEYWORD.search(action) else message


def _example(values: Sequence[str]) -> str:
    """Return a value of a column that says most: not empty, and not O."""
    speaking = (value for value in values if value not in ("O", "_", "-", ""))
    return next(speaking, values[0] if values else "")


def _brief(value: object) -> str:
    text = abbreviate_value(value)
    return text if len(text) <= MAX_EXAMPLE else f"{text[:MAX_EXAMPLE]}…"
