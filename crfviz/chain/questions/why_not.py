"""Why not that tag? What the sentence would lose with it, word by word.

The best path y* is set against the best path y' that has the tag, and the gap between their scores
is taken apart into what each word's emission and each step contributes:

    gap = Σ_t [e_t(y*_t) - e_t(y'_t)] + [s(y*_1) - s(y'_1)]
        + Σ_t [w(y*_t, y*_{t+1}) - w(y'_t, y'_{t+1})] + [f(y*_T) - f(y'_T)]

A positive term speaks for y*, a negative one for y'. exp(-gap) is the ratio of their probabilities.

Source: best paths by Viterbi (1967); the gap is the log-odds of two labellings under
Lafferty, McCallum and Pereira, "Conditional Random Fields" (2001), section 3, where Z cancels.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import log_partition
from crfviz.chain.paths import lead, probability
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.questions.conditioning import best_with
from crfviz.chain.rich import Rich
from crfviz.chain.weights import Kind


@dataclass(frozen=True)
class Term:
    """One of the 2T+1 summands of a gap."""

    kind: Kind
    position: int  # of the word; of the later word for a transition
    value: float  # nats


@dataclass(frozen=True, eq=False)
class WhyNot(Rich):
    """The best path with a tag, and what it loses against the best path of all."""

    path: list[int]  # T tag ids, the best path with the tag
    score: float  # of `path`, nats
    probability: float  # of `path` given the sentence, in [0, 1]
    gap: float  # best score - `score`, nats; 0 if the tag is on a best path
    emission_terms: Tensor  # (T,) nats; with the transition terms they sum to `gap`
    transition_terms: Tensor  # (T+1,) nats; start first, end last, between them the steps
    best: list[int]  # T tag ids, the best path of all

    @property
    def deciding(self) -> Term:
        """The largest term for the best path; the first of equal ones, emissions before steps."""
        last = len(self.path) - 1
        emission, step = int(self.emission_terms.argmax()), int(self.transition_terms.argmax())
        largest = self.transition_terms[step].item()
        if self.emission_terms[emission] >= largest:
            return Term("emission", emission, self.emission_terms[emission].item())
        kinds: dict[int, Kind] = {0: "start", last + 1: "end"}
        return Term(kinds.get(step, "transition"), min(step, last), largest)


def why_not(potentials: Potentials, position: int, tag: Tag) -> WhyNot:
    """What speaks against `tag` at `position`, in O(T K^2).

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
    best = best_path(potentials)
    path = best if best[position] == tag else best_with(potentials, {position: tag})
    ahead = lead(potentials, best, path)
    score = ahead.rival.score
    return WhyNot(
        path=path,
        score=score,
        probability=probability(score, log_partition(potentials)),
        gap=max(0.0, ahead.total),  # of two that tie, the other may be better in the last bit
        emission_terms=torch.from_numpy(ahead.emission_terms),
        transition_terms=torch.from_numpy(ahead.transition_terms),
        best=best,
    )
