"""Files that cannot be split into shards as they stand, rewritten as JSONL.

A file of columns separated by TABs, of JSONL or FASTA can be cut between any two sentences and its
parts be read alone. Of every other file the format, the columns or the scheme show only as a whole.
"""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

from crfviz.text.columns import COLUMNS
from crfviz.text.readers.finding import LAYOUTS
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.reading import Choice, Reader, strictly
from crfviz.text.readers.rows import Columns
from crfviz.text.schemes import BIO, OUTSIDE, SCHEMES

PLAIN = {**LAYOUTS, "columns": COLUMNS}
STREAMED = ("jsonl", "fasta")
MAX_SCANNED = 20_000  # sentences without an entity, after which a file is taken as it is


def format_of_parts(path: Path, choice: Choice) -> str | None:
    """Return the format in which the parts of a file can be read alone; None if they cannot.

    They must have the tags that were asked for as they stand.

    Looks at the sentences up to the first one with a tag other than `O`.

    Raises:
        FormatError: the file is of no format, or cannot be opened.
    """
    reader = Reader(str(path), Choice(choice.file_format, choice.column))
    tags: set[str] = set()
    for number, tagged in enumerate(reader.path(path)):
        tags |= {*(tagged.sentence.tags or ())} - {OUTSIDE}
        if tags or number == MAX_SCANNED or tagged.error is not None:
            break
    found = reader.found
    if found is None or reader.recoded or reader.notes or reader.losses.messages():
        return None
    if found.columns is not None:
        plain = found.columns == Columns(PLAIN.get(found.format, COLUMNS))
        alone = plain and not reader.has_documents
    else:
        alone = found.format in STREAMED and reader.objects.plain
    prefixes = {tag[0] for tag in tags if tag[1:2] == "-"}
    same = not prefixes or choice.scheme is None
    fits = alone and (same or (choice.scheme == BIO and prefixes <= {*SCHEMES[BIO]}))
    return found.format if fits else None


def rewritten(path: Path, choice: Choice, *, tagged: bool = True) -> Iterator[bytes]:
    """Yield the sentences of a file as lines of JSONL.

    Args:
        path: of the file.
        choice: how to read it; a scheme converts entities, and leaves other tags as they are.
        tagged: whether plain text is refused.

    Raises:
        FormatError: a sentence cannot be read; says which line.
    """
    reader = Reader(str(path), choice)
    with warnings.catch_warnings():
        warnings.simplefilter("always", LossWarning)
        for each in strictly(reader, reader.path(path), tagged=tagged):
            fields = {key: value for key, value in vars(each.sentence).items() if value is not None}
            yield f"{json.dumps(fields, ensure_ascii=False)}\n".encode()
