"""Lexicon of the training data: words with their tags, and the longest sentence.

`lexicon.json` maps each set of tags, joined by TAB, to the dictionary keys
(`crfviz.taggers.features.key`) of the training words with these tags. It also has the length of
the longest sentence. The file is optional: no tagger needs it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crfviz.exceptions import ModelError
from crfviz.taggers.features import key
from crfviz.taggers.storage import read_json_object
from crfviz.text.sentences import Sentence

LEXICON_FILE = "lexicon.json"
FORMAT = 1


@dataclass(frozen=True)
class Lexicon:
    """The words of the training sentences."""

    words: Mapping[str, frozenset[str]]  # dictionary key to the tags it had
    longest: int  # words of the longest sentence

    def tags_of(self, word: str) -> frozenset[str]:
        """Return the tags that a word had in training; none if it was never seen."""
        return self.words.get(key(word), frozenset())

    def joined(self, other: "Lexicon") -> "Lexicon":
        """Return the lexicon of the sentences of both."""
        words = {
            word: self.words.get(word, frozenset()) | other.words.get(word, frozenset())
            for word in self.words.keys() | other.words.keys()
        }
        return Lexicon(words, max(self.longest, other.longest))


def build_lexicon(sentences: Iterable[Sentence]) -> Lexicon:
    """Return the lexicon of tagged sentences.

    >>> build_lexicon([Sentence(("Run", "1"), ("VERB", "NUM"))]).tags_of("run")
    frozenset({'VERB'})
    """
    words: defaultdict[str, set[str]] = defaultdict(set)
    longest = 0
    for sentence in sentences:
        longest = max(longest, len(sentence.tokens))
        for word, tag in zip(sentence.tokens, sentence.tags or (), strict=True):
            words[key(word)].add(tag)
    return Lexicon({word: frozenset(tags) for word, tags in words.items()}, longest)


def write_lexicon(folder: Path, lexicon: Lexicon) -> None:
    """Write lexicon.json into a model folder."""
    by_tags: defaultdict[str, list[str]] = defaultdict(list)
    for word, tags in sorted(lexicon.words.items()):
        by_tags["\t".join(sorted(tags))].append(word)
    as_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    rows = ",\n".join(f"{as_json(tags)}:{as_json(row)}" for tags, row in sorted(by_tags.items()))
    text = f'{{"format":{FORMAT},"longest":{lexicon.longest},"words":{{{rows}}}}}\n'
    (folder / LEXICON_FILE).write_text(text, encoding="utf-8")


def read_lexicon(folder: Path) -> Lexicon | None:
    """Return the lexicon of a model folder; None if it has no such file.

    Raises:
        ModelError: the file is invalid; says what was expected.
    """
    path = folder / LEXICON_FILE
    if not path.is_file():
        return None
    content = read_json_object(path)
    words, longest = content.get("words"), content.get("longest")
    if (
        content.get("format") != FORMAT
        or type(longest) is not int
        or not isinstance(words, dict)
        or not all(isinstance(row, list) for row in words.values())
    ):
        raise ModelError(
            f'{path}: expected {{"format": {FORMAT}, "longest": words of the longest sentence, '
            '"words": {tags with TAB between: list of words}}'
        )
    by_tags = [(frozenset(tags.split("\t")), row) for tags, row in words.items()]
    return Lexicon({str(word): tags for tags, row in by_tags for word in row}, longest)
