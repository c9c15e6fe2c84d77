import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crfviz.exceptions import FormatError
from crfviz.text import tokenizer
from crfviz.text.formats import read_sentences
from crfviz.text.tokenizer import LONGEST, Token, given_words, sentence_of, tokenize
from tests.support.paths import EXCERPT


def words(text):
    return [token.text for token in tokenize(text)]


def places(tokens, text):
    """(start, end) of the gold words, found one after the other in the raw text."""
    found, end = [], 0
    for token in tokens:
        start = text.index(token, end)
        end = start + len(token)
        found.append((start, end))
    return found


def f1(sentences, spaced):
    right = gold = guessed = 0
    for sentence in sentences:
        text = " ".join(sentence.tokens) if spaced else sentence.text
        wanted = set(places(sentence.tokens, text))
        found = {(token.start, token.end) for token in tokenize(text)}
        right += len(wanted & found)
        gold += len(wanted)
        guessed += len(found)
    return 2 * right / (gold + guessed)


@pytest.mark.parametrize(("spaced", "least"), [(False, 0.97), (True, 0.99)])
def test_shipped_sentences_are_split_as_annotated(spaced, least):
    assert f1(read_sentences(EXCERPT), spaced) >= least  # measured 0.9887 and 0.9961


def test_tokens_have_character_offsets():
    assert tokenize("Hi, you!") == [
        Token("Hi", 0, 2),
        Token(",", 2, 3),
        Token("you", 4, 7),
        Token("!", 7, 8),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "These look fine to me .",
        "I 'm sure they ca n't , but we 'll see .",
        "It ’s fine , I ’m OK",
    ],
)
def test_words_separated_by_blanks_are_unchanged(text):
    assert words(text) == text.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("These look fine to me.", ["These", "look", "fine", "to", "me", "."]),
        ("I don't", ["I", "do", "n't"]),
        ("I can't, won't!", ["I", "ca", "n't", ",", "wo", "n't", "!"]),
        ("Really?!!", ["Really", "?!!"]),
        ("e-mail anti-war 555-1234", ["e-mail", "anti-war", "555-1234"]),
        ("thought-provoking", ["thought", "-", "provoking"]),
        ("my id, Wed", ["my", "id", ",", "Wed"]),
        ("@colgo: hey", ["@colgo", ":", "hey"]),
        ("👍🏽👩\u200d👩\u200d👧great😂!", ["👍🏽", "👩\u200d👩\u200d👧", "great", "😂", "!"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("مرحبا بالعالم!", ["مرحبا", "بالعالم", "!"]),
        ("the the the", ["the", "the", "the"]),
        ("", []),
        (" \t\r\n\u00a0\u3000", []),
    ],
)
def test_words_splits_punctuation_and_contractions(text, expected):
    assert words(text) == expected


@given(st.text(st.characters(), max_size=60))
@example("\ud83d half an emoji")
@example("\x00\x1b[31m\x85")
@example("<script>alert(1)</script> ![x](http://e.org/)")
@example("a" * (LONGEST + 1) + " b")
def test_tokens_cover_all_characters_in_order(text):
    end = 0
    for token in tokenize(text):
        assert token.start >= end
        assert text[token.start : token.end] == token.text
        assert not any(character.isspace() for character in token.text)
        assert not text[end : token.start].strip()
        assert token.end > token.start
        end = token.end
    assert not text[end:].strip()


@pytest.mark.parametrize("part", ["a", "!", "a-", '"([', "\u0301", "x.", "😀"])
def test_ten_thousand_characters_without_a_blank_are_split(part):
    text = (part * 10_000)[:10_000]
    assert tokenize(text)[-1].end == 10_000  # spaCy's own rules need half a minute for brackets


def test_long_url_stays_one_word():
    address = "https://example.org/" + "a/" * LONGEST
    assert words(f"see {address} now") == ["see", address, "now"]


@pytest.mark.parametrize("text", [["Kim", "left"], None, b"Kim left", 5])
def test_tokenizing_a_non_string_is_rejected(text):
    with pytest.raises(FormatError, match="text must be one text, got"):
        tokenize(text)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("the  pic's  .", ["the", "pic's", "."]),
        ("  the   pic's  ", ["the", "pic's"]),
        ("the pic's  .", None),
        ("word", None),
        ("word  ", ["word"]),
        ("word ", None),
        ("  ", None),
        ("", None),
    ],
)
def test_two_blanks_in_every_gap_preserve_the_words(sentence, words):
    assert given_words(sentence) == words


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        (["He", "runs", "."], "He runs ."),
        (["the", "pic's", "."], "the  pic's  ."),
        (["Argghhh!"], "Argghhh!  "),
        (["New York", "is"], None),
    ],
)
def test_sentence_of_finds_text_that_splits_into_the_words(tokens, sentence):
    assert sentence_of(tokens, words) == sentence


def by_rules(text):
    return list(tokenizer._split(text, 0, len(text)))


def test_plain_words_skip_the_rules_with_the_same_tokens():
    exceptions = {"".join(parts) for parts in tokenizer.affix_rules().exceptions}
    assert len(exceptions) > 1000
    words = {form(word) for word in exceptions for form in (str, str.lower, str.title, str.upper)}
    words |= {"its", "were", "well", "and", "Go", "I", "xx", "Monday", "October", "PhD", "iPhone"}
    plain = 0
    for word in words:
        for mark in ("", ".", ",", "!", "?", ";", ":", "..", "'s"):
            found = tokenizer._plain_places(word + mark)
            if found is not None:
                assert found == by_rules(word + mark), word + mark
                plain += 1
    assert plain > 50


LETTERS = "abcdimnstuvwADIMNSTUW"


@given(st.text(f"{LETTERS}    ..,!?;:\n\t\u00a0'-", max_size=40))
def test_fast_path_splits_as_the_rules_do(text):
    found = tokenizer._plain_places(text)
    assert found is None or found == by_rules(text)


def test_plain_sentence_is_split_without_the_rules(monkeypatch):
    monkeypatch.setattr(tokenizer, "_rules", None)
    words = [token.text for token in tokenizer.tokenize(" These look fine,\tto me . Go! ")]
    assert words == ["These", "look", "fine", ",", "to", "me", ".", "Go", "!"]
    for text in ("It's", "cannot go", "Mr. X", "a.m.", "10 km", "so..", "é", "x" * 201):
        assert tokenizer._plain_places(text) is None
    assert tokenizer._plain_places("word " * 3000) is None
