"""What a run comes to: all that its tables are made of, and no larger for a larger corpus.

Two tallies of neighbouring parts are merged to one, and it is the same whatever the parts were:
what is added are whole numbers (`exact`), and the lists are those of all parts in the order of the
file, as long as one run would have them. Only times are what they were.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, cast

import numpy as np

from crfviz.chain.constraints import illegal_positions
from crfviz.corpus.counts.certainty import bins_of, doubts_of
from crfviz.corpus.counts.entities import scheme_counts
from crfviz.corpus.counts.exact import added, fixed
from crfviz.corpus.counts.listed import (
    doubt_of,
    entity_suspect_table,
    error_table,
    suspicion_of,
)
from crfviz.corpus.counts.parts import dimensions_of, parts_of
from crfviz.corpus.metrics import entity_counts, patterns, totals
from crfviz.corpus.run.results import EVERY_DECODER, ORACLE_PATHS, ErrorTotals, Results
from crfviz.corpus.table import Table
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import is_bio

LISTS = ("errors", "suspects", "entity_suspects")


@dataclass(frozen=True)
class Tally:
    """Counts of N sentences with M words. Keys of more than one name are JSON lists (`key`)."""

    most: int  # how long each of the three lists may be
    longest_trained: int | None  # words of the longest training sentence; None: not known
    size: dict[str, int]  # sentences, words, wrong ones of both by Viterbi, "longer" sentences
    confusion: list[list[int]]  # words by gold and Viterbi's tag: K x K
    decoders: dict[str, dict[str, int]]  # by decoder, see `_decoder`
    entity_types: dict[str, dict[str, list[int]]]  # by decoder and type: right, guessed, in gold
    entity_patterns: dict[str, dict[str, int]]  # by decoder: sentences with these three numbers
    invalid_bio: dict[str, int]  # by decoder: sentences that break BIO
    schemes: dict[str, dict[str, int]]  # of SemEval, see `entities`; empty without BIO
    ranks: list[int]  # sentences whose gold path is at this place; the last: beyond
    bins: dict[str, list[list[int]]]  # of words, entities and sentences, see `certainty`
    doubts: dict[int, list[int]]  # words, and right ones, by their doubt, see `certainty`
    least: dict[int, float]  # the smallest largest marginal of each of them
    parts: dict[str, list[list[int]]]  # by dimension: words of each part, and right ones
    kinds: dict[str, list[int]]  # errors by kind, and their words
    pairs: dict[str, dict[str, int]]  # words by gold and predicted tag, by kind
    moves: dict[str, list[int]]  # by chosen and gold move: errors, gaps (`fixed`), infinite gaps
    errors: Table  # the first ones
    suspects: Table  # the most suspicious ones
    entity_suspects: Table  # the most doubtful ones
    batches: list[int]  # sentences of every batch
    seconds: dict[str, list[float]]  # of every batch: "scoring" and every decoder

    @property
    def num_errors(self) -> int:
        """All errors, listed or not."""
        return sum(errors for errors, _ in self.kinds.values())


@dataclass(frozen=True)
class Counted:
    """A tally, and the tagger that was run."""

    tagger: Tagger
    tally: Tally


def counted(results: Results | Counted) -> Counted:
    """The counts of a run, which are made here if they are not there yet."""
    if isinstance(results, Counted):
        return results
    return Counted(results.tagger, tally_of(results))


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
)


def key(*names: object) -> str:
    """Names as one key, in a form that any name survives."""
    return json.dumps(names, ensure_ascii=False)


def tally_of(results: Results) -> Tally:
    """The counts of one run."""
    log, right = results.log, results.right("viterbi")
    whole, K = results.sentences_right("viterbi"), len(results.tagger.tags)
    cells = results.gold.astype(np.int64) * K + results.tags["viterbi"]
    longest = results.longest_trained
    ranks = np.where(results.gold_rank < 0, ORACLE_PATHS, results.gold_rank)
    doubts, least = doubts_of(results.token_probability, results.right("max_marginal"))
    return Tally(
        most=log.most,
        longest_trained=longest,
        size={
            "sentences": results.num_sentences,
            "words": len(results.gold),
            "wrong_sentences": int((~whole).sum()),
            "wrong_words": int((~right).sum()),
            "longer": 0 if longest is None else int((results.lengths > longest).sum()),
        },
        confusion=np.bincount(cells, minlength=K * K).reshape(K, K).tolist(),
        decoders={name: _decoder(results, name) for name in EVERY_DECODER},
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
    )


def merged(first: Tally, second: Tally) -> Tally:
    """The counts of both, `second` being of what comes after `first` in the file."""
    sums = {name: added(getattr(first, name), getattr(second, name)) for name in ADDED}
    offset, least = first.size["sentences"], dict(first.least)
    for doubt, probability in second.least.items():
        least[doubt] = min(probability, least.get(doubt, 1.0))
    later = {name: _moved(getattr(second, name), offset) for name in LISTS}
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
        seconds={name: [*taken, *second.seconds[name]] for name, taken in first.seconds.items()},
    )


def merge(tallies: Iterable[Tally]) -> Tally:
    """The counts of all parts, in the order of the file; at least one."""
    return reduce(merged, tallies)


def as_json(tally: Tally) -> str:
    """A tally as one line of JSON; `from_json` reads it."""
    found = {each.name: getattr(tally, each.name) for each in fields(Tally)}
    if len(tally.errors) < tally.most:  # all are listed, in both lists
        found["suspects"] = None
    return json.dumps(found)


def from_json(text: str) -> Tally:
    """The tally that `as_json` wrote."""
    found = json.loads(text)
    for name in ("doubts", "least"):
        found[name] = {int(doubt): value for doubt, value in found[name].items()}
    if found["suspects"] is None:
        found["suspects"] = sorted(found["errors"], key=suspicion_of)
    return Tally(**found)


def _moved(rows: Table, sentences: int) -> Table:
    """Rows of sentences that stand so many sentences later in the file."""
    return [{**row, "sentence": int(row["sentence"] or 0) + sentences} for row in rows]


def _decoder(results: Results, name: str) -> dict[str, int]:
    here, best = results.right(name), results.right("viterbi")
    return {
        "words": int(here.sum()),
        "sentences": int(results.sentences_right(name).sum()),
        "only_this": int((here & ~best).sum()),
        "only_viterbi": int((best & ~here).sum()),
        "search_errors": results.search_errors[name],
    }


def _entities(results: Results) -> dict[str, Any]:
    """What is counted of entities, and sentences that break BIO; nothing without BIO tags."""
    types: dict[str, dict[str, list[int]]] = {}
    alike: dict[str, dict[str, int]] = {}
    schemes: dict[str, dict[str, int]] = {}
    invalid: dict[str, int] = {}
    if is_bio(results.tagger.tags):
        gold = results.names(results.gold)
        for name in EVERY_DECODER:
            guess = results.names(results.tags[name])
            counts = entity_counts(gold, guess)
            types[name] = totals(counts)
            alike[name] = {key(*k): n for k, n in patterns(counts, len(gold)).items()}
            invalid[name] = sum(bool(illegal_positions(tags)) for tags in guess)
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
    if is_bio(results.tagger.tags):
        bins["entities"] = bins_of(results.entity_probability, results.entity_right)
    bins["sentences"] = bins_of(results.path_probability, sentences)
    return bins


def _part_counts(results: Results, dimension: str) -> list[list[int]]:
    parts, right = parts_of(results, dimension), results.right("viterbi")
    words = np.bincount(parts.numbers, minlength=len(parts.names))
    good = np.bincount(parts.numbers[right], minlength=len(parts.names))
    return np.stack([words, good], axis=1).tolist()  # type: ignore[no-any-return]


def _causes(found: ErrorTotals) -> dict[str, Any]:
    return {
        "kinds": {kind: [number, found.words[kind]] for kind, number in found.errors.items()},
        "pairs": {key(*pair): dict(kinds) for pair, kinds in found.pairs.items()},
        "moves": {key(*moves): _gaps(gaps) for moves, gaps in found.moves.items()},
    }


def _gaps(gaps: Sequence[float]) -> list[int]:
    values = np.array(gaps)
    finite = np.isfinite(values)
    return [len(gaps), fixed(values[finite]), int((~finite).sum())]
