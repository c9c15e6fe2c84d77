"""The distribution over paths as strips and in words: ranked paths, entropies, samples, reach."""

import math
from collections.abc import Sequence

import torch

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.demonstrations.distribution import cumulated_mass, position_entropies
from crfviz.chain.paths import Path
from crfviz.chain.questions.influence import NOTICEABLE, Influence
from crfviz.chain.sampling import Pile, largest_gap
from crfviz.views.stage.parts import Grid, Row
from crfviz.views.strips.paths import entropy_note, probability

HEADING = ("rank", "p", "Σ p", "score")


def ranked_rows(paths: Sequence[Path]) -> list[Row]:
    """A row per path, with its rank, its probability, that of all so far, and its score in nats.

    Args:
        paths: from `crfviz.chain.decoding.k_best.k_best`.
    """
    masses = cumulated_mass(paths)
    return [
        Row(
            f"best_{rank}",
            f"{rank}.",
            path.tags,
            columns=(
                f"{rank}.",
                probability(path.probability),
                probability(mass),
                _number(path.score),
            ),
        )
        for rank, (path, mass) in enumerate(zip(paths, masses, strict=True), start=1)
    ]


def ranked_note(analysis: Analysis, paths: Sequence[Path]) -> str:
    """How much of the distribution the best paths hold, and how uncertain all of it is."""
    if not paths:
        return entropy_note(analysis)
    held = cumulated_mass(paths)[-1]
    words = position_entropies(analysis.forward_backward).sum().item()
    return (
        f"The {len(paths)} best hold {probability(held)} of the probability. "
        f"{entropy_note(analysis)} The words’ own entropies add up to {words:.2f}."
    )


def entropy_row(analysis: Analysis) -> Row:
    """The entropy of each word's tag in nats; a full bar is log K, all tags alike."""
    entropies = position_entropies(analysis.forward_backward).tolist()
    most = math.log(analysis.potentials.num_tags) or 1.0
    return Row(
        "entropy",
        "entropy (nats)",
        None,
        texts=[_small(value) for value in entropies],
        shares=[value / most for value in entropies],
        titles=[f"{value:.6f} nats" for value in entropies],
    )


def sample_row(pile: Pile) -> Row | None:
    """The newest sample; None where there is none yet."""
    drawn = len(pile.paths)
    return Row("sample", f"sample {drawn}", pile.paths[-1].tolist()) if drawn else None


def gap_row(pile: Pile, analysis: Analysis) -> Row:
    """For each word, how far the share of samples with a tag is from its marginal, at most."""
    if not len(pile.paths):
        return Row("gap", "largest gap", None, texts=["–"] * pile.uses.shape[0])
    gaps = (pile.frequencies - analysis.forward_backward.marginals).abs().amax(1).tolist()
    return Row(
        "gap",
        "largest gap",
        None,
        texts=[_small(gap) for gap in gaps],
        shares=[min(1.0, gap) for gap in gaps],
        titles=[f"{gap:.6f}" for gap in gaps],
    )


def pile_note(pile: Pile, analysis: Analysis, words: Sequence[str], tags: Sequence[str]) -> str:
    """How far the samples are from the marginals, and where."""
    drawn = len(pile.paths)
    if not drawn:
        return "No sample yet: draw one, and it is a path through the lattice."
    marginals = analysis.forward_backward.marginals
    gap, t, k = largest_gap(pile.frequencies, marginals)
    return (
        f"After {_count(drawn, 'sample')} the largest gap between the share of samples and the "
        f"marginal is {gap:.4f}: {tags[k]} at {t + 1} “{words[t]}” in "
        f"{int(pile.uses[t, k])} of {drawn}, marginal {marginals[t, k].item():.4f}."
    )


def frequency_grid(pile: Pile) -> Grid:
    """The share of samples with each tag at each word; zeros where there is no sample."""
    values = torch.nan_to_num(pile.frequencies)
    return Grid("frequencies", "share of the samples with each tag", values, 1.0, 3, "probability")


def change_grid(influence: Influence) -> Grid:
    """What the nudge does to every marginal."""
    largest = influence.change.abs().max().item() or 1.0
    label = "change of each marginal: after the nudge − before"
    return Grid("change", label, influence.change, largest, 2, "signed")


def reach_row(influence: Influence) -> Row:
    """How much probability moves between the tags of each word."""
    reach = influence.reach.tolist()
    largest = max(reach) or 1.0
    return Row(
        "reach",
        "reach",
        None,
        texts=[_small(value) for value in reach],
        shares=[value / largest for value in reach],
        titles=[f"{value:.6f}" for value in reach],
    )


def reach_note(
    influence: Influence, position: int, delta: float, words: Sequence[str], tags: Sequence[str]
) -> str:
    """How far the nudge is noticed, in words."""
    here = f"{tags[influence.tag]} at {position + 1} “{words[position]}” nudged by {delta:+g} nats"
    here = here.replace("-", "−")
    moved = f"moves {influence.reach[position].item():.3f} of that word’s probability"
    noticed = [t for t, reach in enumerate(influence.reach.tolist()) if reach >= NOTICEABLE]
    if not [t for t in noticed if t != position]:
        return f"{here} {moved}; at no other word does it move {NOTICEABLE:g} or more."
    first, last = (f"{t + 1} “{words[t]}”" for t in (noticed[0], noticed[-1]))
    far = _count(influence.horizon(position), "word")
    return (
        f"{here} {moved} and reaches {far} far: from {first} to {last} it moves {NOTICEABLE:g} or "
        "more."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _small(value: float) -> str:
    """Two decimals; what is less than half of one of them is a dot."""
    return "·" if value < 0.005 else f"{value:.2f}"


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
