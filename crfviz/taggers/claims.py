"""The proofs that the short sentences of a model show what they claim.

Each kind of claim has a check that decides it with the tagger's potentials.
"""

from collections.abc import Callable, Mapping
from functools import partial

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.greedy import greedy
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.max_marginal import max_marginal
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError
from crfviz.taggers.examples import GIVEN, Example
from crfviz.taggers.tagger import Tagger

NEAR = 0.9  # two paths nearly tie when the second has this share of the first's probability
UNSURE = 0.6  # no tag of a word has more than this marginal


def holds(example: Example, tagger: Tagger) -> bool:
    """Whether the claim of an example is true of a tagger.

    Raises:
        ModelError: the example has a kind that nobody can check.
    """
    if example.kind not in CHECKS:
        raise ModelError(f"{example.kind!r} is no kind of claim; known: {', '.join(CHECKS)}")
    return CHECKS[example.kind](tagger.potentials(example.tokens), example)


Check = Callable[[Potentials, Example], bool]


def _differs(decode: Callable[[Potentials], list[int]]) -> Check:
    """A decoder and Viterbi take different tags at the position."""

    def differs(chain: Potentials, example: Example) -> bool:
        t = example.position
        return t is not None and decode(chain)[t] != viterbi(chain).path[t]

    return differs


def _viterbi_finds(chain: Potentials, example: Example) -> bool:
    """Viterbi is right everywhere."""
    return _names(chain, viterbi(chain).path) == example.gold


def _viterbi_right(chain: Potentials, example: Example) -> bool:
    """Viterbi is right everywhere, and both greedy decoders are not."""
    others = [greedy(chain, "independent"), greedy(chain, "left_to_right")]
    return _viterbi_finds(chain, example) and all(
        _names(chain, path) != example.gold for path in others
    )


def _viterbi_wrong(chain: Potentials, example: Example) -> bool:
    """Viterbi is wrong at the position."""
    if example.gold is None or example.position is None:
        return False
    names = _names(chain, viterbi(chain).path)
    return names[example.position] != example.gold[example.position]


def _near_tie(chain: Potentials, example: Example) -> bool:  # noqa: ARG001 - a check takes both
    """The second-best path has nearly the probability of the best."""
    first, second = k_best(chain, 2)
    return second.probability >= NEAR * first.probability


def _unsure(chain: Potentials, example: Example) -> bool:
    """No tag is clearly the likeliest at the position."""
    marginals = forward_backward(chain).marginals
    return example.position is not None and marginals[example.position].max().item() <= UNSURE


def _breaks_bio(chain: Potentials, example: Example) -> bool:
    """Independent greedy continues an entity that never began; Viterbi does not."""
    broken = illegal_positions(_names(chain, greedy(chain, "independent")))
    kept = illegal_positions(_names(chain, viterbi(chain).path))
    return example.position in broken and not kept


CHECKS: Mapping[str, Check] = {
    "greedy_differs": _differs(partial(greedy, how="independent")),
    "left_to_right_differs": _differs(partial(greedy, how="left_to_right")),
    "max_marginal_differs": _differs(max_marginal),
    "viterbi_finds": _viterbi_finds,
    "viterbi_right": _viterbi_right,
    "viterbi_wrong": _viterbi_wrong,
    "near_tie": _near_tie,
    "tie": lambda chain, _: viterbi(chain).ties,
    "unsure": _unsure,
    "breaks_bio": _breaks_bio,
    GIVEN: lambda chain, example: chain.num_tokens == len(example.tokens),
}


def _names(chain: Potentials, path: list[int]) -> tuple[str, ...]:
    return tuple(chain.tag_names[tag] for tag in path)
