"""How far every annotator is in every document, as rows of a table."""

from __future__ import annotations

from crfviz.annotations.store.store import Store
from crfviz.corpus.table import Row, Table

COLUMNS = ("document", "sentences", "annotator", "done", "open", "pins", "changed", "seconds")


def statistics(store: Store, document: str | None = None, annotator: str | None = None) -> Table:
    """One row per document and annotator; a document that nobody has begun has one row without.

    `pins` are tags that the annotator set, `changed` final tags that are not the proposed ones,
    `seconds` the mean time of a sentence; all three are of the sentences that are done.

    Args:
        store: whose annotations are counted.
        document: only this one; None is all.
        annotator: only this one; None is all.
    """
    rows: Table = []
    for summary in store.documents():
        if document in (None, summary.name):
            names = [name for name in store.annotators(summary.name) if annotator in (None, name)]
            about: Row = {"document": summary.name, "sentences": summary.sentences}
            rows += [about | _counts(store, summary.name, name) for name in names]
            if not names and annotator is None:
                rows.append(about | dict.fromkeys(COLUMNS[2:]))
    return rows


def _counts(store: Store, document: str, annotator: str) -> Row:
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
