"""Import of sentences to label, from pasted text or any file, with all problems reported.

The formats are those of `text.readers`, and plain text with one sentence per line; docs/files.md
lists them. An unreadable sentence is a problem, and the others are kept.

Files from `exporting` are read with their annotations. `merging` stores the result.
"""

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain, islice
from typing import TypeVar, cast

from crfviz.annotations.files.columns import MARK, read_block
from crfviz.annotations.files.fields import FileSentence, check_length
from crfviz.annotations.files.objects import file_sentence, parsed_line, read_own
from crfviz.annotations.mixing import TagRules, strangers
from crfviz.annotations.records import MAX_WORDS, UNSETTLED, UNSTORABLE, Annotation, Document, Item
from crfviz.annotations.settings import Settings
from crfviz.exceptions import FormatError
from crfviz.taggers.blank import UNSET
from crfviz.text.columns import CONLLU, blocks, is_comment
from crfviz.text.files import abbreviate, check_utf_8, decoded_with_notes, lines_of
from crfviz.text.formats import LAYOUTS, FormatName
from crfviz.text.jsonl import list_elements
from crfviz.text.readers.documents import is_docbin
from crfviz.text.readers.finding import BINARY, GZIP, PARQUET, ZIP, Found, find_format
from crfviz.text.readers.objects import ObjectReader
from crfviz.text.readers.reading import MAX_UNPACKED, Choice, Reader
from crfviz.text.readers.rows import SAMPLE, Columns, tab_lines
from crfviz.text.readers.spelling import Tagged, usual
from crfviz.text.schemes import is_bio, repair
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import ENGLISH, Split, splitter
from crfviz.text.tokenizer import Token

# names that a user may choose
INPUT_FORMATS = ("text", "conllu", "iob2", "columns", "jsonl", "spacy")
UNPACKED = 20  # limit of unpacked archives, as a multiple of the file limit
MAX_BYTES = 5 * 1024 * 1024
MAX_SENTENCES = 100_000  # of a pasted or uploaded file
ANY_TAGS = TagRules()
Unit = TypeVar("Unit")  # the lines, or the line, of one sentence
Result = TypeVar("Result")
MAX_TAGS = 20  # listed in a message
MAX_PROBLEMS = 1000  # with messages; further ones are only counted
LONGEST_TAG = 60  # characters of a tag in a message


@dataclass(frozen=True)
class Problem:
    """A problem in a file; the message names the line."""

    message: str
    dropped: bool  # whether the sentence is dropped, or kept with a change


@dataclass
class Import:
    """The contents of a file, before anything is stored."""

    format: str  # one of `text.formats.READ_FORMATS`, `text` or `spacy`
    documents: tuple[Document, ...] = ()  # with the valid sentences
    problems: list[Problem] = field(default_factory=list)  # the first problems, in file order
    wrong: int = 0  # number of all problems
    dropped: int = 0  # number of unreadable sentences
    mixed: int = 0  # number of sentences dropped for mixed kinds of tags
    unknown: Counter[str] = field(default_factory=Counter)  # number of words by unknown gold tag
    read_as: list[str] = field(default_factory=list)  # descriptions of the conversions of tags
    was_split: bool = False  # whether a text was tokenized

    @property
    def items(self) -> tuple[Item, ...]:
        """The sentences of all documents."""
        return tuple(item for document in self.documents for item in document.items)

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """The annotations of all documents; their `item` counts `items`."""
        starts = accumulate((len(document.items) for document in self.documents), initial=0)
        return tuple(
            replace(each, item=start + each.item)
            for start, document in zip(starts, self.documents, strict=False)
            for each in document.annotations
        )


@dataclass
class _Draft:
    """One document of a file during reading."""

    settings: Settings = UNSETTLED
    items: list[tuple[int, Item]] = field(default_factory=list)  # with line numbers
    annotations: list[tuple[int, Annotation]] = field(default_factory=list)
    places: dict[Item, int] = field(default_factory=dict)  # indices of annotated sentences
    labelled: set[tuple[int, str]] = field(default_factory=set)


@dataclass
class _Gathering:
    """Collector of the sentences of a file, and of the reasons for dropped ones."""

    name: str  # name of the file
    rules: TagRules
    read: Import
    first_unknown: int = 0  # line of the first unknown gold tag
    lacking: int = 0  # number of sentences that lost their gold tags
    tokenizer: str = ""  # tokenizer name, as in settings
    drafts: dict[str, _Draft] = field(default_factory=lambda: defaultdict(_Draft))

    def add(self, line: int, sentence: FileSentence | FormatError) -> None:
        """Keep a sentence if it is valid; an error is a dropped sentence."""
        if isinstance(sentence, FormatError):
            self.note(str(sentence), dropped=True)
        elif wrong := _unstorable(sentence):
            self._say(f"expected text, got the character {wrong}", line, dropped=True)
        else:
            if sentence.note:
                self._say(sentence.note, line)
            if sentence.annotation is None:
                item = replace(self._checked(line, sentence), document=self.name)
                self.drafts[self.name].items.append((line, item))
            else:
                self._join(line, sentence.item, sentence.annotation)

    def note(self, message: str, *, dropped: bool = False) -> None:
        """Count a problem, and keep the first messages."""
        self.read.wrong += 1
        self.read.dropped += dropped
        if len(self.read.problems) < MAX_PROBLEMS:
            self.read.problems.append(Problem(message, dropped))

    def finish(self) -> Import:
        """Return the kept documents, and report what each of them loses."""
        found = [self._finished(name, draft) for name, draft in self.drafts.items()]
        self.read.documents = tuple(document for document in found if document.items)
        if unknown := self.read.unknown:
            most = unknown.most_common(MAX_TAGS)
            got = ", ".join(f"{abbreviate(tag)} ({_number(words, 'word')})" for tag, words in most)
            message = (
                f"{self.name}, line {self.first_unknown}: expected one of the tags "
                f"{', '.join(sorted(self.rules.tags or ()))}, got {got}"
                f"{', …' * (len(unknown) > MAX_TAGS)}: "
                f"the gold tags of {_number(self.lacking, 'sentence')} are not stored"
            )
            self.read.wrong += 1
            self.read.problems.insert(0, Problem(message, dropped=False))
        return self.read

    def _finished(self, name: str, draft: _Draft) -> Document:
        """Drop sentences whose tags are of another kind than those of most sentences.

        Gold tags and annotations are checked separately, because annotators may use other tags.
        """
        settings = self._settings(name, draft)
        gold = self._strangers([(line, item.gold or ()) for line, item in draft.items], settings)
        said = self._strangers([(line, each.final) for line, each in draft.annotations], settings)
        self.read.mixed += len(gold) + len(said)
        annotations = [
            each
            for number, (_, each) in enumerate(draft.annotations)
            if number not in said and each.item not in gold
        ]
        lost = {draft.annotations[number][1].item for number in said}
        gone = gold | lost - {each.item for each in annotations}
        staying = [number for number in range(len(draft.items)) if number not in gone]
        places = {number: place for place, number in enumerate(staying)}
        return Document(
            name,
            tuple(draft.items[number][1] for number in staying),
            tuple(replace(each, item=places[each.item]) for each in annotations),
            settings,
        )

    def _settings(self, name: str, draft: _Draft) -> Settings:
        """Return the settings in a file, or none if an annotation has a tag that they lack.

        Settings of tokenized texts have the name of the tokenizer.
        """
        if self.read.was_split and not draft.settings.tokenizer:
            draft.settings = replace(draft.settings, tokenizer=self.tokenizer)
        used = set[str]().union(*(each.final for _, each in draft.annotations))
        strange = used - {*(draft.settings.tags or used), UNSET}
        if not strange:
            return draft.settings
        got = abbreviate(min(strange))
        self.note(f"{self.name}: the tags of {abbreviate(name)} are left out: {got} is none")
        return UNSETTLED

    def _strangers(
        self, rows: Sequence[tuple[int, tuple[str, ...]]], settings: Settings
    ) -> set[int]:
        """Return the rows with tags of another kind than their document, and report each."""
        own, tags = settings.tags or self.rules.tags, [tags for _, tags in rows]
        if self.rules.mixed or (own and set[str]().union(*tags) <= {*own, UNSET}):
            return set()
        found = strangers(tags)
        for number, wrong in sorted(found.items()):
            self._say(wrong, rows[number][0], dropped=True)
        return set(found)

    def _say(self, message: str, line: int, *, dropped: bool = False) -> None:
        self.note(f"{self.name}, line {line}: {message}", dropped=dropped)

    def _checked(self, line: int, sentence: FileSentence) -> Item:
        """Return the sentence with its gold tags, or without them if one is unknown."""
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
        gold = tuple(self.rules.names.get(tag, tag) for tag in gold)
        unknown = [
            tag for tag in gold if self.rules.tags is not None and tag not in self.rules.tags
        ]
        self.read.unknown.update(unknown)
        if unknown:
            place = next(t for t, tag in enumerate(gold) if tag in unknown)
            self.first_unknown = self.first_unknown or lines[place]
            self.lacking += 1
        return replace(item, gold=None if unknown else gold)

    def _join(self, line: int, item: Item, annotation: Annotation) -> None:
        """Keep an annotation, grouped with other annotations of the same sentence."""
        item = replace(item, document=item.document or self.name)
        draft = self.drafts[item.document]
        if item.settings is not None and draft.settings == UNSETTLED:
            draft.settings = item.settings
        place = draft.places.setdefault(item, len(draft.items))
        if place == len(draft.items):
            draft.items.append((line, item))
        whose = (place, annotation.annotator)
        if whose in draft.labelled:
            told = f"a second annotation of the same sentence by {abbreviate(annotation.annotator)}"
            self._say(told, line, dropped=True)
            return
        draft.labelled.add(whose)
        draft.annotations.append((line, replace(annotation, item=place)))


def _brief(tag: str) -> str:
    return tag if len(tag) <= LONGEST_TAG else f"{tag[:LONGEST_TAG]}…"


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _unstorable(sentence: FileSentence) -> str:
    """Return a character that the store cannot hold, as U+...; empty without one."""
    item, annotation = sentence.item, sentence.annotation
    texts = [item.text, item.document, *(item.gold or ())]
    if annotation is not None:
        texts += [annotation.annotator, annotation.model, annotation.model_version]
        texts += [*annotation.proposed, *annotation.final, *annotation.pins.values()]
    wrong = next((match[0] for text in texts if (match := UNSTORABLE.search(text))), "")
    return f"U+{ord(wrong):04X}" if wrong else ""


def read_items(
    content: bytes,
    name: str,
    file_format: str | None = None,
    *,
    rules: TagRules = ANY_TAGS,
    tokenizer: str = "",
    limit: int | None = MAX_BYTES,
    pause: Callable[[], object] = lambda: None,
) -> Import:
    """Read all valid sentences, and report the problems of the others.

    Args:
        content: the bytes of the file.
        name: name of the file and of its document.
        file_format: None detects the format.
        rules: the allowed tags.
        tokenizer: splits plain texts; empty for English.
        limit: maximum bytes; None disables this limit and that of sentences.
        pause: called at each sentence.

    Raises:
        FormatError: the file is too large, has too many sentences, is binary or UTF-16, or the
            tokenizer is unknown.

    """
    if limit is not None and len(content) > limit:
        raise FormatError(
            f"{name}: expected at most {limit / 2**20:g} MB, got {len(content):,} bytes; "
            f"`crfviz annotations import` reads larger files"
        )
    read, words = Import(""), splitter(tokenizer or ENGLISH)
    own = "" if tokenizer == ENGLISH else tokenizer

    def split(text: str) -> Iterator[Token]:
        read.was_split = True
        return words(text)

    most = MAX_UNPACKED if limit is None else UNPACKED * limit
    reader = Reader(name, Choice(split=split), most=most)
    if content.startswith(GZIP):
        content = reader.unzipped(io.BytesIO(content))
    read.format, notes, sentences = _opened(content, name, file_format, reader)
    gathering = _Gathering(name, rules, read, tokenizer=own)
    for note in notes:
        gathering.note(note)
    for number, (line, sentence) in enumerate(sentences):
        if limit is not None and number == MAX_SENTENCES:
            raise FormatError(
                f"{name}, line {line}: expected at most {MAX_SENTENCES:,} sentences, got more; "
                f"`crfviz annotations import` reads larger files"
            )
        gathering.add(line, sentence)
        pause()
    for message in reader.losses.messages():
        gathering.note(message)
    gathering.read.read_as = reader.notes
    return gathering.finish()


def _opened(
    content: bytes, name: str, file_format: str | None, reader: Reader
) -> tuple[str, list[str], Iterator[tuple[int, FileSentence | FormatError]]]:
    """Return the format, notes on the text, and every sentence or error with its line."""
    if content.startswith((PARQUET, ZIP, *BINARY)) or is_docbin(content):
        read = reader.content(content)
        first = list(islice(read, 1))
        kind = reader.found.format if reader.found else "text"
        return kind, [], _from_readers(chain(first, read), name)
    text, notes = decoded_with_notes(content, name)
    lines = lines_of(text)
    marked = _is_marked(lines)
    found = Found("columns") if marked else find_format(lines[:SAMPLE], name=name)
    kind = file_format or _kind(found, lines, text, name)
    if kind == "text":
        numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
        return kind, notes, _each(numbered, partial(_read_text, split=reader.choice.split), name)
    if not marked:
        reader.note_columns(found)
    if kind in LAYOUTS:
        columns = found.columns if kind == found.format and not marked else None
        columns = columns or Columns(LAYOUTS[cast("FormatName", kind)])
        rows = lines if marked else tab_lines(lines, columns)
        numbered_blocks = ((block[0][0], block) for block in blocks(rows))
        read_rows = partial(read_block, layout=columns.layout, name=name)
        return kind, notes, _usual(_each(numbered_blocks, read_rows, name), reader)
    if kind == "jsonl":
        numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
        parsed_lines = _each(numbered, parsed_line, name)
        return kind, notes, _usual(_objects(parsed_lines, reader, name), reader)
    if kind == "spacy":
        return kind, notes, _usual(_objects(list_elements(text, name), reader, name), reader)
    return kind, notes, _from_readers(reader.lines(lines), name)


def _is_marked(lines: Sequence[str]) -> bool:
    """Return whether columns have annotations, as `files.columns` writes them."""
    rows = (n for n, line in enumerate(lines) if line.strip() and not is_comment(line))
    first = next(rows, len(lines))
    return any(line.startswith(MARK) for line in lines[: first + 1])


def _kind(found: Found, lines: Sequence[str], text: str, name: str) -> str:
    """Return the display name of a format; plain sentences if no other fits."""
    row = next((line for line in lines if line.strip() and not is_comment(line)), "")
    if found.format == "columns" and _is_marked(lines):
        return "conllu" if len(row.split("\t")) == CONLLU.width else "columns"
    if not row or found.format == "fasta":  # FASTA letters are not sentences to label
        return "text"
    if found.format == "json" and text.lstrip().startswith("["):
        first = next(list_elements(text, name), (0, None))[1]
        if isinstance(first, FormatError):
            return "text"
        pair = isinstance(first, list) and len(first) == 2 and isinstance(first[1], dict)
        return (
            "spacy"
            if pair or (isinstance(first, dict) and ("annotations" in first or "entities" in first))
            else "json"
        )
    return found.format


def _objects(
    elements: Iterable[tuple[int, object]], reader: Reader, name: str
) -> Iterator[tuple[int, FileSentence | FormatError]]:
    """Yield the sentences of JSON values; those from `exporting` have their annotations."""
    objects = ObjectReader(reader.losses, split=reader.choice.split)
    for line, element in elements:
        where = f"{name}, line {line}"
        try:
            if isinstance(element, FormatError):
                raise element
            own = read_own(element, where)
            found = (
                [own]
                if own is not None
                else [file_sentence(each, where) for each in objects.sentences(element, line)]
            )
        except FormatError as error:
            yield line, error
        else:
            kept = (each for each in found if own is not None or each.item.offsets)
            yield from ((line, sentence) for sentence in kept)


def _from_readers(
    sentences: Iterable[Tagged], name: str
) -> Iterator[tuple[int, FileSentence | FormatError]]:
    for each in sentences:
        try:
            if each.error is not None:
                raise each.error
            yield each.line, file_sentence(each.sentence, f"{name}, line {each.line}")
        except FormatError as error:
            yield each.line, error


def _usual(
    sentences: Iterable[tuple[int, FileSentence | FormatError]], reader: Reader
) -> Iterator[tuple[int, FileSentence | FormatError]]:
    """Normalise the gold tags of all formats; annotations are unchanged."""
    every = list(sentences)
    plain = [
        (number, sentence)
        for number, (_, sentence) in enumerate(every)
        if isinstance(sentence, FileSentence) and sentence.annotation is None
    ]
    golds = (each.item.gold for _, each in plain)
    tagged = (Tagged(0, Sentence(gold or (), gold)) for gold in golds)  # only the tags are used
    for (number, sentence), same in zip(plain, usual(tagged, reader.notes.append), strict=True):
        if same.sentence.tags != sentence.item.gold:
            item = replace(sentence.item, gold=same.sentence.tags)
            every[number] = (every[number][0], replace(sentence, item=item))
    yield from every


def _each(
    units: Iterable[tuple[int, Unit | FormatError]],
    read: Callable[[Unit, str], Result | None],
    name: str,
) -> Iterator[tuple[int, Result | FormatError]]:
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


def _read_text(line: str, where: str, split: Split) -> FileSentence:
    check_utf_8(line, where)
    text = line.strip()
    check_length(len(text.split(None, MAX_WORDS)), where)  # before the slow tokenizer
    places = tuple((token.start, token.end) for token in islice(split(text), MAX_WORDS + 1))
    check_length(len(places), where)
    if not places:
        raise FormatError(f"{where}: expected a sentence, got {abbreviate(line)}")
    return FileSentence(Item(text, places))
