"""The rules of our tokenizer in JavaScript's words; `web/tokenizer.js` is the reader.

They are those of `crfviz.text.tokenizer`, pattern by pattern. Classes such as that of all letters
mean more in Python than in JavaScript, and are spelled out; an escape that says nothing is an error
there.
"""

import re

from crfviz.text.tokenizer import LONGEST, affix_rules

# What white space is to Python; to JavaScript it has a character more and some fewer.
_BLANK = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CLASSES = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": _BLANK}
_SYNTAX = "^$\\.*+?()[]{}|/-"  # what may be escaped, the last one in a class alone
_ATOM = re.compile(r"\\U000(?P<code>[0-9A-F]{5})|\\(?P<escaped>.)|(?P<bracket>[\[\]])", re.DOTALL)


def tokenizer_rules() -> dict[str, object]:
    """Patterns for JavaScript's flag `u`, and the exceptions as lists of their words."""
    rules = affix_rules()
    return {
        "exceptions": [list(words) for words in rules.exceptions],
        "prefix": javascript(rules.prefix),
        "suffix": javascript(rules.suffix),
        "infix": javascript(rules.infix),
        "whole": f"^(?:{javascript(rules.whole)})",
        "url": javascript(rules.url),
        "longest": LONGEST,
    }


def javascript(pattern: str) -> str:
    r"""A pattern of Python's `re` for JavaScript with the flag `u`: only what our rules use.

    >>> print(javascript(r"^[\w\-]+\!\U0001F600\d$"))
    ^[\p{L}\p{N}_\-]+!\u{1F600}[\p{Nd}]$
    """
    inside = False

    def written(found: re.Match[str]) -> str:
        nonlocal inside
        if found["code"]:
            return rf"\u{{{found['code']}}}"
        if bracket := found["bracket"]:
            inside = bracket == "["
            return str(bracket)
        return _escaped(found["escaped"], inside=inside)

    return _ATOM.sub(written, pattern)


def _escaped(letter: str, *, inside: bool) -> str:
    """What stood behind a backslash, in a class or outside of one."""
    if letter.lower() in _CLASSES:
        own = _CLASSES[letter.lower()]
        if letter.islower():
            return own if inside else f"[{own}]"
        return f"[^{own}]"
    if letter == "u" or (letter in _SYNTAX and (inside or letter != "-")):
        return f"\\{letter}"
    return letter
