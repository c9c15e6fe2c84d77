"""Typed texts with their words, tags, probabilities and places."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.chain.forward_backward import posteriors
from crfviz.chain.notebook_repr import NotebookRepr
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, EmptySentenceError, ModelError
from crfviz.text.files import abbreviate, abbreviate_value


@dataclass(frozen=True, repr=False)
class Tagged(NotebookRepr):
    """A text of T words with the tags of its best path."""

    text: str
    words: list[str]  # T
    tags: list[str]  # T names, as Viterbi chooses them
    probabilities: list[float]  # T, p(tag | text) of each: its marginal, in [0, 1]
    offsets: list[tuple[int, int]]  # T places, `text[start:end] == word`


def tag_texts(
    texts: Sequence[str],
    split: Callable[[str], list[str]],
    score: Callable[[list[list[str]]], list[Potentials]],
) -> list[Tagged]:
    """Return each text tagged, all of them as one batch; see `Tagger.tag`.

    Args:
        texts: any number.
        split: gives the words of a text.
        score: gives the potentials of many sentences.
    """
    if not isinstance(texts, Sequence):
        raise CrfvizError(f"expected a text or a list of texts, got {abbreviate_value(texts)}")
    sentences = [_words(split, number, text) for number, text in enumerate(texts, start=1)]
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


def _words(split: Callable[[str], list[str]], number: int, text: object) -> list[str]:
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
    """Return where the words stand: a word begins after blanks only, so the next place is its."""
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
