"""Sentences with one thing changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.exceptions import CrfvizError, EmptySentenceError
from crfviz.taggers.perturbations import (
    DRAWN,
    KINDS,
    NAMES,
    names_in,
    perturb,
    rewritten,
    what_if,
)
from tests.support.fake_tagger import FakeTagger

WORDS = ["Ann", "does", "n't", "owe", "the", "2", "boys", "$", "1,500.75", ",", "right", "?"]
TAGS = ["PROPN", "AUX", "PART", "VERB", "DET", "NUM"]
TAGS += ["NOUN", "SYM", "NUM", "PUNCT", "ADJ", "PUNCT"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("lower case", "ann does n't owe the 2 boys $ 1,500.75 , right ?"),
        ("upper case", "ANN DOES N'T OWE THE 2 BOYS $ 1,500.75 , RIGHT ?"),
        ("title case", "Ann Does n't Owe The 2 Boys $ 1,500.75 , Right ?"),
        ("no punctuation", "Ann does n't owe the 2 boys $ 1,500.75 right"),
    ],
)
def test_deterministic_perturbations_give_the_expected_words(kind, expected):
    assert " ".join(perturb(kind, WORDS, TAGS).words) == expected


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("seed", range(20))
def test_same_seed_changes_the_same_word(kind, seed):
    first, again = (perturb(kind, WORDS, TAGS, seed) for _ in range(2))
    assert first == again
    changed = [
        o
        for o, word in zip(first.origins, first.words, strict=True)
        if o is None or WORDS[o] != word
    ]
    assert len(changed) == 1 or kind == "other name"


@pytest.mark.parametrize("kind", DRAWN)
def test_different_seeds_give_different_sentences(kind):
    assert len({perturb(kind, WORDS, TAGS, seed).words for seed in range(20)}) > 1


def test_other_number_keeps_the_format_and_changes_every_digit():
    for seed in range(20):
        found = perturb("other number", ["1,500.75"], ["NUM"], seed)
        (number,) = found.words
        assert [c for c in number if not c.isdigit()] == [",", "."]
        assert all(a != b for a, b in zip("1,500.75", number, strict=True) if a.isdigit())


def test_number_word_is_replaced_by_another():
    (word,) = perturb("other number", ["Three"], ["NUM"]).words
    assert word != "Three"
    assert word[0].isupper()


def test_entity_is_replaced_by_one_of_its_type_and_length():
    words = ["She", "left", "New", "York", "on", "Monday"]
    tags = ["O", "O", "B-LOC", "I-LOC", "O", "O"]
    for seed in range(20):
        found = perturb("other name", words, tags, seed)
        assert " ".join(found.words[2:4]) in NAMES["LOC"]
        assert found.origins == (0, 1, 2, 3, 4, 5)
        assert found.what.startswith("New York → ")


def test_name_of_another_length_keeps_the_rest_aligned():
    words = ["The", "A", "B", "C", "D", "E", "won"]
    tags = ["O", "B-ORG", *["I-ORG"] * 4, "O"]
    found = perturb("other name", words, tags)
    assert found.words[0] == "The"
    assert found.words[-1] == "won"
    assert found.origins[-1] == 6
    short = perturb("other name", ["Nobel"], ["B-PER"])
    assert short.origins == (0,)


def test_names_are_entities_or_runs_of_proper_nouns():
    assert [(s.start, s.end) for s in names_in(["PROPN", "PROPN", "VERB", "PROPN"])] == [
        (0, 2),
        (3, 4),
    ]
    assert [(s.type, s.start) for s in names_in(["O", "B-PER", "B-LOC"])] == [
        ("PER", 1),
        ("LOC", 2),
    ]
    assert names_in(["O", "O"]) == []


@pytest.mark.parametrize(
    ("kind", "words", "tags"),
    [
        ("lower case", ["all", "lower"], ["DET", "ADJ"]),
        ("typo", ["1", "?"], ["NUM", "PUNCT"]),
        ("no punctuation", ["no", "mark"], ["DET", "NOUN"]),
        ("no punctuation", ["?", "!"], ["PUNCT", "PUNCT"]),
        ("other name", ["a", "dog"], ["DET", "NOUN"]),
        ("other name", ["Nobel"], ["B-AWARD"]),
        ("other number", ["no", "number"], ["DET", "NOUN"]),
        ("upper case", ["中", "文"], ["NOUN", "NOUN"]),
    ],
)
def test_perturb_returns_none_without_target(kind, words, tags):
    assert perturb(kind, words, tags) is None


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=8), st.integers(0, 99))
def test_perturbed_words_are_aligned_with_the_original(words, seed):
    for kind in KINDS:
        found = perturb(kind, words, ["PROPN"] * len(words), seed)
        if found is not None:
            assert found.words != tuple(words)
            assert len(found.origins) == len(found.words)
            assert all(found.words)
            known = [o for o in found.origins if o is not None]
            assert known == sorted(set(known))
            assert set(known) <= set(range(len(words)))


@given(st.lists(st.sampled_from("ab"), min_size=1), st.lists(st.sampled_from("abc"), min_size=1))
def test_rewritten_sentence_is_aligned_in_order(before, after):
    way = rewritten(before, after)
    if way is None:
        assert before == after
        return
    known = [origin for origin in way.origins if origin is not None]
    assert known == sorted(set(known))
    assert set(known) <= set(range(len(before)))
    assert list(way.words) == after


def test_what_if_decodes_both_sentences():
    fake = FakeTagger(["A", "B"], {"Go": {"B": 1.0}, "go": {"A": 1.0}, "on": {"A": 2.0}})
    found = what_if(fake, ["Go", "on"], "lower case")
    assert found.perturbed.words == ("go", "on")
    assert found.flips == {0: (1, 0)}
    assert [(each.position, each.tag, each.change) for each in found.moved(2)] == [
        (0, 0, 1.0),
        (0, 1, -1.0),
    ]
    own = what_if(fake, ["Go", "on"], ["on"])
    assert (own.perturbed.origins, own.flips) == ((1,), {})
    assert what_if(fake, ["go", "on"], "lower case") is None
    assert what_if(fake, ["go"], ["go"]) is None
    with pytest.raises(CrfvizError, match=r"change must be words or one of lower case, .*louder"):
        what_if(fake, ["go"], "louder")
    with pytest.raises(EmptySentenceError):
        what_if(fake, [], "typo")
