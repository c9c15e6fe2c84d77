"""Decoding with and without the BIO rules, beside the greedy decoders, which keep to no rules."""

from collections.abc import Sequence

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.entities.illegal_mass import ConstraintEffect, constraint_effect
from crfviz.exceptions import NoPathError
from crfviz.views.stage.parts import Row
from crfviz.views.strips.decoders import LABELS

FREE, LEGAL = "viterbi_free", "viterbi_legal"  # ids of the two Viterbi rows
MOST_NAMED = 3  # words


def constraint_rows(
    free: Analysis,
    effect: ConstraintEffect | None,
    tags: Sequence[str],
    *,
    which: Sequence[str],
    gold: Sequence[int] | None = None,
    trained: Analysis | None = None,
) -> list[Row]:
    """A row per decoder, with the words where it breaks BIO.

    Args:
        free: the chain without the rules.
        effect: what the rules do to it; None where no path is allowed at all.
        tags: K tag names.
        which: ids of the rows to draw, in `LABELS`; both Viterbi rows are always drawn.
        gold: T tag ids, where the right tags are known.
        trained: the chain without the rules and without edits, where there are some.
    """
    before = {} if trained is None else _decoded(trained)
    found: dict[str, tuple[str, Sequence[int] | None]] = {
        "greedy": (LABELS["greedy"], free.greedy),
        "left_to_right": (LABELS["left_to_right"], free.left_to_right),
        FREE: ("Viterbi, free", effect.free if effect else None),
        LEGAL: ("Viterbi, legal", effect.constrained if effect else None),
    }
    if gold is not None:
        found["gold"] = (LABELS["gold"], gold)
    return [
        Row(name, label, row, faults=_faults(row, tags), trained=before.get(name))
        for name, (label, row) in found.items()
        if name in which or name in (FREE, LEGAL)
    ]


def _decoded(free: Analysis) -> dict[str, Sequence[int] | None]:
    """The rows of another chain, by their ids."""
    found: dict[str, Sequence[int] | None] = {
        "greedy": free.greedy,
        "left_to_right": free.left_to_right,
    }
    try:
        effect = constraint_effect(free.potentials)
    except NoPathError:
        return found
    return found | {FREE: effect.free, LEGAL: effect.constrained}


def constraint_note(effect: ConstraintEffect, words: Sequence[str], tags: Sequence[str]) -> str:
    """What the rules cost and what they change, in a sentence or two."""
    share = _percent(effect.mass)
    if effect.mass == 0.0:
        opening = "No probability goes to tag sequences that BIO forbids."
    else:
        opening = f"Without the rules {share} of the probability goes to tags that BIO forbids."
    if effect.constrained is None:
        return f"{opening} No legal tag sequence is allowed: undo an edit or drop a pin."
    if not effect.changed:
        return f"{opening} The best path is legal as it is: the rules change no tag."
    moves = ", ".join(
        f"“{words[t]}” {tags[effect.free[t]]} → {tags[effect.constrained[t]]}"
        for t in effect.changed[:MOST_NAMED]
    )
    more = len(effect.changed) - MOST_NAMED
    return f"{opening} The rules change {moves}{f' and {more} more' if more > 0 else ''}."


def _percent(mass: float) -> str:
    """Never a plain 0 % or 100 % for what is not."""
    if 0.0 < mass < 5e-5:
        return f"{100 * mass:.1e} %"
    return "nearly all" if 0.99995 <= mass < 1.0 else f"{100 * mass:.2f} %"


def _faults(row: Sequence[int] | None, tags: Sequence[str]) -> list[int]:
    return [] if row is None else illegal_positions([tags[k] for k in row])
