"""Sentences in JSON objects, as written by annotation programs and data sets.

The dialects differ in the names of their keys. An object has words and one tag per word, or a text
and spans; `WORDS`, `TAGS`, `TEXTS`, `SPANS`, `STARTS`, `ENDS` and `KINDS` list the names.
Enclosing structures are unpacked first: a pair of text and annotations (spaCy), `data` and
`annotations` (Label Studio), `paragraphs` (spaCy 2), rows of word and tag. An object without tags
is refused if another key may have them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate_value
from crfviz.text.jsonl import sentence_of
from crfviz.text.readers.keys import (
    INSIDE,
    RESULTS,
    SPANS,
    TAGS,
    TEXTS,
    WORDS,
    ask_for_tags,
    first_key,
    has_rows,
    is_flat,
    refuse_class,
    verdict_of,
)
from crfviz.text.readers.kinds import are_tags
from crfviz.text.readers.losses import Losses, key_question
from crfviz.text.readers.marks import (
    counts_words,
    marks_of,
    offsets_of,
    own_words,
    tags_inside,
    words_inside,
)
from crfviz.text.readers.rows import ANY, Wanted
from crfviz.text.readers.spans import BY_WORD, Draft, Mark, draft_of_words, moved
from crfviz.text.readers.spelling import Tagged
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Offsets, Sentence, joined, located
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

BLANK = "white space that counts as a word was left out"

ClassNames = Mapping[str, Sequence[str]]  # by key; empty without class names in the file


@dataclass
class ObjectReader:
    """Reader of the objects of one file.

    Args:
        losses: collects losses.
        wanted: the keys of words and tags that the caller names; None finds them.
        class_names: names of the class numbers in a key.
        split: splits plain texts.
        own: reads objects that the caller writes, such as exports; None for others.
    """

    losses: Losses
    wanted: Wanted = ANY
    class_names: ClassNames = field(default_factory=dict)
    split: Split = tokens
    own: Callable[[object, str], Tagged | None] = lambda _value, _where: None
    plain: bool = True  # whether all objects so far have only `tokens` and `tags`
    words_in: set[str] = field(default_factory=set)  # keys that were read, for the summary
    tags_in: set[str] = field(default_factory=set)
    _lacks: FormatError | None = None  # of an object without the named key
    _has_named: bool = False  # whether some object has it
    _filled: dict[str, str] = field(default_factory=dict)  # places of tags, by key
    _empty: dict[str, str] = field(default_factory=dict)  # places of empty lists
    _with_spans: set[str] = field(default_factory=set)  # keys with spans

    def each(
        self, values: Iterable[tuple[int, object]]
    ) -> Iterator[tuple[int, Tagged | Sentence | Draft | FormatError]]:
        """Yield the sentences of numbered values, for `spans.settled`; errors stay in place."""
        for line, value in values:
            if isinstance(value, FormatError):
                yield line, value
                continue
            try:
                own = self.own(value, f"{self.losses.name}, line {line}")
                found = self.sentences(value, line) if own is None else [own]
                yield from ((line, sentence) for sentence in found)
            except FormatError as error:
                yield line, error

    def require_tags(self) -> None:
        """Raise a FormatError if no object has the key that the caller names, or any label."""
        if self._lacks is not None and not self._has_named:
            raise self._lacks
        for key in ("labels", "label", "ner"):
            if key in self._empty and key not in {*self._filled, *self._with_spans}:
                raise FormatError(
                    f"{self._empty[key]}: {key!r} is empty in all objects; expected tags of words"
                )

    def sentences(self, value: object, line: int) -> Iterator[Sentence | Draft]:
        """Yield the sentences of one list element, or of one line of JSONL.

        Raises:
            FormatError: it has neither words nor text, the tags do not fit, or nothing shows which
                key has them; names the place.
        """
        where = f"{self.losses.name}, line {line}"
        self.plain = self.plain and isinstance(value, dict) and "tokens" in value
        if value is None:  # ner-annotator writes it for a text without annotation
            self.losses.add("empty entries of the list were left out", line)
            return
        if isinstance(value, list):
            yield self._listed(value, line, where)
            return
        if not isinstance(value, dict):
            raise _no_sentence(value, where)
        if verdict := verdict_of(value, where):
            self.losses.add(f"sentences answered “{verdict}” were left out", line)
        elif isinstance(value.get("paragraphs"), list):
            for paragraph in value["paragraphs"]:
                for sentence in paragraph.get("sentences", ()):
                    yield from self.sentences(sentence, line)
        elif (words := self._key(value, self.wanted.words, WORDS, list)) is not None:
            yield self._worded(value, words, line, where)
        elif "tokens" in value and self.wanted.words is None:
            yield sentence_of(value, where)  # raises the error
        elif isinstance(value.get("data"), dict):
            yield self._label_studio(value, line, where)
        elif (key := self._key(value, self.wanted.words, TEXTS, str)) is not None:
            self.words_in.add(key)
            yield self._spanned(value, key, value[key], line, where)
        else:
            raise _no_sentence(value, where)

    def _key(
        self, value: Mapping[str, Any], named: str | int | None, keys: Sequence[str], kind: type
    ) -> str | None:
        return first_key(value, keys if named is None else (str(named),), kind)

    def _listed(self, value: list[Any], line: int, where: str) -> Sentence | Draft:
        """Read a pair of text and annotations, or rows of word and tag."""
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict | list):
            labels = value[1] if isinstance(value[1], dict) else {"entities": value[1]}
            return self._spanned(labels, "", value[0], line, where)
        if value and all(isinstance(row, dict) and first_key(row, INSIDE, str) for row in value):
            return self._worded({"tokens": value}, "tokens", line, where)
        rows = all(isinstance(row, list) and all(isinstance(x, str) for x in row) for row in value)
        widths = {len(row) for row in value} if rows else set()
        if len(widths) != 1 or min(widths) < 1:
            raise _no_sentence(value, where)
        by_row = [[row[0] for row in value], [row[-1] for row in value]]
        ways = [by_row] if min(widths) > 1 else []
        if len(value) == 2:  # two words with their tags, or all words and all tags
            ways = [[words, tags] for words, tags in (*ways, value) if are_tags(tags)]
        if len(ways) != 1:
            raise _no_sentence(value, where)
        return sentence_of({"tokens": ways[0][0], "tags": ways[0][1]}, where)

    def _worded(self, value: dict[str, Any], key: str, line: int, where: str) -> Sentence | Draft:
        """Read words with their tags or with spans."""
        words, text = value[key], value.get("text")
        self.words_in.add(key)
        alike = [value[k] for k in WORDS if is_flat(value.get(k)) and len(value[k]) == len(words)]
        if self.wanted.words is None and any(other != words for other in alike if is_flat(words)):
            raise key_question(where, "several keys may have the words", value)
        offsets: Offsets | None = None
        self.plain = self.plain and not any(name in value for name in ("spans", "entities", "ner"))
        inner: Sequence[str] | None = None
        if words and all(isinstance(word, dict) for word in words):
            offsets = offsets_of(words)
            if any("entityLabel" in word for word in words):
                raise FormatError(f"{where}: {key!r} has entities alone; export all words or spans")
            wanted = self.wanted.tags
            keys = TAGS if wanted is None else (str(wanted).removeprefix(f"{key}."),)
            name, inner = tags_inside(words, keys)
            self.tags_in |= {f"{key}.{name}"} if name else set()
            words = words_inside(words, text if offsets else None, f"{where}: {key!r}")
            solid = [n for n, word in enumerate(words) if word.strip()]
            if len(solid) < len(words) and offsets is not None:
                self.losses.add(BLANK, line)
                inner = inner and [inner[n] for n in solid]
                words, offsets = [words[n] for n in solid], tuple(offsets[n] for n in solid)
        named = inner is not None and self.wanted.tags is not None
        own, tags = ("", inner) if named else self._tags(value, key, where)
        if tags and {*tags} == {OUTSIDE} and any(has_rows(value.get(k)) for k in SPANS):
            raise key_question(where, "several keys may have the tags", value)
        spans = self._span_key(value, where) if tags is None else None
        if spans is not None:
            marks = self._marks(value, spans, words, (key, "text"), line)
            draft = self._draft(words, marks, text, offsets, value[spans], line)
            if draft is not None:
                return draft
            tags = [OUTSIDE] * len(words)
        elif tags is None and inner is not None:
            tags = inner
        if tags is None:
            refuse_class(value, where)
            ask_for_tags(value, value[key], (key, "text"), where)
        fields = {"tokens": words, "tags": tags, "text": text}
        try:
            return sentence_of(fields, where)
        except FormatError as error:
            raise FormatError(str(error).replace('"tags"', f'"{own or "tags"}"')) from error

    def _draft(
        self,
        words: Sequence[str],
        marks: list[Mark],
        text: object,
        offsets: Offsets | None,
        rows: object,
        line: int,
    ) -> Draft | None:
        """Return words with spans; None if nothing shows what spans would count.

        Raises:
            FormatError: a span has a negative number, or numbers no word.
        """
        where = f"{self.losses.name}, line {line}"
        if any(mark.start < 0 for mark in marks):
            raise FormatError(f"{where}: expected spans from 0 on, got a negative number")
        if counts_words(rows):  # Prodigy: the last word is included
            text, offsets = joined(words) if offsets is None else (str(text), offsets)
            draft = Draft(text, [m._replace(end=m.end + 1) for m in marks], offsets)
            placed = moved(draft, BY_WORD)
            if placed is None:
                raise FormatError(
                    f"{where}: expected word numbers below {len(words)} in the spans, got "
                    f"{abbreviate_value([[*mark[:3]] for mark in marks])}"
                )
            marks = placed
        if not isinstance(text, str):
            return draft_of_words(words, marks)
        offsets = located(tuple(words), text) if offsets is None else offsets
        if offsets is None and marks:
            self.losses.add("words were split anew, since entities are characters", line)
        return Draft(text, marks, offsets) if marks or offsets is not None else None

    def _tags(self, value: dict[str, Any], words: str, where: str) -> tuple[str, Any]:
        """Return the key of the tags, and the tags; None without tags."""
        wanted = self.wanted.tags
        keys = [key for key in TAGS if key != words and is_flat(value.get(key))]
        if wanted is not None:
            if not isinstance(value.get(str(wanted)), list | dict | str):
                raise key_question(where, f"no tags in {str(wanted)!r}", value)
            keys = [str(wanted)] if is_flat(value.get(str(wanted))) else []
        if any(isinstance(value.get(key), list) and value[key] for key in SPANS if key not in keys):
            keys = [key for key in keys if value[key]]
        keys = [key for key in keys if self._has_tags(key, value, words, where)]
        if not keys:
            bad = value.get("tags")
            scalars = isinstance(bad, list) and not any(isinstance(x, dict | list) for x in bad)
            return "tags", bad if isinstance(bad, dict) or scalars else None
        key = keys[0]
        tags = value[key]
        self.tags_in.add(key)
        self.plain = self.plain and key == "tags"
        if tags and all(isinstance(tag, int) and not isinstance(tag, bool) for tag in tags):
            names = self.class_names.get(key, ())
            if not names:
                raise FormatError(
                    f"{where}: {key!r} has class numbers without their names; bring the Parquet "
                    f"file of the data set, which has them, or write the names"
                )
            if not all(0 <= tag < len(names) for tag in tags):
                raise FormatError(f"{where}: expected class numbers below {len(names)} in {key!r}")
            tags = [names[tag] for tag in tags]
        return key, tags

    def _has_tags(self, key: str, value: Mapping[str, Any], words: str, where: str) -> bool:
        """Return whether a flat list has tags; an empty one beside words may have no spans.

        Raises:
            FormatError: some objects have tags in the key, and this one or another has none.
        """
        is_empty = key in SPANS and not value[key] and bool(value[words])
        if value[words]:
            (self._empty if is_empty else self._filled)[key] = where
        if key in self._empty and key in self._filled:
            raise FormatError(
                f"{self._filled[key]}: {key!r} has tags, but it is empty in {self._empty[key]}"
            )
        return not is_empty

    def _spanned(
        self, value: Mapping[str, Any], text_key: str, text: str, line: int, where: str
    ) -> Sentence | Draft:
        """Read a text and its spans; without a spans key it is untagged."""
        inner = value.get("annotations", [])
        if not isinstance(inner, dict | list):
            raise FormatError(
                f'{where}: expected an object in "annotations", got {abbreviate_value(inner)}'
            )
        value = inner if isinstance(inner, dict) else value  # spaCy 3
        words = value.get("words")
        if isinstance(words, list) and not any(key in value for key in SPANS):
            return sentence_of({"tokens": words, "tags": value.get("tags"), "text": text}, where)
        if (key := self._tags_of_text(value, text)) is not None:
            tags = value[key].split() if isinstance(value[key], str) else value[key]
            self.tags_in.add(key)
            return sentence_of({"tokens": text.split(), "tags": tags, "text": text}, where)
        key = self._span_key(value, where)
        if key is not None:
            marks = self._marks(value, key, text.split(), (text_key,), line)
            return Draft(text, marks, own_words(value, text))
        refuse_class(value, where)
        ask_for_tags(value, text.split(), (text_key,), where)
        return Sentence(tuple(token.text for token in self.split(text)), None, text)

    def _tags_of_text(self, value: Mapping[str, Any], text: str) -> str | None:
        """Return the key with a tag for each word between the blanks of a text."""
        words = text.split()
        keys = TAGS if self.wanted.tags is None else (str(self.wanted.tags),)
        for key in keys:
            tags = value.get(key)
            parts = tags.split() if isinstance(tags, str) else tags
            if isinstance(parts, list) and parts and all(isinstance(tag, str) for tag in parts):
                sure = self.wanted.tags is not None or are_tags(parts, in_blocks=True)
                if len(parts) == len(words) and sure:
                    return key
        return None

    def _span_key(self, value: Mapping[str, Any], where: str) -> str | None:
        """Return the key of the spans; an empty list is one without entities.

        Raises:
            FormatError: several keys have different spans.
        """
        keys = [k for k in SPANS if isinstance(value.get(k), list | dict)]
        if self.wanted.tags is not None:
            keys = [str(self.wanted.tags)]
        filled = [key for key in keys if value.get(key)]
        if len([key for key in filled if value[key] != value[filled[0]]]) > 0:
            raise key_question(where, "several keys may have the tags", value)
        return next(iter(filled or keys), None)

    def _marks(
        self,
        value: Mapping[str, Any],
        key: str,
        words: Sequence[object],
        used: Sequence[str],
        line: int,
    ) -> list[Mark]:
        """Return the spans in a key; other keys are asked about if it has none."""
        self.tags_in.add(key)
        text = next((value[k] for k in TEXTS if isinstance(value.get(k), str)), "")
        found = value.get(key, [])  # other objects of the file have the key
        where = f"{self.losses.name}, line {line}"
        self._has_named = self._has_named or key in value
        if key not in value:
            self._lacks = self._lacks or key_question(where, f"no tags in {key!r}", value)
        if found:
            self._with_spans.add(key)
        else:
            ask_for_tags(value, words, (*used, key), where, sure=True)
        return marks_of(found, text, self.losses, line)

    def _label_studio(self, value: dict[str, Any], line: int, where: str) -> Sentence | Draft:
        data = value["data"]
        key = self._key(data, self.wanted.words, (*TEXTS, *data), str)
        filled = {key: value[key] for key in RESULTS if value.get(key)}
        results = first_key(filled, RESULTS, list) or first_key(value, RESULTS, list)
        if key is None or results is None:
            raise _no_sentence(value, where)
        kept = [each for each in value[results] if not each.get("was_cancelled")]
        if len(kept) < len(value[results]):
            self.losses.add("cancelled annotations were left out", line)
        if len(kept) > 1:
            self.losses.add("only the first annotation of a text was read", line)
        self.words_in.add(f"data.{key}")
        fields = {"result": kept[0].get("result", [])} if kept else {}
        meta = value.get("meta")
        fields["offsets"] = meta.get("offsets") if isinstance(meta, dict) else None
        if results == "predictions":
            self.tags_in.add(results)
        return self._spanned(fields, key, data[key], line, where)


def _no_sentence(value: object, where: str) -> FormatError:
    expected = (
        'expected a sentence such as {"tokens": [...], "tags": [...]} or '
        '{"text": "...", "entities": [[0, 4, "PER"]]}'
    )
    if isinstance(value, dict) and value:
        return key_question(where, expected, value)
    return FormatError(f"{where}: {expected}, got {abbreviate_value(value)}")
