"""Table rows of errors and suspected entities; sentences and positions count from 1."""

from collections.abc import Mapping, Sequence

from crfviz.corpus.run.errors import EntitySuspect, Error
from crfviz.corpus.table import Table, TableRow
from crfviz.text.sentences import Sentence

NEIGHBOURS = 3  # words on either side of the words in brackets


def words_in_context(words: Sequence[str], first: int, last: int) -> str:
    """Return some words in brackets, with their neighbours.

    >>> words_in_context("so we walked home slowly in the rain".split(), 4, 4)
    '… we walked home [slowly] in the rain'
    """
    before, after = words[:first], words[last + 1 :]
    parts = [
        *["…"][: len(before) > NEIGHBOURS],
        *before[-NEIGHBOURS:],
        f"[{' '.join(words[first : last + 1])}]",
        *after[:NEIGHBOURS],
        *["…"][: len(after) > NEIGHBOURS],
    ]
    return " ".join(parts)


def error_table(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> Table:
    """Return one row for each error, with the words; sentences and positions count from 1."""
    return [
        {
            "sentence": error.sentence + 1,
            "position": error.first + 1,
            "words": " ".join(words[error.first : error.last + 1]),
            "around": words_in_context(words, error.first, error.last),
            "gold": " ".join(error.gold),
            "predicted": " ".join(error.predicted),
            "kind": error.triage.kind,
            "gap": error.triage.gap,
            "emission_gap": error.triage.emission_gap,
            "transition_gap": error.triage.transition_gap,
            "emission_change": error.triage.emission_change,
            "transition_change": error.triage.transition_change,
            "p_gold": error.gold_probability,
            "p_predicted": error.predicted_probability,
            "text": " ".join(words),
        }
        for error in errors
        for words in [sentences[error.sentence].tokens]
    ]


def entity_suspect_table(
    suspects: Sequence[EntitySuspect], sentences: Mapping[int, Sentence]
) -> Table:
    """Return one row for each; sentences and positions count from 1."""
    return [
        {
            "sentence": suspect.sentence + 1,
            "position": suspect.span.start + 1,
            "words": " ".join(words[suspect.span.start : suspect.span.end]),
            "around": words_in_context(words, suspect.span.start, suspect.span.end - 1),
            "type": suspect.span.type,
            "only_in": "gold" if suspect.in_gold else "prediction",
            "p_entity": suspect.probability,
            "doubt": suspect.doubt,
            "text": " ".join(words),
        }
        for suspect in suspects
        for words in [sentences[suspect.sentence].tokens]
    ]


def suspicion_of(row: TableRow) -> tuple[float, ...]:
    """Return the sort key of an error row; as `results.suspicion`."""
    p_gold, p_predicted, *place = (
        float(row[name] or 0) for name in ("p_gold", "p_predicted", "sentence", "position")
    )
    return p_gold, -p_predicted, *place


def doubt_of(row: TableRow) -> tuple[float, ...]:
    """Return the sort key of a suspected entity's row; as `EntitySuspect.order`."""
    doubt, *place = (float(row[name] or 0) for name in ("doubt", "sentence", "position"))
    return -doubt, *place, float(row["only_in"] == "gold")
