"""Which tags each decoder gives every word, with and without the BIO rules, as strips."""

import math
from collections.abc import Sequence

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.questions.entities import ConstraintEffect, constraint_effect
from crfviz.exceptions import NoPathError
from crfviz.views.numbers import per_cent
from crfviz.views.phrases import moved
from crfviz.views.stage.parts import Row

LABELS = {
    "greedy": "word alone",
    "left_to_right": "left to right",
    "viterbi": "Viterbi",
    "max_marginal": "max-marginal",
    "gold": "gold",
}

FREE, LEGAL = "viterbi_free", "viterbi_legal"  # ids of Viterbi's rows without and with the rules
RULE_LABELS = {
    "greedy": LABELS["greedy"],
    "left_to_right": LABELS["left_to_right"],
    FREE: "Viterbi, free",
    LEGAL: "Viterbi, legal",
    "gold": LABELS["gold"],
}


def decoder_rows(
    now: Analysis,
    *,
    which: Sequence[str],
    gold: Sequence[int] | None = None,
    trained: Analysis | None = None,
) -> list[Row]:
    """The rows of decoders wanted, by their ids and in the order of `LABELS`.

    Gold is T tag ids, where the right tags are known. Given the chain before the edits, its Viterbi
    row is drawn above the one of `now`.
    """
    paths = {**now.paths, "gold": gold}
    rows = []
    for name, label in LABELS.items():
        if name not in which or (name == "gold" and gold is None):
            continue
        if name == "viterbi" and trained is not None and trained.viterbi is not None:
            rows.append(Row("viterbi_trained", "Viterbi, trained", trained.viterbi.path))
            label = "Viterbi, now"
        rows.append(Row(name, label, paths[name]))
    return rows


def backpointer_rows(analysis: Analysis) -> list[Row]:
    """A row per tag: where the backpointer of each word's cell leads; a dash where no path does."""
    tags = analysis.tags
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


def constraint_rows(
    free: Analysis,
    effect: ConstraintEffect | None,
    *,
    which: Sequence[str],
    gold: Sequence[int] | None = None,
    trained: Analysis | None = None,
) -> list[Row]:
    """A row per decoder, with the words where it breaks BIO.

    Args:
        free: the chain without the rules.
        effect: what the rules do to it; None where no path is allowed at all.
        which: ids of the rows to draw, in `LABELS`; both Viterbi rows are always drawn.
        gold: T tag ids, where the right tags are known.
        trained: the chain without the rules and without edits, where there are some.
    """
    before = {} if trained is None else _by_rules(trained, effect_of_rules(trained))
    paths = {**_by_rules(free, effect), "gold": gold}
    rows = []
    for name, label in RULE_LABELS.items():
        path = paths[name]
        if (name in which or name in (FREE, LEGAL)) and not (name == "gold" and gold is None):
            faults = illegal_positions([free.tags[k] for k in path or ()])
            rows.append(Row(name, label, path, faults=faults, trained=before.get(name)))
    return rows


def effect_of_rules(free: Analysis) -> ConstraintEffect | None:
    """What the rules do to a chain without them; None where no path is allowed at all."""
    try:
        return constraint_effect(free.potentials)
    except NoPathError:
        return None


def constraint_note(effect: ConstraintEffect, chain: Analysis) -> str:
    """What the rules cost and what they change, in a sentence or two."""
    share = "nearly all" if 0.99995 <= effect.mass < 1.0 else per_cent(effect.mass)
    if effect.mass == 0.0:
        opening = "No probability goes to tag sequences that BIO forbids."
    else:
        opening = f"Without the rules {share} of the probability goes to tags that BIO forbids."
    if effect.constrained is None:
        return f"{opening} No legal tag sequence is allowed: undo an edit or drop a pin."
    if not effect.changed:
        return f"{opening} The best path is legal as it is: the rules change no tag."
    return f"{opening} The rules change {moved(effect.free, effect.constrained, chain)}."


def _by_rules(free: Analysis, effect: ConstraintEffect | None) -> dict[str, Sequence[int] | None]:
    """The path of each decoder, by the id of its row; the greedy ones keep to no rules."""
    return {
        **free.paths,
        FREE: effect.free if effect else None,
        LEGAL: effect.constrained if effect else None,
    }
