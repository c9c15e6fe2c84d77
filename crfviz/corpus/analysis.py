"""All tables of one run, by name: the page, the report and the JSON show these and no others.

| question             | tables                                             |
|----------------------|----------------------------------------------------|
| how wrong            | tags, confusion, entity_schemes, entity_kinds, ece, calibration, coverage |
| what the CRF buys    | decoders, oracle                                   |
| where                | slices                                             |
| why                  | kinds, tag_pairs, transitions, weights, errors     |
| is it the gold       | suspects                                           |
"""

from collections.abc import Mapping
from typing import Any

from crfviz.corpus.decoder_comparison import decoder_table, oracle_table
from crfviz.corpus.entity_errors import entity_kind_table, scheme_table
from crfviz.corpus.error_totals import (
    error_table,
    kind_table,
    pair_table,
    suspects,
    transition_table,
    weight_table,
)
from crfviz.corpus.reliability import calibration_table, coverage_table, ece_table
from crfviz.corpus.report import as_record
from crfviz.corpus.results import Results
from crfviz.corpus.scores import evaluation_of
from crfviz.corpus.slices import every_slice
from crfviz.corpus.tables import Table, rounded
from crfviz.corpus.tag_scores import confusion_table, tag_table

Tables = Mapping[str, Table]


def tables_of(results: Results) -> dict[str, Table]:
    """Every table; those of entities only for BIO tags."""
    errors, sentences = results.errors, results.sentences
    entities: dict[str, Table] = {}
    if results.tagger.scheme is not None:
        entities["entity_schemes"] = scheme_table(results)
        entities["entity_kinds"] = entity_kind_table(results)
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
        "kinds": kind_table(errors),
        "tag_pairs": pair_table(errors),
        "transitions": transition_table(errors),
        "weights": weight_table(errors),
        "errors": error_table(errors, sentences),
        "suspects": error_table(suspects(errors), sentences),
    }


def full_record(results: Results, file: str, tables: Tables) -> dict[str, Any]:
    """The record of an evaluation (`crfviz.corpus.report`), with its errors and all tables.

    Args:
        results: of a run.
        file: on what.
        tables: from `tables_of`.
    """
    return {
        **as_record(evaluation_of(results), file),
        "errors": {
            "sentences": int((~results.sentences_right("viterbi")).sum()),
            "words": int((~results.right("viterbi")).sum()),
            "total": len(results.errors),
            "by_kind": {str(row["kind"]): row["errors"] for row in tables["kinds"]},
        },
        "tables": {name: rounded(table) for name, table in tables.items()},
    }
