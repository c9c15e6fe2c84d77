"""Entities, their rivals, and the mass of illegal paths, against enumeration of all paths."""

import math
from collections import defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seqeval.scheme import BILOU, IOBES, Entities

from crfviz.chain.constraints import constrain
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.entities import (
    constraint_effect,
    entity_probability,
    entity_rivals,
    entity_shortcuts,
    entity_types,
    illegal_mass,
    strict_reading,
)
from crfviz.exceptions import ShapeError, UnknownTagError
from tests.support import oracle
from tests.support.bio import bio_chains, entities, is_legal
from tests.support.strategies import chains, fewer_examples

INF = math.inf
FREE = Potentials(torch.zeros(3, 3), torch.zeros(3, 3), tags=["O", "B-PER", "I-PER"])


def readings(chain):
    """(probability, entities) of every path."""
    total = oracle.log_partition(chain)
    for path, score in oracle.allowed(chain):
        yield math.exp(score - total), entities([chain.tags[k] for k in path])


def spans(chain, data):
    """A type, a first and a last word that the chain has tags for."""
    label = data.draw(st.sampled_from(entity_types(chain)))
    first = data.draw(st.integers(0, chain.num_tokens - 1))
    last = first
    if f"I-{label}" in chain.tags:
        last = data.draw(st.integers(first, chain.num_tokens - 1))
    return label, first, last


@given(bio_chains(), st.data())
def test_entity_probability_equals_enumeration(chain, data):
    span = spans(chain, data)
    expected = math.fsum(mass for mass, found in readings(chain) if span in found)
    assert entity_probability(chain, *span) == pytest.approx(expected, abs=1e-9)


@given(bio_chains(), st.data())
def test_entity_rivals_equal_enumeration_and_sum_to_one(chain, data):
    span = _, first, last = spans(chain, data)
    masses = defaultdict(float)
    for mass, found in readings(chain):
        touching = [entity for entity in found if entity[1] <= last and entity[2] >= first]
        masses[touching[0] if touching else (None, None, None)] += mass
    own = masses.pop(span, 0.0)
    rivals = entity_rivals(chain, *span)
    found = {(rival.label, rival.first, rival.last): rival.probability for rival in rivals}
    assert len(found) == len(rivals)
    for hypothesis in masses.keys() | found.keys():
        assert found.get(hypothesis, 0.0) == pytest.approx(masses[hypothesis], abs=1e-9)
    total = entity_probability(chain, *span) + sum(found.values())
    assert total == pytest.approx(1.0, abs=1e-9)
    assert own == pytest.approx(entity_probability(chain, *span), abs=1e-9)
    probabilities = [rival.probability for rival in rivals]
    assert probabilities == sorted(probabilities, reverse=True)


def test_rivals_have_their_relation_to_the_entity():
    chain = Potentials(torch.zeros(3, 5), torch.zeros(5, 5), tags=["O", "B-X", "I-X", "B-Y", "I-Y"])
    relations = {
        (rival.label, rival.first, rival.last): rival.relation
        for rival in entity_rivals(chain, "X", 1, 1)
    }
    assert relations[None, None, None] == "none"
    assert relations["Y", 1, 1] == "other type"
    assert relations["X", 0, 1] == relations["X", 1, 2] == "other boundaries"
    assert ("X", 1, 1) not in relations
    assert ("X", 0, 0) not in relations


def test_illegal_tag_belongs_to_no_entity():
    """O I-PER I-PER and B-X I-Y: the orphans are outside of everything."""
    names = ["O", "B-X", "I-Y"]
    emissions = torch.full((3, 3), -INF)
    emissions[0, 1] = emissions[1, 2] = emissions[2, 2] = 0.0
    chain = Potentials(emissions, torch.zeros(3, 3), tags=names)
    assert entity_probability(chain, "X", 0, 0) == 1.0
    assert [rival.label for rival in entity_rivals(chain, "X", 1, 1)] == [None]


def test_shortcuts_equal_mean_product_and_minimum_of_marginals():
    chain = Potentials([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]], torch.zeros(3, 3), tags=FREE.tags)
    marginals = forward_backward(chain).marginals
    one, two = marginals[0, 1].item(), marginals[1, 2].item()
    found = entity_shortcuts(chain, "PER", 0, 1)
    assert found.mean == pytest.approx((one + two) / 2, abs=1e-12)
    assert found.product == pytest.approx(one * two, abs=1e-12)
    assert found.minimum == min(one, two)


def test_mean_of_marginals_is_not_the_entity_probability():
    """Two tags that occur, but never together: the mean of their marginals is a third."""
    never = [[0.0, 0.0, 0.0], [0.0, 0.0, -INF], [0.0, 0.0, 0.0]]
    chain = Potentials([[-INF, 0.0, 0.0], [0.0, -INF, 0.0]], never, tags=FREE.tags)
    assert entity_probability(chain, "PER", 0, 1) == 0.0
    assert entity_shortcuts(chain, "PER", 0, 1).mean == pytest.approx(1 / 3, abs=1e-9)


def test_entity_type_may_be_omitted_or_passed_first():
    generator = np.random.default_rng(3)
    chain = Potentials(
        generator.normal(size=(3, 3)), generator.normal(size=(3, 3)), tags=["O", "B-X", "I-X"]
    )
    legal = {path: mass for path, mass in weights(chain).items() if path[:3] == (1, 2, 2)}
    expected = sum(legal.values()) / sum(weights(chain).values())
    for ask in (entity_probability, entity_rivals, entity_shortcuts):
        assert ask(chain, 0, 2, "X") == ask(chain, "X", 0, 2)
        assert ask(chain, 0, 2, "X") == ask(chain, label="X", first=0, last=2)
    assert entity_probability(chain, 0, 2, "X") == pytest.approx(expected)


def weights(chain):
    return {path: math.exp(score) for path, score in oracle.paths(chain).items()}


def test_entity_types_are_read_from_the_tags():
    assert entity_types(FREE) == ["PER"]
    assert entity_types(Potentials([[0.0]], [[0.0]], tags=["NOUN"])) == []


@pytest.mark.parametrize("ask", [entity_probability, entity_rivals, entity_shortcuts])
@pytest.mark.parametrize(
    ("tags", "span", "message"),
    [
        (["O", "B-PER", "I-PER"], ("LOC", 0, 0), "expected a tag B-LOC; the entity types are PER"),
        (["NOUN"], ("PER", 0, 0), "types are none: the tags are not BIO"),
        (["O", "B-PER"], ("PER", 0, 1), "expected a tag I-PER"),
        (["O", "B-PER", "I-PER"], ("PER", 2, 1), "last must be at least first, 2, got 1"),
    ],
)
def test_invalid_spans_are_rejected(ask, tags, span, message):
    chain = Potentials(torch.zeros(3, len(tags)), torch.zeros(len(tags), len(tags)), tags=tags)
    with pytest.raises((UnknownTagError, ShapeError), match=message):
        ask(chain, *span)


@given(bio_chains(max_tokens=3))
def test_product_with_strict_reading_has_every_path_once(chain):
    product = strict_reading(chain.tags).product
    large, source = chain.times(product), product.tags.tolist()
    found = {}
    for path, score in oracle.allowed(large):
        original = tuple(source[k] for k in path)
        assert original not in found
        found[original] = score
        covered = {
            t
            for _, first, last in entities([chain.tags[k] for k in original])
            for t in range(first, last + 1)
        }
        assert {t for t, k in enumerate(path) if product.states[k] > 0} == covered
    assert found == pytest.approx(dict(oracle.allowed(chain)), abs=1e-9)


def test_strict_reading_puts_non_bio_tags_outside():
    product = strict_reading(["NOUN", "INTJ"]).product
    assert product.states.tolist() == [0, 0]
    assert product.transitions.all()


NAMES = ["O", "B-PER", "I-PER"]


@given(bio_chains())
def test_illegal_mass_equals_enumeration(chain):
    expected = math.fsum(
        oracle.probability(chain, path)
        for path, _ in oracle.allowed(chain)
        if not is_legal([chain.tags[k] for k in path])
    )
    assert illegal_mass(chain) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(bio_chains())
def test_constrained_chain_has_no_illegal_mass(chain):
    legal = constrain(chain)
    if oracle.allowed(legal):
        assert illegal_mass(legal) == 0.0
    else:
        assert illegal_mass(chain) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("score", [-30.0, -45.0, -300.0])
def test_tiny_illegal_mass_is_precise(score):
    """One illegal path, whose weight is far below the last digit of 1."""
    transitions = torch.full((3, 3), -INF)
    transitions[0, 0], transitions[0, 2] = 0.0, score
    chain = Potentials(torch.zeros(2, 3), transitions, [0.0, -INF, -INF], tags=NAMES)
    assert illegal_mass(chain) == pytest.approx(math.exp(score), rel=1e-12)


@fewer_examples
@given(bio_chains())
def test_constraint_effect_equals_decoding_twice(chain):
    found = constraint_effect(chain)
    assert found.free == viterbi(chain).path
    assert found.mass == illegal_mass(chain)
    if not oracle.allowed(constrain(chain)):
        assert found.constrained is None
        assert found.changed == []
        return
    assert found.constrained == viterbi(constrain(chain)).path
    assert is_legal([chain.tags[k] for k in found.constrained])
    both = list(zip(found.free, found.constrained, strict=True))
    assert found.changed == [t for t, (before, after) in enumerate(both) if before != after]


@fewer_examples
@given(chains(max_tokens=4).filter(oracle.allowed))
def test_tags_without_a_scheme_have_no_illegal_mass(chain):
    assert illegal_mass(chain) == 0.0
    assert constraint_effect(chain).changed == []


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("letters", "theirs"), [("BIES", IOBES), ("BILU", BILOU)])
def test_entities_of_closed_schemes_equal_enumeration(letters, theirs, seed):
    """Against seqeval's reading of every path."""
    tags = ["O", *[f"{letter}-{kind}" for kind in "XY" for letter in letters]][: 5 + 4 * (seed % 2)]
    generator = np.random.default_rng(seed)
    shapes = [(3, len(tags)), (len(tags), len(tags)), (len(tags),), (len(tags),)]
    chain = Potentials(*(generator.normal(0, 2, shape) for shape in shapes), tags=tags)
    masses, broken = defaultdict(float), 0.0
    total = math.fsum(weights(chain).values())
    for path, weight in weights(chain).items():
        names = [tags[k] for k in path]
        found = [(e.tag, e.start, e.end - 1) for e in Entities([names], theirs).entities[0]]
        covered = {t for _, first, last in found for t in range(first, last + 1)}
        broken += weight * any(names[t] != "O" and t not in covered for t in range(3))
        for entity in found:
            masses[entity] += weight
    for first, last in [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)]:
        expected = masses["X", first, last] / total
        assert entity_probability(chain, first, last, "X") == pytest.approx(expected, abs=1e-12)
    assert illegal_mass(chain) == pytest.approx(broken / total, abs=1e-12)
    legal = forward_backward(constrain(chain)).log_partition
    assert math.exp(legal) == pytest.approx(total - broken, rel=1e-9)
    with pytest.raises(UnknownTagError, match="rivals are found among BIO tags, got those of BI"):
        entity_rivals(chain, 0, 1, "X")


RULES = [  # with what it says of the names of a path
    ("B-X .* | .* O", lambda names: names[0] == "B-X" or names[-1] == "O"),
    ("[^ B-X]* (B-X [^ B-X]*)?", lambda names: names.count("B-X") < 2),
    ("([^ O]* O){1,2} [^ O]*", lambda names: names.count("O") in (1, 2)),
    (".* I-X I-X", lambda names: names[-2:] == ["I-X", "I-X"]),
]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("rule", "matches"), RULES, ids=[rule for rule, _ in RULES])
def test_entities_given_a_rule_equal_enumeration(rule, matches, seed):
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    generator = np.random.default_rng(seed)
    shapes = [(4, 5), (5, 5) if seed % 2 else (3, 5, 5), (5,), (5,)]
    chain = Potentials(*(generator.normal(0, 2, shape) for shape in shapes), tags=tags)
    left = [
        (weight, entities([tags[k] for k in path]), path)
        for path, weight in weights(chain).items()
        if matches([tags[k] for k in path])
    ]
    total = math.fsum(weight for weight, *_ in left)
    for span in [("X", 0, 0), ("X", 1, 3), ("Y", 1, 2)]:
        _, first, last = span
        masses = defaultdict(float)
        for weight, found, _ in left:
            touching = [entity for entity in found if entity[1] <= last and entity[2] >= first]
            masses[touching[0] if touching else (None, None, None)] += weight / total
        own = math.fsum(weight for weight, found, _ in left if span in found) / total
        assert entity_probability(chain, *span, rule=rule) == pytest.approx(own, abs=1e-9)
        masses.pop(span, None)
        rivals = entity_rivals(chain, *span, rule=rule)
        found = {(rival.label, rival.first, rival.last): rival.probability for rival in rivals}
        for hypothesis in masses.keys() | found.keys():
            assert found.get(hypothesis, 0.0) == pytest.approx(masses[hypothesis], abs=1e-9)
        needed = [f"B-{span[0]}", *[f"I-{span[0]}"] * (last - first)]
        marginals = [
            math.fsum(weight for weight, _, path in left if tags[path[t]] == tag) / total
            for t, tag in enumerate(needed, start=first)
        ]
        shortcuts = entity_shortcuts(chain, *span, rule=rule)
        assert shortcuts.product == pytest.approx(math.prod(marginals), abs=1e-9)
