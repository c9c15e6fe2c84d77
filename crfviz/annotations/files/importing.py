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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, islice
from typing import Literal, TypeVar, get_args

from crfviz.annotations.files.columns import MARK, read_block
from crfviz.annotations.files.fields import FileSentence, check_length
from crfviz.annotations.files.gathering import Gathering, Problem
from crfviz.annotations.files.objects import read_element, read_line
from crfviz.annotations.mixing import TagRules
from crfviz.annotations.records import MAX_WORDS, Annotation, Document, Item
from crfviz.exceptions import FormatError
from crfviz.text.columns import CONLLU, blocks, is_comment
from crfviz.text.files import abbreviate, check_utf_8, decoded_with_notes, lines_of
from crfviz.text.formats import LAYOUTS, detect_format
from crfviz.text.jsonl import list_elements
from crfviz.text.tokenizer import tokens

InputFormat = Literal["text", "conllu", "iob2", "columns", "jsonl", "spacy"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)
MAX_BYTES = 5 * 1024 * 1024
MAX_SENTENCES = 100_000  # of a file that is pasted or uploaded
JSON_LIST = re.compile(r"\s*\[\s*([\[{\]]|$)")
ANY_TAGS = TagRules()
Unit = TypeVar("Unit")  # lines, a line or an element, of one sentence


@dataclass(frozen=True)
class Import:
    """What a file holds; nothing is stored yet."""

    format: InputFormat
    documents: tuple[Document, ...]  # the good sentences
    problems: tuple[Problem, ...]  # the first ones, in the order of the file
    wrong: int  # problems in all
    dropped: int  # how many sentences could not be read
    unknown: Mapping[str, int] = field(default_factory=dict)  # gold tags that may not be: words
    mixed: int = 0  # how many of the dropped have tags of another kind than their document

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


def read_items(
    content: bytes,
    name: str,
    file_format: InputFormat | None = None,
    *,
    rules: TagRules = ANY_TAGS,
    limit: int | None = MAX_BYTES,
    pause: Callable[[], object] = lambda: None,
) -> Import:
    """Read all sentences that can be read, and say what is wrong with the others.

    Args:
        content: of the file.
        name: of the file; its document gets it.
        file_format: None tells it from the content.
        rules: which tags it may have.
        limit: bytes; None is no limit, of sentences neither.
        pause: called at each sentence.

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
    gathering = Gathering(name, rules)
    for note in notes:
        gathering.note(note)
    for number, (line, sentence) in enumerate(_sentences(text, kind, name)):
        if limit is not None and number == MAX_SENTENCES:
            raise FormatError(
                f"{name}, line {line}: expected at most {MAX_SENTENCES:,} sentences, got more; "
                f"`crfviz annotations import` reads larger files"
            )
        gathering.add(line, sentence)
        pause()
    documents = gathering.documents()
    gathering.say_unknown()
    return Import(
        format=kind,
        documents=documents,
        problems=tuple(gathering.problems),
        wrong=gathering.wrong,
        dropped=gathering.dropped,
        unknown=gathering.unknown,
        mixed=gathering.mixed,
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
    if file_format == "fasta":  # its letters are no sentences to label
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
    check_length(len(text.split(None, MAX_WORDS)), where)  # before the tokenizer takes its time
    places = tuple((token.start, token.end) for token in islice(tokens(text), MAX_WORDS + 1))
    check_length(len(places), where)
    if not places:
        raise FormatError(f"{where}: expected a sentence, got {abbreviate(line)}")
    return FileSentence(Item(text, places))
