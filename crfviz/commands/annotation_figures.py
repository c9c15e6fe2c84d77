"""Figures about annotations: how far every annotator is."""

import argparse
import json
import sys

from crfviz.annotations.store.store import Store
from crfviz.commands.tag import printable
from crfviz.corpus.table import Table, TableRow, aligned

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
