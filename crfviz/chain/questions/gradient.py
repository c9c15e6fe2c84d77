"""One step of learning from a sentence whose right tags are known.

    loss        -log p(y | x) = log Z - score(y)                  nats, at least 0
    gradient    d loss / d w  = expected count of w - observed count of w
    step        w <- w + size * (observed - expected)
    predicted   -size * Σ_w (observed - expected)^2               what it does at first order

Only the CRF layer moves: transitions, start and end. The emissions come from the tagger and stay.

Source: Lafferty, McCallum and Pereira, "Conditional Random Fields" (2001), section 3; Sutton and
McCallum (2012), section 5.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from crfviz.chain.arguments import require_number
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.questions.counts import Counts, expected_counts, observed_counts
from crfviz.exceptions import CrfvizError


@dataclass(frozen=True, eq=False)
class GradientStep:
    """A chain after one step, and what the step was."""

    potentials: Potentials  # with the new transitions, start and end
    loss_before: float  # -log p(path | x), nats
    loss_after: float  # the same under the new weights
    observed: Counts  # by the path
    difference: Counts  # observed - expected: the direction in which each weight moves
    predicted: float  # first-order change of the loss, nats: that of a very small step, scaled


def gradient_step(potentials: Potentials, path: Sequence[Tag], size: float) -> GradientStep:
    """Move the weights of the CRF layer along observed minus expected counts, in O(T K^2).

    A forbidden weight stays forbidden. A matrix for each step gets its own step each.

    Args:
        potentials: scores of one sentence.
        path: its T right tags, by id or name.
        size: learning rate; a negative one moves away from the path.

    Raises:
        CrfvizError: `size` is no finite number, or the path is forbidden, so that no step helps.
        NoPathError: every path is forbidden.
        ShapeError: `path` has not T tags.
        UnknownTagError: the chain does not have one of the tags.
        ScoreError: `size` is so large that weights are no longer usable scores.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> step = gradient_step(coin, [0, 0, 1], 1.0)
        >>> f"{step.loss_before:.3f} {step.loss_after:.3f}", step.difference.transitions.tolist()
        ('2.079 0.753', [[0.5, 0.5], [-0.5, -0.5]])
    """
    size = require_number("the size of a step", size)
    expected, observed = expected_counts(potentials), observed_counts(potentials, path)
    before = loss(potentials, path)
    if before == math.inf:
        raise CrfvizError(
            "the path is forbidden: its probability is 0, and no step changes forbidden scores"
        )
    difference = Counts(
        transitions=observed.transitions - expected.transitions,
        start=observed.start - expected.start,
        end=observed.end - expected.end,
        emissions=observed.emissions - expected.emissions,
        steps=observed.steps - expected.steps,
    )
    moves = difference.transitions if potentials.homogeneous else difference.steps
    moved = replace(
        potentials,
        transitions=_stepped(potentials.transitions, moves, size),
        start=_stepped(potentials.start, difference.start, size),
        end=_stepped(potentials.end, difference.end, size),
    )
    squares = sum((part**2).sum().item() for part in (moves, difference.start, difference.end))
    return GradientStep(
        potentials=moved,
        loss_before=before,
        loss_after=loss(moved, path),
        observed=observed,
        difference=difference,
        predicted=-size * squares,
    )


def loss(potentials: Potentials, path: Sequence[Tag]) -> float:
    """The negative log-likelihood of a path, -log p(path | x), in nats; inf if it is forbidden."""
    return max(0.0, log_partition(potentials) - potentials.score(path))


def _stepped(weights: Tensor, difference: Tensor, size: float) -> Tensor:
    """-inf plus anything finite stays -inf."""
    return weights.detach() + size * difference
