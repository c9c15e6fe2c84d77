"""Changes of scores that leave the distribution unchanged (gauge freedom).

    emissions at word t all + c                   every path gains c, log Z too
    into tag k + c (START and from other tags),   a path gains c when it enters k
    out of tag k - c (END and to other tags)      and loses it when it leaves

k → k gains and loses, so it stays. The first kind moves log Z by c; the second leaves even that.

A chain's distribution is fixed by the marginals of its tags and of its neighbouring pairs, so that
two chains on which these agree are the same distribution.

Source:
    Sutton and McCallum (2012), section 2.2, for the redundancy of log-linear weights.
"""

from dataclasses import dataclass, replace

import torch

from crfviz.chain.edits import END, START, Edits
from crfviz.chain.forward_backward import ForwardBackward
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.validation import require_number
from crfviz.exceptions import CrfvizError

SAME = 1e-12  # difference of marginals that rounding alone may cause


@dataclass(frozen=True)
class Distance:
    """Distance between two chains over the same words and tags."""

    largest_change: float  # of any marginal of a tag or of a neighbouring pair
    log_partition_change: float  # nats, second minus first
    tolerance: float  # difference that rounding may cause

    @property
    def same(self) -> bool:
        """Return whether both are the same distribution over paths."""
        return self.largest_change <= self.tolerance


def compare(before: ForwardBackward, after: ForwardBackward) -> Distance:
    """Return the distance between two distributions; NaN if one has no allowed path.

    The tolerance grows with log Z beyond a thousand nats, as rounding does.
    """
    pairs = (
        (before.marginals, after.marginals),
        (before.edge_marginals, after.edge_marginals),
    )
    changes = [(one - other).abs().max().item() for one, other in pairs if one.numel()]
    size = max(abs(before.log_partition), abs(after.log_partition), 1000.0)
    return Distance(
        largest_change=max(changes),
        log_partition_change=after.log_partition - before.log_partition,
        tolerance=SAME * size / 1000.0,
    )


def shift_word(potentials: Potentials, edits: Edits, position: int, amount: float) -> Edits:
    """Return the edits, and `amount` nats more on every tag of one word.

    `potentials` are those of now, with the edits.
    """
    position = potentials.position(position)
    moved = potentials.emissions[position] + require_number("amount", amount)
    cells = {(position, tag): score for tag, score in _finite(potentials.tag_names, moved).items()}
    return replace(edits, emissions={**edits.emissions, **cells})


def shift_tag(potentials: Potentials, edits: Edits, tag: Tag, amount: float) -> Edits:
    """Return the edits, and `amount` nats more into a tag and less out of it.

    `potentials` are those of now, with the edits and one matrix for all steps.

    Raises:
        CrfvizError: each step has its own matrix, and an edit would make them equal.
    """
    if not potentials.homogeneous:
        raise CrfvizError("expected one transition matrix for all steps, got one for each")
    chosen, amount = potentials.tag_id(tag), require_number("amount", amount)
    names = potentials.tag_names
    name = names[chosen]
    into = _finite(names, potentials.transitions[:, chosen] + amount)
    out = _finite(names, potentials.transitions[chosen] - amount)
    ends = {
        (START, name): potentials.start[chosen].item() + amount,
        (name, END): potentials.end[chosen].item() - amount,
    }
    cells = {
        **{(other, name): score for other, score in into.items() if other != name},
        **{(name, other): score for other, score in out.items() if other != name},
        **{cell: score for cell, score in ends.items() if score != -torch.inf},
    }
    return replace(edits, transitions={**edits.transitions, **cells})


def leaving(potentials: Potentials, *, with_end: bool) -> torch.Tensor:
    """Return Σ exp(score) over the moves from START and each tag: (K + 1,), 1 for probabilities.

    END is one of the things that may follow `with_end`. Where each step has its own matrix, the
    first one counts; a single word has no step, and nan for every tag.
    """
    rows = potentials.step(0).exp().sum(dim=1) + (potentials.end.exp() if with_end else 0.0)
    return torch.cat([potentials.start.exp().sum()[None], rows])


def _finite(names: tuple[str, ...], scores: torch.Tensor) -> dict[str, float]:
    """Return scores by tag; forbidden ones stay forbidden."""
    pairs = zip(names, scores.tolist(), strict=True)
    return {name: score for name, score in pairs if score != -torch.inf}
