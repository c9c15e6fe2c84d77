"""Formatted tables of an error analysis: titles, per cent, and consistent digits.

A share and its interval become two columns: a number to sort by, and a text. The page shows these
frames, and the report prints them, so both have the same digits.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from crfviz.corpus.table import Cell
from crfviz.text.schemes import SCHEMES

SHARES = {  # in [0, 1] in the rows, in per cent in the frames
    "precision": "precision, %",
    "recall": "recall, %",
    "f1": "F1, %",
    "words_right": "token accuracy, %",
    "sentences": "sentence accuracy, %",
    "entity_f1": "entity F1, %",
    "right": "right, %",
    "confidence": "mean probability, %",
    "from": "from, %",
    "to": "to, %",
    "coverage": "words kept, %",
    "ece": "calibration error, %",
    "win": "repair wins, %",
    "share": "of all, %",
    "covered": "covered, %",
    "level": "level, %",
    "share_so_far": "so far, %",
    "first": "first right, %",
    "second": "second right, %",
}
AROUND = "in its sentence"  # column of wrong words with their neighbours
TITLES = {
    "gap": "gap, nats",
    "emission_gap": "by emissions",
    "transition_gap": "by transitions",
    "emission_change": "smallest change of emissions",
    "transition_change": "of transitions",
    "p_gold": "p(gold)",
    "p_predicted": "p(predicted)",
    "least_marginal": "least marginal",
    "mean_size": "mean size",
    "cost": "cost of one",
    "viterbi": "by Viterbi",
    "least_cost": "by least cost",
    "search_errors": "search errors",
    "errors": "runs",
    **{f"invalid_{name.lower()}": f"breaks {name}" for name in SCHEMES},
    "microseconds": "µs a sentence, median",
    "both_right": "both right",
    "both_wrong": "both wrong",
    "wrong_in_both": "wrong in both",
    "only_in": "only in",
    "around": AROUND,
    "p_entity": "p(entity)",
    "only_this": "only this right",
    "only_viterbi": "only Viterbi right",
    "p": "p (McNemar)",
    "repaired": "repaired sentences",
    "spoilt": "spoilt sentences",
    "step_gap": "transition's gap, nats",
    "near tie": "near tie",
    "more_right": "more words right",
    "independent_tag": "independent tag",
    "fitted_tag": "fitted tag",
    "log_odds": "log odds, nats",
}
SMALL = (
    "p",
    "p_gold",
    "p_predicted",
    "p_entity",
    "least_marginal",
)  # numbers that need significant digits
ABOUT = {
    "tags": "Each tag by Viterbi, with 95 % intervals",
    "confusion": "Gold tag and predicted tag",
    "entity_schemes": "Entities by four readings of right",
    "entity_kinds": "Entities by what is wrong with them",
    "ece": "Expected calibration error",
    "calibration": "Calibration by bins of probability",
    "coverage": "Words right among the surest",
    "decoders": "Every decoder on the same sentences",
    "costs": "Wrong words by kind of error, and what each costs",
    "sets": "Gold in calibrated sets, by length of the sentence",
    "sets_by_corpus": "Gold in calibrated sets, by corpus",
    "cost_curve": "Precision and recall of entities, by the value of the cost",
    "layer_gain": "Emissions with and without transitions, on held-out sentences",
    "layer_changes": "Sentences that fitted transitions repair or spoil",
    "oracle": "Sentences whose gold path is among the k best",
    "slices": "Slices of the corpus, largest gain first",
    "kinds": "Runs of wrong words by what is to blame",
    "tag_pairs": "Wrong words by pair of tags",
    "transitions": "Runs of wrong words by the transition behind them, chosen and gold",
    "weights": "Transition weights too strong",
    "errors": "Every run of wrong words",
    "suspects": "Gold tags to review, least probable first",
    "label_errors": "Gold tags to review, by CRFs that did not see them",
    "names": "Names that the model tags with different types",
    "entity_suspects": "Entities in gold or in the prediction alone, the surest disagreement first",
    "models": "First and second model on the same file",
    "disagreements": "Sentences that one of the two gets wrong, or both",
}
IN_SIGHT = {  # columns of wide tables that the page shows first, the words widest
    "errors": (AROUND, "gold", "predicted", "kind", "gap, nats", "p(gold)"),
    "suspects": (AROUND, "gold", "predicted", "p(gold)", "p(predicted)"),
    "label_errors": (AROUND, "gold", "likely", "log odds, nats"),
    "entity_suspects": (AROUND, "type", "only in", "p(entity)", "doubt"),
    "disagreements": (AROUND, "where", "kind", "won", "lost"),
    "layer_changes": (
        AROUND,
        "change",
        "more words right",
        "gold",
        "independent tag",
        "fitted tag",
    ),
    "tags": ("tag", "precision, %", "recall, %", "F1, %", "F1, 95 %"),
    "decoders": (
        "decoder",
        "token accuracy, %",
        "token accuracy, 95 %",
        "sentence accuracy, %",
        "search errors",
        "only this right",
        "only Viterbi right",
        "p (McNemar)",
    ),
    "kinds": ("kind", "runs", "of all, %"),
    "tag_pairs": ("gold", "predicted", "words", "of all, %"),
    "entity_schemes": (  # all columns; a phone shows the first ones
        "scheme",
        "precision, %",
        "recall, %",
        "F1, %",
        "correct",
        "incorrect",
        "partial",
        "missed",
        "spurious",
    ),
}
_ENDS = ("_low", "_high")
_COUNTED = ("right", "from", "to", "sentences")  # names that are counts or texts in other tables


def error_frame(table: Sequence[Mapping[str, Cell]]) -> pd.DataFrame:
    """Return the rows formatted as the module describes.

    Args:
        table: rows as `crfviz.corpus.table` describes them; may be empty.

    Returns:
        As many rows; shares in per cent, titles as in `SHARES` and `TITLES`, and for each interval
        a column of texts such as "93.1 to 95.0" whose title ends in "95 %".
    """
    if not table:
        return pd.DataFrame()
    columns: dict[str, list[Cell]] = {}
    for name in table[0]:
        cells = [row[name] for row in table]
        if name.endswith(_ENDS):
            continue
        title = _title(name, cells)
        columns[title] = cells
        if title != name and title in SHARES.values():
            columns[title] = [
                100 * cell if isinstance(cell, int | float) else cell for cell in cells
            ]
        if f"{name}_low" in table[0]:
            label = f"{title.removesuffix(', %')}, 95 %"
            columns[label] = [_interval(row[f"{name}_low"], row[f"{name}_high"]) for row in table]
    return pd.DataFrame(columns)


def formats(frame: pd.DataFrame) -> dict[str, str]:
    """Return the number format of each column of `error_frame`."""
    small = {TITLES[name] for name in SMALL}
    return {
        column: "{:.2g}" if column in small else "{:.0f}" if column.startswith("µs") else "{:.2f}"
        for column in frame.columns
        if pd.api.types.is_float_dtype(frame[column])
    }


def per_cents(table: Sequence[Mapping[str, Cell]], name: str) -> list[float]:
    """Return a column of shares in per cent for a figure; 0 for none."""
    return [100 * float(row[name] or 0) for row in table]


def _title(name: str, cells: Sequence[Cell]) -> str:
    """Return the title of a column, with "share" only if its cells are shares."""
    if name in _COUNTED and not any(isinstance(cell, float) for cell in cells):
        return name
    return SHARES.get(name, TITLES.get(name, name))


def _interval(low: Cell, high: Cell) -> str:
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return ""
    return f"{100 * low:.1f} to {100 * high:.1f}"
