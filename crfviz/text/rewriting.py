"""Files that cannot be split into shards directly, rewritten as JSONL.

Columns separated by TABs, JSONL and FASTA can be split between any two sentences, and the parts
read separately. Other files must be read completely to know their format, columns or scheme.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from crfviz.text.columns import COLUMNS
from crfviz.text.formats import strictly
from crfviz.text.readers.finding import LAYOUTS
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.reading import Choice, Reader
from crfviz.text.readers.rows import Columns
from crfviz.text.schemes import BIO, OUTSIDE, SCHEMES

PLAIN = {**LAYOUTS, "columns": COLUMNS}
STREAMED = ("jsonl", "fasta")
MAX_SCANNED = 20_000  # sentences, after which detection stops


def format_of_parts(path: Path, choice: Choice) -> tuple[str | None, str]:
    """Return the format in which parts of a file can be read separately, and how it is read.

    The format is None if they cannot. The parts must already have the requested tags. The function
    reads up to `MAX_SCANNED` sentences.

    Raises:
        FormatError: the format is unknown, or the file cannot be opened.
    """
    reader = Reader(str(path), Choice(choice.file_format, choice.wanted))
    number = -1
    tags: set[str] = set()
    for number, tagged in enumerate(reader.path(path)):
        tags |= {*(tagged.sentence.tags or ())} - {OUTSIDE}
        if number == MAX_SCANNED or tagged.error is not None:
            break
    else:
        number = -1
    found = reader.found
    if found is None or reader.recoded or reader.notes or reader.losses.messages():
        return None, ""
    if found.columns is not None:
        known = replace(found.columns, names=())
        plain = known == Columns(PLAIN.get(found.format, COLUMNS))
        alone = plain and not reader.has_documents
    else:
        alone = found.format in STREAMED and reader.objects.plain
    prefixes = {tag[0] for tag in tags if tag[1:2] == "-"}
    same = not prefixes or choice.scheme is None
    fits = alone and (same or (choice.scheme == BIO and prefixes <= {*SCHEMES[BIO]}))
    reading = reader.reading if number < 0 else f"{reader.reading} and more"
    return (found.format if fits else None), reading


def rewritten(
    path: Path,
    choice: Choice,
    said: Callable[[str], object] = lambda _: None,
    *,
    tagged: bool = True,
) -> Iterator[bytes]:
    """Yield the sentences of a file as lines of JSONL.

    Args:
        path: the file.
        choice: reading options; a scheme converts entities, and keeps other tags.
        said: called with the line about the reading at the end.
        tagged: whether to reject plain text.

    Raises:
        FormatError: a sentence is invalid; names the line.
    """
    reader = Reader(str(path), choice)
    with warnings.catch_warnings():
        warnings.simplefilter("always", LossWarning)
        for each in strictly(reader, reader.path(path), tagged=tagged):
            fields = {key: value for key, value in vars(each.sentence).items() if value is not None}
            yield f"{json.dumps(fields, ensure_ascii=False)}\n".encode()
    said(reader.reading)
