"""Sentences in JSON objects, as written by annotation programs and data sets.

The dialects differ in the names of their keys. An object has words and one tag per word, or a text
and character spans; `WORDS`, `TAGS`, `TEXTS`, `SPANS`, `STARTS`, `ENDS` and `KINDS` list the names.
Enclosing structures are unpacked first: a pair of text and annotations (spaCy), `data` and
`annotations` (Label Studio), `paragraphs` (spaCy 2), rows of word and tag.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate_names, abbreviate_value
from crfviz.text.jsonl import sentence_of
from crfviz.text.readers.losses import Losses
from crfviz.text.readers.spans import Mark, tagged_words
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Offsets, Sentence, words_at
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

WORDS = ("tokens", "words", "token", "word")
ENTITY_TAGS = ("tags", "ner_tags", "ner", "labels", "label", "entities", "tag", "bio", "iob")
POS_TAGS = ("upos", "upos_tags", "pos_tags", "pos", "xpos", "xpos_tags", "chunk_tags")
TAGS = ENTITY_TAGS + POS_TAGS
TEXTS = ("text", "data", "sentence", "content", "raw")
SPANS = ("spans", "entities", "labels", "label", "ner", "annotations", "annotation", "result")
STARTS = ("start", "start_offset", "begin", "start_char", "startOffset")
ENDS = ("end", "end_offset", "stop", "end_char", "endOffset")
KINDS = ("label", "labels", "type", "entity", "tag", "entity_group", "entity_type")
# Label Studio's keys; completions is the old name
RESULTS = ("annotations", "completions", "predictions")
# keys of lists of sentences
LISTS = ("data", "sentences", "examples", "annotations", "documents", "train")
REFUSED = ("reject", "ignore")  # answers of Prodigy

ClassNames = Mapping[str, Sequence[str]]  # by key; empty without class names in the file


@dataclass
class ObjectReader:
    """Reader of the objects of one file.

    Args:
        losses: collects losses.
        column: the key of the tags; None for the first of `TAGS`.
        class_names: names of the class numbers in a key.
        split: splits plain texts.
    """

    losses: Losses
    column: str | None = None
    class_names: ClassNames = field(default_factory=dict)
    split: Split = tokens
    plain: bool = True  # whether all objects so far have only `tokens` and `tags`

    def sentences(self, value: object, line: int) -> Iterator[Sentence]:
        """Yield the sentences of one list element, or of one line of JSONL.

        Raises:
            FormatError: it has neither words nor text, or the tags do not fit; names the place.
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
        if value.get("answer") in REFUSED:
            self.losses.add(f"sentences answered “{value['answer']}” were left out", line)
        elif isinstance(value.get("paragraphs"), list):
            yield from self._paragraphs(value["paragraphs"], where)
        elif (words := _first(value, WORDS, list)) is not None:
            yield self._worded(value, words, line, where)
        elif "tokens" in value:
            yield sentence_of(value, where)  # raises the error
        elif isinstance(value.get("data"), dict):
            yield self._label_studio(value, line, where)
        elif (key := _first(value, TEXTS, str)) is not None:
            yield self._spanned(value, value[key], line, where)
        else:
            raise _no_sentence(value, where)

    def _listed(self, value: list[Any], line: int, where: str) -> Sentence:
        """Read a pair of text and annotations, or rows of word and tag."""
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict | list):
            labels = value[1] if isinstance(value[1], dict) else {"entities": value[1]}
            return self._spanned(labels, value[0], line, where)
        rows = all(isinstance(row, list) and all(isinstance(x, str) for x in row) for row in value)
        widths = {len(row) for row in value} if rows else set()
        if len(widths) != 1 or min(widths) < 2:
            raise _no_sentence(value, where)
        cells = [[row[0] for row in value], [row[-1] for row in value]]
        return sentence_of({"tokens": cells[0], "tags": cells[1]}, where)

    def _worded(self, value: dict[str, Any], key: str, line: int, where: str) -> Sentence:
        """Read words with their tags or with character spans."""
        words, text = value[key], value.get("text")
        offsets: Offsets | None = None
        self.plain = self.plain and "spans" not in value
        tags: Sequence[str] | None
        if words and all(isinstance(word, dict) for word in words):
            offsets = _offsets_of(words)
            if any("entityLabel" in word for word in words):
                raise FormatError(f"{where}: {key!r} has entities alone; export all words or spans")
            words = [word.get("text", word.get("orth")) for word in words]
            if not all(isinstance(word, str) for word in words):
                raise FormatError(f'{where}: expected a "text" of each word in {key!r}')
        if isinstance(text, str) and offsets and (marks := self._marks(value, text, line, where)):
            places, tags = tagged_words(text, marks, self.losses, line, offsets)
            return Sentence(words_at(text, places), tags, text)
        if isinstance(text, str) and offsets and "spans" in value:
            return Sentence(tuple(words), (OUTSIDE,) * len(words), text)
        name, tags = self._tags(value, where)
        if (
            tags is None
            and isinstance(text, str)
            and (marks := self._marks(value, text, line, where))
        ):
            places, found = tagged_words(text, marks, self.losses, line, split=self.split)
            self.losses.add("words were split anew, since entities are characters", line)
            return Sentence(words_at(text, places), found, text)
        fields = {"tokens": words, "tags": tags, "text": text}
        try:
            return sentence_of(fields, where)
        except FormatError as error:
            raise FormatError(str(error).replace('"tags"', f'"{name or "tags"}"')) from error

    def _tags(self, value: dict[str, Any], where: str) -> tuple[str, list[str] | None]:
        """Return the key of the tags, and the tags; None without tags."""
        keys = [self.column] if self.column else [key for key in TAGS if _is_flat(value.get(key))]
        if not keys:
            return "tags", value.get("tags")
        if self.column and not isinstance(value.get(self.column), list):
            raise FormatError(
                f"{where}: expected tags in {self.column!r}, got the keys {abbreviate_names(value)}"
            )
        key = keys[0]
        tags = value[key]
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

    def _spanned(self, value: Mapping[str, Any], text: str, line: int, where: str) -> Sentence:
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
        marks = self._marks(value, text, line, where)
        labelled = any(isinstance(value.get(key), list | dict) for key in SPANS)
        one_class = next((k for k in ("label", "labels") if isinstance(value.get(k), str)), None)
        if one_class and not labelled:
            raise FormatError(
                f"{where}: {one_class!r} is a class of the whole text; expected tags of words, or "
                f'spans such as [[0, 4, "PER"]]'
            )
        places, tags = tagged_words(text, marks, self.losses, line, split=self.split)
        return Sentence(words_at(text, places), tags if labelled else None, text)

    def _marks(self, value: Mapping[str, Any], text: str, line: int, where: str) -> list[Mark]:
        """Return the spans of the first key with spans, at the words that they quote."""
        keys = (key for key in SPANS if isinstance(value.get(key), list | dict) and value[key])
        found = value[key] if (key := next(keys, None)) else []
        rows = _by_type(found, where) if isinstance(found, dict) else _by_points(found)
        found_marks = [self._mark(row, line, where) for row in rows]
        for row, mark in zip(rows, found_marks, strict=True):
            is_first = isinstance(row, list) and bool(row) and isinstance(row[0], str)
            if mark and is_first and mark.kind == text[mark.start : mark.end]:
                raise FormatError(
                    f"{where}: expected the type of a span, got its words {abbreviate_value(row)}"
                )
        if not any(isinstance(row, dict) for row in rows):
            return [mark for mark in found_marks if mark is not None]
        pairs = zip(found_marks, map(_quoted, rows), strict=True)
        quoted = [(mark, words) for mark, words in pairs if mark is not None]
        if all(_is_quoted(text, mark, words) for mark, words in quoted):
            return [mark for mark, _ in quoted]
        code_units = _code_units(text)  # JavaScript counts characters beyond U+FFFF twice
        moved = [(_moved(mark, code_units), words) for mark, words in quoted]
        if all(_is_quoted(text, mark, words) for mark, words in moved):
            return [mark for mark, _ in moved]
        for mark, words in quoted:
            if not _is_quoted(text, mark, words):
                self.losses.add(
                    "spans that quote other words of the text were left out", line, words
                )
        return [mark for mark, words in quoted if _is_quoted(text, mark, words)]

    def _mark(self, row: object, line: int, where: str) -> Mark | None:
        """Read one span: a list [start, end, kind], or an object."""
        if isinstance(row, dict):
            row = row.get("value", row) if isinstance(row.get("value"), dict) else row
            if not any(key in row for key in STARTS):
                self.losses.add("annotations that are no spans of text were left out", line)
                return None
            kind = next((row[key] for key in KINDS if key in row), None)
            kind = kind[0] if isinstance(kind, list) and kind else kind
            ends = [next((row[k] for k in keys if k in row), None) for keys in (STARTS, ENDS)]
            row = [*ends, kind]
        match row:
            case [int(start), int(end), str(kind), *_] if kind:
                return Mark(start, end, kind)
            case [str(kind), int(start), int(end)] if kind:  # Argilla
                return Mark(start, end, kind)
            case [int(_), int(_), int(_), *_]:
                raise FormatError(
                    f"{where}: the spans have class numbers without their names; export them with "
                    f"the names of the labels"
                )
        raise FormatError(
            f'{where}: expected spans such as [0, 4, "PER"], got {abbreviate_value(row)}'
        )

    def _label_studio(self, value: dict[str, Any], line: int, where: str) -> Sentence:
        data = value["data"]
        key = _first(data, (*TEXTS, *data), str)
        filled = {key: value[key] for key in RESULTS if value.get(key)}
        results = _first(filled, RESULTS, list) or _first(value, RESULTS, list)
        if key is None or results is None:
            raise _no_sentence(value, where)
        kept = [each for each in value[results] if not each.get("was_cancelled")]
        if len(kept) < len(value[results]):
            self.losses.add("cancelled annotations were left out", line)
        if len(kept) > 1:
            self.losses.add("only the first annotation of a text was read", line)
        fields = {"result": kept[0].get("result", [])} if kept else {}
        return self._spanned(fields, data[key], line, where)

    def _paragraphs(self, paragraphs: Sequence[Any], where: str) -> Iterator[Sentence]:
        """Read the training format of spaCy 2: paragraphs of sentences of tokens."""
        for paragraph in paragraphs:
            for sentence in paragraph.get("sentences", ()):
                rows = sentence.get("tokens", ())
                words = [row.get("orth") for row in rows]
                key = next((key for key in ("ner", "tag") if rows and key in rows[0]), None)
                tags = [row.get(key) for row in rows] if key else None
                yield sentence_of({"tokens": words, "tags": tags}, where)


def elements_of(value: dict[str, Any]) -> list[Any] | None:
    """Return the list of sentences inside an object; None if it is a sentence itself."""
    if any(isinstance(value.get(key), list) for key in WORDS) or "paragraphs" in value:
        return None
    lists = [value[key] for key in LISTS if isinstance(value.get(key), list)]
    holds = [each for each in lists if each and isinstance(each[0], dict | list)]
    if not holds or any(isinstance(value.get(key), str) for key in TEXTS):
        return None
    return holds[0] if not isinstance(value.get("data"), dict) else None


def _by_type(spans: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """Return the spans of {type: {words: [[first, last], ...]}}, as in CLUENER; `last` included."""
    try:
        return [
            {"label": kind, "start": first, "end": last + 1, "text": words}
            for kind, places in spans.items()
            for words, all_places in places.items()
            for first, last in all_places
        ]
    except (AttributeError, TypeError, ValueError) as error:
        raise FormatError(
            f'{where}: expected spans such as [0, 4, "PER"], got {abbreviate_value(spans)}'
        ) from error


def _by_points(rows: list[Any]) -> list[Any]:
    """Return spans of Dataturks, {"label": [...], "points": [...]}, whose ends are included."""
    found: list[Any] = []
    for row in rows:
        points = row.get("points") if isinstance(row, dict) else None
        if not isinstance(points, list):
            found.append(row)
            continue
        found += [
            {**point, "end": point["end"] + 1, "labels": row.get("label")}
            for point in points
            if isinstance(point, dict) and isinstance(point.get("end"), int)
        ]
    return found


def _quoted(row: object) -> str:
    """Return the words that a span quotes beside its offsets; empty for none."""
    value = row.get("value", row) if isinstance(row, dict) else None
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _is_quoted(text: str, mark: Mark, words: str) -> bool:
    """Return whether a span has the words that it quotes; blanks and line ends may differ."""
    found = text[max(mark.start, 0) : max(mark.end, 0)]
    return not words or _squeezed(found) == _squeezed(words)


def _squeezed(text: str) -> str:
    return "".join(text.replace("\\n", " ").split())


def _code_units(text: str) -> list[int]:
    """Return for each UTF-16 code unit of a text the index of its character."""
    units = [at for at, letter in enumerate(text) for _ in range(1 + (ord(letter) > 0xFFFF))]
    return [*units, len(text)]


def _moved(mark: Mark, code_units: Sequence[int]) -> Mark:
    last = len(code_units) - 1
    start, end = (code_units[min(max(at, 0), last)] for at in (mark.start, mark.end))
    return Mark(start, end, mark.kind)


def _first(value: Mapping[str, Any], keys: Sequence[str], kind: type) -> str | None:
    return next((key for key in keys if isinstance(value.get(key), kind)), None)


def _is_flat(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(tag, str | int) for tag in value)


def _offsets_of(words: Sequence[Mapping[str, Any]]) -> Offsets | None:
    places = tuple((word.get("start"), word.get("end")) for word in words)
    whole = all(isinstance(start, int) and isinstance(end, int) for start, end in places)
    return places if whole else None  # type: ignore[return-value] # checked


def _no_sentence(value: object, where: str) -> FormatError:
    if isinstance(value, dict) and value:
        got = f"an object with the keys {abbreviate_names(value)}"
    else:
        got = abbreviate_value(value)
    return FormatError(
        f'{where}: expected a sentence such as {{"tokens": [...], "tags": [...]}} or '
        f'{{"text": "...", "entities": [[0, 4, "PER"]]}}, got {got}'
    )
