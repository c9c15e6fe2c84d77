"""Exact probabilities of entities, of their rivals, and of illegal tag sequences.

The words first to last are an entity X if they are tagged B-X I-X ... I-X and the next word is not
I-X. In BIOES they are tagged B-X I-X ... E-X, or S-X alone; BILOU writes L-X and U-X. The
probability of the entity is that of all paths with these tags:

    P(entity | x) = Z(paths with exactly these tags) / Z

It differs from the mean and from the product of the words' marginals. An entity is given by its
first and last position and its type; the type may also be the first argument, as in version 0.2.
The functions raise an UnknownTagError if the tags of a type are missing, and a ShapeError unless
0 <= first <= last < T.

    illegal mass = 1 - Z_legal / Z

This difference loses all digits if the mass is small. The mass is therefore summed over the illegal
paths, which the complement of the scheme's automaton accepts: it remembers the first illegal move.

Source: Culotta and McCallum, "Confidence Estimation for Information Extraction" (2004), section 3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from crfviz.chain.constraints import constrain, scheme_automaton
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.distribution import probability
from crfviz.chain.forward_backward import forward_backward, log_partition
from crfviz.chain.patterns import Automaton, automaton
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import pin_probability
from crfviz.chain.questions.rules import marginals_given
from crfviz.chain.validation import text
from crfviz.exceptions import NoPathError, ShapeError, UnknownTagError
from crfviz.text.files import abbreviate_value
from crfviz.text.schemes import (
    BIO,
    Span,
    entity_scheme,
    inside,
    is_begin,
    tags_of,
    types_of,
)

Relation = Literal["other type", "other boundaries", "none"]


@dataclass(frozen=True)
class Rival:
    """An alternative to an entity at the same words."""

    label: str | None  # the type; None if no entity touches these words
    first: int | None  # position of its first word
    last: int | None  # position of its last word
    relation: Relation
    probability: float  # in [0, 1]


@dataclass(frozen=True)
class Shortcuts:
    """Common approximations of an entity's probability, from the marginals of its tags."""

    mean: float
    product: float
    minimum: float


def entity_types(potentials: Potentials) -> list[str]:
    """Return the types X that have a tag B-X, in the order of tag ids."""
    return types_of(potentials.tag_names)


def entity_probability(
    potentials: Potentials, first: int, last: int, label: str, *, rule: str | None = None
) -> float:
    """Return the probability of exactly this entity: its type and both boundaries.

    In [0, 1], in O(T K^2). An illegal I-X that continues no entity belongs to none; if the chain
    allows such tags, their paths count in Z. With a `rule`, only the paths that match it count. The
    other functions on entities treat `rule` in the same way.

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

    Each alternative is the first entity that touches the words `first` to `last`, or no entity.
    Each path has exactly one of them, so their probabilities and that of the entity itself sum to
    1. The tags after that first entity may be any. The list has all alternatives with a probability
    above 0: O(T^2) for each type, in O(T^2 K + T K^2).

    Raises:
        UnknownTagError: also for tags of BIOES or BILOU.
    """
    first, last, label = _span(first, last, label)
    entity_probability(potentials, first, last, label, rule=rule)  # validates the arguments
    if (scheme := _scheme(potentials.tag_names)) != BIO:
        raise UnknownTagError(f"rivals are found among BIO tags, got those of {scheme}")
    rivals = [
        rival
        for rival in _first_entities(potentials, first, last, rule)
        if rival.probability > 0 and (rival.label, rival.first, rival.last) != (label, first, last)
    ]
    return sorted(rivals, key=lambda rival: -rival.probability)


def entity_shortcuts(
    potentials: Potentials, first: int, last: int, label: str, *, rule: str | None = None
) -> Shortcuts:
    """Return mean, product and minimum of the marginals of the entity's tags."""
    tags = _tags(potentials, *_span(first, last, label))
    marginals = marginals_given(potentials, rule)
    values = [marginals[t, potentials.tag_id(tag)].item() for t, tag in tags.items()]
    return Shortcuts(
        mean=math.fsum(values) / len(values), product=math.prod(values), minimum=min(values)
    )


def _span(*given: Any) -> tuple[int, int, str]:  # noqa: ANN401 - the order is open
    """Return first position, last position and type; the type may be the first argument."""
    first, last, label = (*given[1:], given[0]) if text(given[0]) is not None else given
    if (name := text(label)) is None:
        raise UnknownTagError(f"expected an entity type, got {abbreviate_value(label)}")
    return first, last, name


def _tags(potentials: Potentials, first: int, last: int, label: str) -> dict[int, str]:
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
    """Return the scheme of the tags; BIO if they follow none."""
    return entity_scheme(tags) or BIO


def strict_reading(names: Sequence[str]) -> Automaton:
    """Return the automaton whose state after a tag is the type of its entity; 0 outside of any.

    Read strictly, an I-X continues an entity after B-X or after an I-X that itself continues one;
    any other I-X, an orphan, belongs to no entity. That depends on all earlier tags, not on the tag
    alone. The product with this automaton has a copy of the tag for each state, which shows it.
    Every path of the chain is one path of the product with the same score.

    Source:
        The strict reading is that of IOB2, Tjong Kim Sang and Veenstra, "Representing Text Chunks"
        (1999).
    """
    rules = scheme_automaton(tuple(names))
    return replace(rules, next=np.maximum(rules.next, 0), accepting=np.ones_like(rules.accepting))


def _first_entities(
    potentials: Potentials, first: int, last: int, rule: str | None
) -> Iterator[Rival]:
    """Yield each possible first entity that touches the words, and the rival without an entity.

    Paths of the product are a Markov chain: they enter an entity by B-X, stay in it by I-X and
    leave it by any other tag. The marginals of pairs of tags say how probable each move is.
    """
    names, types = potentials.tag_names, entity_types(potentials)
    if rule is not None:
        names = tuple(names[tag] for tag in automaton(rule, names).copies[:, 0])
        potentials = potentials.constrained(rule)
    product = strict_reading(names).product
    tables = forward_backward(potentials.times(product))
    marginals, pairs = tables.marginals.numpy(), tables.edge_marginals.numpy()
    moves = pairs / np.where(marginals > 0, marginals, 1.0)[:-1, :, None]  # p(next | copy)
    inside = product.states > 0
    enters = inside & [is_begin(names[tag]) for tag in product.tags]
    entered, untouched = marginals * enters, marginals[first] * ~inside
    for t in range(first, last):
        reached = untouched @ moves[t]
        entered[t + 1], untouched = reached * enters, reached * ~inside
    yield Rival(None, None, None, "none", min(1.0, float(untouched.sum())))

    stays = inside & ~enters
    leaves = np.vstack([moves[:, :, ~stays].sum(-1), np.ones((1, len(inside)))])
    of_type = product.states == np.arange(1, len(types) + 1)[:, None]
    # Probability of entities still open at t, by first word.
    runs = np.zeros((last + 1, len(inside)))
    masses = np.zeros((len(types), *runs.shape[:1], len(leaves)))  # by type, first and last word
    for t, leaving in enumerate(leaves):
        if t > 0:
            runs = runs @ moves[t - 1] * stays
        if t <= last:
            runs[t] = entered[t]
        if t >= first:
            masses[:, :, t] = of_type @ (runs * leaving).T
    for kind, start, stop in np.argwhere(masses > 0).tolist():
        same = (start, stop) == (first, last)
        relation: Relation = "other type" if same else "other boundaries"
        yield Rival(types[kind], start, stop, relation, min(1.0, masses[kind, start, stop].item()))


@dataclass(frozen=True)
class ConstraintEffect:
    """Effect of the BIO constraints on the decoding of one sentence."""

    mass: float  # probability of illegal paths without constraints, in [0, 1]
    free: list[int]  # T tag ids, the best path without constraints
    constrained: list[int] | None  # T tag ids, the best legal path; None if all are forbidden
    changed: list[int]  # the positions where the two differ


def illegal_mass(potentials: Potentials) -> float:
    """Return the probability of all paths that break the tags' scheme, in O(T K^2).

    The chain should not have the constraints yet. The result is exact even if it is tiny. It is 0
    if every illegal move is forbidden already, or if the tags follow no scheme.

    Example:
        >>> free = Potentials([[0.0, 0.0, 0.0]], [[0.0] * 3] * 3, tags=["O", "B-PER", "I-PER"])
        >>> round(illegal_mass(free), 3)
        0.333
    """
    total = log_partition(potentials)
    if total == -math.inf:
        best_path(potentials)  # raises a NoPathError with the position
    broken = scheme_automaton(potentials.tag_names).complement()
    return probability(log_partition(potentials.times(broken.product)), total)


def constraint_effect(potentials: Potentials) -> ConstraintEffect:
    """Decode with and without the BIO constraints, for a chain without them, in O(T K^2)."""
    free = best_path(potentials)
    try:
        constrained = best_path(constrain(potentials))
    except NoPathError:
        return ConstraintEffect(illegal_mass(potentials), free, None, [])
    changed = [t for t, tag in enumerate(free) if tag != constrained[t]]
    return ConstraintEffect(illegal_mass(potentials), free, constrained, changed)
