"""`python -m crfviz evaluate`: a tagger on a tagged file, printed, as JSON, report and model card.

--json holds the figures of every decoder, the errors by what is to blame, and all tables of the
report. --report is one HTML file that needs no network. --against sets a second model beside the
first. The file is gone through twice and never held as a whole, so it may be of any size.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Never

import torch
from tqdm import tqdm

from crfviz.commands.names import mapped_types, require_folder
from crfviz.corpus.run.results import Results
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.analysis import full_record, tables_of
from crfviz.corpus.tables.report import as_record, as_text, record_evaluation
from crfviz.corpus.tables.two_models import comparison_tables, comparison_text
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import FORMATS, SentenceFile
from crfviz.views.figures.error_report import html_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `evaluate`."""
    add = parser.add_argument
    add("file", type=Path, help="tagged sentences: CoNLL-U, iob2, CoNLL columns or JSONL")
    add("--model", required=True, metavar="NAME", help="a shipped model, or a model folder")
    add("--format", choices=FORMATS, help="of the file (default: told from its content)")
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
    add("--card", action="store_true", help="write the figures into the folder of the model")
    add("--label", help="what the file is called there (default: its folder and its name)")


def main(args: argparse.Namespace) -> int:
    """Evaluate as the options say; 0 when everything is written.

    Raises:
        CrfvizError: the model, the file or an option is of no use; the message says why.
    """
    for path in (args.json, args.report):
        require_folder(path)  # now, not after an hour
    whole = SentenceFile(args.file, args.format, args.fold_handles)
    types = mapped_types(args.map, [whole])
    sentences = replace(whole, types=types)
    torch.set_num_threads(1)  # tensors of one sentence are so small that threads only wait
    tagger = load_tagger(args.model)
    if args.card and tagger.observations is not None:
        raise CrfvizError("--card is for model folders: a textbook chain's card is its file")
    label = args.label or "/".join(args.file.resolve().parts[-2:])
    prepared = [", handles folded"] * args.fold_handles + [", types mapped"] * bool(types)
    results = _run(tagger, sentences)
    file = "".join([label, *prepared])
    record = as_record(results, file)
    sys.stdout.write(f"{as_text(record)}\n")
    compared = {}
    if args.against:
        other = load_tagger(args.against)
        compared = comparison_tables(results, _run(other, sentences), sentences)
        text = comparison_text(tagger.name, other.name, compared["models"])
        sys.stdout.write(f"\n{text}\n")
    if args.json or args.report:
        tables = {**tables_of(results), **compared}
        everything = {**full_record(results, file, tables), "against": args.against}
        if args.json:
            _write(args.json, json.dumps(everything, indent=2) + "\n")
        if args.report:
            _write(args.report, html_report(everything, tables))
    if args.card:
        record_evaluation(tagger.folder, label, record)
    return 0


def _run(tagger: Tagger, sentences: SentenceFile) -> Results:
    with tqdm(unit=" sentences") as bar:
        return run(tagger, sentences, lambda done, total: _advance(bar, done, total))


def _advance(bar: "tqdm[Never]", done: int, total: int) -> None:
    bar.total = total
    bar.update(done - bar.n)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror}") from error
