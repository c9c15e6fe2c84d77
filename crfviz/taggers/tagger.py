"""The protocol of taggers (words in, potentials out), and the tagging of typed texts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from crfviz.chain import validation
from crfviz.chain.decoding.viterbi import best_paths
from crfviz.chain.forward_backward import posteriors
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, EmptySentenceError, ModelError
from crfviz.taggers.examples import Example
from crfviz.text.files import abbreviate, abbreviate_value
from crfviz.text.sentences import Sentence
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import Token

# Families of taggers, by the kind of their scores.
CRF = "crf"  # trained so that exp(score - log Z) is a probability
PERCEPTRON = "perceptron"  # trained so that the best path is the gold path
HMM = "hmm"  # logarithms of p(tag | previous tag) and p(word | tag)
MEMM = "memm"  # logarithms of p(tag | previous tag, word)

Words = Sequence[str] | Sequence[Token]


@dataclass(frozen=True, repr=False)
class Tagged(NotebookRepr):
    """A text of T words with the tags of its best path."""

    text: str
    words: list[str]  # T
    tags: list[str]  # T names, as Viterbi chooses them
    probabilities: list[float]  # T, p(tag | text) of each: its marginal, in [0, 1]
    offsets: list[tuple[int, int]]  # T places, `text[start:end] == word`


class Tagger(Protocol):
    """Words in, potentials out; immutable after loading, so threads may share it."""

    def __hash__(self) -> int:
        """Hash the object, so that caches can be keyed by a tagger."""

    @property
    def name(self) -> str:
        """The name in the list of models."""

    @property
    def folder(self) -> Path:
        """The folder that the tagger was loaded from."""

    @property
    def tags(self) -> tuple[str, ...]:
        """K tag names, in id order."""

    @property
    def scheme(self) -> str | None:
        """BIO if decoding obeys the rules of BIO, else None."""

    @property
    def device(self) -> str:
        """The device that scores the words: cpu or cuda."""

    @property
    def family(self) -> str:
        """CRF, PERCEPTRON, HMM or MEMM."""

    @property
    def probabilistic(self) -> bool:
        """Return whether exp(score - log Z) is meant to be the probability of a path."""

    @property
    def observations(self) -> tuple[str, ...] | None:
        """The words of a textbook chain; None if any word is allowed."""

    def split(self, text: str) -> list[str]:
        """Split a typed text into the words that this tagger expects."""

    def reads(self, text: str) -> bool:
        """Return whether the tagger has scores for a typed text.

        Textbook chains know only a few words, and uploaded scores only a few sentences.
        """

    def potentials(self, tokens: Words, *, constrained: bool = True) -> Potentials:
        """Return the potentials of one sentence, float64 on the CPU, temperature included.

        With `constrained`, transitions and starts that the scheme forbids are -inf.

        Raises:
            EmptySentenceError: the sentence has no words.
            CrfvizError: `tokens` is a text that was not split into words.
        """

    def potentials_batch(
        self, sentences: Sequence[Words], *, constrained: bool = True
    ) -> list[Potentials]:
        """Return the potentials of many sentences, each as `potentials` gives them within 1e-4."""

    @overload
    def tag(self, text: str) -> Tagged: ...

    @overload
    def tag(self, text: list[str] | tuple[str, ...]) -> list[Tagged]: ...

    def tag(self, text: str | list[str] | tuple[str, ...]) -> Tagged | list[Tagged]:
        """Return the words of a text with their tags; for a list of texts, a list of these.

        If the tagger is not `probabilistic`, the probabilities are those of a CRF with its
        scores.

        Raises:
            EmptySentenceError: a text has no words.
            UnknownObservationError: the tagger has no scores for a text, see `reads`.
            NoPathError: every path of a text is forbidden.
        """

    def examples(self) -> list[Example]:
        """Return short example sentences for this tagger, in the order to show them."""

    def tagged(self) -> Sequence[Sentence]:
        """Return the gold sentences that come with the tagger; most taggers have none."""

    def card(self) -> str:
        """Return the card, Markdown with a title; empty if there is none.

        Raises:
            ModelError: the card cannot be read.
        """


class Contribution(NamedTuple):
    """The contribution of one feature to the emissions of a word."""

    name: str
    words: tuple[int, ...]  # positions of the words that it looks at
    scores: NDArray[np.float64]  # (K,) nats


@runtime_checkable
class Additive(Protocol):
    """A tagger whose emissions are sums over features."""

    def contributions(self, words: Sequence[str], position: int) -> list[Contribution]:
        """Return the features of a word; their scores add up to its emissions."""


def words_of(tokens: Words) -> tuple[str, ...]:
    """Return the words of a sentence, given as strings or tokens.

    Raises:
        CrfvizError: it is a text that was not split, or an item is not a word.
    """
    if isinstance(tokens, str):
        raise CrfvizError(
            f'expected a list of words, such as ["These", "look", "fine"], got the text '
            f"{abbreviate(tokens)}: split it first, with `tagger.split` or `crfviz.tokenize`"
        )
    if isinstance(tokens, list | tuple):
        tokens = [token.text if isinstance(token, Token) else token for token in tokens]
    return validation.words(tokens)


def sentences_of(sentences: Iterable[Words]) -> list[tuple[str, ...]]:
    """Return the words of many sentences.

    Raises:
        CrfvizError: `sentences`, or one of them, is a text that was not split.
    """
    if isinstance(sentences, str):
        raise CrfvizError(
            f"expected a list of sentences, each a list of words, "
            f"got the text {abbreviate(sentences)}"
        )
    return [words_of(sentence) for sentence in sentences]


def tag_texts(
    texts: Sequence[str],
    split: Callable[[str], list[str]],
    score: Callable[[list[list[str]]], list[Potentials]],
) -> list[Tagged]:
    """Tag texts as one batch; see `Tagger.tag`.

    Args:
        texts: any number.
        split: returns the words of a text.
        score: returns the potentials of many sentences.
    """
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise CrfvizError(f"expected a text or a list of texts, got {abbreviate_value(texts)}")
    texts = validation.items("texts", texts)
    sentences = [_text_words(split, number, text) for number, text in enumerate(texts, start=1)]
    if not sentences:
        return []
    offsets = [_offsets(*each) for each in zip(texts, sentences, strict=True)]
    chains = score(sentences)
    found = zip(
        texts, sentences, offsets, chains, best_paths(chains), posteriors(chains), strict=True
    )
    return [
        Tagged(
            text=text,
            words=words,
            tags=[chain.tag_names[tag] for tag in path],
            probabilities=tables.marginals[range(len(path)), path].tolist(),
            offsets=places,
        )
        for text, words, places, chain, path, tables in found
    ]


def splitter_of(tagger: Tagger) -> Split:
    """Return a function that yields the words of a text, as the tagger splits it, with offsets."""

    def split(text: str) -> Iterator[Token]:
        words = tagger.split(text)
        for word, (start, end) in zip(words, _offsets(text, words), strict=True):
            yield Token(word, start, end)

    return split


def _text_words(split: Callable[[str], list[str]], number: int, text: object) -> list[str]:
    if not isinstance(text, str):
        raise CrfvizError(
            f"expected a text or a list of texts, got {abbreviate_value(text)} as text {number}"
        )
    words = split(text)
    if not words:
        raise EmptySentenceError(
            f"expected at least one word, got {abbreviate(text)} as text {number}"
        )
    return words


def _offsets(text: str, words: list[str]) -> list[tuple[int, int]]:
    """Return the offsets of the words; each is searched from the end of the word before."""
    offsets, end = list[tuple[int, int]](), 0
    for number, word in enumerate(words, start=1):
        start = text.find(word, end)
        if start < 0:
            raise ModelError(
                f"split(text) must return the words as they stand in the text; "
                f"{abbreviate(word)} (number {number}) is not in it after character {end}"
            )
        end = start + len(word)
        offsets.append((start, end))
    return offsets
