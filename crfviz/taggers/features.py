"""Word features of a tagger: folded form, dictionary key, shape and spelling.

Handles, e-mail addresses and web addresses are first folded to one class each. So no vocabulary
and no character window ever contains one.
"""

import re
from functools import lru_cache

HANDLE = "@user"
EMAIL = "<email>"
URL = "<url>"

SHAPES = (
    "lower",  # house
    "capital",  # I, X
    "upper",  # NASA
    "title",  # Paris
    "mixed",  # iPhone
    "digits",  # 2,000.5
    "alphanumeric",  # B2B, 4th
    "punctuation",  # ...
    "other",  # everything else: emoji, scripts without case
)

MAX_CHARACTERS = 24  # longer words keep both ends, because affixes tell more

_DIGIT = re.compile(r"\d")
_HANDLE = re.compile(r"@\w")
_EMAIL = re.compile(r".@\w")
_URL = re.compile(
    r"://|^www\.|^[\w-]+(\.[\w-]+)*\.(com|org|net|edu|gov|mil|info|biz|ly|html?|co\.\w\w)\b",
    re.IGNORECASE,
)
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Return the word with curly quotes made straight, or the class of a handle or address.

    >>> [fold(word) for word in ("Don’t", "@bob", "bob@example.org", "http://t.co/1")]
    ["Don't", '@user', '<email>', '<url>']
    """
    if "@" in word:
        if _EMAIL.search(word):
            return EMAIL
        if _HANDLE.match(word):
            return HANDLE
    if _URL.search(word):
        return URL
    return word.translate(_QUOTES)


def form(word: str) -> str:
    """Return the folded word with every digit replaced by 0.

    >>> form("4th"), form("@bob"), form("Paris")
    ('0th', '@user', 'Paris')
    """
    return _DIGIT.sub("0", fold(word))


@lru_cache(maxsize=1 << 14)
def key(word: str) -> str:
    """Return the dictionary key of a word: folded, lower-case, every digit replaced by 0.

    >>> [key(word) for word in ("Paris", "1984", "@bob")]
    ['paris', '0000', '@user']
    """
    return form(word).lower()


def spelling(word: str) -> str:
    """Return the characters of a folded word, at most MAX_CHARACTERS of them.

    >>> spelling("a" * 30 + "ing") == "a" * 21 + "ing"
    True
    """
    folded = fold(word)
    if len(folded) <= MAX_CHARACTERS:
        return folded
    half = MAX_CHARACTERS // 2
    return folded[:half] + folded[-half:]


@lru_cache(maxsize=1 << 16)
def shape(word: str) -> int:
    """Return the index of the word's shape in `SHAPES`.

    >>> [SHAPES[shape(w)] for w in ("house", "I", "NASA", "iPhone", "3.5", "4th", "?!", "😀")]
    ['lower', 'capital', 'upper', 'mixed', 'digits', 'alphanumeric', 'punctuation', 'other']
    """
    return SHAPES.index(_shape_name(fold(word)))


def _shape_name(word: str) -> str:
    letters = [character for character in word if character.isalpha()]
    if any(character.isdigit() for character in word):
        return "alphanumeric" if letters else "digits"
    if not letters:
        plain = all(character.isascii() for character in word)
        return "punctuation" if plain else "other"
    return _case_name("".join(letters))


def _case_name(letters: str) -> str:
    if letters.islower():
        return "lower"
    if letters.isupper():
        return "capital" if len(letters) == 1 else "upper"
    if letters[0].isupper() and letters[1:].islower():
        return "title"
    return "mixed" if letters.upper() != letters.lower() else "other"
