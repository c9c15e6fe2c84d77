"""The evaluation of a tagger in one call, and the comparison of two by McNemar's test.

All predictions are Viterbi's. A win is right in the first run and wrong in the second, a loss is
the opposite; `p` is that of McNemar's test (`crfviz.corpus.metrics`). Of entities only those of
gold count. Two runs on different sentences raise a ShapeError.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.questions.costs import Costs
from crfviz.chain.validation import items, plain_tag, tag_id
from crfviz.corpus.counts.exact import Counts, added
from crfviz.corpus.metrics import mcnemar, wilson
from crfviz.corpus.run.errors import words_in_context
from crfviz.corpus.run.results import MAX_KEPT, Results
from crfviz.corpus.run.tagging import run
from crfviz.corpus.table import Table, TableRow, rate_cells
from crfviz.corpus.tables.report import as_text, full_record, tables_of
from crfviz.exceptions import CrfvizError, ShapeError, errors_at
from crfviz.taggers.tagger import Tagger, words_of
from crfviz.text.files import abbreviate_value
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import BIO, entity_scheme, spans
from crfviz.text.sentences import Sentence

KINDS = ("win", "loss", "both wrong")  # kinds of disagreement about a sentence
MAX_NAMED = 6  # wrong words of a sentence that are listed

Right = NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """Comparison of two runs on the same sentences, or on a part of them."""

    units: dict[str, list[int]]  # by unit: right in both, wins, losses, wrong in both
    disagreements: Table


def compare_runs(
    first: Results, second: Results, sentences: Iterable[Sentence], most: int = MAX_KEPT
) -> Comparison:
    return Comparison(_units(first, second), disagreements(first, second, sentences, most))


def merge_comparisons(
    first: Comparison, second: Comparison, sentences: int, most: int = MAX_KEPT
) -> Comparison:
    """Merge the comparisons of two neighbouring parts of a file."""
    units = added(cast("Counts", first.units), cast("Counts", second.units))
    room = most - len(first.disagreements)
    later = [
        {**row, "sentence": int(row["sentence"] or 0) + sentences}
        for row in second.disagreements[:room]
    ]
    return Comparison(cast("dict[str, list[int]]", units), [*first.disagreements, *later])


def _units(first: Results, second: Results) -> dict[str, list[int]]:
    _same_sentences(first, second)
    units = {
        "words": _counts(first.right("viterbi"), second.right("viterbi")),
        "sentences": _counts(first.sentences_right("viterbi"), second.sentences_right("viterbi")),
    }
    scheme = entity_scheme(first.tagger.tags)
    same = scheme is not None and scheme == entity_scheme(second.tagger.tags)
    if same and first.names(first.gold) == second.names(second.gold):
        units["gold entities"] = _counts(_gold_entities_found(first), _gold_entities_found(second))
    return units


def disagreements(
    first: Results, second: Results, sentences: Iterable[Sentence], most: int = MAX_KEPT
) -> Table:
    """Return the first `most` sentences that at least one tagger gets wrong, in file order.

    A row has the kind, one of `KINDS`; the numbers of words won, lost and wrong in both; and the
    wrong words as "word gold first/second". Sentences and positions count from 1. The sentences are
    read once.
    """
    _same_sentences(first, second)
    ours, theirs = first.right("viterbi"), second.right("viterbi")
    ends = [0, *np.cumsum(first.lengths).tolist()]
    rows: Table = []
    for number, (sentence, (start, end)) in enumerate(
        zip(sentences, pairwise(ends), strict=True), start=1
    ):
        a, b = ours[start:end], theirs[start:end]
        if len(rows) == most or (a.all() and b.all()):
            continue
        wrong = np.flatnonzero(~(a & b))
        rows.append(
            {
                "sentence": number,
                "kind": "win" if a.all() else "loss" if b.all() else "both wrong",
                "won": int((a & ~b).sum()),
                "lost": int((b & ~a).sum()),
                "wrong_in_both": int((~a & ~b).sum()),
                "position": int(wrong[0]) + 1,
                "around": words_in_context(sentence.tokens, int(wrong[0]), int(wrong[0])),
                "where": _where(first, second, sentence, start, wrong.tolist()),
                "text": " ".join(sentence.tokens),
            }
        )
    return rows


def _where(
    first: Results, second: Results, sentence: Sentence, start: int, wrong: Sequence[int]
) -> str:
    sides = [(results.tagger.tags, results.tags["viterbi"]) for results in (first, second)]
    texts = []
    for t in wrong[:MAX_NAMED]:
        tags = "/".join(names[ids[start + t]] for names, ids in sides)
        texts.append(f"{sentence.tokens[t]} {(sentence.tags or ())[t]} {tags}")
    return ", ".join([*texts, *["…"] * (len(wrong) > MAX_NAMED)])


def _counts(first: Right, second: Right) -> list[int]:
    kinds = (first & second, first & ~second, second & ~first, ~first & ~second)
    return [int(kind.sum()) for kind in kinds]


def _rows(units: Mapping[str, Sequence[int]]) -> Table:
    rows: Table = []
    for unit, (both, wins, losses, neither) in units.items():
        total = both + wins + losses + neither
        rows.append(
            {
                "unit": unit,
                "both_right": both,
                "wins": wins,
                "losses": losses,
                "both_wrong": neither,
                **rate_cells("first", wilson(both + wins, total)),
                **rate_cells("second", wilson(both + losses, total)),
                "p": mcnemar(wins, losses),
            }
        )
    return rows


def _gold_entities_found(results: Results) -> Right:
    scheme = entity_scheme(results.tagger.tags) or BIO
    sides = (results.names(ids) for ids in (results.gold, results.tags["viterbi"]))
    return np.array(
        [
            span in predicted
            for gold, guess in zip(*sides, strict=True)
            for predicted in [set(spans(guess, scheme))]
            for span in spans(gold, scheme)
        ],
        dtype=np.bool_,
    )


def _same_sentences(first: Results, second: Results) -> None:
    if not np.array_equal(first.lengths, second.lengths):
        raise ShapeError(
            f"expected two runs on the same sentences, got {first.num_sentences} sentences of "
            f"{len(first.gold)} words and {second.num_sentences} of {len(second.gold)}"
        )


def comparison_tables(
    first: Results, second: Results, sentences: Iterable[Sentence]
) -> dict[str, Table]:
    return tables_of_comparison(compare_runs(first, second, sentences))


def tables_of_comparison(comparison: Comparison) -> dict[str, Table]:
    return {"models": _rows(comparison.units), "disagreements": comparison.disagreements}


def comparison_text(first: str, second: str, table: Sequence[TableRow]) -> str:
    """Return the text that `python -m crfviz evaluate --against` prints."""
    lines = [f"{first} against {second}, by Viterbi:"]
    for row in table:
        shares = [100 * float(row[side] or 0) for side in ("first", "second")]
        lines.append(
            f"  {row['unit']}: {shares[0]:.2f} % and {shares[1]:.2f} % right; "
            f"{row['wins']:,} wins, {row['losses']:,} losses, {row['both_wrong']:,} wrong in both; "
            f"p = {float(row['p'] or 0):.2g} (McNemar)"
        )
    return "\n".join(lines)


Tagging = Sentence | tuple[Sequence[str], Sequence[str]]  # a sentence, or its words and tags


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ShortRepr):
    """The figures of `crfviz evaluate` and the page Model errors; printed, a small table."""

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
    costs: Costs | None = None,
    against: Tagger | None = None,
) -> Evaluation:
    """Tag sentences with every decoder and compare with their gold tags, in memory.

    Among the tables are "tags", "confusion", "calibration", "decoders", "errors" with their causes,
    and for two taggers "models" and "disagreements".

    Args:
        tagger: the tagger to evaluate.
        sentences: a file (CoNLL-U, iob2, CoNLL columns or JSONL), or sentences with tags.
        rule: pattern over the tags, an additional decoder; see `crfviz.match`.
        costs: of errors, an additional decoder; see `crfviz.least_cost`.
        against: another tagger, compared with the first one.

    Raises:
        FormatError, UnknownTagError, NoPathError, CrfvizError: as `crfviz.corpus.run.tagging.run`.
    """
    name = str(sentences) if isinstance(sentences, str | Path) else "sentences"
    given = gold_sentences(sentences, tagger.tags)
    results = run(tagger, given, rule=rule, costs=costs)
    tables = tables_of(results)
    if against is not None:
        tables |= comparison_tables(results, run(against, given), given)
    figures = full_record(results, name, tables)
    return Evaluation(figures, tables, results)


def gold_sentences(
    gold: str | Path | Iterable[Tagging], names: Sequence[str] | None = None
) -> list[Sentence]:
    """Return the sentences of a file, or the given ones; see `as_sentence`.

    Raises:
        CrfvizError: the file cannot be read, or as `as_sentence`; says which sentence.
    """
    if isinstance(gold, str | Path):
        return list(read_sentences(gold))
    if not isinstance(gold, Iterable):
        raise CrfvizError(f"expected a file or sentences, got {abbreviate_value(gold)}")
    sentences = []
    for number, each in enumerate(gold, start=1):
        with errors_at(f"sentence {number}"):
            sentences.append(as_sentence(each, names))
    return sentences


def as_sentence(tagging: Tagging, names: Sequence[str] | None = None) -> Sentence:
    """Return a tagged sentence from a `Sentence` or from its words and tags.

    Args:
        tagging: the sentence; its tags are names, or ids of `names`.
        names: of the tagger; None: a tag that is a number is its own name.

    Raises:
        CrfvizError: it is neither, or a word or tag is invalid.
    """
    tokens: Any
    tags: Any
    raw = None
    if isinstance(tagging, Sentence):
        if names is None or tagging.tags is None:
            return tagging
        tokens, tags, raw = tagging.tokens, tagging.tags, tagging.text
    else:
        try:
            tokens, tags = tagging
        except (TypeError, ValueError):
            raise CrfvizError(
                f"expected a Sentence or a pair of words and tags, got {abbreviate_value(tagging)}"
            ) from None
    plain = [plain_tag(tag) for tag in items("tags", tags)]
    named = (
        str(tag) if names is None or isinstance(tag, str) else names[tag_id(tag, names)]
        for tag in plain
    )
    return Sentence(words_of(tokens), tuple(named), raw)
