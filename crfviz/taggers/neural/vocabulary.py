"""The words and characters that a tagger knows, and sentences as batches of their ids.

Id 0 is padding and id 1 the unknown, in both lists. A batch spells every distinct word once;
nothing in it depends on which other sentences share the batch, apart from the padding.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.features import key, shape, spelling

PADDING, UNKNOWN = 0, 1
NUM_SPECIAL = 2  # padding and unknown, in front of the listed words and characters
BEGIN, END = 2, 3  # mark the two ends of a word, in front of the listed characters
NUM_CHARACTER_SPECIAL = 4


@dataclass(frozen=True, eq=False)
class Batch:
    """B sentences of at most T words as ids, with F distinct words of at most C characters."""

    words: Tensor  # (B, T) long, dictionary ids
    shapes: Tensor  # (B, T) long, index into SHAPES
    forms: Tensor  # (B, T) long, row of `characters`
    characters: Tensor  # (F, C) long, begin mark, characters, end mark, padding
    lengths: Tensor  # (B,) long, words per sentence

    @property
    def mask(self) -> Tensor:
        """True where a word is: (B, T) bool, a prefix in every row."""
        steps = torch.arange(self.words.shape[1], device=self.words.device)
        return steps < self.lengths.unsqueeze(1)

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        return Batch(**{name: ids.to(device) for name, ids in vars(self).items()})


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Known dictionary keys and characters, in id order."""

    words: tuple[str, ...]
    characters: tuple[str, ...]

    @cached_property
    def word_ids(self) -> Mapping[str, int]:
        """Dictionary key to id."""
        return {word: index for index, word in enumerate(self.words, start=NUM_SPECIAL)}

    @cached_property
    def character_ids(self) -> Mapping[str, int]:
        """Character to id."""
        return {c: index for index, c in enumerate(self.characters, start=NUM_CHARACTER_SPECIAL)}

    @property
    def num_words(self) -> int:
        """Rows of a word embedding."""
        return len(self.words) + NUM_SPECIAL

    @property
    def num_characters(self) -> int:
        """Rows of a character embedding."""
        return len(self.characters) + NUM_CHARACTER_SPECIAL

    def encode(self, sentences: Sequence[Sequence[str]]) -> Batch:
        """Sentences as one padded batch of ids.

        Raises:
            EmptySentenceError: there is no sentence, or one has no word.
        """
        if not sentences or not all(len(sentence) for sentence in sentences):
            raise EmptySentenceError("a sentence needs at least one word, got none")
        forms: dict[str, int] = {}
        rows = [[forms.setdefault(word, len(forms)) for word in words] for words in sentences]
        lengths = [len(row) for row in rows]
        form_rows = padded(rows, max(lengths))  # (B, T)
        words = torch.tensor([self.word_ids.get(key(form), UNKNOWN) for form in forms])
        shapes = torch.tensor([shape(form) for form in forms])
        spellings = [self._spell(form) for form in forms]
        batch_lengths = torch.tensor(lengths)
        inside = torch.arange(max(lengths)) < batch_lengths.unsqueeze(1)
        return Batch(
            words=torch.where(inside, words[form_rows], PADDING),
            shapes=shapes[form_rows],
            forms=form_rows,
            characters=padded(spellings, max(len(row) for row in spellings)),
            lengths=batch_lengths,
        )

    def _spell(self, word: str) -> list[int]:
        ids = self.character_ids
        return [BEGIN, *(ids.get(character, UNKNOWN) for character in spelling(word)), END]


def build_vocabulary(
    sentences: Iterable[Sequence[str]], *, min_words: int, min_characters: int
) -> Vocabulary:
    """Keys that occur at least `min_words` times, and characters; the most frequent first."""
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for sentence in sentences:
        words.update(key(word) for word in sentence)
        characters.update("".join(spelling(word) for word in sentence))
    return Vocabulary(_frequent(words, min_words), _frequent(characters, min_characters))


def _frequent(counts: Counter[str], least: int) -> tuple[str, ...]:
    kept = [(-count, name) for name, count in counts.items() if count >= least]
    return tuple(name for _, name in sorted(kept))


def padded(rows: Sequence[Sequence[int]], width: int, padding: int = PADDING) -> Tensor:
    """Rows of ids as one table, filled up on the right: (N, width) long."""
    return torch.tensor([[*row, *[padding] * (width - len(row))] for row in rows])
