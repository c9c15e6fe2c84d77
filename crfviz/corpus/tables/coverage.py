"""Calibration of sets by gold sentences, their coverage of others, and the file of a model folder.

calibration.json of a model folder has the thresholds of the levels from 80 to 99 %, from the dev
file of the model, and what they cover of other files. `python -m crfviz train` and `evaluate
--calibrate --card` write it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.chain.engine.packing import chain_batch
from crfviz.chain.forward_backward import posteriors
from crfviz.chain.questions.path_sets import Calibration, Unit
from crfviz.corpus.counts.run_counts import RunCounts, key, length_names
from crfviz.corpus.metrics import Rate, Z, wilson
from crfviz.corpus.run.sets import (
    UNIT,
    UNITS,
    Judged,
    SetCounts,
    calibrated,
    count_sets,
    judged_of,
    needed,
)
from crfviz.corpus.run.tagging import checked, score_sentences, tag_ids
from crfviz.corpus.table import Table, TableRow, aligned, rate_cells, rounded
from crfviz.corpus.tables.evaluation import Tagging, gold_sentences
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.taggers.folder import CALIBRATION_FILE
from crfviz.taggers.storage import read_json_object, write_json
from crfviz.taggers.tagger import Tagger

LEVELS = tuple(range(80, 100))  # per cent, in a model folder
ALL = "all"  # row of all lengths
COVERED = ("covered", "covered_low", "covered_high")

Gold = str | Path | Iterable[Tagging]


@dataclass(frozen=True)
class Coverage:
    """What calibrated sets cover of gold sentences."""

    share: float  # of sentences; for words the mean share of a sentence's words, as is promised
    interval: tuple[float, float]  # 95 %, of `share`
    mean_size: float  # paths of a sentence whose set does not abstain, or tags of a word
    abstained: int  # sentences that abstain, which count as covered
    sentences: int
    by_length: Table  # the same for each group of lengths that occurs


def calibrate(
    tagger: Tagger, gold: Gold, level: float = 0.9, of: Unit = "sentences"
) -> Calibration:
    """Return the threshold at which sets of new sentences hold gold at a rate of `level`.

    New sentences must be of the same kind as gold, which must not be what the tagger learnt from.
    `crfviz.corpus.run.sets` defines the thresholds.

    Args:
        tagger: the tagger.
        gold: a file, or sentences with tags.
        level: the rate, between 0 and 1.
        of: `sentences`: sets of paths that hold the gold path; `words`: sets of tags.

    Raises:
        CrfvizError: the level is not between 0 and 1, `of` is none of these, or there are too few
            sentences for the level; says how many it needs.
        FormatError, UnknownTagError, NoPathError: as `evaluate`.
    """
    return calibrated(list(judge(tagger, gold)), level, of)


def coverage(calibration: Calibration, tagger: Tagger, gold: Gold) -> Coverage:
    """Return what the sets of a calibration cover of gold sentences, with 95 % intervals.

    Sentences get the Wilson interval; the mean share of words gets that of the normal distribution.

    Raises:
        FormatError, UnknownTagError, NoPathError: as `evaluate`.
    """
    whole, *by_length = coverage_rows(calibration, count_sets(judge(tagger, gold), calibration))
    return Coverage(
        share=float(whole["covered"] or 0.0),
        interval=(float(whole["covered_low"] or 0.0), float(whole["covered_high"] or 0.0)),
        mean_size=float(whole["mean_size"] or 0.0),
        abstained=int(whole["abstained"] or 0),
        sentences=int(whole["sentences"] or 0),
        by_length=[
            {name.replace("covered", "share"): row[name] for name in list(row)[3:]}
            for row in by_length
        ],
    )


def judge(tagger: Tagger, gold: Gold) -> Iterator[Judged]:
    """Yield the gold sentences with the tagger's chains."""
    sentences = gold_sentences(gold, tagger.tags)
    checked(tagger, sentences)
    batch = score_sentences(tagger, sentences)
    packed = chain_batch(batch.chains)
    right = tag_ids(tagger, sentences)
    return judged_of(batch.chains, best_paths(packed), right, posteriors(packed))


def coverage_rows(calibration: Calibration, counts: SetCounts) -> Table:
    """Return a row for all lengths, and one for each group of lengths that occurs."""
    groups = zip([ALL, *length_names()], [counts.sum(0).tolist(), *counts.tolist()], strict=True)
    return [_row(calibration, name, row) for name, row in groups if row[0]]


def _row(calibration: Calibration, length: str, counts: Sequence[int]) -> TableRow:
    sentences, covered, squares, size, sized, abstained = counts
    share = covered / UNIT
    if calibration.of == "sentences":
        rate = wilson(round(share), sentences)
    else:
        rate = _mean(share / sentences, squares / UNIT / sentences, sentences)
    return {
        "of": calibration.of,
        "level": calibration.level,
        "threshold": calibration.threshold,
        "length": length,
        "sentences": sentences,
        **rate_cells("covered", rate),
        "mean_size": size / sized if sized else None,
        "abstained": abstained,
    }


def _mean(mean: float, square: float, n: int) -> Rate:
    """Return a mean of n shares with its 95 % interval."""
    if n < 2:
        return Rate(mean, 0.0, 1.0)
    reach = Z * math.sqrt(max(0.0, square - mean**2) / (n - 1))
    return Rate(mean, max(0.0, mean - reach), min(1.0, mean + reach))


def coverage_text(rows: Table) -> str:
    """Return the table that `python -m crfviz evaluate --calibrate` prints: a line per unit."""
    lines = [["sets of", "promised, %", "covered, %", "mean size", "abstaining sentences"]]
    for row in rows:
        if row["length"] == ALL:
            share, low, high = (100 * float(row[name] or 0) for name in COVERED)
            what = "paths" if row["of"] == "sentences" else "tags"
            lines.append(
                [
                    "paths of sentences" if row["of"] == "sentences" else "tags of words",
                    f"{100 * float(row['level'] or 0):g}",
                    f"{share:.2f} ({low:.1f} to {high:.1f})",
                    "–" if row["mean_size"] is None else f"{row['mean_size']:.2f} {what}",
                    f"{row['abstained']:,} of {row['sentences']:,}",
                ]
            )
    return "\n".join(aligned(lines))


def set_table(tally: RunCounts, calibrations: Iterable[Calibration]) -> Table:
    """Return the coverage of a run by unit, level and length of the sentences."""
    return [
        row
        for each in calibrations
        if (counts := tally.sets.get(key(each.of, each.level))) is not None
        for row in coverage_rows(each, np.array(counts))
    ]


@dataclass(frozen=True)
class FolderCalibration:
    """The calibrations of a model folder."""

    file: str  # the label of what they come from
    calibrations: Mapping[tuple[Unit, int], Calibration]  # by unit and level in per cent
    coverage: Mapping[str, Table]  # rows of `coverage_rows`, all lengths, by label of a file

    def at(self, of: str, level: int) -> Calibration:
        return next(each for unit, each in self.calibrations.items() if unit == (of, level))

    def levels(self, of: str) -> tuple[int, int]:
        levels = [level for unit, level in self.calibrations if unit == of]
        return min(levels), max(levels)

    def rows(self, of: str, level: int) -> dict[str, TableRow]:
        """Return what the sets of a unit and level cover, by label of a file."""
        return {
            label: row
            for label, table in self.coverage.items()
            for row in table
            if row["of"] == of and round(100 * float(row["level"] or 0)) == level
        }


def all_calibrations(judged: Sequence[Judged]) -> list[Calibration]:
    """Return the calibrations of all `LEVELS` for which there are enough sentences."""
    levels = [level / 100 for level in LEVELS if len(judged) >= needed(level / 100)]
    found = []
    for of in UNITS:
        for level in levels:
            try:
                found.append(calibrated(judged, level, of))
            except CrfvizError:  # gold tags are forbidden; higher levels are, too
                break
    return found


def record_coverage(
    folder: Path, file: str, calibrations: Sequence[Calibration], label: str, tally: RunCounts
) -> None:
    """Write calibration.json, with what its sets cover of one more file.

    Figures of other files are kept if they have the same thresholds.

    Raises:
        ModelError: the file is invalid or cannot be written.
    """
    kept = [each for each in calibrations if round(100 * each.level, 9) in LEVELS]
    kept.sort(key=lambda each: (each.of, each.level))
    before = read_calibrations(folder)
    same = before is not None and list(before.calibrations.values()) == kept
    rows = [row for row in set_table(tally, kept) if row["length"] == ALL]
    figures = {**(before.coverage if before and same else {}), label: rows}
    write_calibrations(folder, file, kept, figures)


def write_calibrations(
    folder: Path, file: str, calibrations: Sequence[Calibration], figures: Mapping[str, Table]
) -> None:
    """Write calibration.json into a model folder; nothing if there are no calibrations.

    Raises:
        ModelError: the file cannot be written.
    """
    if not calibrations:
        return
    content = {
        "file": file,
        "sentences": calibrations[0].sentences,
        "thresholds": {
            of: {f"{each.level:g}": each.threshold for each in calibrations if each.of == of}
            for of in UNITS
        },
        "coverage": {label: rounded(table) for label, table in figures.items()},
    }
    try:
        write_json(folder / CALIBRATION_FILE, content)
    except OSError as error:
        raise ModelError(f"{folder / CALIBRATION_FILE}: cannot be written ({error})") from error


def label_of(path: Path) -> str:
    """Return what a file is called in a model folder: its folder and its name."""
    return "/".join(path.resolve().parts[-2:])


def read_calibrations(folder: Path) -> FolderCalibration | None:
    """Return the calibrations of a model folder; None if it has no such file.

    Raises:
        ModelError: the file is invalid.
    """
    path = folder / CALIBRATION_FILE
    if not path.exists():
        return None
    content: dict[str, Any] = read_json_object(path)
    try:
        sentences = int(content["sentences"])
        found = {
            (of, round(100 * float(level))): Calibration(float(level), of, float(limit), sentences)
            for of in UNITS
            for level, limit in content["thresholds"][of].items()
        }
        return FolderCalibration(str(content["file"]), found, dict(content["coverage"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{path}: is no calibration ({error!r}); write it again with `evaluate --calibrate "
            "--card`"
        ) from error
