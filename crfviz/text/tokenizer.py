"""Tokenization of a typed text, with character offsets.

The rules are those of spaCy's English tokenizer (a blank pipeline, no model) with five changes
towards the words of Universal Dependencies, chosen on the train and dev files of the English Web
Treebank: runs of end marks and lines of asterisks are one word; numbers keep their hyphens; so do
words with a prefix (`e-mail`); clitics may be separate words (`I 'm`: tokenised text is unchanged);
`id` and `Wed` are words, not `I'd` and `we'd`. An emoji of several characters is one word as well.

spaCy's rules cut one mark at a time, which takes time quadratic in the characters between two
blanks: nine thousand brackets take half a minute. More than `LONGEST` characters without a blank
are therefore split by a plain pattern.

A sentence with two blanks in every gap is already tokenized, and not split again, because a corpus
may split words differently. Two blanks survive typing, links and the text box, and are visible
there. A single word is marked by two trailing blanks.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from crfviz.exceptions import FormatError
from crfviz.text.files import SURROGATES, abbreviate_value

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

PICTURE = "[\u2190-\u2bff\U0001f000-\U0001faff]"
DRESSED = PICTURE + "[\ufe0f\U0001f3fb-\U0001f3ff]*"  # with a skin tone or the mark "in colour"
EMOJI = f"(?:[\U0001f1e6-\U0001f1ff]{{2}}|{DRESSED}(?:\u200d{DRESSED})*)"  # a flag or a picture
RUNS = [EMOJI, r"[!?.]*[!?][!?.]+", r"\.[!?]+", r"\*+", "_+", "=+", "~+", "<{2,}", ">{2,}"]
HYPHENED = re.compile(
    r"[0-9]+(?:-[0-9a-z]+)*-[0-9]+$|(?:anti|co|e|non|pre|re)-[a-z]+$", flags=re.IGNORECASE
)
CLITICS = ["'d", "'ll", "'m", "'re", "'ve", "n't"]
NO_CONTRACTIONS = {"Id", "Wed", "id", "wed"}
LONGEST = 200  # characters
LONG = re.compile(rf"(?<!\S)\S{{{LONGEST + 1},}}")
STRETCH = re.compile(
    r"(?<!\S)\S.{,999}(?!\S)", re.DOTALL
)  # what spaCy is given at once: whole words
PIECE = re.compile(r"https?://\S+|\w+|[^\w\s]")

# spaCy takes half a second to import. Its rules split words of letters only for `SPECIAL`, and
# one mark after a word as `PLAIN` does. A test compares both with the rules.
PLAIN = re.compile(r"([A-Za-z]+)([,;:!?])?|([a-z]{2,}|[A-Z][a-z]{6,})(\.)|([.,;:!?])")
SPECIAL = re.compile(
    r"""(?!(?:its|were|well|ill|hell|shell)\b)
    (?:(?:ai|are|ca|could|dare|did|does|do|had|has|have|is|may|might|must|need|ought|sha|should
    |was|were|wo|would)nt(?:ve)? | (?:could|might|must|not|should|would)ve
    |(?:he|how|i|it|she|that|there|these|they|this|those|we|what|when|where|who|why|y|you)
    (?:all|d|ll|m|ma|re|s|ve|dve|llve) | cannot | co | doin | em | goin | gonna | gotta | havin | id
    | ll | lovin | nothin | nuff | nuthin | ol | somethin | vs | wed | xd+)[,;:!?.]?""",
    flags=re.IGNORECASE | re.VERBOSE,
)
WORD = re.compile(r"\S+")
MAX_PLAIN = 10_000  # maximum characters of a text for the fast path

_lock = threading.Lock()  # spaCy's tokenizer fills caches during calls
GAP = "  "

_GAPS = re.compile(r"\s+")
_FLAGS = re.compile(r"^\(\?[iu]+\)")  # flags at the beginning of a pattern
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Token:
    """One word and its offsets: `typed[start:end] == text`."""

    text: str
    start: int  # character offset in the typed text
    end: int  # offset after the last character


def tokenize(text: str) -> list[Token]:
    """Return the words of a text, in order; none is empty or contains white space.

    The first text with more than plain words imports spaCy and builds the rules (a second or two).

    >>> [token.text for token in tokenize("They don't e-mail me!!!")]
    ['They', 'do', "n't", 'e-mail', 'me', '!!!']

    Raises:
        FormatError: the argument is not a string.
    """
    if not isinstance(text, str):
        raise FormatError(f"text must be one text, got {abbreviate_value(text)}")
    return list(tokens(text))


def tokens(text: str) -> Iterator[Token]:
    """Yield the words of a text lazily, for callers that need only a few."""
    for start, end in _places(text):
        yield Token(text[start:end], start, end)


def _places(text: str) -> Iterator[tuple[int, int]]:
    if (plain := _plain_places(text)) is not None:
        yield from plain
        return
    yield from _places_by(_rules, text)


def split_by(rules: Callable[[], "Tokenizer"], text: str) -> Iterator[Token]:
    """Yield the words of a text by the rules of another language."""
    for start, end in _places_by(rules, text):
        yield Token(text[start:end], start, end)


def _places_by(rules: Callable[[], "Tokenizer"], text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for long in LONG.finditer(text):
        yield from _split(text, done, long.start(), rules)
        yield from (piece.span() for piece in PIECE.finditer(text, long.start(), long.end()))
        done = long.end()
    yield from _split(text, done, len(text), rules)


def _plain_places(text: str) -> list[tuple[int, int]] | None:
    """Return the word offsets of a text that needs no rules; None if it may need them."""
    places: list[tuple[int, int]] = []
    if len(text) > MAX_PLAIN:
        return None
    for part in WORD.finditer(text):
        match = PLAIN.fullmatch(text, *part.span())
        if not match or SPECIAL.fullmatch(part[0]) or len(part[0]) > LONGEST:
            return None
        places += [match.span(group) for group in range(1, 6) if match[group]]
    return places


def _split(
    text: str, start: int, end: int, rules: Callable[[], "Tokenizer"] | None = None
) -> Iterator[tuple[int, int]]:
    """Return the word offsets in text[start:end] by spaCy's rules, which hold the GIL."""
    for stretch in STRETCH.finditer(text, start, end):
        begin = stretch.start()
        encodable = SURROGATES.sub("\ufffd", stretch[0])  # lone surrogates are not valid UTF-8
        with _lock:
            words = [word for word in (rules or _rules)()(encodable) if not word.is_space]
        yield from ((begin + word.idx, begin + word.idx + len(word)) for word in words)


@cache
def _rules() -> "Tokenizer":
    from spacy.lang.en import English
    from spacy.symbols import ORTH
    from spacy.tokenizer import Tokenizer

    defaults = English.Defaults
    rules = {
        word: parts
        for word, parts in defaults.tokenizer_exceptions.items()
        if word not in NO_CONTRACTIONS
    }
    for clitic in CLITICS:
        for form in (clitic, clitic.upper(), clitic.replace("'", "\u2019")):
            rules[form] = [{ORTH: form}]
    prefix, suffix, infix = _affixes()
    return Tokenizer(
        English().vocab,
        rules=rules,
        prefix_search=prefix.search,
        suffix_search=suffix.search,
        infix_finditer=infix.finditer,
        token_match=HYPHENED.match,
        url_match=defaults.url_match,
    )


def _affixes() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    from spacy.lang.en import English
    from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

    defaults = English.Defaults
    return (
        compile_prefix_regex([*RUNS, *(defaults.prefixes or ())]),
        compile_suffix_regex([*RUNS, *(defaults.suffixes or ())]),
        compile_infix_regex(defaults.infixes or ()),
    )


@dataclass(frozen=True)
class AffixRules:
    """The patterns that split the characters between two blanks, for other tokenizers."""

    exceptions: tuple[tuple[str, ...], ...]  # words of the exceptions
    prefix: str  # pattern of a mark to remove at the start
    suffix: str  # pattern of a mark to remove at the end
    infix: str  # pattern of marks to split inside
    whole: str  # pattern of a complete word from its first character on
    ignores_case: bool  # for `whole`
    url: str  # also for complete words, after removing marks


def affix_rules(tokenizer: "Tokenizer | None" = None) -> AffixRules:
    """Return the rules of a spaCy tokenizer, by default those of `tokenize`."""
    from spacy.symbols import ORTH

    own = tokenizer or _rules()
    words = [tuple(part[ORTH] for part in parts) for parts in own.rules.values()]
    whole = _pattern_of(own.token_match)
    return AffixRules(
        exceptions=tuple(parts for parts in words if not any(map(_GAPS.search, parts))),
        prefix=_pattern_of(own.prefix_search).pattern,
        suffix=_pattern_of(own.suffix_search).pattern,
        infix=_pattern_of(own.infix_finditer).pattern,
        whole=_FLAGS.sub("", whole.pattern),
        ignores_case=bool(whole.flags & re.IGNORECASE),
        url=_FLAGS.sub("", _pattern_of(own.url_match).pattern),
    )


def _pattern_of(method: object) -> re.Pattern[str]:
    """Return the pattern of a method such as `pattern.search`; for None one that never matches."""
    found = _NEVER if method is None else getattr(method, "__self__", None)
    if not isinstance(found, re.Pattern):
        raise FormatError(f"expected the method of a pattern, got {abbreviate_value(method)}")
    return found


def given_words(sentence: str) -> list[str] | None:
    """Return the words if double blanks separate them; None if they need a tokenizer.

    >>> given_words("the  pic's  ."), given_words("the pic's  .")
    (['the', "pic's", '.'], None)
    >>> given_words("pic's  ")
    ["pic's"]
    """
    text = sentence.strip()
    gaps = _GAPS.findall(text)
    if text and not gaps and sentence.endswith(GAP):
        return [text]
    return _GAPS.split(text) if gaps and all(len(gap) > 1 for gap in gaps) else None


def sentence_of(words: Sequence[str], split: Callable[[str], list[str]]) -> str | None:
    """Return a sentence that is split into these words, with single or double blanks.

    None if there is no such sentence, because a word contains a blank.
    """
    for text in (" ".join(words), GAP.join(words), GAP.join([*words, ""])):
        if (given_words(text) or split(text)) == list(words):
            return text
    return None
