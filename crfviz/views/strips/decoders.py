"""Rows of tags by decoder: of one chain, with and without the BIO rules, and of two chains."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.analysis import Analysis, TwoChains
from crfviz.chain.questions.entities import ConstraintEffect, constraint_effect
from crfviz.exceptions import NoPathError
from crfviz.views.formatting import differing, format_probability, moved, per_cent, score, signed
from crfviz.views.stage.picture import Grid, Row

FREE, LEGAL = "viterbi_free", "viterbi_legal"  # ids of Viterbi's rows without and with the rules
MIN_CHANGE = 0.005  # smallest change of a marginal that two digits show


class Decoder(NamedTuple):
    """A row that every page may show."""

    label: str
    key: str  # letter that shows or hides the row
    about: str = ""  # description, one sentence
    optional: bool = False  # whether pages and lectures show it only if the reader chooses it


DECODERS = {  # by the key in `Analysis.paths`, and what the reader knows
    "greedy": Decoder("independent", "w", "Gives each word the tag with the best emission."),
    "left_to_right": Decoder(
        "greedy", "l", "Decides from left to right and never takes a decision back."
    ),
    "viterbi": Decoder("Viterbi", "v", "Finds the path with the highest score of all."),
    "max_marginal": Decoder("max-marginal", "m", "Gives each word its most probable tag."),
    "gold": Decoder("gold", "g"),
}
LABELS = {name: decoder.label for name, decoder in DECODERS.items()}
USUAL_ROWS = tuple(name for name, decoder in DECODERS.items() if not decoder.optional)

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
    """Return the rows of the wanted decoders, in the order of `LABELS`.

    `gold` is T tag ids, if known. `trained` is the chain before the edits: its Viterbi row is drawn
    above the one of `now`.
    """
    paths = {**now.paths, "gold": gold}
    rows = []
    for name, (label, key, about, _) in DECODERS.items():
        if name not in which or (name == "gold" and gold is None):
            continue
        if name == "viterbi" and trained is not None and trained.viterbi is not None:
            rows.append(Row("viterbi_trained", "Viterbi, trained", trained.viterbi.path))
            label = "Viterbi, now"
        rows.append(Row(name, label, paths[name], about=about, key=key))
    return rows


def backpointer_rows(analysis: Analysis) -> list[Row]:
    """Return a row per tag with its backpointers; a dash where no path leads."""
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
    """Return a row per decoder, with the words where it breaks BIO.

    Args:
        free: the chain without the rules.
        effect: the effect of the rules; None if no path is allowed.
        which: ids of the rows to draw, in `LABELS`; both Viterbi rows are always drawn.
        gold: T tag ids, if known.
        trained: the chain without the rules and without edits, if there are edits.
    """
    before = {} if trained is None else _by_rules(trained, effect_of_rules(trained))
    paths = {**_by_rules(free, effect), "gold": gold}
    rows = []
    for name, label in RULE_LABELS.items():
        path = paths[name]
        if (name in which or name in (FREE, LEGAL)) and not (name == "gold" and gold is None):
            faults = illegal_positions([free.tags[k] for k in path or ()])
            key = DECODERS[name].key if name in DECODERS else ""
            rows.append(Row(name, label, path, faults=faults, trained=before.get(name), key=key))
    return rows


def effect_of_rules(free: Analysis) -> ConstraintEffect | None:
    """Return the effect of the BIO rules on a free chain; None where no path is allowed."""
    try:
        return constraint_effect(free.potentials)
    except NoPathError:
        return None


def constraint_note(effect: ConstraintEffect, chain: Analysis) -> str:
    """Describe cost and effect of the rules, in a sentence or two."""
    almost = effect.mass >= 0.99995 and effect.constrained is not None  # a legal path has the rest
    share = "nearly all" if almost else per_cent(effect.mass)
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
    """Return the path of each decoder by row id; greedy decoders ignore the rules."""
    return {
        **free.paths,
        FREE: effect.free if effect else None,
        LEGAL: effect.constrained if effect else None,
    }


@dataclass(frozen=True)
class Figures:
    """Four numbers that summarise a chain."""

    log_partition: float
    score: float  # of the best path, nats
    probability: float  # of the best path
    entropy: float  # of the paths, nats


def figures(analysis: Analysis) -> Figures | None:
    """Return the chain in four numbers; None where no path is allowed."""
    tables, best = analysis.forward_backward, analysis.viterbi
    if best is None:
        return None
    return Figures(tables.log_partition, best.score, best.probability, analysis.entropy)


def comparison_rows(
    both: TwoChains, which: Sequence[str], gold: Sequence[int] | None = None
) -> list[Row]:
    """Return two rows per decoder, and the differences at each word.

    `which` has decoder ids in `LABELS`; `gold` is T tag ids of the first chain, if known.
    """
    rows = []
    first, second = both.first.paths, both.second.paths
    differences = [0] * both.first.potentials.num_tokens
    for name in [name for name in LABELS if name in which and name in first]:
        ours, path = first[name], second[name]
        theirs = None if path is None else both.second_tags(path)
        rows.append(Row(f"{name}_a", f"{LABELS[name]} A", ours))
        rows.append(Row(f"{name}_b", "B", theirs, against=f"{name}_a"))
        for t in differing(ours, theirs):
            differences[t] += 1
    if gold is not None and "gold" in which:
        rows.append(Row("gold", LABELS["gold"], gold))
    marks = [f"≠ {number}" if number else "=" for number in differences]
    distances = [f"{distance:.2f}" for distance in both.distances()]
    return [
        *rows,
        Row("differences", "decoders differ", None, texts=marks),
        Row("distances", "Δ marginals", None, texts=distances),
    ]


def change_grid(both: TwoChains) -> Grid:
    """Return the marginals of B minus those of A, a cell per word and tag."""
    change = both.change()
    label = (
        "marginals of B − marginals of A, without tags that differ by less than 0.005 everywhere"
        if change.abs().max() >= MIN_CHANGE
        else "marginals of B − marginals of A: nowhere more than 0.005"
    )
    return Grid("change", label, change, 1.0, 2, "change")


def comparison_note(both: TwoChains) -> str:
    """Describe the differences, in a sentence or two."""
    words, first, second = both.first.words, both.first.viterbi, both.second.viterbi
    if first is None or second is None:
        dead = [side for side, best in (("A", first), ("B", second)) if best is None]
        return f"No tag sequence is allowed on {' and '.join(dead)}: there is no path to compare."
    distances = both.distances()
    farthest = max(range(len(words)), key=distances.__getitem__)
    ours, theirs = first.path, both.second_tags(second.path)
    places = differing(ours, theirs)
    if distances[farthest] == 0.0 and not places:
        return "A and B are the same on this sentence: same path, same marginals."
    a, b = format_probability(first.probability, 3), format_probability(second.probability, 3)
    opening = (
        f"Viterbi takes the same path on both sides; its probability is {a} in A and {b} in B."
    )
    if places:
        named = moved(ours, theirs, both.first, sign="≠")
        opening = (
            f"Viterbi differs at {len(places)} of {len(words)} words: {named}; the best path has "
            f"probability {a} in A and {b} in B."
        )
    return (
        f"{opening} The marginals differ most at “{words[farthest]}”: {distances[farthest]:.2f} of "
        "its probability moves."
    )


def incomparable_note(
    first: tuple[str, Sequence[str]], second: tuple[str, Sequence[str]], *, same_words: bool
) -> str:
    """Explain why two models are drawn without differences; each is a name and its tags."""
    if not same_words:
        return (
            f"{first[0]} and {second[0]} cut this sentence into different words, so nothing is "
            "subtracted. Both are drawn, each on its own words."
        )
    shared = len(set(first[1]) & set(second[1]))
    rest = f", {shared} of them the same" if shared else ", none the same"
    return (
        f"{first[0]} has {len(first[1])} tags and {second[0]} {len(second[1])}{rest}: tags and "
        "marginals of the two mean different things, so nothing is subtracted. Both are drawn on "
        "the same words."
    )


def figures_line(side: Figures | None) -> str:
    """Return the figures of one side in a line."""
    if side is None:
        return "log Z −∞ · no allowed path"
    return (
        f"log Z {score(side.log_partition)} · best score {score(side.score)} · "
        f"p(best) {format_probability(side.probability, 3)} · entropy {score(side.entropy)}"
    )


def difference_line(first: Figures | None, second: Figures | None, *, same_scale: bool) -> str:
    """Return B − A in a line, without scores where models differ in scale."""
    if first is None or second is None:
        return "no difference to compute"
    rest = (
        f"p(best) {signed(second.probability - first.probability, 3)} · "
        f"entropy {signed(second.entropy - first.entropy)}"
    )
    if not same_scale:
        return f"{rest} · log Z of two models has two scales"
    log_z = signed(second.log_partition - first.log_partition)
    return f"log Z {log_z} · best score {signed(second.score - first.score)} · {rest}"
