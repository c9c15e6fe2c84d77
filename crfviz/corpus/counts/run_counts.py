"""Mergeable counts of a run, in memory that is independent of the size of the corpus.

Counts of adjacent parts of a file merge to the counts of both parts. Apart from the measured times,
the result does not depend on where the file was split.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.questions.costs import Costs
from crfviz.corpus.counts.exact import added, bins_of, doubts_of, fixed, scheme_counts
from crfviz.corpus.metrics import entity_counts, patterns, totals
from crfviz.corpus.run.errors import (
    doubt_of,
    entity_suspect_table,
    error_table,
    suspicion_of,
)
from crfviz.corpus.run.results import (
    LEAST_COST,
    LENGTHS,
    ORACLE_PATHS,
    RULE,
    SEEN,
    ErrorTotals,
    Results,
)
from crfviz.corpus.table import Table
from crfviz.exceptions import CrfvizError
from crfviz.taggers.features import SHAPES
from crfviz.taggers.lexicon import LEXICON_FILE
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import entity_scheme

GOLD_TAG, LENGTH, IN_TRAINING = "gold tag", "sentence length", "word in training"
POSITION, CAPITALISATION = "position", "capitalisation"
LISTS = ("errors", "suspects", "entity_suspects")
ADDED = (
    "size",
    "confusion",
    "decoders",
    "entity_types",
    "entity_patterns",
    "invalid_bio",
    "schemes",
    "ranks",
    "bins",
    "doubts",
    "parts",
    "kinds",
    "pairs",
    "moves",
    "confusion_by_cost",
    "sets",
)


def length_names() -> list[str]:
    """Return the names of the groups of sentences by length."""
    starts = [1, *(end + 1 for end in LENGTHS)]
    names = [f"{start} to {end}" for start, end in zip(starts, LENGTHS, strict=False)]
    return [*names, f"more than {LENGTHS[-1]}"]


NAMES: dict[str, Callable[[Tagger], Sequence[str]]] = {
    GOLD_TAG: lambda tagger: tagger.tags,
    LENGTH: lambda _: length_names(),
    POSITION: lambda _: ("inner", "first", "last", "only"),
    IN_TRAINING: lambda _: SEEN,
    CAPITALISATION: lambda _: SHAPES,
}  # names of the parts of each dimension


@dataclass(frozen=True)
class Parts:
    """The group of each word, as an index into names."""

    numbers: NDArray[np.int64]  # (M,)
    names: Sequence[str]


def parts_of(results: Results, dimension: str) -> Parts:
    """Return the group of each word in one of `dimensions_of`.

    Raises:
        CrfvizError: the dimension is `IN_TRAINING`, but the tagger has no lexicon.
    """
    return Parts(_NUMBERS[dimension](results), NAMES[dimension](results.tagger))


def dimensions_of(results: Results) -> list[str]:
    """Return the dimensions that group words; without `IN_TRAINING` if training is unknown."""
    return [name for name in NAMES if name != IN_TRAINING or results.seen is not None]


def _length(results: Results) -> NDArray[np.int64]:
    groups = np.searchsorted(LENGTHS, results.lengths)  # a length of 5 is in the first group
    return np.repeat(groups, results.lengths)


def _position(results: Results) -> NDArray[np.int64]:
    ends = np.cumsum(results.lengths)
    first, last = np.zeros((2, len(results.gold)), dtype=np.int64)
    first[ends - results.lengths] = 1
    last[ends - 1] = 1
    return np.asarray(first + 2 * last)


def _seen(results: Results) -> NDArray[np.int64]:
    if results.seen is None:
        raise CrfvizError(
            f"{results.tagger.name} has no {LEXICON_FILE}: what was seen in training is not known"
        )
    return results.seen.astype(np.int64)


_NUMBERS: dict[str, Callable[[Results], NDArray[np.int64]]] = {
    GOLD_TAG: lambda results: results.gold.astype(np.int64),
    LENGTH: _length,
    POSITION: _position,
    IN_TRAINING: _seen,
    CAPITALISATION: lambda results: results.shapes.astype(np.int64),
}


@dataclass(frozen=True)
class RunCounts:
    """Counts of N sentences with M words. Keys of several names are JSON lists (`key`)."""

    most: int  # maximum length of each of the three lists
    longest_trained: int | None  # words of the longest training sentence; None if unknown
    size: dict[str, int]  # sentences, words, wrong ones by Viterbi, longer sentences
    confusion: list[list[int]]  # words by gold and Viterbi's tag: K x K
    decoders: dict[str, dict[str, int]]  # by decoder, see `_decoder`
    entity_types: dict[str, dict[str, list[int]]]  # by decoder and type: right, guessed, in gold
    entity_patterns: dict[str, dict[str, int]]  # by decoder: sentences with these three numbers
    invalid_bio: dict[str, int]  # by decoder: sentences that break the scheme
    schemes: dict[str, dict[str, int]]  # SemEval counts, see `scheme_counts`
    ranks: list[int]  # sentences by rank of the gold path; the last: beyond
    bins: dict[str, list[list[int]]]  # calibration bins by kind of prediction, see `bins_of`
    doubts: dict[int, list[int]]  # by doubt: words and right words, see `doubts_of`
    least: dict[int, float]  # by doubt: the smallest of the words' largest marginals
    parts: dict[str, list[list[int]]]  # by dimension: words and right words of each part
    kinds: dict[str, list[int]]  # by kind: errors and wrong words
    pairs: dict[str, dict[str, int]]  # by gold and predicted tag: wrong words of each kind
    moves: dict[str, list[int]]  # by chosen and gold move: errors, gaps (`fixed`), infinite gaps
    errors: Table  # the first errors
    suspects: Table  # the most suspicious errors
    entity_suspects: Table  # the most doubtful entities
    batches: list[int]  # sentences of every batch
    seconds: dict[str, list[float]]  # of every batch: "scoring" and every decoder
    rule: str | None = None  # as in `Results`
    costs: dict[str, float] | list[list[float]] | None = None  # by kind, or K x K
    confusion_by_cost: list[list[int]] = field(default_factory=list)  # of `LEAST_COST`
    sets: dict[str, list[list[int]]] = field(default_factory=dict)  # by `key` of unit and level

    @property
    def num_errors(self) -> int:
        return sum(errors for errors, _ in self.kinds.values())


@dataclass(frozen=True)
class CountedRun:
    """The counts of a run with its tagger."""

    tagger: Tagger
    tally: RunCounts


def as_counted(results: Results | CountedRun) -> CountedRun:
    """Return the counts of a run, computing them if needed."""
    if isinstance(results, CountedRun):
        return results
    return CountedRun(results.tagger, count_run(results))


def key(*names: object) -> str:
    """Join several names into one key, which is unique for any names."""
    return json.dumps(names, ensure_ascii=False)


def count_run(results: Results) -> RunCounts:
    """Return the counts of one run."""
    log, right = results.log, results.right("viterbi")
    whole = results.sentences_right("viterbi")
    longest = results.longest_trained
    ranks = np.where(results.gold_rank < 0, ORACLE_PATHS, results.gold_rank)
    doubts, least = doubts_of(results.token_probability, results.right("max_marginal"))
    return RunCounts(
        most=log.most,
        longest_trained=longest,
        size={
            "sentences": results.num_sentences,
            "words": len(results.gold),
            "wrong_sentences": int((~whole).sum()),
            "wrong_words": int((~right).sum()),
            "longer": 0 if longest is None else int((results.lengths > longest).sum()),
        },
        confusion=_confusion(results, "viterbi"),
        decoders={name: _decoder(results, name) for name in results.decoders},
        **_entities(results),
        ranks=np.bincount(ranks, minlength=ORACLE_PATHS + 1).tolist(),
        bins=_bins(results),
        doubts=doubts,
        least=least,
        parts={name: _part_counts(results, name) for name in dimensions_of(results)},
        **_causes(log.totals),
        errors=error_table(log.first, log.sentences),
        suspects=error_table(log.suspects, log.sentences),
        entity_suspects=entity_suspect_table(log.entity_suspects, log.sentences),
        batches=results.batches,
        seconds=results.seconds,
        rule=results.rule,
        costs=_plain(results.costs),
        confusion_by_cost=_confusion(results, LEAST_COST) if LEAST_COST in results.tags else [],
        sets={key(*unit_and_level): table for unit_and_level, table in results.sets.items()},
    )


def _confusion(results: Results, decoder: str) -> list[list[int]]:
    K = len(results.tagger.tags)
    cells = results.gold.astype(np.int64) * K + results.tags[decoder]
    table: list[list[int]] = np.bincount(cells, minlength=K * K).reshape(K, K).tolist()
    return table


def _plain(costs: Costs | None) -> dict[str, float] | list[list[float]] | None:
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        return {kind: float(value) for kind, value in costs.items()}
    table: list[list[float]] = np.asarray(costs, dtype=np.float64).tolist()
    return table


def merge_two(first: RunCounts, second: RunCounts) -> RunCounts:
    """Merge the counts of two neighbouring parts of a file."""
    sums = {name: added(getattr(first, name), getattr(second, name)) for name in ADDED}
    offset, least = first.size["sentences"], dict(first.least)
    for doubt, probability in second.least.items():
        least[doubt] = min(probability, least.get(doubt, 1.0))
    later = {name: _shift_rows(getattr(second, name), offset) for name in LISTS}
    suspects = sorted([*first.suspects, *later["suspects"]], key=suspicion_of)
    doubtful = sorted([*first.entity_suspects, *later["entity_suspects"]], key=doubt_of)
    return replace(
        first,
        **cast("dict[str, Any]", sums),
        least=least,
        errors=[*first.errors, *later["errors"]][: first.most],
        suspects=suspects[: first.most],
        entity_suspects=doubtful[: first.most],
        batches=[*first.batches, *second.batches],
        seconds={
            name: [*seconds, *second.seconds[name]] for name, seconds in first.seconds.items()
        },
    )


def merge(tallies: Iterable[RunCounts]) -> RunCounts:
    """Merge the counts of all parts, in the order of the file."""
    return reduce(merge_two, tallies)


def as_json(tally: RunCounts) -> str:
    """Return the counts as one line of JSON; `from_json` reads it."""
    record = {each.name: getattr(tally, each.name) for each in fields(RunCounts)}
    if len(tally.errors) < tally.most:  # both lists have all errors
        record["suspects"] = None
    return json.dumps(record)


def from_json(text: str) -> RunCounts:
    """Read the counts that `as_json` wrote."""
    record = json.loads(text)
    for name in ("doubts", "least"):
        record[name] = {int(doubt): value for doubt, value in record[name].items()}
    if record["suspects"] is None:
        record["suspects"] = sorted(record["errors"], key=suspicion_of)
    return RunCounts(**record)


def _shift_rows(rows: Table, sentences: int) -> Table:
    return [{**row, "sentence": int(row["sentence"] or 0) + sentences} for row in rows]


def _decoder(results: Results, name: str) -> dict[str, int]:
    here, best = results.right(name), results.right("viterbi")
    whole, whole_best = results.sentences_right(name), results.sentences_right("viterbi")
    other = results.tags[name] != results.tags["viterbi"]
    return {
        "words": int(here.sum()),
        "sentences": int(whole.sum()),
        "changed": len(np.unique(results.owners[other])),
        "repaired": int((whole & ~whole_best).sum()),
        "spoilt": int((whole_best & ~whole).sum()),
        "unmatched": results.unmatched if name == RULE else 0,
        "only_this": int((here & ~best).sum()),
        "only_viterbi": int((best & ~here).sum()),
        "search_errors": results.search_errors[name],
    }


def _entities(results: Results) -> dict[str, Any]:
    types: dict[str, dict[str, list[int]]] = {}
    alike: dict[str, dict[str, int]] = {}
    schemes: dict[str, dict[str, int]] = {}
    invalid: dict[str, int] = {}
    if scheme := entity_scheme(results.tagger.tags):
        gold = results.names(results.gold)
        for name in results.decoders:
            guess = results.names(results.tags[name])
            counts = entity_counts(gold, guess, scheme)
            types[name] = totals(counts)
            alike[name] = {key(*k): n for k, n in patterns(counts, len(gold)).items()}
            invalid[name] = sum(bool(illegal_positions(tags, scheme)) for tags in guess)
            if name == "viterbi":
                schemes = scheme_counts(gold, guess, results.tagger.tags)
    return {
        "entity_types": types,
        "entity_patterns": alike,
        "invalid_bio": invalid,
        "schemes": schemes,
    }


def _bins(results: Results) -> dict[str, list[list[int]]]:
    words, sentences = results.right("max_marginal"), results.sentences_right("viterbi")
    bins = {"words": bins_of(results.token_probability, words)}
    if entity_scheme(results.tagger.tags):
        bins["entities"] = bins_of(results.entity_probability, results.entity_right)
    bins["sentences"] = bins_of(results.path_probability, sentences)
    return bins


def _part_counts(results: Results, dimension: str) -> list[list[int]]:
    parts, right = parts_of(results, dimension), results.right("viterbi")
    words = np.bincount(parts.numbers, minlength=len(parts.names))
    good = np.bincount(parts.numbers[right], minlength=len(parts.names))
    # mypy: `tolist` gives Any
    return np.stack([words, good], axis=1).tolist()  # type: ignore[no-any-return]


def _causes(totals: ErrorTotals) -> dict[str, Any]:
    return {
        "kinds": {kind: [number, totals.words[kind]] for kind, number in totals.errors.items()},
        "pairs": {key(*pair): dict(kinds) for pair, kinds in totals.pairs.items()},
        "moves": {key(*moves): _gaps(gaps) for moves, gaps in totals.moves.items()},
    }


def _gaps(gaps: Sequence[float]) -> list[int]:
    values = np.array(gaps)
    finite = np.isfinite(values)
    return [len(gaps), fixed(values[finite]), int((~finite).sum())]
