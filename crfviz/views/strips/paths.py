"""Whole paths as strips and in words: the best, samples, entropies, reach of a nudge."""

import math
from collections import Counter
from collections.abc import Sequence

import torch

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.distribution import (
    Path,
    SampleCounts,
    cumulated_mass,
    largest_gap,
    position_entropies,
)
from crfviz.chain.questions.sensitivity import NOTICEABLE, Influence
from crfviz.views.formatting import (
    count,
    format_probability,
    minus,
    numbered,
    per_cent,
    score,
    share,
)
from crfviz.views.stage.picture import Grid, Row

HEADING = ("rank", "p", "Σ p", "score")


def best_rows(analysis: Analysis, k: int) -> list[Row]:
    """Return the `k` best paths with their probabilities, or fewer."""
    paths = analysis.k_best(k) if analysis.viterbi else []
    return [
        Row(
            f"best_{rank}",
            f"{rank}.",
            _shown(analysis, path),
            f"p = {format_probability(path.probability, 3)}",
        )
        for rank, path in enumerate(paths, start=1)
    ]


def trained_rows(trained: Analysis) -> list[Row]:
    """Return the best path before the edits; no row without one."""
    best = trained.viterbi
    if best is None:
        return []
    return [
        Row("best_trained", "trained", best.path, f"p = {format_probability(best.probability, 3)}")
    ]


def sample_rows(analysis: Analysis, n: int, *, seed: int) -> list[Row]:
    """Return `n` paths drawn from the posterior; the `seed` fixes them.

    Equal paths share a row with their number out of `n`. The most frequent comes first; equally
    frequent ones keep the order in which they were drawn.
    """
    if analysis.viterbi is None:
        return []
    paths = analysis.sample(n, seed)
    drawn = {tuple(path.tags): path for path in paths}
    times = Counter(tuple(path.tags) for path in paths).most_common()
    return [
        Row(
            f"sample_{rank}",
            f"{number} of {n}",
            _shown(analysis, drawn[tags]),
            format_probability(drawn[tags].probability, 3),
        )
        for rank, (tags, number) in enumerate(times, start=1)
    ]


def _shown(window: Analysis, path: Path) -> list[int]:
    """Return the tags of a path of the whole sentence that a window shows."""
    return path.tags[window.first : window.first + len(window.words)]


def entropy_note(analysis: Analysis) -> str:
    """Return the entropy of the path, in nats and as a number of equally likely paths."""
    if analysis.viterbi is None:
        return "No tag sequence is allowed, so there is no distribution to show."
    entropy = analysis.entropy
    tokens, tags = analysis.sentence.potentials.emissions.shape
    most = score(tokens * math.log(tags), 1)
    return (
        f"Entropy of the path {score(entropy)} nats of at most {most}: "
        f"as uncertain as {_large(entropy)} equally likely paths, out of {tags}^{tokens}."
    )


def ranked_rows(paths: Sequence[Path]) -> list[Row]:
    """Return a row per path: rank, probability, cumulated probability, and score in nats."""
    masses = cumulated_mass(paths)
    return [
        Row(
            f"best_{rank}",
            f"{rank}.",
            path.tags,
            columns=(
                f"{rank}.",
                format_probability(path.probability, 3),
                format_probability(mass, 3),
                score(path.score),
            ),
        )
        for rank, (path, mass) in enumerate(zip(paths, masses, strict=True), start=1)
    ]


def ranked_note(analysis: Analysis, paths: Sequence[Path]) -> str:
    """Describe the total probability of the best paths, and the entropy."""
    if not paths:
        return entropy_note(analysis)
    held = cumulated_mass(paths)[-1]
    words = position_entropies(analysis.forward_backward).sum().item()
    return (
        f"{_best(len(paths))} {per_cent(held, 1)} of the probability. "
        f"{entropy_note(analysis)} The words’ own entropies add up to {score(words)}."
    )


def _best(number: int) -> str:
    return "The best path holds" if number == 1 else f"The {number} best paths hold"


def entropy_row(analysis: Analysis) -> Row:
    """Return the entropy of each word's tag in nats; a full bar is log K."""
    entropies = position_entropies(analysis.forward_backward).tolist()
    most = math.log(analysis.potentials.num_tags) or 1.0
    return _bars("entropy", "entropy (nats)", entropies, most, " nats")


def sample_row(pile: SampleCounts) -> Row | None:
    drawn = len(pile.paths)
    return Row("sample", f"sample {drawn}", pile.paths[-1].tolist()) if drawn else None


def gap_row(pile: SampleCounts, analysis: Analysis) -> Row:
    """Return for each word the largest gap between share of samples and marginal."""
    if not len(pile.paths):
        return Row("gap", "largest gap", None, texts=["–"] * pile.uses.shape[0])
    gaps = (pile.frequencies - analysis.forward_backward.marginals).abs().amax(1).tolist()
    return _bars("gap", "largest gap", gaps, 1.0)


def pile_note(pile: SampleCounts, analysis: Analysis) -> str:
    """Describe the largest gap between samples and marginals, and its place."""
    drawn = len(pile.paths)
    if not drawn:
        return "No sample yet: draw one, and it is a path through the lattice."
    marginals = analysis.forward_backward.marginals
    gap, t, k = largest_gap(pile.frequencies, marginals)
    return (
        f"After {count(drawn, 'sample')} the largest gap between the share of samples and the "
        f"marginal is {gap:.4f}: {analysis.tags[k]} at {numbered(analysis.words, t)} in "
        f"{int(pile.uses[t, k])} of {drawn}, "
        f"marginal {format_probability(marginals[t, k].item(), 4)}."
    )


def frequency_grid(pile: SampleCounts) -> Grid:
    """Return the share of samples with each tag at each word; zeros for no sample."""
    values = torch.nan_to_num(pile.frequencies)
    return Grid("frequencies", "share of the samples with each tag", values, 1.0, 3, "probability")


def change_grid(influence: Influence) -> Grid:
    """Return the change of every marginal under the nudge."""
    largest = influence.change.abs().max().item() or 1.0
    label = "change of each marginal: after the nudge − before"
    return Grid("change", label, influence.change, largest, 2, "signed")


def reach_row(influence: Influence) -> Row:
    """Return how much probability moves between the tags of each word."""
    reach = influence.reach.tolist()
    return _bars("reach", "reach", reach, max(reach) or 1.0)


def reach_note(influence: Influence, position: int, delta: float, chain: Analysis) -> str:
    """Describe the distance up to which the nudge is noticeable."""
    words, tags = chain.words, chain.tags
    here = (
        f"{tags[influence.tag]} at {numbered(words, position)} nudged by {minus(f'{delta:+g}')} "
        f"nats moves {format_probability(influence.reach[position].item(), 3)} "
        "of that word’s probability"
    )
    noticed = [t for t, reach in enumerate(influence.reach.tolist()) if reach >= NOTICEABLE]
    if not [t for t in noticed if t != position]:
        return f"{here}; at no other word does it move {NOTICEABLE:g} or more."
    first, last = (numbered(words, t) for t in (noticed[0], noticed[-1]))
    far = count(influence.horizon(position), "word")
    return f"{here} and reaches {far} far: from {first} to {last} it moves {NOTICEABLE:g} or more."


def _bars(name: str, label: str, values: Sequence[float], most: float, unit: str = "") -> Row:
    """Return a row with a number before a bar in each cell, full at `most`."""
    return Row(
        name,
        label,
        None,
        texts=[share(value) for value in values],
        shares=[min(1.0, value / most) for value in values],
        titles=[f"{value:.6f}{unit}" for value in values],
    )


def _large(log: float) -> str:
    if log < math.log(1e6):
        return f"{math.exp(log):.1f}"
    exponent, rest = divmod(log / math.log(10), 1)
    mantissa = f"{10**rest:.1f}"
    return f"1.0e{exponent + 1:.0f}" if mantissa == "10.0" else f"{mantissa}e{exponent:.0f}"
