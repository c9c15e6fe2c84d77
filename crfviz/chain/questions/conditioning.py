"""The chain with tags pinned or ruled out, and the best path with a given tag.

Pins keep only the paths with the pinned tags; Z_pinned is their summed weight. So

    P(pins | x) = Z_pinned / Z        cost = log Z - log Z_pinned = -log P(pins | x)

and the pinned chain's own marginals are the conditional ones, p(y_t = k | pins, x).

Source: Kristjansson, Culotta, Viola and McCallum, "Interactive Information Extraction with
Constrained Conditional Random Fields" (2004), and Culotta and McCallum, "Confidence Estimation for
Information Extraction" (2004): constrained Viterbi and constrained forward.

The best path y* is compared with the best path y' that has the tag. The gap between their scores is
the sum of the contributions of each word's emission and each step:

    gap = Σ_t [e_t(y*_t) - e_t(y'_t)] + [s(y*_1) - s(y'_1)]
        + Σ_t [w(y*_t, y*_{t+1}) - w(y'_t, y'_{t+1})] + [f(y*_T) - f(y'_T)]

A positive term speaks for y*, a negative one for y'. exp(-gap) is the ratio of their probabilities.

Source: best paths by Viterbi (1967); the gap is the log-odds of two labellings under
Lafferty, McCallum and Pereira, "Conditional Random Fields" (2001), section 3, where Z cancels.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from crfviz.chain.distribution import lead, probability
from crfviz.chain.edits import Kind
from crfviz.chain.forward_backward import ForwardBackward, Posterior, log_partition
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.questions.rules import best_given
from crfviz.exceptions import NoPathError, ShapeError
from crfviz.text.files import abbreviate_value

Pins = Mapping[int, Tag]  # the tags of some positions
Cells = Iterable[tuple[int, Tag]]  # tags that no path may have at a position


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A chain under pins, and how unlikely the pins were."""

    potentials: Potentials  # with everything that the pins rule out at -inf
    cost: float  # log Z - log Z_pinned, nats, at least 0
    probability: float  # P(pins | x), in [0, 1]
    score_loss: float  # best score - best score under the pins, nats, at least 0


def condition(
    potentials: Potentials, pins: Pins, forbidden: Cells = (), *, rule: str | None = None
) -> Conditioned:
    """Return the chain with the tags of some positions fixed and others ruled out, in O(T K^2).

    With a `rule` only the paths that match it count in the three numbers.

    Raises:
        NoPathError: no allowed path agrees with the pins; the message says which one is at fault.
    """
    cells = _cells(forbidden)
    pinned = restrict(potentials, pins, cells)
    best = best_given(potentials, rule)
    loss = lead(potentials, best, best_with(potentials, pins, cells, rule=rule)).total
    cost = max(0.0, _total(potentials, rule) - _total(pinned, rule))
    return Conditioned(pinned, cost, math.exp(-cost), max(0.0, loss))


def best_with(
    potentials: Potentials, pins: Pins, forbidden: Cells = (), *, rule: str | None = None
) -> list[int]:
    """Return the best path that agrees with the pins; same arguments and errors as `condition`."""
    cells = _cells(forbidden)
    try:
        return best_given(restrict(potentials, pins, cells), rule)
    except NoPathError:
        raise NoPathError(_fault(potentials, pins, cells)) from None


def pin_probability(
    potentials: Potentials, pins: Pins, forbidden: Cells = (), *, rule: str | None = None
) -> float:
    """Return P(pins | x) = Z_pinned / Z, in O(T K^2); 0.0 if no allowed path agrees with the pins.

    With a `rule` only the paths that match it count, in both.

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> f"{pin_probability(coin, {0: 1, 2: 0}):.3f}"
        '0.250'
    """
    pinned = restrict(potentials, pins, forbidden)
    total = _total(potentials, rule)
    if total == -math.inf:
        best_given(potentials, rule)  # says why
    return math.exp(min(0.0, _total(pinned, rule) - total))


def _total(potentials: Potentials, rule: str | None) -> float:
    return log_partition(potentials if rule is None else potentials.constrained(rule))


def run_probability(
    potentials: Potentials, tables: ForwardBackward | Posterior, run: range, path: Sequence[int]
) -> float:
    """Return `pin_probability` of adjacent words with a path's tags, from the chain's tables.

    It adds α at the first word, the transitions and emissions in between, and β at the last word.
    """
    emissions, steps, _, _ = potentials.arrays()
    tags, rest = np.asarray(path)[run.start : run.stop], slice(run.start + 1, run.stop)
    inside = steps[np.arange(run.start, run.stop - 1), tags[:-1], tags[1:]]
    inside = inside + emissions[rest][np.arange(len(run) - 1), tags[1:]]
    ahead, behind = tables.log_alpha[run.start, tags[0]], tables.log_beta[run.stop - 1, tags[-1]]
    score = float(ahead) + float(inside.sum()) + float(behind)
    return math.exp(min(0.0, score - tables.log_partition)) if score > -math.inf else 0.0


def restrict(potentials: Potentials, pins: Pins, forbidden: Cells = ()) -> Potentials:
    """Return the chain with pins and forbidden tags applied; it may have no allowed path."""
    allowed = torch.ones_like(potentials.emissions, dtype=torch.bool)
    for position, tag in _cells(forbidden):
        allowed[potentials.position(position), potentials.tag_id(tag)] = False
    return potentials.pin(pins).allow(allowed)


def _cells(forbidden: object) -> list[tuple[int, Tag]]:
    cells: list[Any] = list(forbidden) if isinstance(forbidden, Iterable) else [forbidden]
    for cell in cells:
        if not (isinstance(cell, Sequence) and not isinstance(cell, str) and len(cell) == 2):
            raise ShapeError(
                f"forbidden must be pairs of position and tag, such as [(0, 'DET')], "
                f"got {abbreviate_value(cell)}"
            )
    return cells


def _fault(potentials: Potentials, pins: Pins, forbidden: Cells) -> str:
    """Name the first pin that is impossible alone, or say that all are impossible together."""
    for position, tag in pins.items():
        name = potentials.tag_names[potentials.tag_id(tag)]
        if potentials.emissions[position, potentials.tag_id(tag)] == -torch.inf:
            return f"the tag {name} is forbidden at position {position}"
        if log_partition(potentials.pin({position: tag})) == -math.inf:
            return f"no allowed path has the tag {name} at position {position}"
    pinned = [f"{position}: {tag}" for position, tag in pins.items()]
    ruled_out = [f"{position}: not {tag}" for position, tag in forbidden]
    return f"no allowed path agrees with all of: {', '.join(pinned + ruled_out)}"


@dataclass(frozen=True)
class Term:
    """One of the 2T+1 summands of a gap."""

    kind: Kind
    position: int  # of the word; of the later word for a transition
    value: float  # nats


@dataclass(frozen=True, eq=False, repr=False)
class WhyNot(NotebookRepr):
    """The best path with a tag, and its loss against the best path of all."""

    path: list[int]  # T tag ids, the best path with the tag
    score: float  # of `path`, nats
    probability: float  # of `path` given the sentence, and the rule if there is one, in [0, 1]
    gap: float  # best score - `score`, nats; 0 if the tag is on a best path
    emission_terms: Tensor  # (T,) nats; with the transition terms they sum to `gap`
    transition_terms: Tensor  # (T+1,) nats; start first, end last, between them the steps
    best: list[int]  # T tag ids, the best path of all

    @property
    def deciding(self) -> Term:
        """The largest term for the best path; of equal terms the first, emissions before steps."""
        last = len(self.path) - 1
        emission, step = int(self.emission_terms.argmax()), int(self.transition_terms.argmax())
        largest = self.transition_terms[step].item()
        if self.emission_terms[emission] >= largest:
            return Term("emission", emission, self.emission_terms[emission].item())
        kinds: dict[int, Kind] = {0: "start", last + 1: "end"}
        return Term(kinds.get(step, "transition"), min(step, last), largest)


def why_not(potentials: Potentials, position: int, tag: Tag, *, rule: str | None = None) -> WhyNot:
    """Compare the best path with `tag` at `position` to the best path of all, in O(T K^2).

    With a `rule` only the paths that match it count, as in `crfviz.match`.

    Ties go to the lowest tag ids, as in `viterbi`. For the tag that the best path has, the answer
    is that path, with a gap of 0.

    Raises:
        NoPathError: no allowed path has the tag there.

    Example:
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> answer = why_not(potentials, 1, 1)
        >>> answer.path, answer.gap
        ([0, 1], 0.5)
        >>> answer.emission_terms.tolist(), answer.transition_terms.tolist()
        ([0.0, -0.5], [0.0, 1.0, 0.0])
        >>> answer.deciding
        Term(kind='transition', position=1, value=1.0)
    """
    position, tag = potentials.position(position), potentials.tag_id(tag)
    best = best_given(potentials, rule)
    path = best if best[position] == tag else best_with(potentials, {position: tag}, rule=rule)
    ahead = lead(potentials, best, path)
    score = ahead.rival.score
    return WhyNot(
        path=path,
        score=score,
        probability=probability(score, _total(potentials, rule)),
        gap=max(0.0, ahead.total),  # of two that tie, the other may be better in the last bit
        emission_terms=torch.from_numpy(ahead.emission_terms),
        transition_terms=torch.from_numpy(ahead.transition_terms),
        best=best,
    )
