"""Files of tagged sentences: the entry point of `readers`, and writers of line formats.

`columns`, `jsonl` and `fasta` document these formats and the treatment of invalid rows.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, cast, get_args

from crfviz.exceptions import FormatError
from crfviz.text import columns, fasta, jsonl
from crfviz.text.columns import COLUMNS, CONLLU, CONLLU_XPOS, IOB2, render_columns
from crfviz.text.files import abbreviate, decoded, lines_of
from crfviz.text.jsonl import render_jsonl
from crfviz.text.readers.finding import find_format
from crfviz.text.readers.losses import Losses, LossWarning
from crfviz.text.readers.misc import note_comments
from crfviz.text.readers.reading import HAS_ANSWERS, Choice, Reader
from crfviz.text.readers.rows import ANY, SAMPLE, Wanted
from crfviz.text.readers.spelling import Tagged
from crfviz.text.sentences import Sentence, fold_handles, map_types
from crfviz.text.splitting import ENGLISH, splitter

FormatName = Literal[
    "conllu", "conllu-xpos", "iob2", "columns", "jsonl", "fasta",
    "json", "table", "inline", "pairs", "webanno", "conll2012", "parquet", "docbin", "brat",
]  # fmt: skip
READ_FORMATS: tuple[FormatName, ...] = get_args(FormatName)
FORMATS = READ_FORMATS[:6]  # read as a stream; all except FASTA can also be written
LAYOUTS = {"conllu": CONLLU, "conllu-xpos": CONLLU_XPOS, "iob2": IOB2, "columns": COLUMNS}


class Sentences(list[Sentence]):
    """The sentences of a file, with a line that says how it was read."""

    reading = ""  # format, words, tags, ends of sentences, scheme, number of sentences


@dataclass(frozen=True)
class SentenceFile:
    """A file of sentences, read each time it is iterated.

    Iteration raises the FormatError of `read_sentences` when it reaches the sentence.
    """

    path: Path
    file_format: FormatName | None = None  # None detects it from the content
    fold_handles: bool = False  # join `@` and the word after it, see `sentences.fold_handles`
    types: Mapping[str, str] | None = None  # renames entity types, see `sentences.map_types`
    scheme: str | None = None  # target scheme of entities: BIO, IOB1, BIOES or BILOU
    tokenizer: str = ENGLISH  # for plain texts, see `text.splitting`
    wanted: Wanted = ANY  # the columns or keys of words, tags and sentences

    def __iter__(self) -> Iterator[Sentence]:
        return self.read(lambda _: None)

    def read(self, said: Callable[[str], object]) -> Iterator[Sentence]:
        """Yield the sentences; `said` is called with the line about the reading at the end."""
        split = splitter(self.tokenizer)
        choice = Choice(self.file_format, self.wanted, self.scheme, split=split)
        reader = Reader(str(self.path), choice)
        for tagged in strictly(reader, reader.path(self.path)):
            sentence = tagged.sentence
            folded = fold_handles(sentence) if self.fold_handles else sentence
            yield folded if self.types is None else map_types(folded, self.types)
        said(reader.reading)


def read_sentences(  # noqa: PLR0913 - the promised options
    path: str | Path,
    file_format: FormatName | None = None,
    column: str | int | None = None,
    scheme: str | None = None,
    *,
    words: str | int | None = None,
    tags: str | int | None = None,
    sentences: str | int | None = None,
    fold_handles: bool = False,
    types: Mapping[str, str] | None = None,
    tokenizer: str = ENGLISH,
) -> Sentences:
    """Return all sentences of a file; docs/files.md lists the formats, and what is evidence.

    The `reading` of the list says in one line how the file was read. Entities in IOB1, IOE, IO,
    BMES or BMEWO become BIO or BIOES. Lost details are a `LossWarning`.

    Args:
        path: the file.
        file_format: None detects it; `conllu-xpos` reads the fifth column as tag.
        column: the older name of `tags`.
        scheme: converts the entities to BIO, IOB1, BIOES or BILOU.
        words: column of the words, by name or by number from 1; -1 is the last one. In JSON a key.
        tags: column or key of the tags.
        sentences: column or key of the sentences; `blank` for blank lines, `restart` for an index
            of the words that begins anew.
        fold_handles: join `@` and the word after it, see `sentences.fold_handles`.
        types: renames entity types and drops all others, see `sentences.map_types`.
        tokenizer: splits plain texts, such as `spacy:de`; see `text.splitting`.

    Raises:
        FormatError: the file cannot be opened, has no known format or an invalid line, or leaves
            open what its words, tags or sentences are.
    """
    wanted = Wanted(words, column if tags is None else tags, sentences)
    file = SentenceFile(Path(path), file_format, fold_handles, types, scheme, tokenizer, wanted)
    found = Sentences()
    found.extend(file.read(lambda line: setattr(found, "reading", line)))
    return found


def parse_sentences(
    text: str | bytes,
    *,
    name: str = "text",
    file_format: FormatName | None = None,
    column: str | int | None = None,
    scheme: str | None = None,
    wanted: Wanted | None = None,
    pause: Callable[[], object] = lambda: None,
    told: Callable[[str], object] | None = None,
) -> Sentences:
    r"""Parse the content of a file as `read_sentences` does; `name` is its name in messages.

    `pause` is called after each sentence, so that a server can run other work. `told` is called
    with losses and notes; without it losses are warnings.

    >>> parse_sentences("Hello\tINTJ\n!\tPUNCT\n")
    [Sentence(tokens=('Hello', '!'), tags=('INTJ', 'PUNCT'), text=None)]

    """
    reader = Reader(name, Choice(file_format, wanted or Wanted(tags=column), scheme))
    read = reader.content(text) if isinstance(text, bytes) else reader.lines(lines_of(text))
    return _all(reader, strictly(reader, read, told), pause)


def parse_with_answers(
    content: bytes,
    *,
    name: str,
    told: Callable[[str], object],
    wanted: Wanted = ANY,
    pause: Callable[[], object] = lambda: None,
) -> tuple[Sentences, Sentences | None]:
    """Return the sentences as `parse_sentences` does, and again with a tagger's tags.

    The tagger's tags are in the last column, after gold, as in conlleval; None without them.

    Raises:
        FormatError: as `parse_sentences` does.
    """
    reader, notes = Reader(name, Choice(wanted=wanted)), list[str]()
    gold = _all(reader, strictly(reader, reader.content(content), notes.append), pause)
    for note in notes:
        if HAS_ANSWERS not in note:  # here they are not a loss
            told(note)
    columns = reader.found.columns if reader.found else None
    if columns is None or columns.predicted is None:
        return gold, None
    other = replace(wanted, tags=columns.predicted + 1)
    answers = parse_sentences(content, name=name, wanted=other, pause=pause, told=lambda _: None)
    return gold, answers


def strictly(
    reader: Reader,
    sentences: Iterable[Tagged],
    told: Callable[[str], object] | None = None,
    *,
    tagged: bool = True,
) -> Iterator[Tagged]:
    """Yield all sentences, and report the losses at the end.

    Args:
        reader: the reader of the file.
        sentences: the sentences that it yields.
        told: called with losses and notes; None warns of losses.
        tagged: whether to reject plain text, which has no tags.

    Raises:
        FormatError: the first error of a sentence, or the file is plain text.
    """
    for each in sentences:
        if tagged and reader.found and reader.found.format == "text":
            raise plain_text(reader.losses.name, each.line)
        if each.error is not None:
            raise each.error
        yield each
    if told is not None:
        for message in [*reader.notes, *reader.losses.messages()]:
            told(message)
        return
    for message in [*(m for m in reader.notes if "Windows" in m), *reader.losses.messages()]:
        warnings.warn(message, LossWarning, stacklevel=3)


def plain_text(name: str, line: int) -> FormatError:
    """Return the error for a file that should have tags but is plain text."""
    return FormatError(
        f"{name}, line {line}: seems to be plain text without tags; expected a word a line with "
        f"its tag behind a TAB or blank, CoNLL-U, JSONL or another format of docs/files.md"
    )


def require_same_words(gold: Sequence[Sentence], answers: Sequence[Sentence], *, name: str) -> None:
    """Reject predictions for other sentences than those of gold.

    Raises:
        FormatError: names a sentence that differs or has no tags.
    """
    wanted = "a file of predictions needs the same words in the same order"
    for number, (one, other) in enumerate(zip(gold, answers, strict=False), start=1):
        if one.tokens != other.tokens:
            words = (abbreviate(" ".join(each.tokens)) for each in (other, one))
            raise FormatError(
                f"{name}, sentence {number}: {' where gold has '.join(words)}; {wanted}"
            )
        if other.tags is None:
            raise FormatError(f"{name}, sentence {number}: has no tags; {wanted}, each with a tag")
    if len(gold) != len(answers):
        raise FormatError(
            f"{name}: expected {len(gold):,} sentences as in gold, got {len(answers):,}; {wanted}"
        )


def _all(reader: Reader, sentences: Iterable[Tagged], pause: Callable[[], object]) -> Sentences:
    kept = Sentences()
    for tagged in sentences:
        kept.append(tagged.sentence)
        pause()
    kept.reading = reader.reading
    return kept


def parse_part(
    content: bytes, file_format: FormatName, *, name: str, first_line: int
) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of some lines of a file, each with its first line number.

    Args:
        content: complete sentences.
        file_format: of the file.
        name: of the file, for messages.
        first_line: the number of the first line in the file.

    Raises:
        FormatError: as `read_sentences` does, with the line in the file.
    """
    lines = lines_of(decoded(content, name=name, first_line=first_line))
    if file_format == "jsonl":
        return jsonl.numbered_sentences(lines, name, first_line)
    if file_format == "fasta":
        sequences = fasta.records(lines, name, first_line)
        return ((record.line, Sentence(record.letters)) for record in sequences)
    return columns.numbered_sentences(lines, LAYOUTS[file_format], name, first_line)


def warn_of_comments(lines: Iterable[str], file_format: FormatName, *, name: str) -> None:
    """Warn of entities in comments of the first lines, for files that `parse_part` reads."""
    losses = Losses(name)
    for block in columns.blocks(lines) if file_format in LAYOUTS else ():
        rows = [line.split("\t") for _, line in block if "\t" in line]
        tag = LAYOUTS[file_format].tag
        tags = [row[tag] for row in rows if len(row) > tag]
        note_comments(block, tags, losses)
    for message in losses.messages():
        warnings.warn(message, LossWarning, stacklevel=2)


def detect_format(lines: Iterable[str], *, name: str = "text", wanted: Wanted = ANY) -> FormatName:
    """Return the format of lines; plain text has none.

    Raises:
        FormatError: they fit no format.
    """
    head = list(islice(lines, SAMPLE))
    found = find_format(head, wanted, name=name)
    if found.format == "text":
        line = next(number for number, line in enumerate(head, start=1) if line.strip())
        raise plain_text(name, line)
    return cast("FormatName", found.format)


def render_sentences(sentences: Iterable[Sentence], file_format: FormatName) -> str:
    """Return the sentences as text; `parse_sentences` reads back the same ones.

    Raises:
        FormatError: a column format cannot hold a word, see `columns.render_columns`; or the format
            is FASTA, which has no tags.

    """
    if file_format not in FORMATS or file_format == "fasta":
        raise FormatError(
            "FASTA has no place for tags: choose columns"
            if file_format == "fasta"
            else f"{file_format} is not written: choose columns or JSONL"
        )
    if file_format == "jsonl":
        return render_jsonl(sentences)
    return render_columns(sentences, LAYOUTS[file_format])
