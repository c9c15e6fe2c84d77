import pytest

from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.sentences import Sentence, fold_handles, map_types, parse_types


def sentence(rows, text=None):
    tokens, tags = zip(*(row.split("/") for row in rows.split()), strict=True)
    return Sentence(tokens, tags, text)


@pytest.mark.parametrize(
    ("rows", "folded"),
    [
        ("RT/O @/B-ORG SportsCenter/B-ORG Iverson/B-PER", "RT/O @user/O Iverson/B-PER"),
        ("@/B-PER bob/I-PER Smith/I-PER jr/I-PER", "@user/O Smith/B-PER jr/I-PER"),
        ("@/B-PER a/B-PER @/B-PER b/I-PER hi/O", "@user/O @user/O hi/O"),
        ("look/O @/O", "look/O @/O"),
    ],
    ids=["a handle", "an entity without its first word", "handles in a row", "an at alone"],
)
def test_a_handle_and_its_at_become_one_word_outside(rows, folded):
    assert fold_handles(sentence(rows)) == sentence(folded)


def test_a_handle_in_one_token_stays_with_its_tags():
    original = sentence("@user/B-PER Smith/I-PER", text="@user Smith")
    assert fold_handles(original) is original
    with_fold = sentence("@user/B-PER Smith/I-PER @/O x/O")
    assert fold_handles(with_fold) == sentence("@user/B-PER Smith/I-PER @user/O")


def test_folding_drops_the_raw_text_and_keeps_untagged_untagged():
    folded = fold_handles(Sentence(("hi", "@", "bob"), None, "hi @bob"))
    assert folded == Sentence(("hi", "@user"), None, None)


def test_types_are_renamed_and_others_dropped():
    mapped = map_types(
        sentence("a/B-person b/I-person c/B-product d/I-product e/B-Day f/B-group", text="raw"),
        {"person": "PER", "group": "ORG"},
    )
    assert mapped == sentence("a/B-PER b/I-PER c/O d/O e/O f/B-ORG", text="raw")


def test_mapping_leaves_untagged_sentences_and_plain_tags_alone():
    assert map_types(Sentence(("a",)), {}) == Sentence(("a",))
    assert map_types(sentence("a/NOUN"), {}) == sentence("a/NOUN")


def test_types_from_the_command_line():
    assert parse_types(["person=PER,group=ORG", "location=LOC"]) == {
        "person": "PER",
        "group": "ORG",
        "location": "LOC",
        "PER": "PER",
        "ORG": "ORG",
        "LOC": "LOC",
    }


@pytest.mark.parametrize("pair", ["person", "person=", "=PER", ""])
def test_a_broken_pair_is_named(pair):
    with pytest.raises(FormatError, match=f"OLD=NEW.*got {pair!r}"):
        parse_types([pair])


def test_a_sentence_needs_one_tag_per_word():
    with pytest.raises(ShapeError, match="expected 2 tags, got 1"):
        Sentence(("a", "b"), ("X",))
