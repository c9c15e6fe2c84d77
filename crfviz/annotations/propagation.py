"""The model's proposal for a sentence, and what follows from a correction.

A correction is a constraint: the best path is sought anew among those that have all tags the
annotator set, so that one correction repairs its neighbours.

Source: Kristjansson, Culotta, Viola and McCallum, "Interactive Information Extraction with
Constrained Conditional Random Fields" (2004), section 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from crfviz.annotations.marking import ends
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import condition, restrict
from crfviz.exceptions import NoPathError
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import is_bio

DOUBT = 0.9  # a tag with a smaller marginal is doubtful


@dataclass(frozen=True, eq=False)
class Proposal:
    """The best path under an annotator's tags, and how sure it is."""

    tags: tuple[str, ...]  # T names
    marginals: Tensor  # (T, K): p(y_t = k | x, the annotator's tags)
    probabilities: tuple[float, ...]  # T: the marginals of `tags`
    doubtful: tuple[int, ...]  # positions whose probability is below DOUBT, none of them pinned


def propose(potentials: Potentials, pins: Mapping[int, str]) -> Proposal:
    """Decode under the annotator's tags, in O(T K^2).

    Args:
        potentials: scores of one sentence.
        pins: tags by position; of BIO tags whole entities, see `marking.mark_entity`.

    Raises:
        NoPathError: no allowed path has these tags; the message says which one is at fault.
        UnknownTagError: the model does not have one of the tags.
    """
    names = potentials.tag_names
    forbidden = ends(pins, potentials.num_tokens) if is_bio(names) else ()
    chain = restrict(potentials, pins, forbidden) if pins else potentials
    try:
        path = best_path(chain)
    except NoPathError:
        condition(potentials, pins, forbidden)  # says which tag is at fault
        raise
    marginals = forward_backward(chain).marginals
    sure = [float(marginals[t, k]) for t, k in enumerate(path)]
    doubtful = tuple(t for t, p in enumerate(sure) if p < DOUBT and t not in pins)
    return Proposal(tuple(names[k] for k in path), marginals, tuple(sure), doubtful)


@lru_cache(maxsize=512)
def proposal_of(
    tagger: Tagger, words: tuple[str, ...], pins: tuple[tuple[int, str], ...]
) -> Proposal:
    """The same for words and a model; kept, as a step and its picture need the same answers."""
    return propose(_scores(tagger, words), dict(pins))


def followed(before: Sequence[str], after: Sequence[str], pins: Mapping[int, str]) -> list[int]:
    """Positions, none of them pinned after it, whose tag a correction changed by itself."""
    pairs = enumerate(zip(before, after, strict=True))
    return [t for t, (old, new) in pairs if old != new and t not in pins]


@lru_cache(maxsize=256)
def _scores(tagger: Tagger, words: tuple[str, ...]) -> Potentials:
    return tagger.potentials(words)
