"""Vocabulary and network: from words to ids to emissions.

In the lists of words and characters, id 0 is padding and id 1 is unknown. A batch spells every
distinct word once. Except for padding, a sentence does not depend on the others in its batch.

    x_t = [word_t ; max over windows of conv(characters_t) ; shape_t]
    h_t = BiLSTM(x)_t            (bilstm)          each word sees the whole sentence
    h_t = relu(A x_t + a)        (contextfree)     each word sees only itself
    emissions_t = W h_t + b

Character windows start inside the word only, and the backward LSTM reads each sentence reversed at
its own length: a sentence scores the same alone as in a batch.

Source:
    Ma and Hovy (2016), section 2; the context-free variant drops their section 2.2.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Literal, Protocol, cast

import torch
from torch import Tensor, nn

from crfviz.chain.crf import CRF
from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.features import SHAPES, key, shape, spelling

PADDING, UNKNOWN = 0, 1
NUM_SPECIAL = 2  # padding and unknown, in front of the listed words and characters
BEGIN, END = 2, 3  # mark the two ends of a word, in front of the listed characters
NUM_CHARACTER_SPECIAL = 4
_CUDNN = Lock()  # guards cuDNN's settings, which all threads share


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
        """Mask of words: (B, T) bool, a prefix in every row."""
        steps = torch.arange(self.words.shape[1], device=self.words.device)
        return steps < self.lengths.unsqueeze(1)

    def to(self, device: torch.device) -> "Batch":
        return Batch(**{name: ids.to(device) for name, ids in vars(self).items()})


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Known dictionary keys and characters, in id order."""

    words: tuple[str, ...]
    characters: tuple[str, ...]

    @cached_property
    def word_ids(self) -> Mapping[str, int]:
        return {word: index for index, word in enumerate(self.words, start=NUM_SPECIAL)}

    @cached_property
    def character_ids(self) -> Mapping[str, int]:
        return {c: index for index, c in enumerate(self.characters, start=NUM_CHARACTER_SPECIAL)}

    @property
    def num_words(self) -> int:
        return len(self.words) + NUM_SPECIAL

    @property
    def num_characters(self) -> int:
        return len(self.characters) + NUM_CHARACTER_SPECIAL

    def encode(self, sentences: Sequence[Sequence[str]]) -> Batch:
        """Return sentences as one padded batch of ids.

        Raises:
            EmptySentenceError: there is no sentence, or a sentence has no words.
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
    """Return the keys seen at least `min_words` times, and characters; most frequent first."""
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
    """Return rows of ids as one table, padded on the right: (N, width) long."""
    return torch.tensor([[*row, *[padding] * (width - len(row))] for row in rows])


Architecture = Literal["bilstm", "contextfree"]
ARCHITECTURES: tuple[Architecture, ...] = ("bilstm", "contextfree")


@dataclass(frozen=True)
class Sizes:
    """Sizes of the network's vectors."""

    word: int = 100  # per dictionary key
    character: int = 32  # per character
    filters: int = 64  # per window width
    widths: tuple[int, ...] = (2, 3, 4)  # of character windows, as long as English affixes
    shape: int = 8  # per shape class
    hidden: int = 200  # bilstm: per direction; contextfree: of the one hidden layer

    @property
    def token(self) -> int:
        """The length of the vector of one word."""
        return self.word + self.filters * len(self.widths) + self.shape


class Noise(Protocol):
    """The noise of training: unknown words, and variational dropout."""

    def words(self, ids: Tensor) -> Tensor:
        """Return the ids, (B, T) long, with some replaced by `UNKNOWN`."""

    def drop(self, values: Tensor, where: Literal["characters", "inputs", "outputs"]) -> Tensor:
        """Return (B, T, D), the values with some of the D columns zeroed, per sentence."""


class Network(nn.Module):
    """Emissions of a batch, and the CRF on top of them."""

    def __init__(
        self, architecture: Architecture, sizes: Sizes, vocabulary: Vocabulary, num_tags: int
    ) -> None:
        super().__init__()
        self.words: nn.Module = _table(vocabulary.num_words, sizes.word, PADDING)
        self.characters = _table(vocabulary.num_characters, sizes.character, PADDING)
        self.shapes = _table(len(SHAPES), sizes.shape)
        self.windows = nn.ModuleList(
            nn.Linear(sizes.character * width, sizes.filters) for width in sizes.widths
        )
        self.widths = sizes.widths
        self.context = (BiLSTM if architecture == "bilstm" else Alone)(sizes)
        self.output = nn.Linear(self.context.size, num_tags)
        self.crf = CRF(num_tags)

    def emissions(self, batch: Batch, noise: Noise | None = None) -> Tensor:
        """Return scores of every tag for every word, before the CRF: (B, T, K)."""
        scores: Tensor = self.output(self.hidden(batch, noise))
        return scores

    def hidden(self, batch: Batch, noise: Noise | None = None) -> Tensor:
        """Return the input of the output layer: (B, T, H)."""
        hidden: Tensor = self.context(self.embedded(batch, noise), batch.lengths)
        return noise.drop(hidden, "outputs") if noise else hidden

    def embedded(self, batch: Batch, noise: Noise | None = None) -> Tensor:
        """Return the vector of each word without its context: (B, T, D)."""
        words = self.words(noise.words(batch.words) if noise else batch.words)
        characters = self._spell(batch.characters)[batch.forms]
        if noise:
            characters = noise.drop(characters, "characters")
        tokens = torch.cat([words, characters, self.shapes(batch.shapes)], dim=-1)
        return noise.drop(tokens, "inputs") if noise else tokens

    def _spell(self, characters: Tensor) -> Tensor:
        """Return a vector for each form from character windows: (F, C) -> (F, filters * widths)."""
        inside = characters != PADDING
        longest = max(self.widths)
        before = nn.functional.pad(characters, (longest - 1, 0), value=PADDING)
        ends = before.unfold(1, longest, 1)[inside]  # (N, longest): the characters up to each one
        embedded = self.characters(ends).flatten(1)  # (N, longest * D)
        size = embedded.shape[1] // longest
        scores = torch.cat(
            [
                window(embedded[:, -width * size :])
                for width, window in zip(self.widths, self.windows, strict=True)
            ],
            dim=1,
        )
        slots = scores.new_full((*inside.shape, scores.shape[1]), -torch.inf)
        pooled = slots.index_put_((inside,), scores).amax(dim=1)  # over the windows of a form
        return torch.relu(pooled)


class BiLSTM(nn.Module):
    """One LSTM from the left and one from the right."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.size = 2 * sizes.hidden
        self.rightwards = nn.LSTM(sizes.token, sizes.hidden, batch_first=True)
        self.leftwards = nn.LSTM(sizes.token, sizes.hidden, batch_first=True)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Map (B, T, D) to (B, T, 2 * hidden)."""
        steps = torch.arange(tokens.shape[1], device=tokens.device)
        mirrored = lengths.unsqueeze(1) - 1 - steps
        order = torch.where(mirrored >= 0, mirrored, steps).unsqueeze(2)  # padding stays in place
        right = _run(self.rightwards, tokens)
        left = _run(self.leftwards, tokens.gather(1, order.expand_as(tokens)))
        return torch.cat([right, left.gather(1, order.expand_as(left))], dim=2)


def _run(lstm: nn.LSTM, tokens: Tensor) -> Tensor:
    """Run an LSTM in float32, also on a GPU: cuDNN's TF32 has ten bits and errs by 2e-4."""
    if not tokens.is_cuda:
        return cast(Tensor, lstm(tokens)[0])
    with _CUDNN, torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        return cast(Tensor, lstm(tokens)[0])


class Alone(nn.Module):
    """A hidden layer that reads one word at a time."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.size = sizes.hidden
        self.layer = nn.Linear(sizes.token, sizes.hidden)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG002 - BiLSTM's signature
        return torch.relu(self.layer(tokens))


def _table(rows: int, size: int, padding: int | None = None) -> nn.Embedding:
    """Return an embedding of zeros, which `initialise` or a file fills."""
    table: nn.Embedding = nn.Embedding.from_pretrained(  # type: ignore[no-untyped-call]  # torch's
        torch.zeros(rows, size), freeze=False, padding_idx=padding
    )
    return table


def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Fill every parameter from the generator, in place and in the order of the parameters.

    Embeddings are normal with the scale of a unit vector; matrices Glorot uniform, the square ones
    of an LSTM orthogonal; biases 0, but 1 for an LSTM's forget gate (Jozefowicz et al., 2015).
    """
    embeddings = [module for module in network.modules() if isinstance(module, nn.Embedding)]
    tables = {id(module.weight) for module in embeddings}
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if id(parameter) in tables:
                parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)
            else:
                _initialise_layer(name, parameter, generator)
        for module in embeddings:
            if module.padding_idx is not None:
                module.weight[module.padding_idx] = 0.0


def _initialise_layer(name: str, parameter: Tensor, generator: torch.Generator) -> None:
    if parameter.dim() == 1:
        parameter.zero_()
        if "bias_ih" in name:
            _, forget, _, _ = parameter.chunk(4)
            forget.fill_(1.0)
    elif "weight_hh" in name:
        for gate in parameter.chunk(4):
            nn.init.orthogonal_(gate, generator=generator)
    else:
        nn.init.xavier_uniform_(parameter, generator=generator)
