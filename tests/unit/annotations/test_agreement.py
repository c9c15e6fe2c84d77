"""Agreement of two annotators, held against scikit-learn and a textbook's table."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from crfviz.annotations.agreement import agreement, annotators_agreement
from crfviz.annotations.records import Annotation, Item
from crfviz.exceptions import CrfvizError, ShapeError
from crfviz.text.sentences import Sentence
from tests.support.bio import entities
from tests.support.strategies import fewer_examples

DIAGNOSES = {  # Fleiss, Levin and Paik (2003), table 18.1: 100 subjects, two raters
    ("P", "P"): 75,
    ("P", "N"): 1,
    ("P", "O"): 4,
    ("N", "P"): 5,
    ("N", "N"): 4,
    ("N", "O"): 1,
    ("O", "O"): 10,
}


def annotated(number, sides, *, state="done"):
    """One sentence of one-letter words, with the tags of anna and ben."""
    length = len(sides[0])
    item = Item("x " * length, tuple((2 * t, 2 * t + 1) for t in range(length)), id=number)
    return [
        (item, Annotation(number, name, item.offsets, tuple(tags), tuple(tags), state=state))
        for name, tags in zip(("anna", "ben"), sides, strict=True)
    ]


def compared(sentences):
    pairs = [p for number, sides in enumerate(sentences, 1) for p in annotated(number, sides)]
    return annotators_agreement(pairs, "anna", "ben")


def diagnoses():
    return [((one,), (other,)) for (one, other), n in DIAGNOSES.items() for _ in range(n)]


def test_kappa_equals_the_textbook():
    found = compared(diagnoses())
    assert found.words == found.sentences == 100
    assert found.observed == pytest.approx(0.89)
    assert found.kappa.value == pytest.approx(0.68, abs=0.005)
    by_tag = {tag: round(kappa.value, 2) for tag, kappa in found.kappa_by_tag.items()}
    assert by_tag == {"N": 0.50, "O": 0.77, "P": 0.69}


def test_kappa_interval_of_independent_words_matches_the_formula():
    kappa = compared(diagnoses()).kappa
    standard_error = 0.087  # of the textbook, for this table
    assert kappa.high - kappa.low == pytest.approx(2 * 1.96 * standard_error, rel=0.15)
    assert kappa.low < kappa.value < kappa.high


def test_repeated_words_leave_the_interval_unchanged():
    tenfold = [((one,) * 10, (other,) * 10) for (one,), (other,) in diagnoses()]
    alone, repeated = compared(diagnoses()).kappa, compared(tenfold).kappa
    assert repeated.value == pytest.approx(alone.value)
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high))


tags = st.sampled_from(["A", "B", "C"])
sentences = st.lists(
    st.lists(st.tuples(tags, tags), min_size=1, max_size=6).map(
        lambda words: tuple(zip(*words, strict=True))
    ),
    min_size=1,
    max_size=8,
)


@fewer_examples
@given(sentences)
def test_kappa_equals_scikit_learn(drawn):
    ones, others = ([tag for sides in drawn for tag in sides[k]] for k in (0, 1))
    found = compared(drawn)
    if len({*ones, *others}) == 1:
        assert found.kappa.value is None
        return
    assert found.kappa.value == pytest.approx(cohen_kappa_score(ones, others), abs=1e-12)
    for tag, kappa in found.kappa_by_tag.items():
        expected = cohen_kappa_score([a == tag for a in ones], [b == tag for b in others])
        assert kappa.value == pytest.approx(expected, abs=1e-12)


@fewer_examples
@given(sentences)
def test_agreement_is_symmetric(drawn):
    there, back = compared(drawn), compared([sides[::-1] for sides in drawn])
    assert there.kappa == back.kappa
    assert len(there.disagreements) == len(back.disagreements)


def test_disagreements_have_sentence_word_and_both_tags():
    found = compared([(("A", "B"), ("A", "B")), (("A", "B", "A"), ("A", "C", "B"))])
    named = [(d.item.id, d.position, d.word, d.start, d.tags) for d in found.disagreements]
    assert named == [(2, 1, "x", 2, ("B", "C")), (2, 2, "x", 4, ("A", "B"))]


def test_agreement_ignores_open_and_single_annotated_sentences():
    pairs = [
        *annotated(1, [("A", "B"), ("A", "B")]),
        *annotated(2, [("A",), ("B",)], state="open"),
        annotated(3, [("A",), ("B",)])[0],
    ]
    found = annotators_agreement(pairs, "anna", "ben")
    assert (found.sentences, found.words, found.disagreements) == (1, 2, ())


def test_words_split_differently_are_counted_separately():
    item = Item("cannot go", ((0, 6), (7, 9)), id=1)
    anna = Annotation(1, "anna", item.offsets, ("A", "B"), ("A", "B"), state="done")
    split = ((0, 3), (3, 6), (7, 9))
    ben = Annotation(1, "ben", split, ("A", "A", "C"), ("A", "A", "C"), state="done")
    found = annotators_agreement([(item, anna), (item, ben)], "anna", "ben")
    assert (found.words, found.words_apart) == (1, 3)
    assert [(d.position, d.word, d.tags) for d in found.disagreements] == [(1, "go", ("B", "C"))]


def test_entities_agree_by_type_and_characters():
    item = Item("New York-based Ann", ((0, 3), (4, 14), (15, 18)), id=1)
    anna = Annotation(
        1, "anna", item.offsets, ("O",) * 3, ("B-LOC", "I-LOC", "B-PER"), state="done"
    )
    split = ((0, 3), (4, 8), (8, 14), (15, 18))
    ben = Annotation(1, "ben", split, ("O",) * 4, ("B-LOC", "I-LOC", "O", "B-PER"), state="done")
    found = annotators_agreement([(item, anna), (item, ben)], "anna", "ben")
    assert found.entity_f1.value == 0.5  # Ann, but not where New York ends
    assert found.entity_f1_by_type == {"LOC": 0.0, "PER": 1.0}


def test_entity_f1_equals_a_count_in_plain_python():
    dice = random.Random(1)
    drawn = []
    for _ in range(40):
        length = dice.randint(1, 8)
        legal = [[], []]
        for side in legal:
            for t in range(length):
                before = side[t - 1] if t else "O"
                more = [f"I-{before[2:]}"] if before != "O" else []
                side.append(dice.choice(["O", "B-X", "B-Y", *more]))
        drawn.append(tuple(map(tuple, legal)))
    shared = sum(len(set(entities(a)) & set(entities(b))) for a, b in drawn)
    total = sum(len(entities(a)) + len(entities(b)) for a, b in drawn)
    found = compared(drawn).entity_f1
    assert found.value == pytest.approx(2 * shared / total)
    assert found.low < found.value < found.high


def test_plain_tags_have_no_entity_f1():
    found = compared([(("A", "B"), ("A", "A"))])
    assert found.entity_f1 is None
    assert found.entity_f1_by_type == {}


def test_agreement_without_common_sentences_is_none():
    found = annotators_agreement([], "anna", "ben")
    assert (found.sentences, found.words, found.observed) == (0, 0, None)
    assert found.kappa.value is None


def test_single_sentence_has_no_interval():
    kappa = compared([(("A", "B", "A"), ("A", "B", "B"))]).kappa
    assert kappa.value is not None
    assert not math.isnan(kappa.value)
    assert (kappa.low, kappa.high) == (None, None)


def test_agreement_of_an_annotator_with_itself_is_rejected():
    with pytest.raises(CrfvizError, match="needs two annotators, got 'anna' twice"):
        annotators_agreement([], "anna", "anna")


def test_agreement_compares_two_taggings_of_the_same_sentences():
    first = [(["a", "b"], ["X", "Y"]), (["c"], ["X"])]
    second = [Sentence(("a", "b"), ("X", "X")), Sentence(("c",), ("X",))]
    found = agreement(first, second, ("anna", "ben"))
    assert (found.annotators, found.sentences, found.words) == (("anna", "ben"), 2, 3)
    assert found.observed == pytest.approx(2 / 3)
    assert [(word.word, word.tags) for word in found.disagreements] == [("b", ("Y", "X"))]
    with pytest.raises(ShapeError, match="as many sentences, got 2 and 1"):
        agreement(first, second[:1])
    with pytest.raises(ShapeError, match="sentence 2: expected the same words"):
        agreement(first, [second[0], (["d"], ["X"])])


def test_disagreements_list_entities_and_tags_that_one_alone_used():
    words = ["Ms", "Merkel", "in", "Bonn"]
    first = [(words, ["O", "B-PER", "O", "B-LOC"])]
    second = [(words, ["B-PER", "I-PER", "O", "B-LOC"])]
    both = agreement(first, second, ("anna", "ben"))
    (found,) = both.entity_disagreements
    assert found.tags == ("Merkel PER", "Ms Merkel PER")
    assert (found.position, found.word) == (0, "Ms Merkel")
    assert both.only == {"I-PER": "ben"}
    plain = agreement([(["a"], ["N"])], [(["a"], ["V"])], ("anna", "ben"))
    assert plain.entity_disagreements == ()
    assert plain.only == {"N": "anna", "V": "ben"}
