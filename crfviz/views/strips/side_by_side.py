"""Two chains over the same words, side by side: tags per decoder, marginals, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.views.numbers import probability, score, signed
from crfviz.views.phrases import differing, moved
from crfviz.views.stage.parts import Grid, Row
from crfviz.views.strips.decoders import LABELS

LEAST = 0.005  # a change of a marginal that can be seen in two digits


@dataclass(frozen=True)
class Figures:
    """What one number says of a whole chain."""

    log_partition: float
    score: float  # of the best path, nats
    probability: float  # of the best path
    entropy: float  # of the paths, nats


@dataclass(frozen=True, eq=False)
class TwoChains:
    """Two chains with the same tags; those of the second in the order of the first."""

    first: Analysis
    second: Analysis
    order: list[int]  # K tag ids of the second, by tag id of the first

    @property
    def in_order(self) -> bool:
        """Whether both number their tags alike, so that one can be drawn as the other's ghost."""
        return self.order == sorted(self.order)

    def second_tags(self, tags: Sequence[int]) -> list[int]:
        """Tag ids of the second as those of the first with the same name."""
        return [self.order.index(tag) for tag in tags]

    def change(self) -> Tensor:
        """(T, K) marginals of the second minus those of the first."""
        second = self.second.forward_backward.marginals[:, self.order]
        return second - self.first.forward_backward.marginals

    def distances(self) -> list[float]:
        """Total variation distance between the marginals of each word, in [0, 1]."""
        distances: list[float] = (self.change().abs().sum(-1) / 2).tolist()
        return distances


def compare(first: Analysis, second: Analysis) -> TwoChains | None:
    """The comparison of two chains over the same words.

    None where the two have different tags, so that their tags mean different things.
    """
    if set(first.tags) != set(second.tags):
        return None
    return TwoChains(first, second, [second.tags.index(tag) for tag in first.tags])


def figures(analysis: Analysis) -> Figures | None:
    """The whole chain in four numbers; None where no path is allowed."""
    tables, best = analysis.forward_backward, analysis.viterbi
    if best is None:
        return None
    return Figures(tables.log_partition, best.score, best.probability, tables.entropy)


def comparison_rows(
    both: TwoChains, which: Sequence[str], gold: Sequence[int] | None = None
) -> list[Row]:
    """Two rows per decoder wanted, one above the other, then what differs at each word.

    Decoders go by their ids in `LABELS`. Gold is T tag ids of the first, where it is known.
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
    """Marginals of B minus those of A, in a cell per word and tag."""
    change = both.change()
    label = (
        "marginals of B − marginals of A, without tags that differ by less than 0.005 everywhere"
        if change.abs().max() >= LEAST
        else "marginals of B − marginals of A: nowhere more than 0.005"
    )
    return Grid("change", label, change, 1.0, 2, "change")


def comparison_note(both: TwoChains) -> str:
    """What differs, in a sentence or two."""
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
    a, b = probability(first.probability, 3), probability(second.probability, 3)
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
    """Why two models are only drawn, not subtracted; each is name and tags."""
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
    """The figures of one side in a line."""
    if side is None:
        return "log Z −∞ · no allowed path"
    return (
        f"log Z {score(side.log_partition)} · best score {score(side.score)} · "
        f"p(best) {probability(side.probability, 3)} · entropy {score(side.entropy)}"
    )


def difference_line(first: Figures | None, second: Figures | None, *, same_scale: bool) -> str:
    """B − A in a line; scores of different models have different scales, and are left out."""
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
