"""The transitions as plain tables: every score, and what leaves each tag."""

from collections.abc import Sequence

import pandas as pd

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gauge import leaving
from crfviz.chain.weights import END, START, weight_matrix
from crfviz.exceptions import ShapeError


def transition_frame(potentials: Potentials, step: int = 0) -> pd.DataFrame:
    """Scores from the row's tag to the column's, with a START row and an END column, in nats.

    Args:
        potentials: a chain with one transition matrix for all steps, or one for each.
        step: which of the T-1 steps; it makes a difference only where each has its own matrix.

    Returns:
        (K+1, K+1); START to END does not exist and is NaN, as are the transitions of a single word
        where they are given step by step.

    Raises:
        ShapeError: the chain has no such step.
    """
    steps = max(1, potentials.num_tokens - 1)
    if not 0 <= step < steps:
        raise ShapeError(f"step must be 0 to {steps - 1}, got {step}")
    names = potentials.tag_names
    return pd.DataFrame(
        weight_matrix(potentials, step).numpy(), index=[START, *names], columns=[*names, END]
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
