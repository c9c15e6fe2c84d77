"""All tables of a run, and an evaluation as JSON and printed text.

Shares are in [0, 1] in JSON and in per cent in tables, with their 95 % intervals in brackets.

| topic                | tables                                             |
|----------------------|----------------------------------------------------|
| errors               | tags, confusion, entity_schemes, entity_kinds, ece, calibration, coverage |
| gain from the CRF    | decoders, oracle                                   |
| price of the errors  | costs, sets                                        |
| place of the errors  | slices                                             |
| cause of the errors  | kinds, tag_pairs, transitions, weights, errors     |
| possible gold errors | suspects, entity_suspects                          |
"""

from collections.abc import Mapping
from typing import Any

from crfviz.chain.questions.costs import KINDS, costs_text
from crfviz.corpus.counts.exact import expected_error
from crfviz.corpus.counts.run_counts import CountedRun, RunCounts, as_counted
from crfviz.corpus.metrics import Rate
from crfviz.corpus.run.results import LEAST_COST, RULE, Results
from crfviz.corpus.table import DIGITS, Table, aligned, markdown, rounded
from crfviz.corpus.tables.accuracy import (
    ALL_TITLES,
    DECODERS,
    DecoderScores,
    calibration_table,
    confusion_table,
    cost_table,
    coverage_table,
    decoder_scores,
    decoder_table,
    ece_table,
    entity_kind_table,
    oracle_table,
    scheme_table,
    tag_table,
)
from crfviz.corpus.tables.errors import (
    all_slices,
    kind_table,
    pair_table,
    transition_table,
    weight_table,
)
from crfviz.taggers.answers import Answers
from crfviz.text.schemes import BIO, entity_scheme

ANSWERS = "viterbi"  # decoder name for the tags of a tagger without scores
OF_SCORES = (  # tables that a tagger without scores lacks
    *("ece", "calibration", "coverage", "decoders", "oracle"),
    *("kinds", "tag_pairs", "transitions", "weights", "suspects", "entity_suspects"),
)
OF_TAGS = ("sentence", "position", "words", "around", "gold", "predicted", "text")

Tables = Mapping[str, Table]
Record = Mapping[str, Any]  # one evaluation as JSON; keys as in `as_record`


def as_record(results: Results | CountedRun, file: str) -> dict[str, Any]:
    """Return all measurements as JSON types; `file` is the name of the data.

    Entity scores and `invalid_bio` are None if the tags are of no scheme. `ece` is the expected
    calibration error of words by their largest marginal, `sequence_ece` that of sentences by the
    probability of the Viterbi path; both use the constrained potentials. A run with a rule has an
    additional decoder: how many sentences it changes, repairs and spoils compared with Viterbi, and
    how many have no matching path. A run with costs has one, too, with the mean cost of a word.
    """
    run = as_counted(results)
    tagger, tally = run.tagger, run.tally
    return {
        "model": tagger.name,
        "file": file,
        "sentences": tally.size["sentences"],
        "tokens": tally.size["words"],
        "scheme": tagger.scheme,
        "tag_scheme": entity_scheme(tagger.tags),
        "device": tagger.device,
        "probabilistic": tagger.probabilistic,
        **({"scores": False} if isinstance(tagger, Answers) else {}),
        "scoring_seconds": round(sum(tally.seconds["scoring"]), DIGITS),
        "ece": round(expected_error(tally.bins["words"]) or 0.0, DIGITS),
        "sequence_ece": round(expected_error(tally.bins["sentences"]) or 0.0, DIGITS),
        **{name: _decoder_record(decoder_scores(tally, name)) for name in DECODERS},
        **({} if tally.rule is None else {RULE: _rule_record(tally, tally.rule)}),
        **({} if tally.costs is None else {LEAST_COST: _cost_record(run)}),
    }


def untimed(record: Record) -> dict[str, Any]:
    """Return a record without measured times, identical for identical input."""
    timeless = {name: value for name, value in record.items() if name != "scoring_seconds"}
    for name in _decoders(record):
        timeless[name] = {key: value for key, value in record[name].items() if key != "seconds"}
    return timeless


def as_text(record: Record) -> str:
    table = aligned(_rows(record))
    return "\n".join([f"{record['model']} on {_size(record)}", "", *table, "", *_notes(record)])


def notes(record: Record) -> list[str]:
    """Return the notes to display with a full record (`full_record`)."""
    facts = []
    errors, longer = record["errors"], record["longer_than_trained"]
    if errors["listed"] < errors["total"]:
        facts.append(
            f"All {errors['total']:,} errors are counted. Listed are the first "
            f"{errors['listed']:,} and the {errors['listed']:,} most suspicious."
        )
    if longer and longer["sentences"]:
        facts.append(
            f"{longer['sentences']:,} of {record['sentences']:,} sentences are longer than the "
            f"longest of the training, {longer['longest_trained']} words: the model has not "
            "learnt from such."
        )
    return facts


def as_markdown(record: Record) -> str:
    """Return the notes for a model card, without the name of the model."""
    table, notes = markdown(_rows(record)), [f"- {note}" for note in _notes(record)]
    return "\n".join([f"On {_size(record)}:", "", table, "", *notes])


def _decoder_record(scores: DecoderScores) -> dict[str, Any]:
    entities = scores.entities
    rates: dict[str, Rate | None] = {
        "token_accuracy": scores.accuracy.tokens,
        "sentence_accuracy": scores.accuracy.sentences,
        **{
            f"entity_{name}": getattr(entities, name, None)
            for name in ("precision", "recall", "f1")
        },
    }
    record: dict[str, Any] = {}
    for name, rate in rates.items():
        record[name] = rate and round(rate.value, DIGITS)
        record[f"{name}_interval"] = rate and [round(rate.low, DIGITS), round(rate.high, DIGITS)]
    by_type = entities and {name: round(f1, DIGITS) for name, f1 in entities.f1_by_type.items()}
    return {
        **record,
        "entity_f1_by_type": by_type,
        "invalid_bio": scores.invalid_bio,
        "seconds": round(scores.seconds, DIGITS),
    }


def _rule_record(tally: RunCounts, pattern: str) -> dict[str, Any]:
    counts = tally.decoders[RULE]
    effect = {name: counts[name] for name in ("changed", "repaired", "spoilt", "unmatched")}
    return {"pattern": pattern, **effect, **_decoder_record(decoder_scores(tally, RULE))}


def _cost_record(run: CountedRun) -> dict[str, Any]:
    rows, words = cost_table(run), max(1, run.tally.size["words"])
    counts = run.tally.decoders[LEAST_COST]
    paid = {
        name: round(sum(float(row["cost"] or 0) * int(row[name] or 0) for row in rows) / words, 6)
        for name in ("viterbi", LEAST_COST)
    }
    return {
        "costs": costs_text(run.tally.costs or {}),
        "cost_per_word": paid,
        **{name: counts[name] for name in ("changed", "repaired", "spoilt")},
        **_decoder_record(decoder_scores(run.tally, LEAST_COST)),
    }


def _decoders(record: Record) -> list[str]:
    if not _has_scores(record):
        return [ANSWERS]
    return [*DECODERS, *(name for name in (RULE, LEAST_COST) if name in record)]


def _has_scores(record: Record) -> bool:
    return bool(record.get("scores", True))


def _rows(record: Record) -> list[list[str]]:
    shares = {"token accuracy, %": "token_accuracy", "sentence accuracy, %": "sentence_accuracy"}
    if _has_entities(record):
        shares = {
            "precision, %": "entity_precision",
            "recall, %": "entity_recall",
            "F1, %": "entity_f1",
        }
    scheme = record.get("tag_scheme") or BIO  # older records have none
    counts = [f"sentences that break {scheme}"] if _has_entities(record) else []
    times = ["seconds"] if "scoring_seconds" in record and _has_scores(record) else []
    rows = [["decoder", *shares, *counts, *times]]
    for name in _decoders(record):
        scores = record[name]
        cells = [_rate(scores, share) for share in shares.values()]
        if counts:
            cells.append(f"{scores['invalid_bio']:,}")
        if times:
            cells.append(f"{scores['seconds']:.2f}")
        rows.append([ALL_TITLES[name] if _has_scores(record) else "as given", *cells])
    return rows


def _has_entities(record: Record) -> bool:
    return record["viterbi"]["entity_f1"] is not None


def _rate(scores: Record, share: str) -> str:
    low, high = scores[f"{share}_interval"]
    return f"{100 * scores[share]:.2f} ({100 * low:.1f} to {100 * high:.1f})"


def _size(record: Record) -> str:
    return f"{record['file']}: {record['sentences']:,} sentences, {record['tokens']:,} words"


def _notes(record: Record) -> list[str]:
    notes = []
    if _has_scores(record):
        notes.append(
            f"Expected calibration error: {100 * record['ece']:.2f} % of words (marginals), "
            f"{100 * record['sequence_ece']:.2f} % of sentences (Viterbi path)."
        )
        if "scoring_seconds" in record:
            notes.append(
                f"Seconds are those of decoding; from words to scores it took "
                f"{record['scoring_seconds']:.2f} on {record['device']}."
            )
    if RULE in record:
        notes.append(rule_note(record))
    if LEAST_COST in record:
        notes.append(cost_note(record))
    if notes and not record.get("probabilistic", True):
        notes[0] += " The model has scores, not probabilities: this is what a CRF with them says."
    if not _has_entities(record):
        return ["In brackets: 95 % intervals (Wilson).", *notes]
    types = record["viterbi"]["entity_f1_by_type"]
    by_type = ", ".join(f"{name} {100 * f1:.1f}" for name, f1 in types.items())
    words, sentences = (
        _rate(record["viterbi"], share) for share in ("token_accuracy", "sentence_accuracy")
    )
    others = "the other two" if len(_decoders(record)) == len(DECODERS) else "the others"
    rules = [
        f"Independent and greedy decoding use the scores as trained, {others} add the rules of BIO."
    ]
    return [
        "In brackets: 95 % intervals (bootstrap over sentences; of words and sentences: Wilson).",
        *(rules if record["scheme"] else []),
        f"{'Viterbi ' if _has_scores(record) else ''}F1 by type: {by_type or 'no entity'}. "
        f"Token accuracy: {words} %, sentence accuracy: {sentences} %.",
        *notes,
    ]


def cost_note(record: Record) -> str:
    """Describe the effect of the costs of a record."""
    least = record[LEAST_COST]
    paid, before = (least["cost_per_word"][name] for name in (LEAST_COST, "viterbi"))
    given = least["costs"]
    others = " (other errors 1)" if given != "all=1" and 0 < given.count("=") < len(KINDS) else ""
    return (
        f"With the costs {given}{others}, a word costs {paid:.4g} by least cost "
        f"and {before:.4g} by Viterbi. {least['changed']:,} of {record['sentences']:,} sentences "
        f"change: {least['repaired']:,} repaired, {least['spoilt']:,} spoilt."
    )


def rule_note(record: Record) -> str:
    """Describe the effect of the rule of a record on its sentences."""
    rule = record[RULE]
    unmatched = ""
    if rule["unmatched"]:
        unmatched = f" In {rule['unmatched']:,} no path matches: Viterbi's stays."
    return (
        f"The rule {rule['pattern']} changes {rule['changed']:,} of {record['sentences']:,} "
        f"sentences: it repairs {rule['repaired']:,} and spoils {rule['spoilt']:,}.{unmatched}"
    )


def tables_of(results: Results | CountedRun) -> dict[str, Table]:
    """Return all tables; entity tables only for BIO-like tags, score tables only with scores."""
    run = as_counted(results)
    tables = _tables(run)
    if not isinstance(run.tagger, Answers):
        return tables
    errors = [{name: row[name] for name in OF_TAGS} for row in tables["errors"]]
    return {name: t for name, t in tables.items() if name not in OF_SCORES} | {"errors": errors}


def _tables(run: CountedRun) -> dict[str, Table]:
    tally = run.tally
    entities: dict[str, Table] = {}
    doubts: dict[str, Table] = {}
    if entity_scheme(run.tagger.tags):
        entities["entity_schemes"] = scheme_table(tally)
        entities["entity_kinds"] = entity_kind_table(tally)
        doubts["entity_suspects"] = tally.entity_suspects
    return {
        "tags": tag_table(run),
        "confusion": confusion_table(run),
        **entities,
        "ece": ece_table(tally),
        "calibration": calibration_table(tally),
        "coverage": coverage_table(tally),
        "decoders": decoder_table(tally, entity_scheme(run.tagger.tags) or BIO),
        "oracle": oracle_table(tally),
        **({} if tally.costs is None else {"costs": cost_table(run)}),
        "slices": all_slices(run),
        "kinds": kind_table(tally),
        "tag_pairs": pair_table(tally),
        "transitions": transition_table(tally),
        "weights": weight_table(tally),
        "errors": tally.errors,
        "suspects": tally.suspects,
        **doubts,
    }


def full_record(results: Results | CountedRun, file: str, tables: Tables) -> dict[str, Any]:
    """Return the record of an evaluation (`corpus.tables.report`), with errors and all tables."""
    run = as_counted(results)
    tally = run.tally
    return {
        **as_record(run, file),
        "errors": {
            "sentences": tally.size["wrong_sentences"],
            "words": tally.size["wrong_words"],
            "total": tally.num_errors,
            "listed": len(tally.errors),
            "by_kind": {str(row["kind"]): row["errors"] for row in tables.get("kinds", ())},
        },
        "longer_than_trained": _longer(tally),
        "tables": {name: rounded(table) for name, table in tables.items()},
    }


def _longer(tally: RunCounts) -> dict[str, int] | None:
    """Return the longest training length and the number of longer sentences; None if unknown."""
    if tally.longest_trained is None:
        return None
    return {"longest_trained": tally.longest_trained, "sentences": tally.size["longer"]}
