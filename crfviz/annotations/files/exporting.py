"""Export of annotations with character offsets, which `importing` reads back completely.

Exporting, importing into an empty store and exporting again gives the same bytes. The formats of
other programs hold only the final tags.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from crfviz.annotations.files.columns import render_columns, render_conllu
from crfviz.annotations.files.objects import render_jsonl, render_spacy
from crfviz.annotations.records import Pair
from crfviz.annotations.settings import Settings
from crfviz.text.sentences import Sentence, words_at
from crfviz.text.writing import written

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
FOREIGN_SUFFIXES = {  # formats of `text.writing`
    "conll2003": ".conll",
    "blanks": ".bio",
    "doccano": ".jsonl",
    "labelstudio": ".json",
    "prodigy": ".jsonl",
    "docbin": ".spacy",
    "parquet": ".parquet",
}
SCHEMED = ("conll2003", "blanks", "parquet")  # formats with a tag for each word


def render(
    pairs: Sequence[Pair], file_format: FileFormat, settings: Mapping[str, Settings] = NO_SETTINGS
) -> str:
    """Return the annotations as the text of a file; the annotations of one sentence are adjacent.

    The first sentence of a document carries the settings of that name.

    Raises:
        FormatError: a column format cannot hold a tag; says which.
    """
    return "".join(rendered(pairs, file_format, settings))


def rendered(
    pairs: Iterable[Pair], file_format: FileFormat, settings: Mapping[str, Settings] = NO_SETTINGS
) -> Iterator[str]:
    """Yield the text of `render` in pieces, to save memory."""
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


def foreign(pairs: Iterable[Pair], file_format: str, scheme: str | None = None) -> bytes:
    """Return the final tags as a file of another program.

    Args:
        pairs: the annotations, one sentence each; Label Studio gets finished ones as annotations.
        file_format: one of `FOREIGN_SUFFIXES`.
        scheme: target scheme of entities (BIO, IOB1, BIOES, BILOU); None keeps the present one.

    Raises:
        FormatError: the format cannot hold a word or the tags; says which.
    """
    pairs = list(pairs)
    sentences = [
        Sentence(words_at(item.text, said.offsets), said.final, item.text) for item, said in pairs
    ]
    done = {n for n, (_, said) in enumerate(pairs) if said.state == "done"}
    return written(sentences, file_format, scheme, finished=done)
