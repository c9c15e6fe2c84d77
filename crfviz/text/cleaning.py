"""Changes that make corpora of different origin agree: folded Twitter handles, mapped types."""

from collections import Counter
from collections.abc import Iterable, Mapping

from crfviz.exceptions import FormatError
from crfviz.text.lines import shown
from crfviz.text.schemes import OUTSIDE, begin, is_inside, split_tag, with_type
from crfviz.text.sentences import Sentence

HANDLE = "@user"


def fold_handles(sentence: Sentence) -> Sentence:
    """The sentence with each `@` and the word after it joined into one `@user`, tagged `O`.

    The Broad Twitter Corpus splits `@name` in two and tags both as entities of their own, so a
    tagger would learn to look for `@`. An `I-X` that a fold leaves without its beginning becomes
    `B-X`. An `@` that ends a sentence stays as it is. Corpora that keep `@name` in one token are
    not changed. The raw text is dropped where a handle was folded: the words are no longer in it.
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
    """The sentence with its entity types renamed; a type that is not in `types` becomes `O`.

    Two types may get the same name; entities that touch stay two entities. Broken types (`B-Day`)
    go the way of all types that are not in the mapping.
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
    """A mapping of entity types from the command line; new names also map to themselves.

    Raises:
        FormatError: a pair is not OLD=NEW.

    >>> parse_types(["person=PER,corporation=ORG", "group=ORG"])
    {'PER': 'PER', 'ORG': 'ORG', 'person': 'PER', 'corporation': 'ORG', 'group': 'ORG'}
    """
    types = asked_types(pairs)
    return {new: new for new in types.values()} | types


def asked_types(pairs: Iterable[str]) -> dict[str, str]:
    """The same without what nobody has written.

    Raises:
        FormatError: a pair is not OLD=NEW.
    """
    types: dict[str, str] = {}
    for pair in ",".join(pairs).split(","):
        old, equals, new = (part.strip() for part in pair.partition("="))
        if not (old and equals and new):
            raise FormatError(
                f"expected entity types as OLD=NEW, such as person=PER, got {shown(pair)}"
            )
        types[old] = new
    return types


def words_by_type(sentences: Iterable[Sentence]) -> Counter[str]:
    """How many words are in entities of each type."""
    tags = Counter(tag for sentence in sentences for tag in sentence.tags or ())
    words: Counter[str] = Counter()
    for tag, number in tags.items():
        if kind := split_tag(tag)[1] if split_tag(tag)[0] else "":
            words[kind] += number
    return words
