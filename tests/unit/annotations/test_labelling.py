"""Labelling one sentence: marks, words, decoding under them, and the way back."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.annotations.labelling import (
    LONGEST_PAUSE,
    MAX_STEPS,
    Desk,
    accept,
    begin,
    correct,
    cut,
    followed,
    join,
    proposal_of,
    propose,
    renewed,
    resize,
    undo,
    worked,
)
from crfviz.annotations.marking import ends, join_words, mark_entity, split_word
from crfviz.annotations.queue import doubt, in_order, reason
from crfviz.annotations.records import Item
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError, ShapeError, UnknownTagError
from crfviz.taggers.blank import BlankTagger
from crfviz.taggers.registry import load_tagger
from crfviz.text.schemes import spans
from tests.support.fake_tagger import FakeTagger
from tests.support.strategies import fewer_examples
from tests.support.tiny_tagger import save_tiny

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TEXT = "Mr Ford saw Ford City"
OFFSETS = ((0, 2), (3, 7), (8, 11), (12, 16), (17, 21))


def people(**words):
    known = {
        "Mr": {"O": 2.0},
        "Ford": {"B-PER": 1.0, "I-PER": 0.5, "B-LOC": 0.8},
        "City": {"I-LOC": 1.5, "I-PER": 1.2, "O": 0.4},
        "saw": {"O": 3.0},
        **words,
    }
    return Desk(Item(TEXT, OFFSETS, id=7), "anna", FakeTagger(BIO, known, scheme="BIO"), "v1")


def parts():
    tagger = FakeTagger(
        ("NOUN", "VERB"),
        {"dogs": {"NOUN": 0.2}, "run": {"NOUN": 0.1}},
        {("NOUN", "NOUN"): -1.0, ("VERB", "NOUN"): 2.0, ("NOUN", "VERB"): 0.5},
    )
    return Desk(Item("dogs run home", ((0, 4), (5, 8), (9, 13)), id=3), "anna", tagger, "v1")


def best_by_enumeration(chain, pins, forbidden):
    """The best path in plain Python, and the marginals of its words."""
    names, T = chain.tag_names, chain.num_tokens
    weights = {}
    for path in itertools.product(range(len(names)), repeat=T):
        if all(names[path[t]] == tag for t, tag in pins.items()) and not any(
            names[path[t]] == tag for t, tag in forbidden
        ):
            weights[path] = chain.score(path)
    total = sum(math.exp(w) for w in weights.values())
    best = max(weights, key=weights.__getitem__)
    sure = [
        sum(math.exp(w) for p, w in weights.items() if p[t] == best[t]) / total for t in range(T)
    ]
    return [names[k] for k in best], sure


# marks


def test_mark_entity_tags_the_whole_span():
    assert mark_entity({}, 3, 4, "LOC") == {3: "B-LOC", 4: "I-LOC"}
    assert mark_entity({}, 1, 1, "") == {1: "O"}


def test_mark_entity_replaces_only_overlapping_entities():
    pins = {0: "O", 1: "B-PER", 2: "I-PER", 3: "I-PER", 5: "B-LOC"}
    assert mark_entity(pins, 3, 4, "LOC") == {0: "O", 3: "B-LOC", 4: "I-LOC", 5: "B-LOC"}


def test_entity_ends_at_the_end_of_its_mark():
    assert ends({1: "B-PER", 2: "I-PER", 4: "B-LOC", 5: "O", 7: "B-PER"}, 8) == [(3, "I-PER")]


MARKS = st.lists(
    st.tuples(
        st.sampled_from(["mark", "cut", "join"]),
        st.integers(0, 4),
        st.integers(0, 4),
        st.sampled_from(["PER", "LOC", ""]),
    ),
    max_size=12,
)


@fewer_examples
@given(MARKS)
def test_edits_never_create_partial_entities(marks):
    desk = people()
    annotation = begin(desk)
    for how, a, b, kind in marks:
        first, last = min(a, b), max(a, b)
        try:
            if how == "mark":
                annotation = correct(desk, annotation, first, last, kind)
                if kind:
                    assert (kind, first, last + 1) in [
                        (s.type, s.start, s.end) for s in spans(annotation.final)
                    ]
            elif how == "cut":
                annotation = cut(desk, annotation, first, 1)
            else:
                annotation = join(desk, annotation, first)
        except ShapeError:
            continue
        assert all(annotation.final[t] == tag for t, tag in annotation.pins.items())
        legal = ["O", *annotation.final]
        assert not any(
            tag.startswith("I-") and legal[t] not in (f"B-{tag[2:]}", tag)
            for t, tag in enumerate(annotation.final)
        )


# words


def test_splitting_a_word_keeps_the_pins_of_others():
    offsets, pins = split_word(TEXT, OFFSETS, {0: "X", 1: "Y", 4: "Z"}, 1, 2)
    assert offsets == ((0, 2), (3, 5), (5, 7), (8, 11), (12, 16), (17, 21))
    assert pins == {0: "X", 5: "Z"}


@pytest.mark.parametrize(("tag", "halves"), [("B-PER", ("B-PER", "I-PER")), ("O", ("O", "O"))])
def test_halves_of_a_split_word_stay_in_its_entity(tag, halves):
    _, pins = split_word(TEXT, OFFSETS, {1: tag}, 1, 2)
    assert (pins[1], pins[2]) == halves


def test_splitting_at_a_blank_drops_the_blank():
    joined, _ = join_words(OFFSETS, {}, 0)
    for at in (2, 3):
        assert split_word(TEXT, joined, {}, 0, at) == (OFFSETS, {})


def test_joining_words_keeps_the_pins_of_others():
    offsets, pins = join_words(OFFSETS, {0: "X", 1: "Y", 2: "V", 4: "Z"}, 1)
    assert offsets == ((0, 2), (3, 11), (12, 16), (17, 21))
    assert pins == {0: "X", 3: "Z"}


def test_joined_words_keep_their_common_tag():
    assert join_words(OFFSETS, {1: "B-PER", 2: "I-PER", 3: "I-PER"}, 1)[1] == {
        1: "B-PER",
        2: "I-PER",
    }
    assert join_words(OFFSETS, {1: "NOUN", 2: "NOUN"}, 1)[1] == {1: "NOUN"}


def test_splitting_and_joining_restores_the_words():
    offsets, _ = split_word(TEXT, OFFSETS, {}, 1, 2)
    assert join_words(offsets, {}, 1) == (OFFSETS, {})


@pytest.mark.parametrize(("word", "at"), [(5, 1), (-1, 1), (1, 0), (1, 4)])
def test_splitting_outside_a_word_is_rejected(word, at):
    with pytest.raises(ShapeError):
        split_word(TEXT, OFFSETS, {}, word, at)


@pytest.mark.parametrize("word", [4, 5, -1])
def test_joining_the_last_word_is_rejected(word):
    with pytest.raises(ShapeError):
        join_words(OFFSETS, {}, word)


# decoding


@fewer_examples
@given(st.data())
def test_proposal_is_the_best_path_under_the_pins(data):
    desk = people()
    pins = data.draw(
        st.sampled_from([{}, {3: "B-LOC"}, {1: "B-PER"}, {3: "B-PER", 4: "I-PER"}, {0: "B-LOC"}])
    )
    scores = st.floats(-3, 3).map(lambda x: round(x, 3))
    tables = {w: {t: data.draw(scores) for t in BIO} for w in ("Mr", "Ford", "City")}
    chain = people(**tables).tagger.potentials(TEXT.split())
    found = propose(chain, pins)
    expected, sure = best_by_enumeration(chain, pins, ends(pins, 5))
    assert chain.score([BIO.index(t) for t in found.tags]) == pytest.approx(
        chain.score([BIO.index(t) for t in expected])
    )
    if list(found.tags) == expected:
        assert found.probabilities == pytest.approx(sure, abs=1e-9)
    assert set(found.doubtful) == {
        t for t, p in enumerate(found.probabilities) if p < 0.9 and t not in pins
    }
    assert desk.bio


def test_correction_updates_the_neighbours():
    desk = people()
    before = begin(desk)
    after = correct(desk, before, 3, 3, "PER")
    assert (before.final[3:], after.final[3:]) == (("B-LOC", "I-LOC"), ("B-PER", "O"))
    assert followed(before.final, after.final, after.pins) == [4]
    assert after.proposed == before.proposed


@given(st.data())
def test_resized_entity_has_exactly_the_new_words(data):
    desk = people()
    first = data.draw(st.integers(0, 4))
    last = data.draw(st.integers(first, 4))
    before = correct(desk, begin(desk), first, last, "PER")
    start, end = (data.draw(st.integers(-2, 2)) for _ in range(2))
    at = data.draw(st.integers(first, last))
    begins, ends_at = first + start, last + end
    if not 0 <= begins <= ends_at <= 4:
        with pytest.raises(CrfvizError, match="cannot grow or shrink further"):
            resize(desk, before, at, start, end)
        return
    after = resize(desk, before, at, start, end)
    assert ("PER", begins, ends_at + 1) in [(s.type, s.start, s.end) for s in spans(after.final)]
    left = {*range(first, last + 1)} - {*range(begins, ends_at + 1)}
    assert {after.final[t] for t in left} <= {"O"}
    assert (undo(desk, after) if start or end else after).final == before.final


def test_word_outside_entities_cannot_be_resized():
    desk = people()
    with pytest.raises(CrfvizError, match="no entity at this word"):
        resize(desk, begin(desk), 2, 0, 1)


def test_followed_lists_changed_words_without_pins():
    assert followed(("A", "B", "C"), ("X", "Y", "C"), {0: "X"}) == [1]


def test_unknown_tag_is_rejected():
    with pytest.raises(UnknownTagError):
        correct(parts(), begin(parts()), 0, 0, "DET")


def test_tag_without_a_path_is_rejected():
    chain = Potentials([[0.0, -torch.inf], [0.0, 0.0]], [[0.0, 0.0]] * 2, tags=("A", "B"))
    with pytest.raises(NoPathError):
        propose(chain, {0: "B"})


# the way back


@fewer_examples
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["NOUN", "VERB"])), max_size=8))
def test_every_step_can_be_undone(steps):
    desk = parts()
    states = [begin(desk)]
    for position, tag in steps:
        after = correct(desk, states[-1], position, position, tag)
        if after != states[-1]:
            states.append(after)
    for before in reversed(states[:-1]):
        back = undo(desk, states[-1])
        assert (back.final, dict(back.pins)) == (before.final, dict(before.pins))
        states.append(back)
    assert undo(desk, states[0]) == states[0]


def test_only_the_newest_steps_are_kept():
    desk, states = parts(), [begin(parts())]
    for number in range(MAX_STEPS + 5):
        states.append(correct(desk, states[-1], 0, 0, ("NOUN", "VERB")[number % 2]))
    newest = [state.pins for state in states[-1 - MAX_STEPS : -1]]
    assert [step.pins for step in states[-1].past] == newest


def test_undoing_acceptance_keeps_the_earlier_steps():
    desk = parts()
    corrected = correct(desk, begin(desk), 0, 0, "VERB")
    assert undo(desk, accept(corrected)) == corrected


def test_later_model_keeps_accepted_tags():
    desk = parts()
    done = accept(correct(desk, begin(desk), 2, 2, "VERB"))
    later = Desk(desk.item, "anna", FakeTagger(("NOUN", "VERB"), {"home": {"NOUN": 9.0}}), "v2")
    again = correct(later, done, 1, 1, "NOUN")
    assert (again.final[0], again.final[2]) == (done.final[0], done.final[2])
    assert again.state == "open"


def test_long_breaks_are_not_counted_as_work():
    annotation = worked(worked(begin(parts()), 5.0), 3600.0)
    assert annotation.seconds == 5.0 + LONGEST_PAUSE
    assert worked(annotation, -3.0) == annotation


def test_proposal_under_the_pins_equals_the_final_tags():
    desk = people()
    annotation = correct(desk, begin(desk), 3, 4, "LOC")
    assert desk.propose(annotation.offsets, annotation.pins).tags == annotation.final


# the order of sentences


def test_doubt_measures_equal_the_distribution():
    chain = Potentials([[0.0, 1.0], [0.0, 0.3]], [[0.0, 0.0]] * 2)
    p, q = 1 / (1 + math.exp(-1.0)), 1 / (1 + math.exp(-0.3))
    entropy = -sum(x * math.log(x) + (1 - x) * math.log(1 - x) for x in (p, q))
    found = doubt(chain)
    assert found.entropy == pytest.approx(entropy)
    assert found.margin == pytest.approx(0.3)
    assert found.corrections == pytest.approx(2 - p - q)


def test_chain_with_a_single_path_has_no_doubt():
    found = doubt(Potentials([[1.0]], [[0.0]]))
    assert (found.entropy, found.margin, found.corrections) == (0.0, math.inf, 0.0)


def test_sentences_are_ordered_by_doubt():
    sure = doubt(Potentials([[0.0, 9.0]], [[0.0, 0.0]] * 2))
    unsure = doubt(Potentials([[0.0, 0.1]], [[0.0, 0.0]] * 2))
    doubts = {1: sure, 2: unsure, 3: sure}
    assert in_order([1, 2, 3, 4], doubts, "file") == [1, 2, 3, 4]
    for order in ("entropy", "margin", "corrections"):
        assert in_order([1, 4, 2, 3], doubts, order) == [2, 1, 3, 4]
        assert reason(unsure, order)
    assert reason(None, "entropy") == "not scored, so in the order of the file"


def test_desk_proposals_equal_those_of_the_model(tmp_path):
    tagger = load_tagger(save_tiny(tmp_path / "tiny"))
    words, pins = ("He", "runs", "!"), {1: "NOUN"}
    chain = tagger.potentials(words)
    for kept, fresh in (
        (proposal_of(tagger, words, ()), propose(chain, {})),
        (proposal_of(tagger, words, tuple(pins.items())), propose(chain, pins)),
    ):
        assert kept.tags == fresh.tags
        assert torch.equal(kept.marginals, fresh.marginals)
    assert proposal_of(tagger, ("He", "runs"), ()).marginals.shape[0] == 2


def test_failed_proposal_is_not_cached(tmp_path):
    tagger = load_tagger(save_tiny(tmp_path / "tiny"))
    for _ in range(2):
        with pytest.raises(UnknownTagError):
            proposal_of(tagger, ("He",), ((0, "B-NONE"),))


def test_sentence_is_accepted_only_with_a_tag_on_every_word():
    desk = Desk(Item(TEXT, OFFSETS, id=7), "anna", BlankTagger(("NAME", "REST")), "")
    annotation = begin(desk)
    assert annotation.final == ("_",) * 5
    annotation = correct(desk, annotation, 0, 3, "NAME")
    with pytest.raises(CrfvizError, match="1 word has no tag yet"):
        accept(annotation)
    assert accept(correct(desk, annotation, 4, 4, "REST")).final == ("NAME",) * 4 + ("REST",)


def test_later_model_redecodes_open_sentences_only():
    blank = Desk(Item(TEXT, OFFSETS, id=7), "anna", BlankTagger(BIO), "")
    begun = correct(blank, begin(blank), 3, 3, "LOC")
    assert begun.final == ("O", "O", "O", "B-LOC", "O")
    later = people()
    now = renewed(later, begun)
    assert (now.model, now.pins) == ("fake", {3: "B-LOC"})
    assert now.final == propose(later.tagger.potentials(TEXT.split()), begun.pins).tags
    assert now.final != begun.final
    assert renewed(later, now) is now
    done = accept(begun)
    assert renewed(later, done) is done
