"""Annotations as files, with the characters of every word; `importing` reads them back whole.

Exporting, importing into an empty store and exporting again gives the same bytes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from crfviz.annotations.files.columns import render_columns, render_conllu
from crfviz.annotations.files.objects import render_jsonl, render_spacy
from crfviz.annotations.records import Pair
from crfviz.annotations.settings import Settings

FileFormat = Literal["conllu", "columns", "jsonl", "spacy"]
FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
NO_SETTINGS: Mapping[str, Settings] = {}
RENDERERS = {"conllu": render_conllu, "columns": render_columns, "jsonl": render_jsonl}
SUFFIXES: dict[FileFormat, str] = {
    "conllu": ".conllu",
    "columns": ".conll",
    "jsonl": ".jsonl",
    "spacy": ".json",
}


def render(
    pairs: Sequence[Pair], file_format: FileFormat, settings: Mapping[str, Settings] = NO_SETTINGS
) -> str:
    """Return the annotations as the text of a file; those of one sentence are adjacent.

    The settings of a document, by its name, go with its first sentence.

    Raises:
        FormatError: a column format cannot hold a tag; says which.
    """
    return "".join(rendered(pairs, file_format, settings))


def rendered(
    pairs: Iterable[Pair], file_format: FileFormat, settings: Mapping[str, Settings] = NO_SETTINGS
) -> Iterator[str]:
    """Yield the same text in pieces, for files that should not be held in memory."""
    pairs = _with_settings(pairs, dict(settings))
    if file_format != "spacy":
        yield from map(RENDERERS[file_format], pairs)
        return
    before = "[\n"
    for pair in pairs:
        yield before + render_spacy(pair)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _with_settings(pairs: Iterable[Pair], settings: dict[str, Settings]) -> Iterator[Pair]:
    for item, annotation in pairs:
        yield replace(item, settings=settings.pop(item.document, None)), annotation
