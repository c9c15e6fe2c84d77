"""Whole paths as strips: the best ones, and samples from the posterior."""

import math

import torch

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.sampling import sample
from crfviz.exceptions import NoPathError
from crfviz.views.stage.parts import Row


def best_rows(analysis: Analysis, k: int) -> list[Row]:
    """The `k` best paths with their probabilities; fewer where there are fewer."""
    try:
        paths = k_best(analysis.potentials, k)
    except NoPathError:
        return []
    return [
        Row(f"best_{rank}", f"{rank}.", path.tags, f"p = {probability(path.probability)}")
        for rank, path in enumerate(paths, start=1)
    ]


def trained_rows(trained: Analysis) -> list[Row]:
    """The best path before the edits; no row where there was none."""
    best = trained.viterbi
    if best is None:
        return []
    return [Row("best_trained", "trained", best.path, f"p = {probability(best.probability)}")]


def sample_rows(analysis: Analysis, n: int, *, seed: int) -> list[Row]:
    """`n` paths drawn from the posterior; the same `seed` draws the same ones."""
    try:
        paths = sample(analysis.potentials, n, torch.Generator().manual_seed(seed))
    except NoPathError:
        return []
    return [
        Row(f"sample_{i}", f"sample {i}", path.tags, probability(path.probability))
        for i, path in enumerate(paths, start=1)
    ]


def entropy_note(analysis: Analysis) -> str:
    """How uncertain the whole path is, in nats and as a number of equally likely paths."""
    if analysis.viterbi is None:
        return "No tag sequence is allowed, so there is no distribution to show."
    entropy = analysis.forward_backward.entropy
    tokens, tags = analysis.potentials.emissions.shape
    return (
        f"Entropy of the path {entropy:.2f} nats of at most {tokens * math.log(tags):.1f}: "
        f"as uncertain as {_count(entropy)} equally likely paths, out of {tags}^{tokens}."
    )


def _count(log: float) -> str:
    """A number by its logarithm, for it may be too long to read or too large for a float."""
    if log < math.log(1e6):
        return f"{math.exp(log):.1f}"
    exponent, rest = divmod(log / math.log(10), 1)
    mantissa = f"{10**rest:.1f}"
    return f"1.0e{exponent + 1:.0f}" if mantissa == "10.0" else f"{mantissa}e{exponent:.0f}"


def probability(value: float) -> str:
    """Three decimals, or one figure where those would be 0.000."""
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.0e}"
