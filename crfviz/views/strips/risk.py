"""The path of least cost beside Viterbi's, and the paths of a calibrated set."""

from collections.abc import Sequence

import numpy as np

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.potentials import Array
from crfviz.chain.questions.costs import KINDS, CostInterval, expected_errors
from crfviz.chain.questions.path_sets import MAX_PATHS, PathSet
from crfviz.text.schemes import entity_scheme
from crfviz.views.formatting import count, moved, score, short
from crfviz.views.stage.picture import Picture, Row

LEAST_COST = "least_cost"  # id of the row
NAMES = {kind: kind.replace("_", " ") for kind in KINDS}
PLURALS = {
    "miss": "misses",
    "false_alarm": "false alarms",
    "wrong_type": "wrong types",
    "cut": "cuts",
    "merge": "merges",
}
LEGEND = "thick: Viterbi path · red dashes: differs from Viterbi · ▸ the interval of the value now"
FADED = "circles and lines: what the set uses · all else is faded · thick: Viterbi path"


def dial_picture(
    now: Analysis, path: Sequence[int], found: Sequence[CostInterval], value: float, note: str
) -> Picture:
    """Return a row per interval of the value that varies, and the lattice with both paths.

    Args:
        now: the chain, with an allowed path.
        path: the chosen path, drawn beside Viterbi's.
        found: the intervals.
        value: the value now.
        note: what the choice does.
    """
    rows = [
        Row("viterbi", "Viterbi", now.paths["viterbi"], columns=("Viterbi", "", "")),
        Row(LEAST_COST, "chosen", path, columns=("chosen", score(value), "")),
    ]
    for number, (low, high, tags, _) in enumerate(found, start=1):
        here = "▸" if low <= value <= high else ""
        ends = (short(low), short(high))
        columns = (f"{here}{number}.", *ends)
        rows.append(Row(f"interval_{number}", " to ".join(ends), tags, columns=columns))
    return Picture(
        ["strips", "lattice"],
        rows,
        heading=("", "from", "to"),
        contrast=LEAST_COST,
        note=note,
        legend=LEGEND,
        changeable=False,
    )


def cost_note(
    now: Analysis, path: Sequence[int], table: Array, found: Sequence[CostInterval]
) -> str:
    """Describe the errors that a (K, K) table of costs prefers to others, and by how much.

    Args:
        now: the chain, with an allowed path.
        path: the path of least expected cost.
        table: the costs.
        found: the intervals of the cost that varies.
    """
    best, marginals = now.paths["viterbi"] or [], now.forward_backward.marginals.numpy()
    flips = ", ".join(short(each.low) for each in found[1:])
    at = f" The path of least cost changes at {flips}." if flips else ""
    risks, words = marginals @ table, np.arange(len(best))
    cost, paid = (short(float(risks[words, each].sum())) for each in (path, best))
    if best == path:
        return f"With these costs the path is Viterbi’s: expected cost {cost}.{at}"
    trade = ""
    if entity_scheme(now.tags):
        before, after = (expected_errors(marginals, now.tags, each) for each in (best, path))
        changes = [(after[kind] - before[kind], PLURALS[kind]) for kind in KINDS]
        more = [f"{short(n)} more {name}" for n, name in changes if n >= 0.005]
        fewer = [f"{short(-n)} fewer {name}" for n, name in changes if n <= -0.005]
        trade = f" It expects {' and '.join([*more, *fewer])}." if more or fewer else ""
    change = moved(best, path, now)
    return f"{change}: expected cost {cost} instead of Viterbi’s {paid}.{trade}{at}"


def between_note(now: Analysis, path: Sequence[int], found: Sequence[CostInterval]) -> str:
    """Describe a path of the family between Viterbi and max-marginal."""
    if len(found) == 1:
        return "From Viterbi to max-marginal the path stays the same."
    flips = ", ".join(short(each.low) for each in found[1:])
    best = now.paths["viterbi"] or []
    change = "the path is Viterbi’s" if best == path else moved(best, path, now)
    return f"Here {change}. From Viterbi (0) to max-marginal (1) the path changes at {flips}."


def set_picture(now: Analysis, used: PathSet, note: str) -> Picture:
    """Return the lattice with what a set uses, and the tags of the set."""
    texts = [" ".join(tags.names) or "–" for tags in used.tags]
    rows = [
        Row("viterbi", "Viterbi", now.paths["viterbi"]),
        Row("set", "in the set", None, texts=texts, titles=texts),
    ]
    return Picture(
        ["strips", "lattice"], rows, used=used, note=note, legend=FADED, changeable=False
    )


def set_note(used: PathSet, of: str, level: float | None) -> str:
    """Describe the size of a set and what is promised; no `level`, no promise."""
    if of == "words":
        size = f"{score(sum(map(len, used.tags)) / len(used.tags))} tags a word"
    elif used.num_paths is None:
        size = f"More than {MAX_PATHS} paths: the set abstains, which counts as right"
    else:
        size = count(used.num_paths, "path")
    if level is None:
        return f"{size}."
    return f"{size}; of 100 {of} like these, {100 * level:.0f} sets hold the right one."
