"""Tokenizers by name, for typed texts, as in the training files of a model.

| name              | splits                                                                      |
|-------------------|-----------------------------------------------------------------------------|
| `spacy:CODE`      | by spaCy's rules for a language; `spacy:en` is `tokenizer.tokenize`          |
| `characters`      | each character a word; runs of Latin letters and runs of digits stay whole  |
| `characters:each` | each character a word, those runs too                                       |
| `blanks`          | at blanks alone                                                             |

A character is a user-perceived character, after UAX #29: a letter with its marks, a flag, an emoji
with its skin tone or joined by ZWJ, a Hangul syllable, a conjunct of Indic consonants.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate
from crfviz.text.sentences import Sentence
from crfviz.text.tokenizer import EMOJI, AffixRules, Token, affix_rules, split_by, tokens

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

ENGLISH, BLANKS, CHARACTERS, EACH = "spacy:en", "blanks", "characters", "characters:each"
SPACY = "spacy:"
LANGUAGES = {  # languages tried on training files; spaCy has more, by code
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ca": "Catalan",
    "sv": "Swedish",
    "da": "Danish",
    "nb": "Norwegian",
    "fi": "Finnish",
    "pl": "Polish",
    "cs": "Czech",
    "ro": "Romanian",
    "hu": "Hungarian",
    "ru": "Russian",
    "uk": "Ukrainian",
    "el": "Greek",
    "tr": "Turkish",
    "ar": "Arabic",
    "he": "Hebrew",
    "fa": "Persian",
    "hi": "Hindi",
}
NAMES = {  # display names of tokenizers
    **{f"{SPACY}{code}": language for code, language in LANGUAGES.items()},
    CHARACTERS: "characters, runs of Latin letters and digits whole",
    EACH: "characters, each a word",
    BLANKS: "at blanks alone",
}
SAMPLE = 300  # sentences used to detect a tokenizer
EQUAL = 0.002  # smaller differences of shares are ignored: common tokenizers come first
SURE = 0.95  # minimum share of reproduced words
JOINERS = "\u200c\u200d"
_JOINED = re.compile(
    "[\u0e33\u0eb3\U000e0020-\U000e007f]"
)  # vowels of Thai and Lao, parts of flags
_LATIN = r"[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]"

_WIDE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
)
_BEFORE = re.compile(r"[.,;:!?%)\]}»”’…。，、！？；：）」』】》]+")  # no blank precedes these
_BEHIND = re.compile(r"[(\[{«“‘¿¡（「『【《]+")  # no blank follows these
_CODE = re.compile(r"[a-z]{2,3}")
_IS_WIDE = re.compile(f"[{_WIDE}，。、！？；：（）「」『』【】《》]")
_LEAD = r"[\u1100-\u115f\ua960-\ua97c]"  # consonants before the vowel of a Hangul syllable
_VOWEL = r"[\u1160-\u11a7\ud7b0-\ud7c6]"
_TAIL = r"[\u11a8-\u11ff\ud7cb-\ud7fb]"
_OPEN = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))  # syllables without a final consonant
_SYLLABLE = rf"{_LEAD}*(?:[{_OPEN}]{_VOWEL}*|{_VOWEL}+|[\uac00-\ud7a3]){_TAIL}*|{_LEAD}+|{_TAIL}+"
_CONSONANT = (  # of Devanagari, Bengali, Gujarati, Oriya, Telugu and Malayalam
    r"[\u0915-\u0939\u0958-\u095f\u0978-\u097f\u0995-\u09b9\u09dc-\u09df\u09f0\u09f1"
    r"\u0a95-\u0ab9\u0af9\u0b15-\u0b39\u0b5c-\u0b5f\u0b71\u0c15-\u0c39\u0c58-\u0c5a\u0d15-\u0d3a]"
)
_VIRAMA = r"[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d]"  # joins consonants
_NUKTA = r"[\u093c\u09bc\u0abc\u0b3c\u0c3c\u200d]*"  # and joiners
_CONJUNCT = rf"{_CONSONANT}(?:{_NUKTA}{_VIRAMA}(?:{_VIRAMA}|{_NUKTA}){_CONSONANT})+"
PATTERNS = {  # patterns of the pieces of a text; a mark or joiner belongs to the previous piece
    CHARACTERS: rf"{EMOJI}|(?:{_LATIN}[\u0300-\u036f]*)+|[0-9]+|{_SYLLABLE}|{_CONJUNCT}|\S",
    EACH: rf"{EMOJI}|{_SYLLABLE}|{_CONJUNCT}|\S",
    BLANKS: r"\S+",
}

Split = Callable[[str], Iterator[Token]]


@cache
def splitter(name: str) -> Split:
    """Return a function that yields the words of a text with their offsets.

    Raises:
        FormatError: the tokenizer is unknown, or its rules need a missing package.
    """
    if name == ENGLISH:
        return tokens
    if name in PATTERNS:
        return partial(_pieces, re.compile(PATTERNS[name]))
    if name.startswith(SPACY):
        return partial(split_by, _language(name.removeprefix(SPACY)))
    raise unknown_tokenizer(name)


def is_tokenizer(name: str) -> bool:
    """Return whether a name has the form of a tokenizer name, without loading its rules."""
    code = name.removeprefix(SPACY)
    return name in PATTERNS or (code != name and _CODE.fullmatch(code) is not None)


def unknown_tokenizer(name: str) -> FormatError:
    """Return the error for an unknown tokenizer name."""
    return FormatError(
        f"expected a tokenizer such as spacy:de, characters or blanks, got {abbreviate(name)}"
    )


def affix_rules_of(name: str) -> AffixRules:
    """Return the patterns of `spacy:CODE`, for other tokenizers.

    Raises:
        FormatError: the tokenizer is unknown, or uses more than patterns.
    """
    from spacy.tokenizer import Tokenizer

    if name == ENGLISH:
        return affix_rules()
    tokenizer = _language(name.removeprefix(SPACY))()
    if type(tokenizer) is not Tokenizer:
        raise FormatError(f"expected a language that is split by patterns, got {name}")
    return affix_rules(tokenizer)


def words_of_text(text: str, name: str = ENGLISH) -> list[str]:
    """Return the words of a text.

    >>> words_of_text("安娜住在Oslo。", "characters"), words_of_text("l'été", "spacy:fr")
    (['安', '娜', '住', '在', 'Oslo', '。'], ["l'", 'été'])
    """
    return [token.text for token in splitter(name)(text)]


def told_by(sentences: Iterable[Sentence]) -> tuple[str, float, dict[str, float]]:
    """Return the tokenizer that reproduces the words of sentences.

    A sentence without its text is joined in normal typing: no blanks before punctuation, and none
    between Chinese, Japanese or Thai words.

    Returns:
        Its name, its share of reproduced words, and the shares of all tried tokenizers.

    """
    sample = list(islice((each for each in sentences if each.tokens), SAMPLE))
    texts = [each.text or typed(each.tokens) for each in sample]
    words = [each.tokens for each in sample]
    names = [
        ENGLISH,
        CHARACTERS,
        EACH,
        BLANKS,
        *(f"{SPACY}{code}" for code in LANGUAGES if code != "en"),
    ]
    shares = {}
    for name in names:
        try:
            split = [words_of_text(text, name) for text in texts]
        except FormatError:  # the rules need another package
            continue
        shares[name] = _share(words, split)
        if shares[name] == 1.0:
            break
    most = max(shares.values(), default=0.0)
    best = next((name for name in shares if shares[name] >= most - EQUAL), ENGLISH)
    return best, shares.get(best, 0.0), shares


def typed(words: Sequence[str]) -> str:
    """Return a sentence of these words in normal typing.

    >>> typed(["Well", ",", "go", "(", "now", ")", "!"]), typed(["安", "娜", "。"])
    ('Well, go (now)!', '安娜。')
    """
    text = ""
    for before, word in zip(["", *words], words, strict=False):
        wide = bool(before and _IS_WIDE.search(before[-1]) and _IS_WIDE.search(word[0]))
        tight = not before or wide or _BEFORE.fullmatch(word) or _BEHIND.fullmatch(before)
        text += word if tight else f" {word}"
    return text


def _share(wanted: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> float:
    """Return the share of wanted words that were found at the same characters."""
    total = right = 0
    for one, other in zip(wanted, found, strict=True):
        places = _ends(other)
        total += len(one)
        right += len(_ends(one) & places)
    return right / total if total else 0.0


def _ends(words: Sequence[str]) -> set[tuple[int, int]]:
    places, at = set(), 0
    for word in words:
        length = len("".join(word.split()))
        places.add((at, at + length))
        at += length
    return places


def _pieces(pattern: re.Pattern[str], text: str) -> Iterator[Token]:
    """Yield the pieces with their following marks."""
    start = end = None
    for piece in pattern.finditer(text):
        joins = end == piece.start() and (_extends(piece[0]) or text[end - 1] in JOINERS)
        if start is not None and end is not None and not joins:
            yield Token(text[start:end], start, end)
        if not joins:
            start = piece.start()
        end = piece.end()
    if start is not None and end is not None:
        yield Token(text[start:end], start, end)


def _extends(piece: str) -> bool:
    first = piece[0]
    is_mark = unicodedata.category(first).startswith("M")
    return is_mark or first in JOINERS or _JOINED.match(first) is not None


@cache
def _language(code: str) -> Callable[[], "Tokenizer"]:
    import spacy

    if not _CODE.fullmatch(code):
        raise FormatError(f"expected a language such as spacy:de, got {abbreviate(SPACY + code)}")
    try:
        tokenizer = spacy.blank(code).tokenizer
        tokenizer("a")
    except ImportError as error:
        first = str(error).strip().splitlines()[0]
        raise FormatError(f"{SPACY}{code} cannot be used here: {first[:160]}") from error
    return lambda: tokenizer
