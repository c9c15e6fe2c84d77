"""How far an edit at one word reaches.

The emission of one tag at one word is nudged by δ and all marginals are computed again. The reach
at a word is the total variation distance between its marginals before and after,

    reach_s = 1/2 Σ_k |p'(y_s = k | x) - p(y_s = k | x)|    in [0, 1]

and the horizon is the distance to the farthest word where it is still noticeable.

Source: Eisner, "An interactive spreadsheet for teaching the forward-backward algorithm" (2002),
asks how far one day's ice creams reach; total variation as in Levin, Peres and Wilmer, "Markov
Chains and Mixing Times" (2009), section 4.1.
"""

from dataclasses import dataclass

from torch import Tensor

from crfviz.chain.arguments import require_number
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials, Tag

NOTICEABLE = 0.01  # a hundredth of the probability moves


@dataclass(frozen=True, eq=False)
class Influence:
    """What a nudge of one emission changes."""

    tag: int  # the tag id whose emission was nudged
    change: Tensor  # (T, K) marginals after - before
    reach: Tensor  # (T,) total variation distance at each word, in [0, 1]

    def horizon(self, position: int, noticeable: float = NOTICEABLE) -> int:
        """Words from `position` to the farthest one with a reach of at least `noticeable`."""
        far = (self.reach >= noticeable).nonzero().flatten()
        return int((far - position).abs().max()) if len(far) else 0


def influence(
    potentials: Potentials, position: int, delta: float = 1.0, tag: Tag | None = None
) -> Influence:
    """What all marginals do when one emission is nudged: exact, two runs of forward-backward.

    It is nudged by `delta` nats, which may be negative; for the tag on the best path if None is
    given.

    Raises:
        CrfvizError: `delta` is no finite number.

    Example:
        >>> stay = Potentials([[0.0, 0.0]] * 3, [[1.0, 0.0], [0.0, 1.0]])
        >>> [round(reach, 3) for reach in influence(stay, 0).reach.tolist()]
        [0.231, 0.107, 0.049]
    """
    position = potentials.position(position)
    delta = require_number("delta", delta)
    best = best_path(potentials)
    nudged = best[position] if tag is None else potentials.tag_id(tag)
    score = potentials.emissions[position, nudged].item() + delta
    before = forward_backward(potentials).marginals
    after = forward_backward(potentials.with_emission(position, nudged, score)).marginals
    change = after - before
    return Influence(tag=nudged, change=change, reach=change.abs().sum(-1) / 2)
