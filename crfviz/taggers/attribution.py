"""Attribution: the contribution of each word to the gap between two emissions.

    gap = e[position, tag] - e[position, rival] = Σ_t words[t] + baseline

For a network the contributions are integrated gradients: the gradient is integrated along the
straight line from zeros to the embedded words x. The baseline is the gap at zeros:

    words[t] = Σ_d x[t, d] · ∫ ∂gap(a·x) / ∂x[t, d] da,   a from 0 to 1

For a tagger that adds up features, each feature's weights are exact. A feature that looks at two
words is shared equally between them, which is its Shapley value. A feature that looks at no word
counts for the baseline.

Letters: `T` words, `K` tags, `D` dimensions of an embedding.

Source:
    Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks" (2017), section 3.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Potentials, Tag
from crfviz.exceptions import CrfvizError
from crfviz.taggers.neural.tagger import NeuralTagger
from crfviz.taggers.tagger import Additive, Contribution, Tagger, Words, words_of
from crfviz.text.files import abbreviate_value

COMPLETE = 1e-4  # tolerance in nats between the sum and the gap
FEWEST_POINTS, MAX_POINTS = 16, 1024  # quadrature points, doubled until complete
AT_ONCE = 64  # points in one batch


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(ShortRepr):
    """Contributions to the gap between two emissions of one word, in nats."""

    words: NDArray[np.float64]  # (T,) contribution of each word
    baseline: float  # the gap at zeros, see the module
    gap: float  # e[position, tag] - e[position, rival]
    features: tuple[tuple[str, float], ...]  # largest size first; empty for a network


def attribute(tagger: Tagger, words: Words, position: int, tag: Tag, rival: Tag) -> Attribution:
    """Attribute the gap between a tag's emission and its rival's to the words.

    For a network the sum is within 1e-4 nats of the gap, and a word that the network does not read
    has exactly 0. It computes 16 gradients or more, in batches of 64.

    Args:
        tagger: a network, or a tagger that adds up features: a perceptron, or a CRFsuite model,
            from `crfviz.from_crfsuite` or uploaded with the attributes of its words. Attributes of
            an uploaded model count for the word that has them.
        words: T words.
        position: index of the word, from 0.
        tag: name or id of the tag.
        rival: name or id of another tag.

    Raises:
        CrfvizError: the rival is the tag, or the tagger has neither a network nor features.
        UnknownObservationError: the tagger has no scores for these words.
        ShapeError: the position is outside the sentence.
        UnknownTagError: the tagger does not have the tag or the rival.

    Example:
        >>> from crfviz.taggers.registry import load_tagger
        >>> tagger = load_tagger("upos-en-contextfree")
        >>> found = attribute(tagger, ["They", "walk"], 1, "VERB", "NOUN")
        >>> float(found.words[0])
        0.0
    """
    if not hasattr(tagger, "potentials"):
        raise CrfvizError(f"expected a tagger, got {abbreviate_value(tagger)}")
    plain = words_of(words)
    scored = tagger.potentials(plain, constrained=False)
    position = scored.position(position)
    pair = scored.tag_id(tag), scored.tag_id(rival)
    if pair[0] == pair[1]:
        raise CrfvizError(
            f"expected two different tags, got {tagger.tags[pair[0]]} as the tag and as its rival"
        )
    gap = float(scored.emissions[position, pair[0]] - scored.emissions[position, pair[1]])
    if isinstance(tagger, NeuralTagger):
        return _of_network(tagger, scored, (position, *pair), gap)
    if isinstance(tagger, Additive):
        return _of_features(tagger.contributions(plain, position), len(plain), pair, gap)
    raise CrfvizError(
        f"{tagger.name} is a tagger without a network, and its scores come without features: "
        "choose a BiLSTM-CRF, a context-free CRF or a perceptron, or read a CRFsuite model with "
        "crfviz.from_crfsuite, which keeps its features"
    )


def _of_features(
    found: Sequence[Contribution], num_words: int, pair: tuple[int, int], gap: float
) -> Attribution:
    words, baseline = np.zeros(num_words), 0.0
    features = []
    for name, places, scores in found:
        value = float(scores[pair[0]] - scores[pair[1]])
        for place in places:
            words[place] += value / len(places)
        baseline += 0.0 if places else value
        features.append((name, value))
    features.sort(key=lambda feature: -abs(feature[1]))
    return Attribution(words, baseline, gap, tuple(features))


def _of_network(
    tagger: NeuralTagger, scored: Potentials, cell: tuple[int, int, int], gap: float
) -> Attribution:
    """Double the number of points until the sum equals the gap's change, within `COMPLETE`."""
    inputs, gaps = _differentiable(tagger, scored.tokens or (), cell)
    with torch.no_grad():
        baseline, whole = gaps(torch.stack([torch.zeros_like(inputs), inputs])).tolist()
    points = FEWEST_POINTS
    words = _integral(inputs, gaps, points)
    while abs(float(words.sum()) - (whole - baseline)) > COMPLETE and points < MAX_POINTS:
        points *= 2
        words = _integral(inputs, gaps, points)
    return Attribution(words.numpy() + 0.0, baseline, gap, ())  # no negative zeros


def _differentiable(
    tagger: NeuralTagger, words: Sequence[str], cell: tuple[int, int, int]
) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Return the embedded words, (T, D) float64, and a function from (S, T, D) to S gaps."""
    network, temperature = tagger.model.network, tagger.model.config.temperature
    embedded = network.embedded(
        tagger.model.vocabulary.encode([words]).to(next(network.parameters()).device)
    )[0]
    context = copy.deepcopy(network.context).cpu().double()
    position, tag, rival = cell
    output = (network.output.weight[tag] - network.output.weight[rival]).cpu().double()
    bias = (network.output.bias[tag] - network.output.bias[rival]).cpu().double()

    def gaps(tokens: Tensor) -> Tensor:
        lengths = torch.full((len(tokens),), tokens.shape[1])
        hidden = context(tokens, lengths)[:, position]
        found: Tensor = (hidden @ output + bias) / temperature
        return found

    return embedded.cpu().double(), gaps


def _integral(inputs: Tensor, gaps: Callable[[Tensor], Tensor], points: int) -> Tensor:
    """Return (T,) the contribution of each word, by Gauss–Legendre quadrature.

    Args:
        inputs: (T, D) the embedded words, the end of the line.
        gaps: function from points of the line to their gaps.
        points: number of quadrature points; the error of a smooth gap falls exponentially with it.
    """
    nodes, weights = np.polynomial.legendre.leggauss(points)  # from -1 to 1
    line = torch.from_numpy((nodes + 1) / 2)
    found = torch.zeros(len(inputs), dtype=torch.float64)
    shares = torch.from_numpy(weights / 2)
    for some, share in zip(torch.split(line, AT_ONCE), torch.split(shares, AT_ONCE), strict=True):
        tokens = (some[:, None, None] * inputs).requires_grad_()
        (gradients,) = torch.autograd.grad(gaps(tokens).sum(), tokens)
        found += share @ (gradients * inputs).sum(-1)
    return found
