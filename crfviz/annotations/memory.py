"""Remembered names: the entities that an annotator marked, proposed wherever they stand again.

A name is remembered from finished sentences, and from the annotator's own marks in begun ones. It
is proposed as it was marked most often, unless finished sentences leave it unmarked as often.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from crfviz.annotations.hints import Hint
from crfviz.annotations.records import Annotation, Item
from crfviz.corpus.tables.inconsistent_names import equal_runs
from crfviz.text.schemes import begin, inside, spans
from crfviz.text.sentences import words_at

MAX_LISTED = 3  # sentences named beside a proposal
Words = tuple[str, ...]


@dataclass(frozen=True)
class _Version:
    """What is remembered of one sentence."""

    revision: int
    number: int  # of the sentence, from 1
    words: Words
    tags: tuple[str, ...]
    names: tuple[tuple[Words, str], ...]  # with types; each once


class Memory:
    """The names that one annotator marked in one document."""

    def __init__(self) -> None:
        self._versions: dict[int, _Version] = {}  # by sentence
        self._named: defaultdict[Words, set[int]] = defaultdict(set)  # sentences by name
        self._with: defaultdict[str, set[int]] = defaultdict(set)  # finished sentences by word
        self._longest = 0  # words of a name

    def changed(self, revisions: dict[int, int]) -> set[int]:
        """Return the sentences whose version differs from the one read; forget them."""
        known = {item: version.revision for item, version in self._versions.items()}
        found = {item for item, _ in known.items() ^ revisions.items()}
        for item in found & known.keys():
            version = self._versions.pop(item)
            for name, _ in version.names:
                self._named[name].discard(item)
            for word in version.words:
                self._with[word].discard(item)
        return found & revisions.keys()

    def learn(self, rows: Iterable[tuple[Item, Annotation]]) -> None:
        """Remember the names of versions that were never read, or forgotten."""
        for item, said in rows:
            words, is_done = words_at(item.text, said.offsets), said.state == "done"
            names = tuple(
                dict.fromkeys(
                    (words[span.start : span.end], span.type)
                    for span in spans(said.final)
                    if is_done or span.start in said.pins
                )
            )
            number = item.position + 1
            self._versions[item.id] = _Version(said.revision, number, words, said.final, names)
            for name, _ in names:
                self._named[name].add(item.id)
                self._longest = max(self._longest, len(name))
            for word in words if is_done else ():
                self._with[word].add(item.id)

    def hints(self, item: Item, refused: Collection[tuple[int, int]] = ()) -> tuple[Hint, ...]:
        """Return the remembered names in a sentence; of overlapping names the longest first one.

        Args:
            item: the sentence; its own names do not count.
            refused: first and last character of each place that the annotator refused.
        """
        found, t = list[Hint](), 0
        while t < len(item.tokens):
            hint = next(self._hints_at(item, t, refused), None)
            found += [hint] if hint else []
            t += len(hint.tags) if hint else 1
        return tuple(found)

    def _hints_at(self, item: Item, t: int, refused: Collection[tuple[int, int]]) -> Iterator[Hint]:
        """Yield the names that begin at a word, the longest first."""
        for length in range(min(self._longest, len(item.tokens) - t), 0, -1):
            name, places = item.tokens[t : t + length], item.offsets[t : t + length]
            if name in self._named and (places[0][0], places[-1][1]) not in refused:
                kind, numbers = self._marked(name, item.id)
                if len(numbers) > self._unmarked(name, item.id):
                    tags = (begin(kind), *[inside(kind)] * (length - 1))
                    yield Hint(places, tags, f"seen in {_listed(numbers)}")

    def _marked(self, name: Words, own: int) -> tuple[str, list[int]]:
        """Return the usual type of a name, and the other sentences in which it was marked so."""
        marked = defaultdict[str, list[int]](list)
        for version in (self._versions[item] for item in sorted(self._named[name] - {own})):
            for each, kind in version.names:
                if each == name:
                    marked[kind].append(version.number)
        usual = max(marked, key=lambda kind: (len(marked[kind]), max(marked[kind])), default="")
        return usual, sorted(marked[usual])

    def _unmarked(self, name: Words, own: int) -> int:
        """Count the finished sentences with the words of a name and no mark on the first."""
        items = set.intersection(*(self._with.get(word, set()) for word in name)) - {own}
        versions = (self._versions[item] for item in items)
        return sum(any(v.tags[t] == "O" for t in equal_runs(v.words, name)) for v in versions)


def _listed(numbers: list[int]) -> str:
    more = len(numbers) - MAX_LISTED
    *first, last = [*map(str, numbers[:MAX_LISTED]), *[f"{more:,} more"] * (more > 0)]
    return f"{', '.join(first)} and {last}" if first else last
