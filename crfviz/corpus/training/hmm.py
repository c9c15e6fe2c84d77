"""Training of an HMM: counts from tagged files (`python -m crfviz train --family hmm`)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from tqdm import tqdm

from crfviz.chain.baum_welch import MarkovCounts
from crfviz.chain.decoding.viterbi import best_path
from crfviz.corpus.metrics import accuracy
from crfviz.corpus.training.labelled import Sources, read_train_and_dev, write_training_lexicon
from crfviz.taggers.features import form
from crfviz.taggers.hmm import (
    ANY,
    CountedHmm,
    Counts,
    Events,
    HmmTagger,
    Smoothing,
    TagCounts,
    class_names,
    save_hmm,
)
from crfviz.taggers.storage import HISTORY_FILE, write_json
from crfviz.text.sentences import Sentence


@dataclass(frozen=True)
class HmmRecipe:
    """Hyperparameters of a run, chosen on dev."""

    rare: int = 10  # forms seen at most so often are the model of unknown words
    least_class: int = 3  # minimum tokens of rare forms in a class
    smoothing: Smoothing = field(default_factory=Smoothing)


def train_hmm(recipe: HmmRecipe, sources: Sources, out: Path) -> CountedHmm:
    """Count, and write the folder `out`, with the token accuracy on dev if given."""
    train, dev, tags = read_train_and_dev(sources)
    stored = count(tags, train, recipe)
    save_hmm(out, stored)
    record: dict[str, object] = {"recipe": asdict(recipe)}
    if dev:
        tagger = HmmTagger(out)
        paths = [
            best_path(tagger.potentials(s.tokens))
            for s in tqdm(dev, unit=" sentences", disable=None)
        ]
        guess = [[tags[tag] for tag in path] for path in paths]
        record["dev"] = accuracy([s.tags or () for s in dev], guess).tokens.value
    write_json(out / HISTORY_FILE, record)
    write_training_lexicon(sources, out)
    return stored


def count(tags: tuple[str, ...], sentences: Sequence[Sentence], recipe: HmmRecipe) -> CountedHmm:
    """Return the counts of an HMM over `tags`."""
    ids = {tag: index for index, tag in enumerate(tags)}
    forms = sorted({form(word) for sentence in sentences for word in sentence.tokens})
    numbers = {spelled: index for index, spelled in enumerate(forms)}
    counted = MarkovCounts.zeros(len(tags), len(forms))
    for sentence in sentences:
        symbols = np.array([numbers[form(word)] for word in sentence.tokens])
        counted.add_path(symbols, [ids[tag] for tag in sentence.tags or ()])
    words = dict(zip(forms, counted.emissions.T, strict=True))
    classes = _classes(words, recipe)
    events = Events(tuple(forms), tuple(classes))
    singletons = Counter(events.word_class(word) for word, row in words.items() if row.sum() == 1)
    counts = TagCounts(
        words=counted.emissions.T,
        word_classes=np.array([events.word_class(word) for word in events.words]),
        classes=np.array(list(classes.values())),
        hapaxes=np.array([float(singletons[index]) for index in range(len(classes))]),
        start=counted.start,
        transitions=counted.transitions,
        end=counted.end,
    )
    return CountedHmm(tags, events, counts, recipe.smoothing)


def _classes(words: Mapping[str, Counts], recipe: HmmRecipe) -> dict[str, Counts]:
    """Return tag counts of the classes of rare forms, general classes first."""
    by_class: dict[str, Counts] = {ANY: np.zeros_like(next(iter(words.values())))}
    for word, row in words.items():
        if row.sum() <= recipe.rare:
            for name in class_names(word):
                by_class[name] = by_class.get(name, 0.0) + row
    kept = [name for name in by_class if name == ANY or by_class[name].sum() >= recipe.least_class]
    return {name: by_class[name] for name in sorted(kept, key=lambda name: (len(name), name))}
