"""The order of sentences for an annotator: file order, or the most uncertain first.

Measures of uncertainty, computed from the model without any annotation:

- entropy: of the distribution over tag sequences, in nats; higher for long sentences;
- margin: nats between the two best tag sequences; a small margin is uncertain (Scheffer et al.
  2001, for sequences Settles and Craven 2008, section 3.1);
- corrections: the expected number of wrong words in the best path, sum of 1 - p(y_t | x).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from crfviz.chain.decoding.viterbi import best_path, margin
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials

Order = Literal["file", "entropy", "margin", "corrections"]
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True)
class Doubt:
    """The uncertainty of a model about one sentence."""

    entropy: float  # nats
    margin: float  # nats; inf if only one path is allowed
    corrections: float  # words


FIRST: Mapping[Order, tuple[Callable[[Doubt], float], str]] = {  # sort key and reason of each order
    "entropy": (
        lambda doubt: -doubt.entropy,
        "most uncertain: entropy {0.entropy:.2f} nats over its tag sequences",
    ),
    "margin": (
        lambda doubt: doubt.margin,
        "smallest margin: the two best tag sequences lie {0.margin:.3g} nats apart",
    ),
    "corrections": (
        lambda doubt: -doubt.corrections,
        "most corrections: {0.corrections:.1f} wrong words expected",
    ),
}


def doubt(potentials: Potentials) -> Doubt:
    """Measure the uncertainty of the scores, in O(T K^2 log K).

    Raises:
        NoPathError: every path is forbidden.
    """
    path = best_path(potentials)
    tables = forward_backward(potentials)
    sure = sum(float(tables.marginals[t, k]) for t, k in enumerate(path))
    gap = margin(potentials)
    return Doubt(tables.entropy, math.inf if gap is None else gap, max(0.0, len(path) - sure))


def in_order(ids: Iterable[int], doubts: Mapping[int, Doubt], order: Order) -> list[int]:
    """Return the sentences in an order; ties and, at the end, unscored ones are in file order."""
    if order == "file":
        return list(ids)
    by, _ = FIRST[order]
    return sorted(ids, key=lambda i: by(doubts[i]) if i in doubts else math.inf)


def reason(doubt: Doubt | None, order: Order) -> str:
    """Return a text that says why a sentence is at its position in the queue."""
    if order == "file":
        return "next in the file"
    return FIRST[order][1].format(doubt) if doubt else "not scored, so in the order of the file"
