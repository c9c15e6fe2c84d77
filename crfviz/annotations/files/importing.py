"""Sentences to label, out of a paste or a file of any format, with everything wrong about it said.

| format    | what it is                                                  | gold tags       |
|-----------|-------------------------------------------------------------|-----------------|
| text      | one sentence a line                                         | none            |
| conllu    | CoNLL-U, see `text.columns`                                 | UPOS            |
| iob2      | five columns, see `text.columns`                            | third           |
| columns   | word, ..., tag, see `text.columns`                          | last            |
| jsonl     | `{"tokens": ..., "tags": ..., "text": ...}` a line          | tags            |
| spacy     | a list of `{"text": ..., "annotations": {"entities": ...}}` | entities as BIO |

What `exporting` has written comes back with its annotations. `merging` puts all of it into a store.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Literal, TypeVar, get_args

from crfviz.annotations.files.columns import MARK, read_block
from crfviz.annotations.files.fields import FileSentence, check_length
from crfviz.annotations.files.objects import read_element, read_line
from crfviz.annotations.records import MOST_WORDS, UNSTORABLE, Annotation, Item
from crfviz.exceptions import FormatError
from crfviz.text.columns import CONLLU, blocks, is_comment
from crfviz.text.formats import LAYOUTS, detect_format
from crfviz.text.jsonl import list_elements
from crfviz.text.lines import check_utf_8, decoded_with_notes, lines_of, shown
from crfviz.text.schemes import is_bio, repair
from crfviz.text.tokenizer import tokens

InputFormat = Literal["text", "conllu", "iob2", "columns", "jsonl", "spacy"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)
MOST_TAGS = 20  # that a message lists
MAX_BYTES = 5 * 1024 * 1024
MOST_SENTENCES = 100_000  # of a file that is pasted or uploaded
MOST_PROBLEMS = 1000  # that are told in words; more are counted
LONGEST_TAG = 60  # characters of one in a message
JSON_LIST = re.compile(r"\s*\[\s*([\[{\]]|$)")
Unit = TypeVar("Unit")  # lines, a line or an element, of one sentence


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file, in words that name the line."""

    message: str
    dropped: bool  # whether a sentence is lost by it, or was kept with the change that it says


@dataclass(frozen=True)
class Import:
    """What a file holds; nothing is stored yet."""

    format: InputFormat
    items: tuple[Item, ...]  # the good sentences
    annotations: tuple[Annotation, ...]  # their `item` counts `items`
    problems: tuple[Problem, ...]  # the first ones, in the order of the file
    wrong: int  # problems in all
    dropped: int  # how many sentences could not be read
    unknown: Mapping[str, int] = field(default_factory=dict)  # gold tags that may not be: words


def read_items(
    content: bytes,
    name: str,
    file_format: InputFormat | None = None,
    *,
    tags: Collection[str] | None = None,
    names: Mapping[str, str] | None = None,
    limit: int | None = MAX_BYTES,
) -> Import:
    """Read all sentences that can be read, and say what is wrong with the others.

    Args:
        content: of the file.
        name: of the file; its document gets it.
        file_format: None tells it from the content.
        tags: that gold tags may be; a sentence with others loses them. None allows all.
        names: what gold tags of the file count as.
        limit: bytes; None is no limit, of sentences neither.

    Raises:
        FormatError: the file is too large, has too many sentences, or is UTF-16.
    """
    if limit is not None and len(content) > limit:
        raise FormatError(
            f"{name}: expected at most {limit / 2**20:g} MB, got {len(content):,} bytes; "
            f"`crfviz annotations import` reads larger files"
        )
    text, notes = decoded_with_notes(content, name)
    kind = file_format or _detected(text, name)
    gathering = _Gathering(name, tags, names or {})
    for note in notes:
        gathering.note(note)
    for number, (line, sentence) in enumerate(_sentences(text, kind, name)):
        if limit is not None and number == MOST_SENTENCES:
            raise FormatError(
                f"{name}, line {line}: expected at most {MOST_SENTENCES:,} sentences, got more; "
                f"`crfviz annotations import` reads larger files"
            )
        gathering.add(line, sentence)
    gathering.say_unknown()
    return Import(
        format=kind,
        items=tuple(gathering.items),
        annotations=tuple(gathering.annotations),
        problems=tuple(gathering.problems),
        wrong=gathering.wrong,
        dropped=gathering.dropped,
        unknown=gathering.unknown,
    )


def _detected(text: str, name: str) -> InputFormat:
    """Which format a text has; one that fits no other is sentences."""
    lines = lines_of(text)
    rows = (n for n, line in enumerate(lines) if line.strip() and not is_comment(line))
    first = next(rows, len(lines))
    marked = any(line.startswith(MARK) for line in lines[: first + 1])
    if first == len(lines):
        return "columns" if marked else "text"
    row = lines[first]
    if marked:
        return "conllu" if len(row.split("\t")) == CONLLU.width else "columns"
    if JSON_LIST.match(row) and not isinstance(
        next(list_elements(text, name), (0, None))[1], FormatError
    ):
        return "spacy"
    try:
        file_format = detect_format([row])
    except FormatError:
        return "text"
    return "conllu" if file_format == "conllu-xpos" else file_format


def _sentences(
    text: str, kind: InputFormat, name: str
) -> Iterator[tuple[int, FileSentence | FormatError]]:
    """Every sentence with its line, or what is wrong with it."""
    if kind == "spacy":
        return _each(list_elements(text, name), read_element, name)
    if kind in LAYOUTS:
        numbered = ((block[0][0], block) for block in blocks(lines_of(text)))
        return _each(numbered, partial(read_block, layout=LAYOUTS[kind], name=name), name)
    lines = ((n, line) for n, line in enumerate(lines_of(text), start=1) if line.strip())
    return _each(lines, read_line if kind == "jsonl" else _read_text, name)


def _each(
    units: Iterable[tuple[int, Unit | FormatError]],
    read: Callable[[Unit, str], FileSentence | None],
    name: str,
) -> Iterator[tuple[int, FileSentence | FormatError]]:
    for line, unit in units:
        if isinstance(unit, FormatError):
            yield line, unit
            continue
        try:
            sentence = read(unit, f"{name}, line {line}")
        except FormatError as error:
            yield line, error
        else:
            if sentence is not None:
                yield line, sentence


def _read_text(line: str, where: str) -> FileSentence:
    check_utf_8(line, where)
    text = line.strip()
    check_length(len(text.split(None, MOST_WORDS)), where)  # before the tokenizer takes its time
    places = tuple((token.start, token.end) for token in islice(tokens(text), MOST_WORDS + 1))
    check_length(len(places), where)
    if not places:
        raise FormatError(f"{where}: expected a sentence, got {shown(line)}")
    return FileSentence(Item(text, places))


@dataclass
class _Gathering:
    """What is kept of a file, and why the rest is not."""

    name: str  # of the file
    tags: Collection[str] | None  # that gold tags may be; None is any
    names: Mapping[str, str]  # what gold tags of the file count as
    problems: list[Problem] = field(default_factory=list)
    wrong: int = 0
    dropped: int = 0
    items: list[Item] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    places: dict[Item, int] = field(default_factory=dict)  # of sentences that somebody labelled
    labelled: set[tuple[int, str]] = field(default_factory=set)
    unknown: Counter[str] = field(default_factory=Counter)  # gold tags that may not be
    first_unknown: int = 0  # line of the first of them
    lacking: int = 0  # sentences that lost their gold tags by that

    def add(self, line: int, sentence: FileSentence | FormatError) -> None:
        """Keep a sentence if that can be; an error is a sentence that is lost."""
        if isinstance(sentence, FormatError):
            self.note(str(sentence), dropped=True)
        elif wrong := _unstorable(sentence):
            self._say(f"expected text, got the character {wrong}", line, dropped=True)
        else:
            if sentence.note:
                self._say(sentence.note, line)
            if sentence.annotation is None:
                item = self._checked(line, sentence)
                self.items.append(replace(item, document=self.name))
            else:
                self._join(line, sentence.item, sentence.annotation)

    def note(self, message: str, *, dropped: bool = False) -> None:
        """Count a problem, and keep its message while there are few."""
        self.wrong += 1
        self.dropped += dropped
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(message, dropped))

    def say_unknown(self) -> None:
        """Say once which gold tags may not be, and what that costs."""
        if self.unknown:
            most = self.unknown.most_common(MOST_TAGS)
            got = ", ".join(f"{shown(tag)} ({_number(words, 'word')})" for tag, words in most)
            more = ", …" if len(self.unknown) > MOST_TAGS else ""
            message = (
                f"{self.name}, line {self.first_unknown}: expected one of the tags "
                f"{', '.join(sorted(self.tags or ()))}, got {got}{more}: "
                f"{_number(self.lacking, 'sentence')} without gold tags therefore"
            )
            self.wrong += 1
            self.problems.insert(0, Problem(message, dropped=False))

    def _say(self, message: str, line: int, *, dropped: bool = False) -> None:
        self.note(f"{self.name}, line {line}: {message}", dropped=dropped)

    def _checked(self, line: int, sentence: FileSentence) -> Item:
        """The sentence with gold tags that can be used."""
        item = sentence.item
        if item.gold is None:
            return item
        lines = sentence.lines or (line,) * len(item.gold)
        gold = item.gold
        if is_bio(repaired := repair(gold)):
            changed = [t for t, tag in enumerate(repaired) if tag != gold[t]]
            for t in changed:
                self._say(
                    f"{_brief(gold[t])} begins an entity: read as {_brief(repaired[t])}", lines[t]
                )
            gold = tuple(repaired)
        gold = tuple(self.names.get(tag, tag) for tag in gold)
        unknown = [tag for tag in gold if self.tags is not None and tag not in self.tags]
        self.unknown.update(unknown)
        if unknown:
            place = next(t for t, tag in enumerate(gold) if tag in unknown)
            self.first_unknown = self.first_unknown or lines[place]
            self.lacking += 1
        return replace(item, gold=None if unknown else gold)

    def _join(self, line: int, item: Item, annotation: Annotation) -> None:
        """Keep an annotation, beside those that others made of the same sentence."""
        item = replace(item, document=item.document or self.name)
        place = self.places.setdefault(item, len(self.items))
        if place == len(self.items):
            self.items.append(item)
        whose = (place, annotation.annotator)
        if whose in self.labelled:
            told = f"a second annotation of the same sentence by {shown(annotation.annotator)}"
            self._say(told, line, dropped=True)
            return
        self.labelled.add(whose)
        self.annotations.append(replace(annotation, item=place))


def _brief(tag: str) -> str:
    return tag if len(tag) <= LONGEST_TAG else f"{tag[:LONGEST_TAG]}…"


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _unstorable(sentence: FileSentence) -> str:
    """A character that the store could not hold, as U+...; empty if there is none."""
    item, annotation = sentence.item, sentence.annotation
    texts = [item.text, item.document, *(item.gold or ())]
    if annotation is not None:
        texts += [annotation.annotator, annotation.model, annotation.model_version]
        texts += [*annotation.proposed, *annotation.final, *annotation.pins.values()]
    wrong = next((match[0] for text in texts if (match := UNSTORABLE.search(text))), "")
    return f"U+{ord(wrong):04X}" if wrong else ""
