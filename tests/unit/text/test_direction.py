"""The direction of a sentence, in Python and in JavaScript."""

import unicodedata
from pathlib import Path

import pytest

from crfviz.text.direction import right_to_left, runs_right_to_left
from tests.support import node

WEB = Path("crfviz/views/stage/web").resolve()
KINDS = ("R", "AL")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("שלום עולם", True),
        ("ذهب الولد", True),
        ("1. «שלום» Paris", True),
        ("Paris שלום", False),
        ("पेरिस שלום", False),
        ("123 . !", False),
        ("٣ .", False),  # Arabic digits belong to no direction of their own
        ("", False),
    ],
)
def test_first_letter_decides_the_text_direction(text, expected):
    assert right_to_left(text) is expected


@pytest.mark.parametrize("words", [("שלום", "Paris"), ("Paris", "שלום")])
def test_chosen_direction_overrides_the_words(words):
    assert runs_right_to_left(words) is right_to_left(words[0])
    assert runs_right_to_left(words, "auto") is right_to_left(words[0])
    assert runs_right_to_left(words, "rtl")
    assert not runs_right_to_left(words, "ltr")


def test_browser_detects_the_same_direction_as_python(tmp_path):
    letters = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n))[0] == "L"]
    texts = [[letter] for letter in letters] + [["1", "«ש", "a"], ["a", "ש"], ["7", "."], []]
    expected = [right_to_left(" ".join(words)) for words in texts]
    assert expected[:-4] == [unicodedata.bidirectional(letter) in KINDS for letter in letters]
    modules = {WEB / "direction.js": "isRightToLeft"}
    found = node.run(tmp_path, modules, "return told.map(isRightToLeft);", texts)
    assert found == expected
