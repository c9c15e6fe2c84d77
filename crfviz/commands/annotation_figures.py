"""Figures about annotations: how far every annotator is, and whether the labels are enough."""

import argparse
import json
import sys
from pathlib import Path

from tqdm import tqdm

from crfviz.annotations.curation import learnable
from crfviz.annotations.store.store import Store, file_of, open_store
from crfviz.annotations.teaching.teach import finished
from crfviz.commands.name_checks import require_known
from crfviz.commands.tag import printable
from crfviz.commands.teach import stop_when_asked
from crfviz.corpus.table import Table, TableRow, aligned
from crfviz.corpus.tables.learning_curve import LearningCurve, learning_curve
from crfviz.exceptions import FormatError
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence

COLUMNS = ("document", "sentences", "annotator", "done", "open", "pins", "changed", "seconds")


def statistics(store: Store, document: str | None = None, annotator: str | None = None) -> Table:
    """Return one row per document and annotator; unstarted documents have one row, no annotator.

    `pins` counts the tags that the annotator set, `changed` the final tags that differ from the
    proposed ones. `seconds` is the mean time per sentence. All three cover finished sentences only.

    Args:
        store: the annotations to count.
        document: name of the only document to count; None counts all.
        annotator: name of the only annotator to count; None counts all.
    """
    rows: Table = []
    for summary in store.documents():
        if document in (None, summary.name):
            names = [name for name in store.annotators(summary.name) if annotator in (None, name)]
            about: TableRow = {"document": summary.name, "sentences": summary.sentences}
            rows += [about | _counts(store, summary.name, name) for name in names]
            if not names and annotator is None:
                rows.append(about | dict.fromkeys(COLUMNS[2:]))
    return rows


def print_statistics(store: Store, options: argparse.Namespace) -> None:
    """Print the rows of `statistics` as a table or as JSON."""
    rows = statistics(store, options.document, options.annotator)
    if options.json:
        sys.stdout.write(f"{json.dumps(rows, ensure_ascii=False, indent=2)}\n")
    else:
        cells = [["-" if cell is None else str(cell) for cell in row.values()] for row in rows]
        table = aligned([COLUMNS, *([printable(cell) for cell in row] for row in cells)])
        sys.stdout.writelines(f"{line}\n" for line in table)


def _counts(store: Store, document: str, annotator: str) -> TableRow:
    progress = store.progress(document, annotator)
    done = [labelled for _, labelled in store.annotations(document, annotator, "done")]
    pairs = [pair for one in done for pair in zip(one.proposed, one.final, strict=True)]
    return {
        "annotator": annotator,
        "done": len(done),
        "open": progress.open,
        "pins": sum(len(one.pins) for one in done),
        "changed": sum(proposed != final for proposed, final in pairs),
        "seconds": round(sum(one.seconds for one in done) / len(done), 3) if done else None,
    }


def print_enough(options: argparse.Namespace) -> None:
    """Print the learning curve of a document or a tagged file, as text or as JSON."""
    sentences = _labels(options)
    with (
        stop_when_asked(),
        tqdm(total=100, unit="%", leave=False, disable=None) as bar,
    ):
        curve = learning_curve(sentences, report=lambda share: bar.update(100 * share - bar.n))
    if options.json:
        sys.stdout.write(f"{json.dumps(curve.as_fields(), ensure_ascii=False, indent=2)}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in curve_in_words(curve))


def _labels(options: argparse.Namespace) -> list[Sentence]:
    file = file_of(options.database)
    if file is None or file.exists():
        with open_store(options.database) as store:
            names = [document.name for document in store.documents()]
            if options.labels in names:
                return finished(learnable(store.annotations(options.labels), "agreed"))
            if not Path(options.labels).exists():
                require_known("the document", options.labels, names)
    if not Path(options.labels).is_file():
        raise FormatError(f"{options.labels}: expected a document of the store, or a tagged file")
    return list(read_sentences(options.labels))


def curve_in_words(curve: LearningCurve) -> list[str]:
    """Return a learning curve as lines: its points, the weakest tag and the verdict."""
    rows = [["sentences", curve.metric, "95 %"]]
    for point in curve.points:
        low, high = point.interval
        rows.append([str(point.sentences), f"{point.score:.3f}", f"{low:.3f} to {high:.3f}"])
    lines = list(aligned(rows))
    if worst := curve.weakest:
        lines.append(f"weakest: {worst.tag}, F1 {worst.score:.3f} of {worst.gold} in the labels")
    return [*lines, curve.verdict]
