"""What benchmarks/propagation.py counts, held against an annotator who tries every path."""

import importlib.util
import itertools
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.constraints import constrain
from crfviz.text.schemes import Span
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger
from tests.support.paths import ROOT
from tests.support.strategies import chains

PATH = ROOT / "benchmarks" / "propagation.py"


def load_benchmark():
    spec = importlib.util.spec_from_file_location("propagation", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["propagation"] = module  # where its dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


benchmark = load_benchmark()
BIO = ("O", "B-X", "I-X")


def corrections(chain, gold):
    """By plain enumeration: among the paths that agree with what was set, the best one is shown."""
    ranked = [path for path, _ in oracle.allowed(chain)]
    fixed = set()
    while True:
        shown = next(p for p in ranked if all(p[t] == gold[t] for t in fixed))
        wrong = [t for t, (a, b) in enumerate(zip(shown, gold, strict=True)) if a != b]
        if not wrong:
            return len(fixed)
        fixed.add(wrong[0])


@st.composite
def corrected(draw):
    """A chain and one of its allowed paths; None where two paths nearly tie."""
    chain = draw(chains(max_tokens=4, max_tags=3).filter(oracle.allowed))
    ranked = oracle.allowed(chain)
    gaps = [one - other for (_, one), (_, other) in itertools.pairwise(ranked)]
    return (chain, draw(st.sampled_from(ranked))[0]) if min(gaps, default=1.0) > 1e-6 else None


@given(corrected().filter(lambda pair: pair is not None))
def test_corrections_by_word_equal_those_by_enumeration(pair):
    chain, gold = pair
    best = oracle.allowed(chain)[0][0]
    found = benchmark.by_word(chain, [chain.tag_names[k] for k in gold])
    assert found.with_propagation == corrections(chain, gold)
    assert found.without == sum(a != b for a, b in zip(best, gold, strict=True))


def test_one_correction_repairs_its_neighbour():
    words = {"a": {"X": 1.0}, "b": {"X": 1.0}}
    sticky = {("X", "X"): 3.0, ("Y", "Y"): 3.0}
    chain = FakeTagger(["X", "Y"], words, sticky).potentials(["a", "b"])
    assert benchmark.by_word(chain, ["Y", "Y"]) == benchmark.Effort(2, 1)
    assert benchmark.by_word(chain, ["X", "X"]) == benchmark.Effort(0, 0)


def test_a_correction_can_spoil_what_was_right():
    words = {"a": {"X": 2.0}, "b": {"X": 1.0}}
    sticky = {("X", "X"): 3.0, ("Y", "Y"): 3.0}
    chain = FakeTagger(["X", "Y"], words, sticky).potentials(["a", "b"])
    assert benchmark.by_word(chain, ["Y", "X"]) == benchmark.Effort(1, 2)


def ner(words, transitions=None):
    tagger = FakeTagger(BIO, words, transitions, scheme="BIO")
    return tagger.potentials(list(words))


@pytest.mark.parametrize(
    ("gold", "marks"),
    [
        (["B-X", "I-X", "O"], 0),
        (["O", "O", "O"], 1),  # the entity is removed whole
        (["B-X", "B-X", "O"], 2),  # the second mark replaces nothing of the first
        (["B-X", "I-X", "I-X"], 1),
        (["O", "B-X", "O"], 2),  # removed whole, then marked
    ],
)
def test_entities_are_marked_or_removed_whole(gold, marks):
    chain = ner({"a": {"B-X": 3.0}, "b": {"I-X": 3.0}, "c": {"O": 3.0}})
    assert benchmark.by_entity(chain, gold).without == marks


def test_a_mark_replaces_the_entities_that_it_overlaps():
    tags = ["B-X", "I-X", "O", "B-Y"]
    assert benchmark.replace_entity(tags, Span("", 1, 4), "Y") == ["O", "B-Y", "I-Y", "I-Y"]
    assert benchmark.replace_entity(tags, Span("", 1, 2), "") == ["O", "O", "O", "B-Y"]


@st.composite
def entities(draw):
    """A BIO chain with its rules, and the names of one of its allowed paths."""
    chain = draw(
        chains(max_tokens=5, max_tags=3, forbidden=False).filter(lambda c: c.num_tags == 3)
    )
    chain = constrain(replace(chain, tags=BIO))
    return chain, [BIO[k] for k in draw(st.sampled_from(oracle.allowed(chain)))[0]]


@given(entities())
def test_marking_ends_with_and_without_propagation(pair):
    """It raises where it does not; no way needs more marks than there are words."""
    chain, gold = pair
    effort = benchmark.by_entity(chain, gold)
    assert 0 <= effort.with_propagation <= len(gold)
    assert (effort.with_propagation == 0) == (effort.without == 0)


def test_the_summary_adds_up():
    efforts = [benchmark.Effort(2, 1), benchmark.Effort(0, 0), benchmark.Effort(1, 2)] * 20
    row = benchmark.summary("m", "f", "words", [*efforts, benchmark.Effort(2, 1)])
    assert (row.without, row.with_propagation, row.to_correct, row.once) == (62, 61, 41, 20)
    assert (row.fewer, row.more, row.sentences) == (21, 20, 61)
    assert row.saved == pytest.approx(1 / 62, abs=1e-4)
    assert row.interval[0] < row.saved < row.interval[1]
    assert "| `m` | f | words | 61, 41, 20 | 62 | 61 | 1.6 (" in benchmark.table(
        {"rows": [vars(row)]}
    )
