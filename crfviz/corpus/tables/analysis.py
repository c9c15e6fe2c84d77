"""All tables of one run, by name: the page, the report and the JSON show these and no others.

| question             | tables                                             |
|----------------------|----------------------------------------------------|
| how wrong            | tags, confusion, entity_schemes, entity_kinds, ece, calibration, coverage |
| what the CRF buys    | decoders, oracle                                   |
| where                | slices                                             |
| why                  | kinds, tag_pairs, transitions, weights, errors     |
| is it the gold       | suspects, entity_suspects                          |
"""

from collections.abc import Mapping
from typing import Any

from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, rounded
from crfviz.corpus.tables.decoders import decoder_table, oracle_table
from crfviz.corpus.tables.errors import (
    entity_suspect_table,
    error_table,
    kind_table,
    pair_table,
    transition_table,
    weight_table,
)
from crfviz.corpus.tables.reliability import calibration_table, coverage_table, ece_table
from crfviz.corpus.tables.report import as_record
from crfviz.corpus.tables.slices import every_slice
from crfviz.corpus.tables.tags import (
    confusion_table,
    entity_kind_table,
    scheme_table,
    tag_table,
)
from crfviz.text.schemes import is_bio

Tables = Mapping[str, Table]


def tables_of(results: Results) -> dict[str, Table]:
    """Every table; those of entities only for BIO tags."""
    log = results.log
    entities: dict[str, Table] = {}
    doubts: dict[str, Table] = {}
    if is_bio(results.tagger.tags):
        entities["entity_schemes"] = scheme_table(results)
        entities["entity_kinds"] = entity_kind_table(results)
        doubts["entity_suspects"] = entity_suspect_table(log.entity_suspects, log.sentences)
    return {
        "tags": tag_table(results),
        "confusion": confusion_table(results),
        **entities,
        "ece": ece_table(results),
        "calibration": calibration_table(results),
        "coverage": coverage_table(results),
        "decoders": decoder_table(results),
        "oracle": oracle_table(results),
        "slices": every_slice(results),
        "kinds": kind_table(log.totals),
        "tag_pairs": pair_table(log.totals),
        "transitions": transition_table(log.totals),
        "weights": weight_table(log.totals),
        "errors": error_table(log.first, log.sentences),
        "suspects": error_table(log.suspects, log.sentences),
        **doubts,
    }


def full_record(results: Results, file: str, tables: Tables) -> dict[str, Any]:
    """The record of an evaluation (`corpus.tables.report`), with its errors and all tables."""
    return {
        **as_record(results, file),
        "errors": {
            "sentences": int((~results.sentences_right("viterbi")).sum()),
            "words": int((~results.right("viterbi")).sum()),
            "total": results.log.totals.total,
            "listed": len(results.log.first),
            "by_kind": {str(row["kind"]): row["errors"] for row in tables["kinds"]},
        },
        "longer_than_trained": _longer(results),
        "tables": {name: rounded(table) for name, table in tables.items()},
    }


def _longer(results: Results) -> dict[str, int] | None:
    """Sentences that are longer than any of the training; None where these are not known."""
    longest = results.longest_trained
    if longest is None:
        return None
    return {"longest_trained": longest, "sentences": int((results.lengths > longest).sum())}
