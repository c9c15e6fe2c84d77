"""Functions that escape, shorten and clean user text for display."""

import re
import unicodedata

# The characters that have a meaning in Streamlit's Markdown: emphasis, code, links, images, HTML,
# maths, strikethrough, entities, and directives such as :red[...]. A backslash before one of them
# shows the character itself. A bare URL stays a link, because Streamlit detects URLs after it has
# processed the backslashes; it loads nothing until it is clicked.
_MARKDOWN = re.compile(
    r"[\\`*_\[\]<>$~|&{}@]|:(?=\S)|(?<=www)\.|^[#+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]"
)
_LONGEST_QUOTE = 40  # characters of quoted user text in a message


def plain(text: str) -> str:
    r"""Escape `text` as Markdown that shows these characters on one line and loads nothing.

    >>> plain("![x](http://a.b)")
    '!\\[x\\](http\\://a.b)'
    """
    return _MARKDOWN.sub(lambda match: "\\" + match.group(), " ".join(text.split()))


def quote(text: str) -> str:
    """Quote `text`, shortened to 40 characters, without control characters."""
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return f"“{clean(text)}”"


def clean(text: str) -> str:
    """Replace control characters and line breaks in `text` by spaces; drop lone surrogates."""
    return "".join(
        " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
        for character in text
        if unicodedata.category(character) != "Cs"
    )
