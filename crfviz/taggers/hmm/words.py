"""What an HMM sees of a word: a form that it knows, or a class of forms that it does not.

An unknown word belongs to exactly one class, the most specific that is listed: its shape with its
last three letters, two, one, its shape alone, or "" for all that is left. So "a word of this class"
is an event like a known word, and p(event | tag) sums to one over all events.

Source:
    Brants (2000), section 2.3, for unknown words by their endings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from crfviz.taggers.features import SHAPES, form, shape

LONGEST_ENDING = 3  # letters
ANY = ""  # the class of all unknown words


@dataclass(frozen=True, eq=False)
class Events:
    """Known forms, then classes, in id order."""

    words: tuple[str, ...]
    classes: tuple[str, ...]  # ANY is the first, and general ones go before special ones

    def event(self, word: str) -> int:
        """The id of a word's event; a word that is known in lower case alone counts as that."""
        known = self._word_ids
        spelled = form(word)
        for candidate in (spelled, spelled.lower()):
            if candidate in known:
                return known[candidate]
        return len(self.words) + self.word_class(spelled)

    def word_class(self, spelled: str) -> int:
        """Index into `classes` of the most specific class of a form."""
        return next(
            self._class_ids[name]
            for name in reversed(class_names(spelled))
            if name in self._class_ids
        )

    @cached_property
    def _word_ids(self) -> Mapping[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def _class_ids(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.classes)}


def class_names(spelled: str) -> list[str]:
    """All classes of a form, the most general first.

    >>> class_names("Doing")
    ['', 'title', 'title -g', 'title -ng', 'title -ing']
    """
    kind, lower = SHAPES[shape(spelled)], spelled.lower()
    longest = min(LONGEST_ENDING, len(lower) - 1)
    return [ANY, kind, *(f"{kind} -{lower[-n:]}" for n in range(1, longest + 1))]


def parent(name: str) -> str:
    """The class one step more general.

    >>> parent("title -ing"), parent("title -g"), parent("title")
    ('title -ng', 'title', '')
    """
    kind, _, ending = name.partition(" -")
    if not ending:
        return ANY
    return f"{kind} -{ending[1:]}" if len(ending) > 1 else kind
