"""Changed sentences: perturbations of case, spelling, names and numbers, and hidden words.

| kind           | change                                                                      |
|----------------|-----------------------------------------------------------------------------|
| lower case     | every word in lower case                                                    |
| upper case     | every word in upper case                                                    |
| title case     | every word with one capital in front; clitics such as `n't` stay            |
| typo           | in one word two neighbouring letters are swapped, or one is lost or doubled |
| no punctuation | words that are only punctuation are left out                                |
| other name     | one name is replaced by another of its type                                 |
| other number   | every digit of one number changes, or one number word                       |

A name is an entity of BIO tags, or a run of proper nouns. Random choices depend on the seed alone:
the same words, tags and seed give the same sentence.

Source: Ribeiro, Wu, Guestrin and Singh, "Beyond Accuracy: Behavioral Testing of NLP Models with
CheckList" (2020), for testing by changes that should not matter.

Hiding a word replaces it by `HIDDEN`, a lower-case letter that no tagger has seen in training. The
shipped networks read it as the unknown word, with one unknown character and the shape of a
lower-case word; other taggers treat it as any unknown word. Nothing else in the sentence changes,
so the changes of other words' scores show what these took from the hidden word.

Source: Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks" (2014), section
4.2, for images; Li, Monroe and Jurafsky, "Understanding Neural Networks through Representation
Erasure" (2016), for words.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.notebook_repr import ShortRepr
from crfviz.chain.potentials import Potentials, Tag
from crfviz.chain.questions.aligned_chains import (
    Moved,
    flips,
    largest_changes,
    largest_step_changes,
)
from crfviz.exceptions import CrfvizError, UnknownObservationError
from crfviz.taggers.tagger import Tagger, Words, words_of
from crfviz.text.entities import usual_type
from crfviz.text.schemes import Span, is_bio, spans

# Invented or common names, several lengths of each type.
NAMES = {
    "PER": ("Okafor", "Lindqvist", "Maria Garcia", "Yuki Tanaka", "Anna van Dijk", "Amara"),
    "LOC": ("Nairobi", "Ljubljana", "New Zealand", "Lake Titicaca", "Bay of Biscay", "Peru"),
    "ORG": ("Siemens", "Greenpeace", "Red Cross", "Oxford University", "Bank of Finland", "Unesco"),
}
PROPER = ("PROPN", "NNP", "NNPS")  # tags of proper nouns
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
DIGITS = "123456789"  # replacements of a digit

_DIGIT = re.compile("[0-9]")
_CLITIC = re.compile(r"^n?['’]")
DRAWN = ("typo", "other name", "other number")  # kinds for which the seed matters
HIDDEN = "\ua723"  # LATIN SMALL LETTER EGYPTOLOGICAL ALEF
ROUNDING = 1e-4  # nats; a batch in float32 may differ from single sentences by less than this


@dataclass(frozen=True)
class Perturbed:
    """The changed sentence, and where its words come from."""

    words: tuple[str, ...]  # T' words
    origins: tuple[int | None, ...]  # T' positions before the change; None: a new word
    what: str  # description, such as "Paris → Nairobi"; empty if it concerns all words


def perturb(
    kind: str, words: Sequence[str], tags: Sequence[str], seed: int = 0
) -> Perturbed | None:
    """Apply one of `KINDS` to a sentence; return None if nothing changes.

    The tags say where names are; another seed makes other choices.

    Example:
        >>> perturb("no punctuation", ["Run", ",", "Bob", "!"], ["VERB", "PUNCT", "PROPN", "PUNCT"])
        Perturbed(words=('Run', 'Bob'), origins=(0, 2), what='without , !')
    """
    changed = KINDS[kind](tuple(words), tags, random.Random(seed))
    return None if changed is None or changed.words == tuple(words) else changed


def rewritten(words: Sequence[str], after: Sequence[str]) -> Perturbed | None:
    """Align a rewritten sentence with the original; return None if they are equal.

    Unchanged words, and words that replace others, have an origin; additional words have none.

    Example:
        >>> rewritten(["Run", "Bob", "!"], ["Run", "to", "Bob", "?"])
        Perturbed(words=('Run', 'to', 'Bob', '?'), origins=(0, None, 1, 2), what='')
    """
    if tuple(words) == tuple(after):
        return None
    origins: list[int | None] = [None] * len(after)
    blocks = SequenceMatcher(None, words, after, autojunk=False).get_opcodes()
    for _, start, stop, to, end in blocks:
        for old, new in zip(range(start, stop), range(to, end), strict=False):
            origins[new] = old
    return Perturbed(tuple(after), tuple(origins), "")


def _each(change: Callable[[str], str]) -> Callable[..., Perturbed]:
    def changed(words: Sequence[str], _tags: Sequence[str], _draw: random.Random) -> Perturbed:
        return Perturbed(tuple(map(change, words)), tuple(range(len(words))), "")

    return changed


def _title(word: str) -> str:
    return word if _CLITIC.match(word) else word[:1].upper() + word[1:].lower()


def _typo(words: Sequence[str], _tags: Sequence[str], draw: random.Random) -> Perturbed | None:
    fit = [t for t, word in enumerate(words) if word.isalpha() and len(word) > 1]
    long = [t for t in fit if len(words[t]) > 3]
    if not fit:
        return None
    t = draw.choice(long or fit)
    return _one(words, t, draw.choice(_misspelt(words[t])))


def _misspelt(word: str) -> list[str]:
    """Return misspellings: one letter swapped, lost or doubled, not the first of three or more."""
    start = 1 if len(word) > 2 else 0
    places = range(start, len(word))
    swapped = [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places[:-1]]
    lost = [word[:i] + word[i + 1 :] for i in places]
    doubled = [word[:i] + word[i] + word[i:] for i in places]
    return [other for other in (*swapped, *lost, *doubled) if other != word]


def _no_punctuation(
    words: Sequence[str], _tags: Sequence[str], _draw: random.Random
) -> Perturbed | None:
    kept = tuple(t for t, word in enumerate(words) if not _is_punctuation(word))
    if not kept:
        return None
    left_out = [word for word in words if _is_punctuation(word)]
    return Perturbed(tuple(words[t] for t in kept), kept, f"without {' '.join(left_out)}")


def _is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character).startswith("P") for character in word)


def _other_name(words: Sequence[str], tags: Sequence[str], draw: random.Random) -> Perturbed | None:
    known = [(span, options) for span in names_in(tags) if (options := _options(span.type))]
    if not known:
        return None
    span, options = draw.choice(known)
    before = words[span.start : span.end]
    others = [name.split() for name in options if name != " ".join(before)]
    alike = [name for name in others if len(name) == len(before)]
    after = tuple(draw.choice(alike or others))
    origins = [span.start + i if i < len(before) else None for i in range(len(after))]
    return Perturbed(
        (*words[: span.start], *after, *words[span.end :]),
        (*range(span.start), *origins, *range(span.end, len(words))),
        f"{' '.join(before)} → {' '.join(after)}",
    )


def names_in(tags: Sequence[str]) -> list[Span]:
    """Return the names of a tagged sentence: entities, or runs of proper nouns."""
    if is_bio(tags):
        return spans(tags)
    runs: list[Span] = []
    for is_name, run in groupby(enumerate(tags), key=lambda pair: pair[1] in PROPER):
        places = [t for t, _ in run]
        if is_name:
            runs.append(Span(PROPER[0], places[0], places[-1] + 1))
    return runs


def _options(kind: str) -> tuple[str, ...]:
    if kind in PROPER:
        return (*NAMES["PER"], *NAMES["LOC"])
    return NAMES.get(usual_type(kind), ())


def _other_number(
    words: Sequence[str], _tags: Sequence[str], draw: random.Random
) -> Perturbed | None:
    fit = [t for t, w in enumerate(words) if w.lower() in NUMBERS or _DIGIT.search(w)]
    if not fit:
        return None
    t = draw.choice(fit)
    word = words[t]
    if word.lower() in NUMBERS:
        other = draw.choice([number for number in NUMBERS if number != word.lower()])
        return _one(words, t, other.capitalize() if word[0].isupper() else other)
    changed = (draw.choice(DIGITS.replace(c, "")) if "0" <= c <= "9" else c for c in word)
    return _one(words, t, "".join(changed))


def _one(words: Sequence[str], position: int, word: str) -> Perturbed:
    changed = (*words[:position], word, *words[position + 1 :])
    return Perturbed(changed, tuple(range(len(words))), f"{words[position]} → {word}")


KINDS: dict[str, Callable[[Sequence[str], Sequence[str], random.Random], Perturbed | None]] = {
    "lower case": _each(str.lower),
    "upper case": _each(str.upper),
    "title case": _each(_title),
    "typo": _typo,
    "no punctuation": _no_punctuation,
    "other name": _other_name,
    "other number": _other_number,
}


@dataclass(frozen=True, eq=False, repr=False)
class Occlusion(ShortRepr):
    """Scores of a sentence, and with each of its T words hidden in turn."""

    whole: Potentials
    hidden: tuple[Potentials, ...]  # T chains; chain s has word s hidden

    def change(self, position: int, tag: Tag) -> Tensor:
        """Return the change of an emission when each word is hidden.

        Entry s of (T,) is, in nats, the emission with word s hidden minus that of the whole
        sentence; changes smaller than `ROUNDING` become 0.
        """
        cell = (position, self.whole.tag_id(tag))
        scores = torch.stack([chain.emissions[cell] for chain in self.hidden])
        whole = self.whole.emissions[cell]
        change = torch.where(scores == whole, 0.0, scores - whole)  # both may be -inf
        return torch.where(change.abs() < ROUNDING, 0.0, change)


def occlude(tagger: Tagger, tokens: Words, *, constrained: bool = True) -> Occlusion:
    """Score a sentence of T words T + 1 times, in one batch: whole, and with each word hidden.

    Raises:
        EmptySentenceError: the sentence has no words.
        CrfvizError: the tagger scores only certain observations or sentences, so it cannot score
            `HIDDEN`.
    """
    if tagger.observations is not None:
        known = ", ".join(tagger.observations)
        raise CrfvizError(f"{tagger.name} knows only {known}: no observation can be hidden")
    words = words_of(tokens)
    variants = [(*words[:s], HIDDEN, *words[s + 1 :]) for s in range(len(words))]
    try:
        whole, *hidden = tagger.potentials_batch([words, *variants], constrained=constrained)
    except UnknownObservationError as error:
        raise CrfvizError(
            f"{tagger.name} knows only the sentences of its file: no word can be hidden"
        ) from error
    return Occlusion(whole, tuple(hidden))


@dataclass(frozen=True, eq=False, repr=False)
class WhatIf(ShortRepr):
    """A sentence before and after a change, decoded by the same model."""

    before: Analysis
    perturbed: Perturbed  # T' words
    after: Analysis

    @property
    def paths(self) -> tuple[list[int], list[int]] | None:
        """The best paths before and after; None if one of them is missing."""
        first, second = self.before.paths["viterbi"], self.after.paths["viterbi"]
        return None if first is None or second is None else (first, second)

    @property
    def flips(self) -> dict[int, tuple[int, int]]:
        """Old and new tag ids of words whose tag flipped, by position in the changed sentence."""
        if self.paths is None:
            return {}
        before, after = self.paths
        origins = self.perturbed.origins
        return {t: (before[origins[t] or 0], after[t]) for t in flips(before, after, origins)}

    def place_of(self, position: int) -> tuple[int, int] | None:
        """Return the new position of an original word, and its best tag; None if it is gone."""
        if self.paths is None or position not in self.perturbed.origins:
            return None
        now = list(self.perturbed.origins).index(position)
        return now, self.paths[1][now]

    def moved(self, number: int = 10) -> list[Moved]:
        """Return the `number` largest changes of emissions and of transitions at single steps."""
        chains = self.before.potentials, self.after.potentials, self.perturbed.origins
        emissions = largest_changes(*chains, number, ROUNDING)
        every = [*emissions, *largest_step_changes(*chains, number)]
        return sorted(every, key=lambda moved: -abs(moved.change))[:number]


def what_if(tagger: Tagger, tokens: Words, change: str | Words, seed: int = 0) -> WhatIf | None:
    """Decode a sentence before and after a change; return None if nothing changes.

    Args:
        tagger: scores both sentences.
        tokens: T words.
        change: one of `KINDS`, such as "lower case" or "typo", or the words of another sentence.
        seed: seed of the random choices.

    Raises:
        EmptySentenceError: the sentence has no words.
        CrfvizError: the kind of change is unknown.
        UnknownObservationError: the tagger has no scores for one of the two sentences.
    """
    words = words_of(tokens)
    before = analyse(tagger.potentials(words))
    if isinstance(change, str):
        if change not in KINDS:
            raise CrfvizError(f"change must be words or one of {', '.join(KINDS)}, got {change!r}")
        tags = [before.tags[tag] for tag in before.paths["viterbi"] or before.greedy]
        way = perturb(change, words, tags, seed)
    else:
        way = rewritten(words, words_of(change))
    return None if way is None else WhatIf(before, way, analyse(tagger.potentials(way.words)))
