"""Uses of each weight, and one step of learning from a sentence with its right tags.

    observed    n(y)            the uses of a weight by the path y; where words are open, their mean
                                over the paths with the given tags
    expected    E_{y'|x} n(y')  their mean over the distribution of paths: a sum of marginals
    loss        -log p(y | x) = log Z - score(y)                  nats, at least 0; where words are
                                open, log Z - log Z(given tags)
    gradient    d loss / d w  = expected count of w - observed count of w
    step        w <- w + size * (observed - expected)
    predicted   -size * Σ_w (observed - expected)^2               what it does at first order

Only the CRF layer moves: transitions, start and end. The emissions come from the tagger and stay.

Source: Lafferty, McCallum and Pereira, "Conditional Random Fields" (2001), section 3; Sutton and
McCallum (2012), section 5.1; Tsuboi et al. (2008), section 4, for open words.

The emission of one tag at one word is nudged by δ and all marginals are computed again. The reach
at a word is the total variation distance between its marginals before and after,

    reach_s = 1/2 Σ_k |p'(y_s = k | x) - p(y_s = k | x)|    in [0, 1]

and the horizon is the distance to the farthest word where it is still noticeable.

Source: Eisner, "An interactive spreadsheet for teaching the forward-backward algorithm" (2002),
asks how far one day's ice creams reach; total variation as in Levin, Peres and Wilmer, "Markov
Chains and Mixing Times" (2009), section 4.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import cast

import torch
from torch import Tensor

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import forward_backward, log_partition
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.questions.rules import best_given, marginals_given
from crfviz.chain.validation import require_number
from crfviz.exceptions import CrfvizError, ShapeError


@dataclass(frozen=True, eq=False, repr=False)
class Counts(ShortRepr):
    """Uses of every weight; whole numbers if observed, means if expected."""

    transitions: Tensor  # (K, K) from and to, over all steps; sums to T-1
    start: Tensor  # (K,) sums to 1
    end: Tensor  # (K,) sums to 1
    emissions: Tensor  # (T, K) each row sums to 1
    steps: Tensor  # (T-1, K, K) the transitions of each step

    def __sub__(self, other: "Counts") -> "Counts":
        names = [part.name for part in fields(self)]
        return Counts(**{name: getattr(self, name) - getattr(other, name) for name in names})


def expected_counts(potentials: Potentials) -> Counts:
    """Return the expected uses of every weight under p(y | x), in O(T K^2).

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> expected_counts(coin).transitions.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    tables = forward_backward(potentials)
    if tables.log_partition == -torch.inf:
        best_path(potentials)  # says where the last prefix breaks off
    return Counts(
        transitions=tables.edge_marginals.sum(0),
        start=tables.marginals[0],
        end=tables.marginals[-1],
        emissions=tables.marginals,
        steps=tables.edge_marginals,
    )


PartialPath = Sequence[Tag | None]  # T tags; None: the word is open


def observed_counts(potentials: Potentials, path: PartialPath) -> Counts:
    """Return how often one path uses each weight; the scores of the chain do not matter.

    With open words they are expected, under the distribution of the paths with the given tags.
    """
    if _is_partial(path):
        return expected_counts(_given(potentials, path))
    T, K = potentials.emissions.shape
    tags = torch.tensor(potentials.path(cast(Sequence[Tag], path)))
    emissions = torch.zeros(T, K, dtype=torch.float64)
    emissions[torch.arange(T), tags] = 1.0
    steps = emissions[:-1, :, None] * emissions[1:, None, :]
    return Counts(steps.sum(0), emissions[0], emissions[-1], emissions, steps)


@dataclass(frozen=True, eq=False, repr=False)
class GradientStep(ShortRepr):
    """A gradient step of the CRF layer: the chain after it, both losses, and the counts."""

    potentials: Potentials  # with the new transitions, start and end
    loss_before: float  # -log p(path | x), nats
    loss_after: float  # the same under the new weights
    observed: Counts  # by the path; with open words expected ones
    difference: Counts  # observed - expected: the direction in which each weight moves
    predicted: float  # first-order change of the loss, nats: that of a very small step, scaled


def gradient_step(potentials: Potentials, path: PartialPath, size: float) -> GradientStep:
    """Move the weights of the CRF layer along observed minus expected counts, in O(T K^2).

    A forbidden weight stays forbidden. A matrix for each step gets its own step each. `path` has
    the T right tags, None for an open word. `size` is the learning rate; a negative one moves away
    from the path.

    Raises:
        CrfvizError: `size` is no finite number, or the path is forbidden, so that no step helps.
        ScoreError: `size` is so large that weights are no longer usable scores.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> step = gradient_step(coin, [0, 0, 1], 1.0)
        >>> f"{step.loss_before:.3f} {step.loss_after:.3f}", step.difference.transitions.tolist()
        ('2.079 0.753', [[0.5, 0.5], [-0.5, -0.5]])
    """
    size = require_number("the size of a step", size)
    expected, before = expected_counts(potentials), loss(potentials, path)
    if before == math.inf:
        raise CrfvizError(
            "the path is forbidden: its probability is 0, and no step changes forbidden scores"
        )
    observed = observed_counts(potentials, path)
    difference = observed - expected
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


def loss(potentials: Potentials, path: PartialPath) -> float:
    """Return the negative log-likelihood of a path, -log p(path | x), in nats; inf if forbidden.

    With open words it is that of the given tags: 0 where no word has one.
    """
    if _is_partial(path):
        return max(0.0, log_partition(potentials) - log_partition(_given(potentials, path)))
    whole = cast(Sequence[Tag], path)
    return max(0.0, log_partition(potentials) - potentials.score(whole))


def _is_partial(path: PartialPath) -> bool:
    return hasattr(path, "__iter__") and any(tag is None for tag in path)


def _given(potentials: Potentials, path: PartialPath) -> Potentials:
    if len(path) != potentials.num_tokens:
        raise ShapeError(f"path must have {potentials.num_tokens} tags, got {len(path)}")
    given = {t: tag for t, tag in enumerate(path) if tag is not None}
    return potentials.pin(given) if given else potentials


def _stepped(weights: Tensor, difference: Tensor, size: float) -> Tensor:
    """Add the step to the weights; weights of -inf stay -inf."""
    return weights.detach() + size * difference


NOTICEABLE = 0.01  # a hundredth of the probability moves


@dataclass(frozen=True, eq=False, repr=False)
class Influence(ShortRepr):
    """The effect of a nudge of one emission."""

    tag: int  # the tag id whose emission was nudged
    change: Tensor  # (T, K) marginals after - before
    reach: Tensor  # (T,) total variation distance at each word, in [0, 1]

    def horizon(self, position: int, noticeable: float = NOTICEABLE) -> int:
        """Words from `position` to the farthest one with a reach of at least `noticeable`."""
        far = (self.reach >= noticeable).nonzero().flatten()
        return int((far - position).abs().max()) if len(far) else 0


def influence(
    potentials: Potentials,
    position: int,
    delta: float = 1.0,
    tag: Tag | None = None,
    *,
    rule: str | None = None,
) -> Influence:
    """Return the changes of all marginals when one emission is nudged; exact, two sweeps.

    It is nudged by `delta` nats, which may be negative; for the tag on the best path if None is
    given. With a `rule` the marginals are those given the rule, as in `crfviz.match`.

    Raises:
        CrfvizError: `delta` is no finite number.

    Example:
        >>> stay = Potentials([[0.0, 0.0]] * 3, [[1.0, 0.0], [0.0, 1.0]])
        >>> [round(reach, 3) for reach in influence(stay, 0).reach.tolist()]
        [0.231, 0.107, 0.049]
    """
    position = potentials.position(position)
    delta = require_number("delta", delta)
    best = best_given(potentials, rule)
    nudged = best[position] if tag is None else potentials.tag_id(tag)
    score = potentials.emissions[position, nudged].item() + delta
    changed = potentials.with_emission(position, nudged, score)
    change = marginals_given(changed, rule) - marginals_given(potentials, rule)
    return Influence(tag=nudged, change=change, reach=change.abs().sum(-1) / 2)
