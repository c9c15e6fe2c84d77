"""Annotations as files, with the characters of every word; `importing` reads them back whole.

Exporting, importing into an empty store and exporting again gives the same bytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

from crfviz.annotations.files.columns import render_columns, render_conllu
from crfviz.annotations.files.fields import Pair
from crfviz.annotations.files.objects import render_jsonl, render_spacy

FileFormat = Literal["conllu", "columns", "jsonl", "spacy"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
RENDERERS = {"conllu": render_conllu, "columns": render_columns, "jsonl": render_jsonl}
SUFFIXES: dict[FileFormat, str] = {
    "conllu": ".conllu",
    "columns": ".conll",
    "jsonl": ".jsonl",
    "spacy": ".json",
}


def render(pairs: Sequence[Pair], file_format: FileFormat) -> str:
    """The annotations as the text of one file; those of one sentence are given side by side.

    Raises:
        FormatError: a column format cannot hold a tag; says which.
    """
    return "".join(rendered(pairs, file_format))


def rendered(pairs: Iterable[Pair], file_format: FileFormat) -> Iterator[str]:
    """The same in pieces, for files that are larger than one likes to hold."""
    if file_format != "spacy":
        yield from map(RENDERERS[file_format], pairs)
        return
    before = "[\n"
    for pair in pairs:
        yield before + render_spacy(pair)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"
