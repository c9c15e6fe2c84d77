"""Training of the averaged perceptron.

If the decoded path is not the gold path, the weights of the gold path's features increase by one
and those of the decoded path's features decrease by one. The result is the mean of the weights over
all sentences seen,

    average = weights - moved / clock,    moved += clock * change  at every change,

which needs no work for weights that do not change.

With Viterbi updates, whole paths are compared: the update is structured. With greedy updates, each
decision is separate, and the previous tag is the chosen one, right or wrong.

A pass over twelve thousand sentences takes seconds, so there are no checkpoints: an interrupted run
starts again.

Source:
    Collins (2002), figures 1 and 2; the clock is from Daumé (2006), section 2.1.2.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from crfviz.chain.decoding.viterbi import first_best_path
from crfviz.chain.engine.compiled import long_work
from crfviz.corpus.training.cross_validation import cross_validated
from crfviz.corpus.training.labelled import Sources, read_train_and_dev, write_training_lexicon
from crfviz.exceptions import UnknownTagError
from crfviz.taggers.perceptron import (
    Floats,
    Keys,
    Perceptron,
    Rows,
    feature_keys,
    rows_of,
    save_perceptron,
    word_keys,
)
from crfviz.taggers.storage import HISTORY_FILE, write_json
from crfviz.text.files import abbreviate
from crfviz.text.sentences import Sentence

SHOW_EVERY = 200  # sentences between two updates of the progress bar

TagIds = list[int]


@dataclass(frozen=True)
class PerceptronRecipe:
    """Hyperparameters of a run; equal recipes and data give equal weights."""

    updates: str = "viterbi"  # decoder during training, or "greedy"
    seed: int = 0  # seed of the order of the sentences
    epochs: int = 10  # dev accuracy is flat from the eighth on
    min_features: int = 1  # features seen once add 0.3 points of dev sentence accuracy
    min_words: int = 3  # a word has K x K weights, too many for rare words
    prune: float = 0.3  # smaller weights are dropped at the end; dev results do not change


def train_perceptron(recipe: PerceptronRecipe, sources: Sources, out: Path) -> Perceptron:
    """Train a perceptron; write the folder `out` with the accuracy of each epoch.

    Without dev files, it is evaluated by five-fold cross-validation on the training files.
    """
    train, dev, tags = read_train_and_dev(sources)
    started = time.perf_counter()
    with tqdm(total=recipe.epochs * len(train), unit=" sentences", disable=None) as bar:
        model, history = _trained(recipe, train, tags, dev, partial(_show, bar))
    record: dict[str, object] = {"recipe": asdict(recipe), "epochs": history}
    if not dev:
        fitted = cross_validated(train, lambda part: fit_perceptron(recipe, part, tags))
        record["cross_validation"] = asdict(fitted)
    save_perceptron(out, model)
    record["seconds"] = round(time.perf_counter() - started, 1)
    write_json(out / HISTORY_FILE, record)
    write_training_lexicon(sources, out)
    return model


def fit_perceptron(
    recipe: PerceptronRecipe,
    sentences: Sequence[Sentence],
    tags: tuple[str, ...],
    report: Callable[[float], None] = lambda _: None,
) -> Perceptron:
    """Return the averaged weights after all epochs.

    Args:
        recipe: the hyperparameters.
        sentences: tagged sentences, at least one.
        tags: K tags, in id order; may include tags that no sentence has.
        report: called with the finished share of the sentences; an exception in it ends the run.

    Raises:
        UnknownTagError: a sentence has a tag that is not in `tags`.
    """
    total = recipe.epochs * len(sentences)
    return _trained(recipe, sentences, tags, (), lambda done, *_: report(done / total))[0]


History = list[dict[str, float]]
Show = Callable[[int, float, History], None]  # sentences seen, share of words right, epochs


@long_work()
def _trained(
    recipe: PerceptronRecipe,
    train: Sequence[Sentence],
    tags: tuple[str, ...],
    dev: Sequence[Sentence],
    show: Show,
) -> tuple[Perceptron, History]:
    keys = _keys(train)
    known = _known(recipe, keys, tags)
    numbered, judged = _numbered(train, keys, known), _numbered(dev, _keys(dev), known)
    learner = Learner(len(known.tags), len(known.features), len(known.words), recipe.updates)
    generator = np.random.default_rng(recipe.seed)
    history: History = []
    for _ in range(recipe.epochs):
        wrong = words = 0
        for index in generator.permutation(len(numbered)):
            wrong += learner.see(numbered[index])
            words += len(numbered[index].tags)
            if learner.clock % SHOW_EVERY == 0:
                show(learner.clock, 1 - wrong / words, history)
        history.append(_reached(learner, judged, 1 - wrong / words))
    model = learner.average(known)
    for table in (model.emissions, model.word_transitions):
        table[np.abs(table) < recipe.prune] = 0.0
    return model, history


def _show(bar: tqdm[NoReturn], done: int, right: float, history: History) -> None:
    dev = f"{100 * history[-1]['dev']:.2f}" if history and "dev" in history[-1] else "-"
    figures = {"epoch": len(history) + 1, "right": f"{100 * right:.2f}", "dev": dev}
    bar.set_postfix(figures, refresh=False)
    bar.update(done - bar.n)


def _keys(sentences: Sequence[Sentence]) -> list[tuple[Keys, Keys]]:
    return [(feature_keys(s.tokens), word_keys(s.tokens)) for s in sentences]


def _known(
    recipe: PerceptronRecipe, keys: Sequence[tuple[Keys, Keys]], tags: tuple[str, ...]
) -> Known:
    features = _frequent([of_features for of_features, _ in keys], recipe.min_features)
    words = _frequent([of_words for _, of_words in keys], recipe.min_words)
    return Known(tags, recipe.updates, features, words)


def _frequent(keys: Sequence[Keys], least: int) -> Keys:
    distinct, counts = np.unique(np.concatenate([k.ravel() for k in keys]), return_counts=True)
    kept: Keys = distinct[counts >= least]
    return kept


def _numbered(
    sentences: Sequence[Sentence], keys: Sequence[tuple[Keys, Keys]], known: Known
) -> list[Numbered]:
    ids = {tag: index for index, tag in enumerate(known.tags)}
    unknown = {tag for sentence in sentences for tag in sentence.tags or ()} - ids.keys()
    if unknown:
        raise UnknownTagError(
            f"expected one of {', '.join(known.tags)}, got the tag {abbreviate(min(unknown))}"
        )
    return [
        Numbered(
            features=rows_of(of_features, known.features),
            words=rows_of(of_words, known.words),
            tags=[ids[tag] for tag in sentence.tags or ()],
        )
        for sentence, (of_features, of_words) in zip(sentences, keys, strict=True)
    ]


def _reached(learner: Learner, dev: Sequence[Numbered], train: float) -> dict[str, float]:
    if not dev:
        return {"train": train}
    tables = [
        weights.average(learner.clock)
        for weights in (learner.emissions, learner.word_transitions, learner.transitions)
    ]
    right = [
        [a == b for a, b in zip(learner.decode(*scores(s, *tables)), s.tags, strict=True)]
        for s in dev
    ]
    return {
        "train": train,
        "dev": sum(map(sum, right)) / sum(map(len, right)),
        "dev_sentences": sum(map(all, right)) / len(right),
    }


@dataclass(frozen=True, eq=False)
class Numbered:
    """One sentence as row numbers of the weight tables, with its gold path."""

    features: Rows  # (T, features); the table's last row is for unknown features
    words: Rows  # (T,)
    tags: TagIds  # T tag ids


@dataclass(frozen=True, eq=False)
class Known:
    """The features and tags that have weights."""

    tags: tuple[str, ...]  # K, in id order
    updates: str  # "viterbi" or "greedy"
    features: Keys  # (N,) in ascending order
    words: Keys  # (W,) in ascending order


@dataclass(eq=False)
class Averaged:
    """A table of weights, and the sums for its average."""

    table: Floats  # the current weights
    moved: NDArray[np.float64]  # sum of clock * change

    @classmethod
    def zeros(cls, *shape: int) -> Averaged:
        return cls(np.zeros(shape, dtype=np.float32), np.zeros(shape))

    def move(self, cell: tuple[object, ...], change: float, clock: int) -> None:
        """Add `change` to one or several cells, once even if a row index is repeated."""
        self.table[cell] += change  # type: ignore[index]  # NumPy's stubs want literal tuples
        self.moved[cell] += change * clock  # type: ignore[index]  # likewise

    def average(self, clock: int) -> Floats:
        """Return the mean of the weights over all sentences seen."""
        return (self.table - self.moved / max(clock, 1)).astype(np.float32)


class Learner:
    """All weights during training, initially zero; unknown features' rows stay zero."""

    def __init__(self, num_tags: int, num_features: int, num_words: int, updates: str) -> None:
        K = num_tags
        self.emissions = Averaged.zeros(num_features + 1, K)
        self.word_transitions = Averaged.zeros(num_words + 1, K, K)
        # START is the last row, END the last column
        self.transitions = Averaged.zeros(K + 1, K + 1)
        self.outside = K
        self.structured = updates == "viterbi"
        self.decode = first_best_path if self.structured else decode_greedily
        self.clock = 0  # sentences seen

    def see(self, sentence: Numbered) -> int:
        """Decode a sentence, update the weights, and return the number of wrong words."""
        tables = (self.emissions, self.word_transitions, self.transitions)
        path = self.decode(*scores(sentence, *(weights.table for weights in tables)))
        wrong = sum(a != b for a, b in zip(path, sentence.tags, strict=True))
        if wrong:
            self._move(sentence, path)
            for weights in (self.emissions, self.word_transitions):
                weights.table[-1] = 0.0
                weights.moved[-1] = 0.0
        self.clock += 1
        return wrong

    def average(self, known: Known) -> Perceptron:
        """Return the averaged weights, with the tags and keys of `known`."""
        transitions = self.transitions.average(self.clock)
        return Perceptron(
            **vars(known),
            emissions=self.emissions.average(self.clock),
            word_transitions=self.word_transitions.average(self.clock),
            transitions=transitions[:-1, :-1],
            start=transitions[-1, :-1],
            end=transitions[:-1, -1],
        )

    def _move(self, sentence: Numbered, path: TagIds) -> None:
        right = sentence.tags
        for t in range(len(right)):
            if path[t] != right[t]:
                rows = sentence.features[t]
                self.emissions.move((rows, right[t]), 1.0, self.clock)
                self.emissions.move((rows, path[t]), -1.0, self.clock)
        steps = [self.outside, *right, self.outside], [self.outside, *path, self.outside]
        for t in range(len(right) + self.structured):  # greedy decisions exclude the end
            before = steps[0][t] if self.structured else steps[1][t]
            good, bad = (before, steps[0][t + 1]), (steps[1][t], steps[1][t + 1])
            if good != bad:
                self._step(sentence, t, good, 1.0)
                self._step(sentence, t, bad, -1.0)

    def _step(self, sentence: Numbered, t: int, step: tuple[int, int], change: float) -> None:
        """Change the weights of the step into word t; START and END steps have no word weights."""
        self.transitions.move(step, change, self.clock)
        if 0 < t < len(sentence.tags):
            self.word_transitions.move((sentence.words[t], *step), change, self.clock)


Decode = Callable[[Floats, Floats, Floats, Floats], TagIds]


def scores(
    sentence: Numbered,
    emissions: Floats,
    word_transitions: Floats,
    transitions: Floats,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return emissions (T, K), steps (T-1, K, K), start and end (K,) of a sentence."""
    return (
        emissions[sentence.features].sum(axis=1),
        transitions[:-1, :-1] + word_transitions[sentence.words[1:]],
        transitions[-1, :-1],
        transitions[:-1, -1],
    )


def decode_greedily(emissions: Floats, steps: Floats, start: Floats, end: Floats) -> TagIds:
    """Return the tags of left-to-right decoding."""
    emissions = emissions.copy()
    emissions[-1] += end
    path = [int((start + emissions[0]).argmax())]
    for step, emission in zip(steps, emissions[1:], strict=True):
        path.append(int((step[path[-1]] + emission).argmax()))
    return path
