"""Tagged sentences, and normalisations between corpora."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crfviz.exceptions import FormatError, ShapeError
from crfviz.text.files import abbreviate
from crfviz.text.name_lists import parse_pairs
from crfviz.text.schemes import OUTSIDE, begin, is_inside, split_tag, with_type

Offsets = tuple[tuple[int, int], ...]  # one (start, end) per word: character offsets in the text
HANDLE = "@user"


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence with their gold tags.

    Raises:
        ShapeError: the number of tags is wrong.
    """

    tokens: tuple[str, ...]  # T words
    tags: tuple[str, ...] | None = None  # T tag names; None for an untagged sentence
    text: str | None = None  # the raw text, if known

    def __post_init__(self) -> None:
        if self.tags is not None and len(self.tags) != len(self.tokens):
            raise ShapeError(
                f"a sentence needs one tag per word: expected {len(self.tokens)} tags, "
                f"got {len(self.tags)}"
            )


def words_at(text: str, offsets: Offsets) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in offsets)


def joined(words: Sequence[str], glued: Sequence[bool] | None = None) -> tuple[str, Offsets]:
    """Return a text made of the words, with single blanks between them, and their offsets.

    Args:
        words: T words.
        glued: for each word, whether no blank follows; None means never.

    >>> joined(["Well", ","], [True, False])
    ('Well,', ((0, 4), (4, 5)))
    """
    text = ""
    places = []
    for word, tight in zip(words, glued or [False] * len(words), strict=True):
        places.append((len(text), len(text) + len(word)))
        text += word if tight else f"{word} "
    return text.rstrip(" ") if places else "", tuple(places)


def located(words: Sequence[str], text: str) -> Offsets | None:
    """Return the offsets of the words in a text; None if the text has other words.

    >>> located(["Well", ","], "Well ,"), located(["can", "not"], "can't")
    (((0, 4), (5, 6)), None)
    """
    places = []
    end = 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(word)
        places.append((start, end))
    return None if text[end:].strip() else tuple(places)


def fold_handles(sentence: Sentence) -> Sentence:
    """Return the sentence with each `@` and the word after it joined into one `@user`, tagged `O`.

    The Broad Twitter Corpus splits `@name` in two and tags both as separate entities, so a tagger
    would learn to look for `@`. An `I-X` that loses its beginning becomes `B-X`. An `@` at the end
    of a sentence is unchanged. Corpora that keep `@name` in one token are not changed. The raw text
    is dropped after folding, because it lacks the new words.
    """
    if "@" not in sentence.tokens[:-1]:
        return sentence
    gold = sentence.tags or (OUTSIDE,) * len(sentence.tokens)
    tokens: list[str] = []
    tags: list[str] = []
    position = 0
    while position < len(sentence.tokens):
        token, tag = sentence.tokens[position], gold[position]
        if token == "@" and position + 1 < len(sentence.tokens):
            token, tag = HANDLE, OUTSIDE
            position += 1
        elif tokens and (tokens[-1], tags[-1]) == (HANDLE, OUTSIDE) and is_inside(tag):
            tag = begin(split_tag(tag)[1])
        tokens.append(token)
        tags.append(tag)
        position += 1
    return Sentence(tuple(tokens), None if sentence.tags is None else tuple(tags))


def map_types(sentence: Sentence, types: Mapping[str, str]) -> Sentence:
    """Return the sentence with its entity types renamed; types outside `types` become `O`.

    Two types may get the same name; adjacent entities stay separate. Unknown types, such as
    `B-Day`, become `O` too.
    """
    if sentence.tags is None:
        return sentence
    return Sentence(
        sentence.tokens, tuple(_mapped(tag, types) for tag in sentence.tags), sentence.text
    )


def _mapped(tag: str, types: Mapping[str, str]) -> str:
    prefix, kind = split_tag(tag)
    if prefix in ("", OUTSIDE):
        return tag
    return with_type(tag, types[kind]) if kind in types else OUTSIDE


def parse_types(pairs: Iterable[str]) -> dict[str, str]:
    """Return a mapping of entity types from the command line; new names also map to themselves.

    Raises:
        FormatError: a pair is not OLD=NEW.

    >>> parse_types(["person=PER,corporation=ORG", "group=ORG"])
    {'PER': 'PER', 'ORG': 'ORG', 'person': 'PER', 'corporation': 'ORG', 'group': 'ORG'}
    """
    types = requested_types(pairs)
    return {new: new for new in types.values()} | types


def requested_types(pairs: Iterable[str]) -> dict[str, str]:
    """Return the mapping of `parse_types` without the new names themselves.

    Raises:
        FormatError: a pair is not OLD=NEW.
    """
    types: dict[str, str] = {}
    for part in pairs:
        wrong = f"expected entity types as OLD=NEW, such as person=PER, got {abbreviate(part)}"
        try:
            named = parse_pairs(part)
        except FormatError as error:
            raise FormatError(f"{wrong}; {error}") from error
        if not named:
            raise FormatError(wrong)
        for old, new in named:
            if not (old and new):
                raise FormatError(wrong)
            types[old] = new
    return types


def words_by_type(sentences: Iterable[Sentence]) -> Counter[str]:
    """Return the number of words in entities of each type."""
    tags = Counter(tag for sentence in sentences for tag in sentence.tags or ())
    words: Counter[str] = Counter()
    for tag, number in tags.items():
        if kind := split_tag(tag)[1] if split_tag(tag)[0] else "":
            words[kind] += number
    return words
