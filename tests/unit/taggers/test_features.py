import pytest

from crfviz.taggers.features import EMAIL, HANDLE, SHAPES, URL, fold, key, shape, spelling


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("@bob", HANDLE),
        ("@bob_99:", HANDLE),
        ("@", "@"),
        ("jane.doe@example.org", EMAIL),
        ("<jane@example.org>", EMAIL),
        ("Jane/HOU/ECT@ECT", EMAIL),
        ("http://t.co/abc", URL),
        ("www.example", URL),
        ("Amazon.com", URL),
        ("news.example.co.uk/today", URL),
        ("e.g.", "e.g."),
        ("n’t", "n't"),
        ("“", '"'),
    ],
)
def test_handles_urls_and_addresses_fold_to_their_class(word, folded):
    assert fold(word) == folded


def test_key_hides_digits_and_case():
    assert key("B2B-1984") == "b0b-0000"


def test_spelling_of_a_long_word_keeps_both_ends():
    assert spelling("x" * 500 + "tion").endswith("xtion")
    assert len(spelling("x" * 500)) == 24


def test_spelling_of_an_address_is_its_class():
    assert spelling("jane@example.org") == EMAIL


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("house", "lower"),
        ("don't", "lower"),
        ("I", "capital"),
        ("U.S.", "upper"),
        ("Paris", "title"),
        ("McDonald", "mixed"),
        ("1,000.5", "digits"),
        ("4th", "alphanumeric"),
        ("...", "punctuation"),
        ("😀", "other"),
        ("שלום", "other"),
        ("北京", "other"),
    ],
)
def test_word_shapes_are_classified(word, name):
    assert SHAPES[shape(word)] == name
