"""What an edit did to the distribution, in words, and what leaves each tag, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.questions.gauge import compare, leaving
from crfviz.chain.weights import START


def verdict(trained: Analysis, now: Analysis, words: Sequence[str], tags: Sequence[str]) -> str:
    """Whether the edits change anything, in one or two sentences.

    Args:
        trained: the chain as trained.
        now: the chain with the edits.
        words: T words.
        tags: K tag names.
    """
    if now is trained:
        return "Nothing is edited yet. Shift something below, or edit a cell."
    if now.viterbi is None or trained.viterbi is None:
        return "No tag sequence is allowed: forbidden cells leave no way through."
    found = compare(trained.forward_backward, now.forward_backward)
    moved = _moved(found.log_partition_change, trained.forward_backward.log_partition)
    if found.same:
        size = f"{found.largest_change:.0e}" if found.largest_change else "0"
        return (
            f"This edit changes nothing: the largest change of any marginal is {size}, which is "
            f"rounding. {moved}"
        )
    gap = now.forward_backward.marginals - trained.forward_backward.marginals
    t, k = divmod(int(gap.abs().argmax()), len(tags))
    before, after = (a.forward_backward.marginals[t, k].item() for a in (trained, now))
    return (
        f"This edit changes the distribution: p({tags[k]} at “{words[t]}”) goes from "
        f"{before:.3g} to {after:.3g}. {moved}"
    )


def leaving_frame(trained: Analysis, now: Analysis, tags: Sequence[str]) -> pd.DataFrame:
    """Σ exp(score) of everything that may follow START and each tag: 1 in an HMM.

    END is among it where the model has one, which is where its end scores are not all 0.

    Args:
        trained: the chain as trained.
        now: the chain with the edits.
        tags: K tag names.
    """
    columns = {"as trained": trained.potentials, "now": now.potentials}
    with_end = bool((trained.potentials.end != 0).any())
    values = {
        name: leaving(potentials, with_end=with_end).numpy() for name, potentials in columns.items()
    }
    return pd.DataFrame(values, index=pd.Index([START, *tags], name="Σ exp of what follows"))


def _moved(change: float, log_partition: float) -> str:
    if math.isclose(change, 0.0, abs_tol=1e-12 * max(1.0, abs(log_partition))):
        return "Even log Z is the same."
    return f"log Z moved by {change:+.4g}.".replace("-", "−")
