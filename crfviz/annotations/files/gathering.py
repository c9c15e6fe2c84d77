"""Sentences of a file gathered for the store, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from crfviz.annotations.files.extras import Found
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.rows import UNSTORABLE
from crfviz.exceptions import FormatError
from crfviz.text.schemes import is_bio, repair

Key = tuple[object, ...]


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file, in words that name the line."""

    message: str
    dropped: bool  # whether a sentence is lost by it, or was kept with the change that it says


@dataclass
class Gathering:
    """What is kept of a file, and why the rest is not."""

    name: str  # of the file
    tags: Collection[str] | None = None  # that gold tags may be; None is any
    items: list[Item] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _places: dict[Key, int] = field(default_factory=dict)
    _labelled: set[tuple[int, str]] = field(default_factory=set)

    def take(self, stream: Iterable[tuple[int, Found | FormatError]]) -> None:
        """Add sentences, each with its line; an error is a sentence that is lost."""
        for line, sentence in stream:
            if isinstance(sentence, FormatError):
                self.say(str(sentence), dropped=True)
            else:
                self._add(line, sentence)

    def say(self, message: str, *, dropped: bool = False, line: int | None = None) -> None:
        """Note something wrong."""
        where = "" if line is None else f"{self.name}, line {line}: "
        self.problems.append(Problem(where + message, dropped))

    def _add(self, line: int, sentence: Found) -> None:
        wrong = _unstorable(sentence)
        if wrong:
            self.say(f"expected text, got the character {wrong}", dropped=True, line=line)
            return
        if sentence.note:
            self.say(sentence.note, line=line)
        if sentence.annotation is None:
            item = self._checked(line, sentence)
            self.items.append(replace(item, document=self.name))
        else:
            self._join(line, sentence.item, sentence.annotation)

    def _checked(self, line: int, sentence: Found) -> Item:
        """The sentence with gold tags that can be used."""
        item = sentence.item
        if item.gold is None:
            return item
        lines = sentence.lines or (line,) * len(item.gold)
        gold = item.gold
        if is_bio(repaired := repair(gold)):
            changed = [t for t, tag in enumerate(repaired) if tag != gold[t]]
            for t in changed:
                self.say(f"{gold[t]} begins an entity: read as {repaired[t]}", line=lines[t])
            gold = tuple(repaired)
        unknown = [
            t for t, tag in enumerate(gold) if self.tags is not None and tag not in self.tags
        ]
        if unknown:
            t = unknown[0]
            expected = ", ".join(sorted(self.tags or ()))
            self.say(
                f"expected one of the tags {expected}, got {gold[t]!r} at word {t + 1}: "
                f"the sentence is kept without its gold tags",
                line=lines[t],
            )
        return replace(item, gold=None if unknown else gold)

    def _join(self, line: int, item: Item, annotation: Annotation) -> None:
        """Keep an annotation, beside those that others made of the same sentence."""
        item = replace(item, document=item.document or self.name)
        key = (item.document, item.position, item.text, item.offsets, item.gold)
        place = self._places.setdefault(key, len(self.items))
        if place == len(self.items):
            self.items.append(item)
        if (place, annotation.annotator) in self._labelled:
            self.say(
                f"a second annotation of the same sentence by {annotation.annotator!r}",
                dropped=True,
                line=line,
            )
            return
        self._labelled.add((place, annotation.annotator))
        self.annotations.append(replace(annotation, item=place))


def _unstorable(sentence: Found) -> str:
    """A character that the store could not hold, as U+...; empty if there is none."""
    item, annotation = sentence.item, sentence.annotation
    texts = [item.text, item.document, *(item.gold or ())]
    if annotation is not None:
        texts += [annotation.annotator, annotation.model, annotation.model_version]
        texts += [*annotation.proposed, *annotation.final, *annotation.pins.values()]
    wrong = next((match[0] for text in texts if (match := UNSTORABLE.search(text))), "")
    return f"U+{ord(wrong):04X}" if wrong else ""
