"""Exact probabilities of entities, of their rivals, and of illegal tag sequences.

An entity X at words first to last is there if they are tagged B-X I-X ... I-X and the next word is
not I-X; in BIOES and BILOU, if they are tagged B-X I-X ... E-X, or S-X alone. Its probability is
that of all paths through these tags:

    P(entity | x) = Z(paths with exactly these tags) / Z

It is neither the mean nor the product of the words' marginals. An entity is named by its first and
last position and its type; the type may come first, as it did in version 0.2. An UnknownTagError is
raised for a type without the tags it needs, a ShapeError unless 0 <= first <= last < T.

    illegal mass = 1 - Z_legal / Z

would lose all digits of a small mass. So the mass is that of the paths that the complement of the
scheme's automaton reads: it remembers the first illegal move.

Source: Culotta and McCallum, "Confidence Estimation for Information Extraction" (2004), section 3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from crfviz.chain import recursions
from crfviz.chain.constraints import constrain, scheme_automaton
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.distribution import probability
from crfviz.chain.forward_backward import forward_backward, log_partition
from crfviz.chain.patterns import Automaton, automaton
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.questions.conditioning import pin_probability
from crfviz.chain.questions.rules import match
from crfviz.exceptions import NoPathError, ShapeError, UnknownTagError
from crfviz.text.schemes import (
    BIO,
    Span,
    begin,
    entity_scheme,
    inside,
    is_begin,
    split_tag,
    tags_of,
    types_of,
)

Relation = Literal["other type", "other boundaries", "none"]


@dataclass(frozen=True)
class Rival:
    """A hypothesis about the words of an entity that contradicts it."""

    label: str | None  # the type; None if no entity touches these words
    first: int | None  # position of its first word
    last: int | None  # position of its last word
    relation: Relation
    probability: float  # in [0, 1]


@dataclass(frozen=True)
class Shortcuts:
    """What is often shown instead of the probability of an entity, from its words' marginals."""

    mean: float
    product: float
    minimum: float


def entity_types(potentials: Potentials) -> list[str]:
    """Return the types X for which there is a tag B-X, in id order."""
    return types_of(potentials.tag_names)


def entity_probability(
    potentials: Potentials, first: int, last: int, label: str, *, rule: str | None = None
) -> float:
    """Return the probability that exactly this entity is there: its type and both boundaries.

    In [0, 1], in O(T K^2). An illegal I-X that continues nothing belongs to no entity; where the
    chain allows such tags, they count in Z. With a `rule` only the paths that match it count, here
    and in the other answers on entities.

    Example:
        >>> free = Potentials([[0.0] * 3] * 2, [[0.0] * 3] * 3, tags=["O", "B-PER", "I-PER"])
        >>> round(entity_probability(free, 0, 1, "PER"), 4)  # one path of nine
        0.1111
    """
    first, last, label = _span(first, last, label)
    tags, names = _tags(potentials, first, last, label), potentials.tag_names
    goes_on = _scheme(names) == BIO and inside(label) in names and last + 1 < potentials.num_tokens
    after = [(last + 1, inside(label))] if goes_on else []
    return pin_probability(potentials, tags, after, rule=rule)


def entity_rivals(
    potentials: Potentials, first: int, last: int, label: str, *, rule: str | None = None
) -> list[Rival]:
    """Return all alternatives at the words of an entity, likeliest first.

    Each hypothesis is the first entity that touches the words `first` to `last`, or none. A path
    has exactly one of them, so their probabilities and that of the entity itself sum to 1. What
    follows after that first entity is left open. These are all rivals with a probability above 0,
    O(T^2) of them for each type, in O(T^2 K + T K^2).

    Raises:
        UnknownTagError: also for tags of BIOES or BILOU.
    """
    first, last, label = _span(first, last, label)
    entity_probability(potentials, first, last, label, rule=rule)  # raises what there is to raise
    if (scheme := _scheme(potentials.tag_names)) != BIO:
        raise UnknownTagError(f"rivals are found among BIO tags, got those of {scheme}")
    rivals = [
        rival
        for rival in _Hypotheses(potentials, first, last, rule).all()
        if rival.probability > 0 and (rival.label, rival.first, rival.last) != (label, first, last)
    ]
    return sorted(rivals, key=lambda rival: -rival.probability)


def entity_shortcuts(
    potentials: Potentials, first: int, last: int, label: str, *, rule: str | None = None
) -> Shortcuts:
    """Return mean, product and minimum of the marginals of the entity's tags."""
    tags = _tags(potentials, *_span(first, last, label))
    if rule is None:
        marginals = forward_backward(potentials).marginals
    else:
        marginals = match(potentials, rule).marginals
    values = [marginals[t, potentials.tag_id(tag)].item() for t, tag in tags.items()]
    return Shortcuts(
        mean=math.fsum(values) / len(values), product=math.prod(values), minimum=min(values)
    )


def _span(*given: Any) -> tuple[int, int, str]:  # noqa: ANN401
    """Return first and last position and type of an entity that is named in either order."""
    return (*given[1:], given[0]) if isinstance(given[0], str) else given


def _tags(potentials: Potentials, first: int, last: int, label: str) -> dict[int, str]:
    """Return the tag of each word of an entity."""
    first, last = potentials.position(first), potentials.position(last)
    if last < first:
        raise ShapeError(f"last must be at least first, {first}, got {last}")
    needed = tags_of([Span(label, first, last + 1)], last + 1, _scheme(potentials.tag_names))
    for name in needed[first:]:
        if name not in potentials.tag_names:
            types = ", ".join(entity_types(potentials)) or "none: the tags are not BIO"
            raise UnknownTagError(f"expected a tag {name}; the entity types are {types}")
    return {t: needed[t] for t in range(first, last + 1)}


def _scheme(tags: Sequence[str]) -> str:
    """Return the scheme by which tags are read: BIO where they are of none."""
    return entity_scheme(tags) or BIO


def strict_reading(names: Sequence[str]) -> Automaton:
    """Return the automaton whose state after a tag is the type of its entity; 0 outside of any.

    Read strictly, an I-X continues an entity after B-X or after an I-X that itself continues one;
    any other I-X, an orphan, belongs to no entity. Which of the two it is depends on all the tags
    before, so the tag alone does not say. A copy of it for each state does: every path of the chain
    is one path of the product with the same score.

    Source:
        The strict reading is that of IOB2, Tjong Kim Sang and Veenstra, "Representing Text Chunks"
        (1999).
    """
    kinds = [None, *dict.fromkeys(types_of(names))]
    moves = [[_state(kinds, state, name) for name in names] for state in range(len(kinds))]
    return Automaton("", tuple(names), np.array(moves), np.ones(len(kinds), bool))


def _state(kinds: Sequence[str | None], state: int, name: str) -> int:
    prefix, kind = split_tag(name)
    goes_on = is_begin(name) or (prefix == "I" and kind == kinds[state])
    return kinds.index(kind) if goes_on else 0


class _Hypotheses:
    """The first entity that touches some words, for all of them."""

    def __init__(self, potentials: Potentials, first: int, last: int, rule: str | None) -> None:
        names = potentials.tag_names
        self.types = types_of(names)
        self.first, self.last = first, last
        if rule is not None:
            names = tuple(names[tag] for tag in automaton(rule, names).copies[:, 0])
            potentials = potentials.constrained(rule)
        product = strict_reading(names).product
        self.names = [names[tag] for tag in product.tags]  # of the copies
        self.inside = product.states > 0  # whether each is of an entity
        self.emissions, self.steps, self.start, self.end = potentials.times(product).arrays()
        self.beta = recursions.backward(self.emissions, self.steps, self.end)
        # Forward, but from `first` on through words outside of entities alone.
        outside = self.emissions.copy()
        outside[first : last + 1, self.inside] = -np.inf
        self.untouched = recursions.forward(outside, self.steps, self.start)
        self.total = float(recursions.logsumexp(self.start + self.emissions[0] + self.beta[0], -1))

    def all(self) -> Iterator[Rival]:
        """Yield every hypothesis with its probability."""
        none = recursions.logsumexp((self.untouched + self.beta)[self.last], -1)
        yield Rival(None, None, None, "none", self._probability(float(none)))
        for label in self.types:
            yield from self._of_type(label)

    def _of_type(self, label: str) -> Iterator[Rival]:
        for start, scores in enumerate(self._scores(label)):
            for stop in range(max(start, self.first), len(scores)):
                same = (start, stop) == (self.first, self.last)
                relation: Relation = "other type" if same else "other boundaries"
                yield Rival(label, start, stop, relation, self._probability(float(scores[stop])))

    def _scores(self, label: str) -> Array:
        """Log-sum of the paths with an entity, by first and last word; (last + 1, T) nats."""
        begins, goes_on = self._ids(begin(label)), self._ids(inside(label))
        emissions, steps = self.emissions[:, goes_on], self.steps
        arriving = self._arriving(begins)[: self.last + 1]
        scores = np.full((len(arriving), len(self.beta)), -np.inf)
        starts = np.arange(len(arriving))
        alone = arriving + self._leaving(begins, goes_on)[: len(arriving)]
        scores[starts, starts] = recursions.logsumexp(alone, -1)
        if not goes_on:
            return scores
        leaving = self._leaving(goes_on, goes_on)
        runs = np.full((len(arriving), len(goes_on)), -np.inf)  # so far, by first word and tag
        for t, step in enumerate(steps, start=1):
            runs = recursions.logsumexp(runs[:, :, None] + step[goes_on][:, goes_on], 1)
            if t <= len(arriving):
                onward = arriving[t - 1][:, None] + step[begins][:, goes_on]
                runs[t - 1] = recursions.logsumexp(onward, 0)
            runs = runs + emissions[t]
            scores[:, t] = np.logaddexp(scores[:, t], recursions.logsumexp(runs + leaving[t], -1))
        return scores

    def _ids(self, name: str) -> list[int]:
        return [k for k in np.flatnonzero(self.inside).tolist() if self.names[k] == name]

    def _arriving(self, begins: list[int]) -> Array:
        """Log-sum of the prefixes that end in each B-X, untouched before it; (T, n) nats."""
        before = self.untouched[:-1, :, None] + self.steps[:, :, begins]
        reached = recursions.logsumexp(before, 1)
        first = self.start[None, begins]
        return np.concatenate([first, reached]) + self.emissions[:, begins]

    def _leaving(self, tags: list[int], goes_on: list[int]) -> Array:
        """Log-sum of the suffixes after each tag that do not go on with I-X; (T, n) nats."""
        behind = self.emissions[1:] + self.beta[1:]
        behind[:, goes_on] = -np.inf
        following = self.steps[:, tags, :] + behind[:, None, :]
        return np.concatenate([recursions.logsumexp(following, -1), self.end[None, tags]])

    def _probability(self, score: float) -> float:
        return math.exp(min(0.0, score - self.total))


@dataclass(frozen=True)
class ConstraintEffect:
    """What the BIO constraints do to one sentence."""

    mass: float  # probability of illegal paths without them, in [0, 1]
    free: list[int]  # T tag ids, the best path without them
    constrained: list[int] | None  # T tag ids, the best with them; None if no legal path is allowed
    changed: list[int]  # the positions where the two differ


def illegal_mass(potentials: Potentials) -> float:
    """Return the probability of all paths that break the tags' scheme, in O(T K^2).

    The chain is one without the constraints. Exact also where it is tiny; exactly 0 if every
    illegal move is forbidden already, and for tags of no scheme.

    Example:
        >>> free = Potentials([[0.0, 0.0, 0.0]], [[0.0] * 3] * 3, tags=["O", "B-PER", "I-PER"])
        >>> round(illegal_mass(free), 3)
        0.333
    """
    total = log_partition(potentials)
    if total == -math.inf:
        best_path(potentials)  # says where the last prefix breaks off
    broken = scheme_automaton(potentials.tag_names).complement()
    return probability(log_partition(potentials.times(broken.product)), total)


def constraint_effect(potentials: Potentials) -> ConstraintEffect:
    """Decoding with and without the BIO constraints, for a chain without them, in O(T K^2)."""
    free = best_path(potentials)
    try:
        constrained = best_path(constrain(potentials))
    except NoPathError:
        return ConstraintEffect(illegal_mass(potentials), free, None, [])
    changed = [t for t, tag in enumerate(free) if tag != constrained[t]]
    return ConstraintEffect(illegal_mass(potentials), free, constrained, changed)
