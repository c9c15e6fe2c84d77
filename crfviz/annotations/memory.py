"""Remembered names: the entities that an annotator marked, proposed wherever they stand again.

A name is remembered from finished sentences, and from the annotator's own marks in begun ones. It
is proposed as it was marked most often, unless finished sentences leave it unmarked as often.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from crfviz.annotations.hints import Hint
from crfviz.annotations.records import Annotation, Item
from crfviz.corpus.tables.inconsistent_names import equal_runs
from crfviz.text.schemes import begin, inside, spans
from crfviz.text.sentences import words_at

MAX_LISTED = 3  # sentences named beside a proposal
Words = tuple[str, ...]


class Memory:
    """The names that one annotator marked in one document, by sentence."""

    def __init__(self) -> None:
        self.revisions: dict[int, int] = {}  # of the versions read so far, by sentence
        self._names: dict[int, list[tuple[Words, str]]] = {}  # by sentence, with types
        self._seen: dict[Words, dict[str, dict[int, int]]] = {}  # types, sentences: position
        self._first: defaultdict[str, set[Words]] = defaultdict(set)  # names by first word
        self._plain: dict[int, tuple[Words, tuple[str, ...]]] = {}  # finished sentences, tags
        self._with: defaultdict[str, set[int]] = defaultdict(set)  # finished sentences by word

    def changed(self, revisions: dict[int, int]) -> set[int]:
        """Return the sentences whose version differs from the one read; forget them."""
        both = self.revisions.keys() | revisions.keys()
        found = {item for item in both if self.revisions.get(item) != revisions.get(item)}
        for item in found:
            self._forget(item)
        return found & revisions.keys()

    def learn(self, rows: Iterable[tuple[Item, Annotation]]) -> None:
        """Remember the names of versions that were never read, or forgotten."""
        for item, said in rows:
            words = words_at(item.text, said.offsets)
            self.revisions[item.id] = said.revision
            names = self._names[item.id] = []
            for span in spans(said.final):
                if said.state == "done" or span.start in said.pins:
                    name = words[span.start : span.end]
                    names.append((name, span.type))
                    kinds = self._seen.setdefault(name, {})
                    kinds.setdefault(span.type, {})[item.id] = item.position + 1
                    self._first[name[0]].add(name)
            if said.state == "done":
                self._plain[item.id] = (words, said.final)
                for word in words:
                    self._with[word].add(item.id)

    def hints(self, item: Item, refused: Collection[tuple[int, int]] = ()) -> tuple[Hint, ...]:
        """Return the remembered names in a sentence; of overlapping names the longest first one.

        Args:
            item: the sentence; its own names do not count.
            refused: first and last character of each place that the annotator refused.
        """
        return tuple(self._hints(item, refused))

    def _hints(self, item: Item, refused: Collection[tuple[int, int]]) -> Iterator[Hint]:
        words, t = item.tokens, 0
        while t < len(words):
            names = sorted(self._first.get(words[t], ()), key=len, reverse=True)
            for name in names:
                places = item.offsets[t : t + len(name)]
                if words[t : t + len(name)] != name or (places[0][0], places[-1][1]) in refused:
                    continue
                if found := self._kind(name, item.id):
                    kind, why = found
                    yield Hint(places, (begin(kind), *[inside(kind)] * (len(name) - 1)), why)
                    t += len(name) - 1
                    break
            t += 1

    def _kind(self, name: Words, own: int) -> tuple[str, str] | None:
        """Return the usual type of a name and where it was marked; None if it is often no name."""
        marked = {
            kind: sorted(place for item, place in sentences.items() if item != own)
            for kind, sentences in self._seen.get(name, {}).items()
        }
        kind = max(marked, key=lambda each: (len(marked[each]), marked[each][-1:]), default="")
        places = marked.get(kind, [])
        if not places or self._unmarked(name, own) >= len(places):
            return None
        shown = [str(place) for place in places[:MAX_LISTED]]
        more = len(places) - len(shown)
        listed = [*shown, *([f"{more:,} more"] if more else [])]
        return (
            kind,
            f"seen in {' and '.join([', '.join(listed[:-1]), listed[-1]][not listed[1:] :])}",
        )

    def _unmarked(self, name: Words, own: int) -> int:
        """Count the finished sentences with the words of a name and no mark on the first."""
        items = set.intersection(*(self._with.get(word, set()) for word in name)) - {own}
        return sum(
            any(self._plain[item][1][t] == "O" for t in equal_runs(self._plain[item][0], name))
            for item in items
        )

    def _forget(self, item: int) -> None:
        self.revisions.pop(item, None)
        for name, kind in self._names.pop(item, []):
            kinds = self._seen.get(name, {})
            kinds.get(kind, {}).pop(item, None)
            if kind in kinds and not kinds[kind]:
                del kinds[kind]
            if not kinds and name in self._seen:
                del self._seen[name]
                self._first[name[0]].discard(name)
        for word in self._plain.pop(item, ((), ()))[0]:
            self._with[word].discard(item)
