"""Tokenizers by name, and the one that the words of a file were split by."""

from unicodedata import category, normalize

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from crfviz.exceptions import FormatError
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import BLANKS, CHARACTERS, EACH, splitter, told_by, typed, words_of_text
from crfviz.text.tokenizer import tokenize
from tests.support import node

CHINESE = [Sentence(tuple("安娜住在奥斯陆。")), Sentence(tuple("今天下雨，我不去。"))]
GERMAN = [
    Sentence(
        ("Das", "ist", "z.B.", "am", "3.", "Mai", "so", "."), text="Das ist z.B. am 3. Mai so."
    ),
    Sentence(("Er", "kam", "usw.", "nach", "Haus", "."), text="Er kam usw. nach Haus."),
]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("spacy:en", "They don't e-mail.", ["They", "do", "n't", "e-mail", "."]),
        ("spacy:de", "Das ist z.B. so.", ["Das", "ist", "z.B.", "so", "."]),
        ("spacy:fr", "L'été vient.", ["L'", "été", "vient", "."]),
        (CHARACTERS, "安娜住在Oslo 12。", ["安", "娜", "住", "在", "Oslo", "12", "。"]),
        (EACH, "在AB 1", ["在", "A", "B", "1"]),
        (CHARACTERS, "👩‍👩‍👧🇳🇴👍🏽!", ["👩‍👩‍👧", "🇳🇴", "👍🏽", "!"]),
        (CHARACTERS, "हिन्दी", ["हि", "न्दी"]),
        (CHARACTERS, "e\u0301a Nguyễn 2×3", ["e\u0301a", "Nguyễn", "2", "×", "3"]),
        (EACH, "e\u0301a", ["e\u0301", "a"]),
        (CHARACTERS, "น้ำที่", ["น้ำ", "ที่"]),
        (EACH, "彼女は。", ["彼", "女", "は", "。"]),
        (BLANKS, " one,  two\u3000three ", ["one,", "two", "three"]),
        (CHARACTERS, "", []),
    ],
)
def test_named_tokenizer_splits_the_text(name, text, words):
    found = list(splitter(name)(text))
    assert [token.text for token in found] == words
    assert all(text[token.start : token.end] == token.text for token in found)


SEQUENCES = (
    "👨‍👩‍👧‍👦 👩🏽‍💻 🏃‍♂️ 🏳️‍🌈 🏴‍☠️ 👁️‍🗨️ ❤️‍🔥 🧑🏻‍❤️‍💋‍🧑🏿",  # joined by ZWJ
    "🇳🇴🇩🇪🇯🇵 🏴󠁧󠁢󠁥󠁮󠁧󠁿",  # flags
    "👍🏽👋🏿☝🏻✌🏼",  # skin tones
    "1️⃣ #️⃣ ©️ ㊗️ ☎️ ☎︎",  # marks "in colour", keys
    "安娜、彼女は東京に。",
    "น้ำที่สุดปู่กตัญญู ນ້ຳ",
    "हिंदी में है தமிழ்",
    "हिन्दी क्षत्रिय र्‍य क़्य স্ত্রী বাংলা સ્ત્રી ସ୍ତ୍ରୀ స్త్రీ സ്ത്രീ",  # conjuncts
    normalize("NFD", "한국어 각 값 있는"),
    "각ᆨ 각ᆨ ᄀᄀ가 각ᅡ ᆨᄀ",  # Hangul letters beside syllables
    "e\u0301o\u0308\u0323 Ễ",
    "שָׁלוֹם مَرْحَبًا",
)


@pytest.mark.parametrize("text", SEQUENCES)
def test_characters_are_split_as_in_the_browser(tmp_path, text):
    body = """
      const parts = new Intl.Segmenter("en", { granularity: "grapheme" }).segment(told);
      return Array.from(parts, ({ segment }) => segment).filter((each) => each.trim());
    """
    assert words_of_text(text, EACH) == node.run(tmp_path, {}, body, text)


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=20)
)
def test_character_tokenizer_keeps_letters_with_their_marks(text):
    words = [token.text for token in splitter(EACH)(text)]
    assert "".join(words) == "".join(text.split())
    begun = {part[0] for part in text.split()}
    assert not any(category(word[0]).startswith("M") and word[0] not in begun for word in words)


@pytest.mark.parametrize(
    "text", ["Das ist z.B. am 3. Mai.", "Er sagt: „Ja, klar!“", "a" * 300 + " b"]
)
def test_spacy_tokenizer_of_another_language_is_used(text):
    own = words_of_text(text, "spacy:de")
    assert "".join(own) == "".join(text.split())
    if len(text) < 200:
        assert own == [word.text for word in spacy.blank("de")(text)]


def test_english_spacy_is_the_library_tokenizer():
    text = "I can't e-mail Mr. Ford!!!"
    assert words_of_text(text, "spacy:en") == [token.text for token in tokenize(text)]


@pytest.mark.parametrize(
    "name", ["spacy:xx-yy", "spacy:", "letters", "spacy:qqq", "characters:all"]
)
def test_unknown_tokenizer_is_rejected(name):
    with pytest.raises(FormatError, match=r"expected a|cannot be used"):
        splitter(name)


@pytest.mark.parametrize(
    ("sentences", "name"),
    [
        (CHINESE, CHARACTERS),
        (GERMAN, "spacy:de"),
        ([Sentence(("They", "do", "n't", "."), text="They don't.")], "spacy:en"),
        ([Sentence(("a,b", "c.d"), text="a,b c.d")], BLANKS),
        ([Sentence(tuple("我用AB。"), text="我用AB。")], EACH),
    ],
)
def test_tokenizer_is_detected_from_the_words_of_a_file(sentences, name):
    best, share, shares = told_by(sentences)
    assert (best, share) == (name, 1.0)
    assert shares[best] == max(shares.values())


def test_file_that_fits_no_tokenizer_has_a_low_share():
    _, share, _ = told_by([Sentence(("ab", "cd", "ef"), text="abcdef")])
    assert share < 0.95


def test_typed_joins_words_as_people_write_them():
    assert typed(["He", "(", "Bo", ")", "said", ":", "“", "no", "”", "."]) == "He (Bo) said: “no”."
    assert typed([]) == ""


def test_spans_are_read_with_the_chosen_tokenizer(tmp_path):
    path = tmp_path / "doccano.jsonl"
    path.write_text('{"text": "Am 3. Mai kam Ida.", "label": [[14, 17, "PER"]]}\n', "utf-8")
    (english,) = read_sentences(path)
    (german,) = read_sentences(path, tokenizer="spacy:de")
    assert german.tokens == ("Am", "3.", "Mai", "kam", "Ida", ".")
    assert english.tokens != german.tokens
    assert german.tags == ("O", "O", "O", "O", "B-PER", "O")
