"""`python -m crfviz train --family perceptron`: from tagged files to a perceptron's folder.

A pass over twelve thousand sentences takes seconds, so there is no checkpoint: a run that was cut
off is begun again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from tqdm import tqdm

from crfviz.corpus.training.labelled import Sources, order_tags, tagged_sentences
from crfviz.corpus.training.perceptron_learner import Learner, Numbered, scores
from crfviz.exceptions import FormatError
from crfviz.taggers.perceptron.features import Keys, feature_keys, rows_of, word_keys
from crfviz.taggers.perceptron.storage import Perceptron, save_perceptron
from crfviz.text.sentences import Sentence

HISTORY_FILE = "training.json"
SHOW_EVERY = 200  # sentences between two figures of the progress bar


@dataclass(frozen=True)
class PerceptronRecipe:
    """Every number of a run; two runs with equal recipes and data give equal weights."""

    updates: str = "viterbi"  # or "greedy": how sentences are decoded while training
    seed: int = 0  # of the order of the sentences
    epochs: int = 10  # dev is flat from the eighth on
    min_features: int = 1  # on dev, features seen once are worth 0.3 points of sentences
    min_words: int = 3  # "previous tag x word" has K x K weights a word: too many for rare ones
    prune: float = 0.3  # smaller weights are dropped at the end; on dev nothing changes


def train_perceptron(recipe: PerceptronRecipe, sources: Sources, out: Path) -> Perceptron:
    """Train a perceptron and write it, with what each epoch reached.

    Args:
        recipe: every number of the run.
        sources: the files; only how to read them is asked of it.
        out: the model folder to write.

    Raises:
        FormatError: a file cannot be read.
    """
    train, dev = tagged_sentences(sources, sources.train), tagged_sentences(sources, sources.dev)
    known = _empty(recipe, train)
    numbered, judged = _numbered(train, known), _numbered(dev, known)
    learner = Learner(len(known.tags), len(known.features), len(known.words), recipe.updates)
    generator = np.random.default_rng(recipe.seed)
    history: list[dict[str, float]] = []
    started = time.perf_counter()
    with tqdm(total=recipe.epochs * len(numbered), unit=" sentences") as bar:
        for _ in range(recipe.epochs):
            wrong = words = 0
            for index in generator.permutation(len(numbered)):
                wrong += learner.see(numbered[index])
                words += len(numbered[index].tags)
                if learner.clock % SHOW_EVERY == 0:
                    _show(bar, 1 - wrong / words, history)
            history.append(_reached(learner, judged, 1 - wrong / words))
            bar.update(learner.clock - bar.n)
    seconds = time.perf_counter() - started
    model = _pruned(learner.average(known), recipe.prune)
    save_perceptron(out, model)
    record = {"recipe": asdict(recipe), "epochs": history, "seconds": round(seconds, 1)}
    (out / HISTORY_FILE).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return model


def _show(bar: tqdm[NoReturn], right: float, history: Sequence[dict[str, float]]) -> None:
    dev = f"{100 * history[-1]['dev']:.2f}" if history else "-"
    figures = {"epoch": len(history) + 1, "right": f"{100 * right:.2f}", "dev": dev}
    bar.set_postfix(figures, refresh=False)
    bar.update(SHOW_EVERY)


def _empty(recipe: PerceptronRecipe, sentences: Sequence[Sentence]) -> Perceptron:
    """The tags and the features that will have weights, all zero yet."""
    tags = order_tags([tag for sentence in sentences for tag in sentence.tags or ()])
    features = _frequent([feature_keys(s.tokens) for s in sentences], recipe.min_features)
    words = _frequent([word_keys(s.tokens) for s in sentences], recipe.min_words)
    K = len(tags)
    zeros = [
        np.zeros(shape, dtype=np.float32)
        for shape in ((len(features) + 1, K), (len(words) + 1, K, K), (K, K), K, K)
    ]
    return Perceptron(
        tags=tags,
        updates=recipe.updates,
        features=features,
        words=words,
        emissions=zeros[0],
        word_transitions=zeros[1],
        transitions=zeros[2],
        start=zeros[3],
        end=zeros[4],
    )


def _frequent(keys: Sequence[Keys], least: int) -> Keys:
    distinct, counts = np.unique(np.concatenate([k.ravel() for k in keys]), return_counts=True)
    kept: Keys = distinct[counts >= least]
    return kept


def _numbered(sentences: Sequence[Sentence], known: Perceptron) -> list[Numbered]:
    ids = {tag: index for index, tag in enumerate(known.tags)}
    unknown = {tag for sentence in sentences for tag in sentence.tags or ()} - ids.keys()
    if unknown:
        raise FormatError(f"tag {min(unknown)!r} is in the dev files but not in the train files")
    return [
        Numbered(
            features=rows_of(feature_keys(sentence.tokens), known.features),
            words=rows_of(word_keys(sentence.tokens), known.words),
            tags=[ids[tag] for tag in sentence.tags or ()],
        )
        for sentence in sentences
    ]


def _reached(learner: Learner, dev: Sequence[Numbered], train: float) -> dict[str, float]:
    """Words right while training, and words and sentences right on dev by the averaged weights."""
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


def _pruned(model: Perceptron, least: float) -> Perceptron:
    tables = model.emissions, model.word_transitions
    for table in tables:
        table[np.abs(table) < least] = 0.0
    return model
