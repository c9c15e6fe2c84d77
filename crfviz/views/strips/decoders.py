"""The strips of a sentence: which tags each decoder, path or sample gives every word."""

import math
from collections.abc import Sequence

from crfviz.chain.decoding.analysis import Analysis
from crfviz.views.stage.parts import Row

LABELS = {
    "greedy": "word alone",
    "left_to_right": "left to right",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
    "gold": "gold",
}


def decoder_rows(
    now: Analysis,
    *,
    which: Sequence[str],
    gold: Sequence[int] | None = None,
    trained: Analysis | None = None,
) -> list[Row]:
    """A row per decoder.

    Args:
        now: the chain to decode.
        which: ids of the rows to draw, in `LABELS`.
        gold: T tag ids, where the right tags are known.
        trained: the chain before the edits; given, its Viterbi row is drawn above the one of `now`.

    Returns:
        The rows, in the order of `LABELS`.
    """
    tags = {**now.paths, "gold": gold}
    rows = [
        Row(name, LABELS[name], tags[name])
        for name in LABELS
        if name in which and not (name == "gold" and gold is None)
    ]
    if trained is None or trained.viterbi is None or "viterbi" not in which:
        return rows
    place = next(i for i, row in enumerate(rows) if row.id == "viterbi")
    before = Row("viterbi_trained", "Viterbi, trained", trained.viterbi.path)
    return [
        *rows[:place],
        before,
        Row("viterbi", "Viterbi, now", tags["viterbi"]),
        *rows[place + 1 :],
    ]


def backpointer_rows(analysis: Analysis, tags: Sequence[str]) -> list[Row]:
    """A row per tag: where the backpointer of each word's cell leads; a dash where no path does.

    Args:
        analysis: the chain.
        tags: K tag names.
    """
    pointers: list[list[int]] = analysis.reached_backpointers.tolist()
    started = (analysis.best[0] > -math.inf).tolist()

    def text(t: int, k: int) -> str:
        if pointers[t][k] >= 0:
            return tags[pointers[t][k]]
        return "START" if t == 0 and started[k] else "–"

    return [
        Row(
            f"backpointer_{k}",
            f"backpointer of {tag}",
            None,
            texts=[text(t, k) for t in range(len(pointers))],
        )
        for k, tag in enumerate(tags)
    ]
