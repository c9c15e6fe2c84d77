"""`python -m crfviz evaluate`: evaluate a tagger on a tagged file.

The figures are printed. --json writes those of every decoder, the errors by cause, and all tables
of the report. --report writes one HTML file that needs no network. --against compares a second
model. The file is read in shards and never held as a whole, so it may have any size. The output
does not depend on the number of workers.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from crfviz.chain.patterns import automaton
from crfviz.chain.questions.costs import cost_matrix, parse_costs
from crfviz.chain.questions.path_sets import Calibration
from crfviz.commands.name_checks import mapped_types, require_folder
from crfviz.commands.reading_options import add_reading_arguments, say_reading, wanted_of
from crfviz.commands.sharded_work import (
    STANDARD_INPUT,
    add_work_arguments,
    open_source,
    sharded_results,
    shards_again,
)
from crfviz.corpus.answer_scores import MODES, score_answers, sides_of_columns
from crfviz.corpus.counts.run_counts import CountedRun
from crfviz.corpus.run.sets import UNITS, calibrated
from crfviz.corpus.shards.evaluation_job import Evaluation, EvaluationResult, merge_results
from crfviz.corpus.shards.model_reference import model_reference
from crfviz.corpus.table import Table
from crfviz.corpus.tables.card import record_evaluation
from crfviz.corpus.tables.coverage import (
    all_calibrations,
    coverage_text,
    judge,
    label_of,
    record_coverage,
    set_table,
)
from crfviz.corpus.tables.evaluation import comparison_text, tables_of_comparison
from crfviz.corpus.tables.layer_gain import LayerGain, gain_record, gain_text, layer_gain
from crfviz.corpus.tables.report import as_record, as_text, full_record, tables_of, untimed
from crfviz.exceptions import CrfvizError, UnknownTagError
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.tagger import Tagger, splitter_of
from crfviz.text.files import write_atomically
from crfviz.text.formats import READ_FORMATS, SentenceFile
from crfviz.text.readers.reading import Choice
from crfviz.text.readers.spelling import AS_WRITTEN, scheme_like
from crfviz.text.schemes import entity_scheme
from crfviz.views.figures.offline import html_report

DEFAULT_LEVEL = 0.9  # of --calibrate
ABSTAIN = "A set of too many paths abstains, which counts as covered. In brackets: 95 % intervals."

OF_MODELS = (  # options that --answers does not have
    *("format", "fold_handles", "map", "json", "report", "against", "rule", "card"),
    "fit_transitions",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `evaluate`."""
    add = parser.add_argument
    add("file", type=Path, help="tagged sentences in a format of docs/files.md")
    judged = parser.add_mutually_exclusive_group(required=True)
    judged.add_argument("--model", metavar="NAME", help="a shipped model, or a model folder")
    judged.add_argument(
        "--answers",
        nargs="?",
        const="",
        metavar="FILE",
        help="score a file of predicted tags instead of a model; without FILE, the last column",
    )
    add("--format", choices=READ_FORMATS, help="of the file (default: told from its content)")
    add_reading_arguments(parser)
    add("--fold-handles", action="store_true", help="join @ and the word after it to @user")
    add(
        "--map",
        nargs="+",
        metavar="OLD=NEW",
        help="entity types to rename and keep; all other types become O",
    )
    add("--json", type=Path, metavar="FILE", help="write the figures to FILE as JSON")
    add("--report", type=Path, metavar="FILE", help="write an error report to FILE as HTML")
    add("--against", metavar="NAME", help="another model: wins, losses and significance")
    add("--rule", metavar="PATTERN", help="a regular expression over the tags: one more decoder")
    add("--costs", metavar="KIND=N,...", help="of errors, as miss=3,false_alarm=1: a decoder more")
    add("--calibrate", type=Path, metavar="FILE", help="gold sentences that calibrate sets of tags")
    add("--level", type=float, metavar="SHARE", help="that the sets promise (default: 0.9)")
    add(
        "--fit-transitions",
        action="store_true",
        help="what a CRF layer would add to the emissions; holds the file in memory",
    )
    add("--card", action="store_true", help="write the figures into the folder of the model")
    add("--label", help="what the file is called there (default: its folder and its name)")
    add("--times", action="store_true", help="how long it took, in JSON and report, too")
    add_work_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Evaluate the tagger and return 0.

    Raises:
        CrfvizError: the model, the file or an option is invalid; the message says why.
    """
    if args.answers is not None:
        _print_scores(args)
        return 0
    outputs = [path for path in (args.json, args.report) if path is not None]
    for path in outputs:
        require_folder(path)  # fail before the evaluation, not after it
    if args.fit_transitions and not args.file.is_file():
        what = "standard input" if args.file == STANDARD_INPUT else str(args.file)
        raise CrfvizError(f"--fit-transitions reads the file twice: expected a file, got {what}")
    tagger = load_tagger(args.model)
    scheme = scheme_like(tagger.tags)  # the gold tags are converted to it
    wanted = wanted_of(args)
    choice = Choice(args.format, wanted, scheme, strict=False, split=splitter_of(tagger))
    files = [SentenceFile(args.file, args.format, args.fold_handles, wanted=wanted)]
    types = mapped_types(args.map, files)
    if args.card and tagger.observations is not None:
        raise CrfvizError("--card is for model folders: a textbook chain's card is its file")
    if args.rule is not None:
        automaton(args.rule, tagger.tags)  # reject an invalid rule before the evaluation
    costs = None if args.costs is None else parse_costs(args.costs)
    if costs is not None:
        cost_matrix(tagger.tags, costs)  # reject tags without entities before the evaluation
    if args.level is not None and args.calibrate is None:
        raise CrfvizError("--level needs --calibrate FILE, the gold sentences that it comes from")
    if args.against is not None:
        load_tagger(args.against)  # report a missing model now, not in the first shard
    try:
        _evaluate(args, tagger, types, costs, choice, outputs)
    except UnknownTagError as error:  # of gold: the rule's tags are known
        if entity_scheme(tagger.tags) is None:
            raise
        raise UnknownTagError(f"{error}; --map renames and drops entity types") from error
    return 0


def _evaluate(
    args: argparse.Namespace,
    tagger: Tagger,
    types: dict[str, str] | None,
    costs: dict[str, float] | None,
    choice: Choice,
    outputs: Sequence[Path],
) -> None:
    calibrations = _calibrations(args, tagger, types)
    with open_source(args.file, choice) as source:
        say_reading(source.name, source.reading)
        job = Evaluation(
            file=str(args.file),
            file_format=source.file_format,
            model=model_reference(args.model),
            against=None if args.against is None else model_reference(args.against),
            fold_handles=args.fold_handles,
            rule=args.rule,
            types=None if types is None else tuple(types.items()),
            costs=None if costs is None else tuple(costs.items()),
            calibrations=calibrations,
        )
        with sharded_results(args, source, job, outputs) as contents:
            result = merge_results(contents)
            gain = None
            if args.fit_transitions:
                shards = shards_again(source, args.shard_bytes)
                sentences = [each for shard in shards for each in job.sentences(shard)]
                gain = layer_gain(tagger, sentences)
            _write(args, tagger, result, gain, calibrations)


def _calibrations(
    args: argparse.Namespace, tagger: Tagger, types: dict[str, str] | None
) -> tuple[Calibration, ...]:
    """Return the calibrations of the level, and with --card those of all levels of a folder."""
    if args.calibrate is None:
        return ()
    level = DEFAULT_LEVEL if args.level is None else args.level
    scheme = scheme_like(tagger.tags)
    named = wanted_of(args)
    gold = SentenceFile(args.calibrate, None, args.fold_handles, types, scheme, wanted=named)
    judged = list(judge(tagger, gold))
    wanted = [calibrated(judged, level, of) for of in UNITS]
    more = all_calibrations(judged) if args.card else []
    return (*wanted, *(each for each in more if each not in wanted))


def _print_scores(args: argparse.Namespace) -> None:
    """Print the scores of predicted tags, by conlleval's rules and strictly.

    Raises:
        CrfvizError: a file cannot be read, or another option is given.
    """
    if other := next((name for name in OF_MODELS if getattr(args, name)), None):
        raise CrfvizError(f"--{other.replace('_', '-')} is for a model, got --answers")
    wanted = wanted_of(args)
    columns = {"words": wanted.words, "tags": wanted.tags, "sentences": wanted.sentences}
    for mode in MODES:
        scores = score_answers(args.file, args.answers or None, mode, **columns)
        sys.stdout.write(f"{scores}\n")
    sides = (wanted, wanted) if args.answers else sides_of_columns(wanted)
    paths = args.file, Path(args.answers) if args.answers else args.file
    for path, side in zip(paths, sides, strict=True):
        file = SentenceFile(path, scheme=AS_WRITTEN, wanted=side)
        for _ in file.read(partial(say_reading, path)):
            pass


def _write(
    args: argparse.Namespace,
    tagger: Tagger,
    result: EvaluationResult,
    gain: LayerGain | None,
    calibrations: Sequence[Calibration],
) -> None:
    label = args.label or label_of(args.file)
    prepared = [", handles folded"] * args.fold_handles + [", types mapped"] * bool(args.map)
    file = "".join([label, *prepared])
    results = CountedRun(tagger, result.tally)
    record = as_record(results, file)
    sys.stdout.write(f"{as_text(record)}\n")
    tables = tables_of(results)
    if result.comparison is not None:
        both = tables_of_comparison(result.comparison)
        text = comparison_text(tagger.name, load_tagger(args.against).name, both["models"])
        sys.stdout.write(f"\n{text}\n")
        tables |= both
    sets = set_table(result.tally, calibrations[: len(UNITS)])
    if sets:
        tables["sets"] = sets
        of = f"{label_of(args.calibrate)}: {calibrations[0].sentences:,} sentences"
        sys.stdout.write(f"\nSets calibrated on {of}\n\n{coverage_text(sets)}\n\n{ABSTAIN}\n")
    if gain is not None:
        sys.stdout.write(f"\n{gain_text(gain)}\n")
    if args.json or args.report:
        everything = _everything(args, results, file, tables)
        if gain is not None:
            everything["fit_transitions"] = gain_record(gain)
        if args.json:
            write_atomically(args.json, _as_json(everything))
        if args.report:
            report = html_report(everything, tables, tagger=tagger, made=date.today())
            write_atomically(args.report, [report.encode()])
    if args.card:
        record_evaluation(tagger.folder, label, record)
        if calibrations:
            of_file = label_of(args.calibrate)
            record_coverage(tagger.folder, of_file, calibrations, file, result.tally)


def _as_json(record: dict[str, Any]) -> Iterator[bytes]:
    """Yield a record in pieces, to bound the memory of large ones."""
    for piece in json.JSONEncoder(indent=2).iterencode(record):
        yield piece.encode()
    yield b"\n"


def _everything(
    args: argparse.Namespace, results: CountedRun, file: str, tables: dict[str, Table]
) -> dict[str, Any]:
    """Return the full record; it has times, which differ between runs, only with --times."""
    if not args.times:
        for row in tables["decoders"]:
            del row["microseconds"]
    record = full_record(results, file, tables)
    return {**(record if args.times else untimed(record)), "against": args.against}
