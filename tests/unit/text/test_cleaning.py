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
def test_handle_and_its_at_sign_become_one_word_tagged_o(rows, folded):
    assert fold_handles(sentence(rows)) == sentence(folded)


def test_handle_that_is_one_token_keeps_its_tags():
    original = sentence("@user/B-PER Smith/I-PER", text="@user Smith")
    assert fold_handles(original) is original
    with_fold = sentence("@user/B-PER Smith/I-PER @/O x/O")
    assert fold_handles(with_fold) == sentence("@user/B-PER Smith/I-PER @user/O")


def test_folding_handles_drops_the_raw_text_and_adds_no_tags():
    folded = fold_handles(Sentence(("hi", "@", "bob"), None, "hi @bob"))
    assert folded == Sentence(("hi", "@user"), None, None)


def test_entity_types_are_renamed_or_dropped():
    mapped = map_types(
        sentence("a/B-person b/I-person c/B-product d/I-product e/B-Day f/B-group", text="raw"),
        {"person": "PER", "group": "ORG"},
    )
    assert mapped == sentence("a/B-PER b/I-PER c/O d/O e/O f/B-ORG", text="raw")


def test_map_types_leaves_untagged_and_plain_tags_unchanged():
    assert map_types(Sentence(("a",)), {}) == Sentence(("a",))
    assert map_types(sentence("a/NOUN"), {}) == sentence("a/NOUN")


def test_parse_types_reads_renamed_and_kept_types():
    assert parse_types(["person=PER,group=ORG", "location=LOC"]) == {
        "person": "PER",
        "group": "ORG",
        "location": "LOC",
        "PER": "PER",
        "ORG": "ORG",
        "LOC": "LOC",
    }


@pytest.mark.parametrize("pair", ["person", "person=", "=PER", ""])
def test_malformed_type_pair_is_quoted_in_the_error(pair):
    with pytest.raises(FormatError, match=f"OLD=NEW.*got {pair!r}"):
        parse_types([pair])


def test_sentence_with_too_few_tags_is_rejected():
    with pytest.raises(ShapeError, match="expected 2 tags, got 1"):
        Sentence(("a", "b"), ("X",))
