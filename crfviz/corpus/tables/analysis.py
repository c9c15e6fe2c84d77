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

from crfviz.corpus.counts.tally import Counted, Tally, counted
from crfviz.corpus.run.results import Results
from crfviz.corpus.table import Table, rounded
from crfviz.corpus.tables.decoders import decoder_table, oracle_table
from crfviz.corpus.tables.errors import kind_table, pair_table, transition_table, weight_table
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


def tables_of(results: Results | Counted) -> dict[str, Table]:
    """Every table; those of entities only for BIO tags."""
    found = counted(results)
    tally = found.tally
    entities: dict[str, Table] = {}
    doubts: dict[str, Table] = {}
    if is_bio(found.tagger.tags):
        entities["entity_schemes"] = scheme_table(tally)
        entities["entity_kinds"] = entity_kind_table(tally)
        doubts["entity_suspects"] = tally.entity_suspects
    return {
        "tags": tag_table(found),
        "confusion": confusion_table(found),
        **entities,
        "ece": ece_table(tally),
        "calibration": calibration_table(tally),
        "coverage": coverage_table(tally),
        "decoders": decoder_table(tally),
        "oracle": oracle_table(tally),
        "slices": every_slice(found),
        "kinds": kind_table(tally),
        "tag_pairs": pair_table(tally),
        "transitions": transition_table(tally),
        "weights": weight_table(tally),
        "errors": tally.errors,
        "suspects": tally.suspects,
        **doubts,
    }


def full_record(results: Results | Counted, file: str, tables: Tables) -> dict[str, Any]:
    """The record of an evaluation (`corpus.tables.report`), with its errors and all tables."""
    found = counted(results)
    tally = found.tally
    return {
        **as_record(found, file),
        "errors": {
            "sentences": tally.size["wrong_sentences"],
            "words": tally.size["wrong_words"],
            "total": tally.num_errors,
            "listed": len(tally.errors),
            "by_kind": {str(row["kind"]): row["errors"] for row in tables["kinds"]},
        },
        "longer_than_trained": _longer(tally),
        "tables": {name: rounded(table) for name, table in tables.items()},
    }


def _longer(tally: Tally) -> dict[str, int] | None:
    """Sentences that are longer than any of the training; None where these are not known."""
    if tally.longest_trained is None:
        return None
    return {"longest_trained": tally.longest_trained, "sentences": tally.size["longer"]}
