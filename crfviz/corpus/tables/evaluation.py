"""The evaluation of a tagger in one call: figures, tables, and results word by word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crfviz.chain.notebook_repr import ShortRepr
from crfviz.corpus.run.results import Results
from crfviz.corpus.run.tagging import run
from crfviz.corpus.table import Table
from crfviz.corpus.tables.report import as_text, full_record, tables_of
from crfviz.corpus.tables.two_models import comparison_tables
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence

Tagging = Sentence | tuple[Sequence[str], Sequence[str]]  # or its words and tags


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ShortRepr):
    """What `crfviz evaluate` and the page Model errors show; printed, it is a small table."""

    figures: Mapping[str, Any]  # see `crfviz.corpus.tables.report.as_record`
    tables: Mapping[str, Table]  # rows as objects, by the names in `crfviz.corpus.tables.report`
    results: Results = field(repr=False)  # arrays over words and sentences

    def __str__(self) -> str:
        """Return the figures of each decoder as text."""
        return as_text(self.figures)


def evaluate(
    tagger: Tagger,
    sentences: str | Path | Iterable[Tagging],
    *,
    rule: str | None = None,
    against: Tagger | None = None,
) -> Evaluation:
    """Tag sentences by every decoder and compare with their tags, in memory.

    Among the tables are "tags", "confusion", "calibration", "decoders", "errors" with what is to
    blame for each, and for two taggers "models" and "disagreements".

    Args:
        tagger: the one to measure.
        sentences: a file (CoNLL-U, iob2, CoNLL columns or JSONL), or sentences with tags.
        rule: over the tags, for one more decoder; see `crfviz.match`.
        against: another tagger, compared with the first one.

    Raises:
        FormatError, UnknownTagError, NoPathError, CrfvizError: as `crfviz.corpus.run.tagging.run`.
    """
    if isinstance(sentences, str | Path):
        name, given = str(sentences), read_sentences(sentences)
    else:
        name, given = "sentences", [as_sentence(each) for each in sentences]
    results = run(tagger, given, rule=rule)
    tables = tables_of(results)
    if against is not None:
        tables |= comparison_tables(results, run(against, given), given)
    figures = full_record(results, name, tables)
    return Evaluation(figures, tables, results)


def as_sentence(tagging: Tagging) -> Sentence:
    """Return a tagged sentence, given as such or as its words and tags."""
    if isinstance(tagging, Sentence):
        return tagging
    words, tags = tagging
    return Sentence(tuple(words), tuple(tags))
