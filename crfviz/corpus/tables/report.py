"""An evaluation as JSON, and the JSON as a table to print or for a model card.

Shares are in [0, 1] in JSON and in per cent in tables, with their 95 % intervals in brackets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crfviz.corpus.metrics import Rate
from crfviz.corpus.table import aligned
from crfviz.corpus.tables.scores import DECODERS, DecoderScores, Evaluation

TITLES = {
    "independent": "independent greedy",
    "left_to_right": "left-to-right greedy",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
}
DIGITS = 6  # of numbers in JSON

Record = Mapping[str, Any]  # one evaluation as JSON; keys as in `as_record`


def as_record(evaluation: Evaluation, file: str) -> dict[str, Any]:
    """Everything that was measured, ready for JSON; `file` says on what.

    Entity scores and `invalid_bio` are None where the tagger has no BIO tags.
    """
    return {
        "model": evaluation.model,
        "file": file,
        "sentences": evaluation.num_sentences,
        "tokens": evaluation.num_tokens,
        "scheme": evaluation.scheme,
        "device": evaluation.device,
        "probabilistic": evaluation.probabilistic,
        "scoring_seconds": round(evaluation.scoring_seconds, DIGITS),
        "ece": round(evaluation.ece, DIGITS),
        "sequence_ece": round(evaluation.sequence_ece, DIGITS),
        **{name: _decoder_record(evaluation.decoders[name]) for name in DECODERS},
    }


def as_text(record: Record) -> str:
    """What `python -m crfviz evaluate` prints."""
    table = aligned(_rows(record))
    return "\n".join([f"{record['model']} on {_size(record)}", "", *table, "", *_notes(record)])


def notes(record: Record) -> list[str]:
    """What the reader of a whole record (`corpus.tables.analysis.full_record`) has to know."""
    found = []
    errors, longer = record["errors"], record["longer_than_trained"]
    if errors["listed"] < errors["total"]:
        found.append(
            f"All {errors['total']:,} errors are counted. Listed are the first "
            f"{errors['listed']:,} and the {errors['listed']:,} most suspicious."
        )
    if longer and longer["sentences"]:
        found.append(
            f"{longer['sentences']:,} of {record['sentences']:,} sentences are longer than the "
            f"longest of the training, {longer['longest_trained']} words: the model has not "
            "learnt from such."
        )
    return found


def as_markdown(record: Record) -> str:
    """The same for a model card, without the name of the model."""
    header, *rows = _rows(record)
    table = [_markdown_row(row) for row in (header, ["---"] * len(header), *rows)]
    notes = [f"- {note}" for note in _notes(record)]
    return "\n".join([f"On {_size(record)}:", "", *table, "", *notes])


def _decoder_record(scores: DecoderScores) -> dict[str, Any]:
    entities = scores.entities
    by_type = None
    if entities:
        by_type = {name: round(f1, DIGITS) for name, f1 in entities.f1_by_type.items()}
    return {
        **_rate_record("token_accuracy", scores.accuracy.tokens),
        **_rate_record("sentence_accuracy", scores.accuracy.sentences),
        **_rate_record("entity_precision", entities.precision if entities else None),
        **_rate_record("entity_recall", entities.recall if entities else None),
        **_rate_record("entity_f1", entities.f1 if entities else None),
        "entity_f1_by_type": by_type,
        "invalid_bio": scores.invalid_bio,
        "seconds": round(scores.seconds, DIGITS),
    }


def _rate_record(name: str, rate: Rate | None) -> dict[str, Any]:
    if rate is None:
        return {name: None, f"{name}_interval": None}
    interval = [round(rate.low, DIGITS), round(rate.high, DIGITS)]
    return {name: round(rate.value, DIGITS), f"{name}_interval": interval}


def _rows(record: Record) -> list[list[str]]:
    """Header and one row a decoder."""
    shares = {"words right, %": "token_accuracy", "sentences right, %": "sentence_accuracy"}
    if record["scheme"]:
        shares = {
            "precision, %": "entity_precision",
            "recall, %": "entity_recall",
            "F1, %": "entity_f1",
        }
    counts = ["sentences that break BIO"] if record["scheme"] else []
    rows = [["decoder", *shares, *counts, "seconds"]]
    for name in DECODERS:
        scores = record[name]
        cells = [_rate(scores, share) for share in shares.values()]
        if counts:
            cells.append(f"{scores['invalid_bio']:,}")
        rows.append([TITLES[name], *cells, f"{scores['seconds']:.2f}"])
    return rows


def _rate(scores: Record, share: str) -> str:
    low, high = scores[f"{share}_interval"]
    return f"{100 * scores[share]:.2f} ({100 * low:.1f} to {100 * high:.1f})"


def _size(record: Record) -> str:
    return f"{record['file']}: {record['sentences']:,} sentences, {record['tokens']:,} words"


def _notes(record: Record) -> list[str]:
    notes = [
        f"Expected calibration error: {100 * record['ece']:.2f} % of words (marginals), "
        f"{100 * record['sequence_ece']:.2f} % of sentences (Viterbi path).",
        f"Seconds are those of decoding; from words to scores it took "
        f"{record['scoring_seconds']:.2f} on {record['device']}.",
    ]
    if not record.get("probabilistic", True):
        notes[0] += " The model has scores, not probabilities: this is what a CRF with them says."
    if not record["scheme"]:
        return ["In brackets: 95 % intervals (Wilson).", *notes]
    types = record["viterbi"]["entity_f1_by_type"]
    by_type = ", ".join(f"{name} {100 * f1:.1f}" for name, f1 in types.items())
    words, sentences = (
        _rate(record["viterbi"], share) for share in ("token_accuracy", "sentence_accuracy")
    )
    return [
        "In brackets: 95 % intervals (bootstrap over sentences; of words and sentences: Wilson).",
        "The greedy decoders work on the scores as trained, the other two with the rules of BIO.",
        f"Viterbi F1 by type: {by_type or 'no entity'}. Words right: {words} %, "
        f"sentences right: {sentences} %.",
        *notes,
    ]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
