"""Import of sentences to label, from pasted text or any file, with all problems reported.

The formats are those of `text.readers`, and plain text with one sentence per line; docs/files.md
lists them. Unreadable sentences are reported as problems; the others are kept.

Files from `exporting` are read with their annotations. `merging` stores the result.
"""

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from crfviz.annotations.files.fields import FileSentence
from crfviz.annotations.files.opening import open_file
from crfviz.annotations.mixing import TagRules, strangers
from crfviz.annotations.records import UNSETTLED, UNSTORABLE, Annotation, Document, Item
from crfviz.annotations.settings import Settings
from crfviz.exceptions import FormatError
from crfviz.taggers.blank import UNSET
from crfviz.text.files import abbreviate
from crfviz.text.readers.decoding import unzipped
from crfviz.text.readers.finding import GZIP
from crfviz.text.readers.reading import MAX_UNPACKED, Choice, Reader
from crfviz.text.readers.rows import ANY, Wanted
from crfviz.text.schemes import is_bio, repair
from crfviz.text.splitting import ENGLISH, splitter
from crfviz.text.tokenizer import Token

# names that a user may choose
INPUT_FORMATS = ("text", "conllu", "iob2", "columns", "jsonl", "spacy")
UNPACKED = 20  # limit of unpacked archives, as a multiple of the file limit
MAX_BYTES = 5 * 1024 * 1024
MAX_SENTENCES = 100_000  # sentences of a pasted or uploaded file
ANY_TAGS = TagRules()
MAX_TAGS = 20  # tags listed in a message
MAX_PROBLEMS = 1000  # problems with messages; others are only counted
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
    reading: str = ""  # how the file was read, in one line

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
        """Return the kept documents, and report the losses of each."""
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
    wanted: Wanted = ANY,
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
        wanted: the columns or keys of words, tags and sentences, if the user names them.
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
    reader = Reader(name, Choice(split=split, wanted=wanted, strict=False), most=most)
    if content.startswith(GZIP):
        content = unzipped(io.BytesIO(content), name, reader.most)
    read.format, notes, sentences = open_file(content, name, file_format, reader)
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
    read.read_as = reader.notes
    done = gathering.finish()
    done.reading = reader.summary(
        {tag for i in done.items for tag in i.gold or ()}, len(done.items)
    )
    return done
