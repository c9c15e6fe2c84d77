"""Words and their places in a text."""

import pytest

from crfviz.text.sentences import located


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a b", ((0, 1), (2, 3))),
        (" a  b ", ((1, 2), (4, 5))),
        ("ab", ((0, 1), (1, 2))),
        ("x a b", None),
        ("a x b", None),
        ("a b x", None),
        ("b a", None),
    ],
)
def test_words_are_located_in_their_text(text, places):
    assert located(["a", "b"], text) == places
