"""What the page shows of an entity, against enumeration of all paths."""

import math
from collections import defaultdict

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.entities import entity_types
from crfviz.views.stage.entity import MAX_RIVALS, entity_panel, path_entities
from tests.support import oracle
from tests.support.bio import bio_chains, entities
from tests.support.strategies import fewer_examples

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
WORDS = ["Ada", "Byron", "in", "York"]


def free(seed=0, words=4):
    generator = torch.Generator().manual_seed(seed)
    emissions = torch.randn(words, 5, generator=generator, dtype=torch.float64)
    return Potentials(emissions, torch.zeros(5, 5), tags=TAGS)


def masses(chain, first, last):
    """The probability of the first entity that touches the words, over all paths."""
    total = oracle.log_partition(chain)
    found = defaultdict(float)
    for path, score in oracle.allowed(chain):
        spans = entities([chain.tags[k] for k in path])
        touching = [span for span in spans if span[1] <= last and span[2] >= first]
        found[touching[0] if touching else None] += math.exp(score - total)
    return found


@fewer_examples
@given(bio_chains(), st.data())
def test_entity_hypotheses_equal_enumeration_and_sum_to_one(chain, data):
    label = data.draw(st.sampled_from(entity_types(chain)))
    first = data.draw(st.integers(0, chain.num_tokens - 1))
    last = first
    if f"I-{label}" in chain.tags:
        last = data.draw(st.integers(first, chain.num_tokens - 1))
    span = (label, first, last)
    words = [str(t) for t in range(chain.num_tokens)]
    panel = entity_panel(chain, span, words, path=best_path(chain))
    expected = masses(chain, first, last)
    assert panel.probability == pytest.approx(expected[span], abs=1e-9)
    assert panel.total == pytest.approx(1.0, abs=1e-9)
    for hypothesis in panel.hypotheses:
        if hypothesis.relation != "all others":
            found = expected.pop(hypothesis.span, 0.0)
            assert hypothesis.probability == pytest.approx(found, abs=1e-9)
            assert (hypothesis.relation == "this entity") == (hypothesis.span == span)
    rest = [h.probability for h in panel.hypotheses if h.relation == "all others"]
    assert math.fsum(rest) == pytest.approx(math.fsum(expected.values()), abs=1e-9)


def test_unlikely_rivals_are_folded_but_never_the_entity():
    chain = free()
    unlikely = min(
        (entity_panel(chain, (label, 0, last), WORDS, path=[0] * 4) for label in ("PER", "LOC")
         for last in range(4)),
        key=lambda panel: panel.probability,
    )  # fmt: skip
    relations = [hypothesis.relation for hypothesis in unlikely.hypotheses]
    assert relations.count("this entity") == 1
    assert relations[-1] == "all others"
    assert len(relations) == MAX_RIVALS + 2
    assert unlikely.hypotheses[-1].span is None
    ranked = [hypothesis.probability for hypothesis in unlikely.hypotheses[:-1]]
    assert ranked == sorted(ranked, reverse=True)


def test_trained_values_equal_the_trained_chain():
    trained, now = free(0), free(1)
    panel = entity_panel(now, ("PER", 0, 1), WORDS, path=[0] * 4, trained=trained)
    before = masses(trained, 0, 1)
    assert panel.trained == pytest.approx(before["PER", 0, 1], abs=1e-9)
    for hypothesis in panel.hypotheses:
        if hypothesis.relation != "all others":
            assert hypothesis.trained == pytest.approx(before[hypothesis.span], abs=1e-9)
    assert math.fsum(h.trained for h in panel.hypotheses) == pytest.approx(1.0, abs=1e-9)
    assert entity_panel(now, ("PER", 0, 1), WORDS, path=[0] * 4).trained is None


def test_trained_chain_without_a_path_has_no_trained_values():
    dead = Potentials(free().emissions, torch.full((5, 5), -math.inf), tags=TAGS)
    assert entity_panel(free(), ("PER", 0, 1), WORDS, path=[0] * 4, trained=dead).trained is None


def test_shortcuts_have_their_error():
    panel = entity_panel(free(), ("PER", 0, 1), WORDS, path=[0] * 4)
    assert [shortcut.name for shortcut in panel.shortcuts] == ["mean", "product", "minimum"]
    for shortcut in panel.shortcuts:
        assert shortcut.error == pytest.approx(shortcut.value - panel.probability, abs=1e-12)


def test_entities_of_the_best_path_are_offered():
    panel = entity_panel(free(), ("PER", 0, 0), WORDS, path=[1, 2, 0, 3])
    offered = [(chip.label, chip.first, chip.last) for chip in panel.on_path]
    assert offered == [("PER", 0, 1), ("LOC", 3, 3)]
    expected = masses(free(), 0, 1)["PER", 0, 1]
    assert panel.on_path[0].probability == pytest.approx(expected, abs=1e-9)
    assert path_entities(["I-PER", "O"]) == []


def test_note_names_the_rival_and_the_worst_shortcut():
    panel = entity_panel(free(), ("PER", 0, 1), WORDS, path=[0] * 4)
    worst = max(panel.shortcuts, key=lambda shortcut: abs(shortcut.error))
    assert panel.note.startswith(f"PER “Ada Byron” has probability {panel.probability:.4f}")
    assert f"The {worst.name} of the words' marginals would say {worst.value:.4f}" in panel.note
    assert "strongest rival is" in panel.note


def test_certain_entity_has_no_rival():
    emissions = torch.full((1, 5), -math.inf)
    emissions[0, 1] = 0.0
    panel = entity_panel(
        Potentials(emissions, torch.zeros(5, 5), tags=TAGS), ("PER", 0, 0), ["Ada"], path=[1]
    )
    assert [h.relation for h in panel.hypotheses] == ["this entity"]
    assert "say the same here" in panel.note
    assert "rival" not in panel.note


def test_long_entity_is_abbreviated_by_its_first_and_last_word():
    words = list("abcdefg")
    panel = entity_panel(free(words=7), ("PER", 0, 6), words, path=[0] * 7)
    assert panel.title == "PER “a … g” (7 words)"
