"""Hidden Markov model: smoothed estimates from counts, and the tagger.

Its observations are known forms, and classes of unknown forms. An unknown word belongs to
exactly one class, the most specific that is listed: its shape with its last three letters, two,
one, its shape alone, or "" for all others. So "a word of this class" is an event like a known
word, and p(event | tag) sums to one over all events.

Let an event x be a known word or a class of unknown ones.

    p(t | class) = (n(t, class) + a · p(t | parent class)) / (n(class) + a)      over rare words
    p(t | word)  = (n(t, word) + b · p(t | its class)) / (n(word) + b)
    p(word)      = n(word) / (N + U),   p(unknown) = U / (N + U),   U words were seen once
    p(x | t)     = p(t | x) · p(x) / p(t),      p(t) = Σ_x p(t | x) · p(x)

so that p(x | t) sums to one over the events of every tag. In transitions and the end, c is added to
every count.

Source:
    Brants (2000), section 2.3, for unknown words by their endings, and for Bayes' rule; Good (1953)
    for the share of the unknown.

The folder has config.json, vocabulary.json and model.safetensors. It holds counts, as whole
numbers; the probabilities are computed when it is loaded.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError
from crfviz.taggers.features import SHAPES, form, shape
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.storage import (
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    read_arrays,
    read_header,
    read_json_object,
    read_names,
    require_array,
    require_positive,
    write_arrays,
    write_header,
    write_vocabulary,
)
from crfviz.taggers.tagger import HMM
from crfviz.taggers.textbook import HiddenMarkov
from crfviz.text.schemes import scheme_of

LONGEST_ENDING = 3  # letters
ANY = ""  # the class of all unknown words
HAPAX = 0.5  # added to the hapaxes of each class, so that no class is impossible
EVERY_TAG = 0.1  # added to each tag's count in the class ANY, so that no tag is impossible

Counts = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Events:
    """Known forms, then classes, in id order."""

    words: tuple[str, ...]
    classes: tuple[str, ...]  # ANY is the first, and general ones go before special ones

    def event(self, word: str) -> int:
        """Return the id of a word's event; a word known only in lower case counts as such."""
        known = self._word_ids
        spelled = form(word)
        for candidate in (spelled, spelled.lower()):
            if candidate in known:
                return known[candidate]
        return len(self.words) + self.word_class(spelled)

    def word_class(self, spelled: str) -> int:
        """Return the index in `classes` of the most specific class of a form."""
        return next(
            self._class_ids[name]
            for name in reversed(class_names(spelled))
            if name in self._class_ids
        )

    @cached_property
    def _word_ids(self) -> Mapping[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def _class_ids(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.classes)}


def class_names(spelled: str) -> list[str]:
    """Return all classes of a form, the most general first.

    >>> class_names("Doing")
    ['', 'title', 'title -g', 'title -ng', 'title -ing']
    """
    kind, lower = SHAPES[shape(spelled)], spelled.lower()
    longest = min(LONGEST_ENDING, len(lower) - 1)
    return [ANY, kind, *(f"{kind} -{lower[-n:]}" for n in range(1, longest + 1))]


def parent(name: str) -> str:
    """Return the class one step more general.

    >>> parent("title -ing"), parent("title -g"), parent("title")
    ('title -ng', 'title', '')
    """
    kind, _, ending = name.partition(" -")
    if not ending:
        return ANY
    return f"{kind} -{ending[1:]}" if len(ending) > 1 else kind


@dataclass(frozen=True)
class Smoothing:
    """Strengths of the priors; chosen on dev."""

    classes: float = 2.0  # a: weight of the more general class
    words: float = 0.3  # b: weight of a word's class
    transitions: float = 0.1  # c: added to every count


@dataclass(frozen=True, eq=False)
class TagCounts:
    """Counts of tagged sentences."""

    words: Counts  # (V, K) known forms
    word_classes: NDArray[np.int64]  # (V,) index of each form's class
    classes: Counts  # (C, K) tokens of rare words, in each of their classes
    hapaxes: Counts  # (C,) forms seen once, in their most specific class
    start: Counts  # (K,)
    transitions: Counts  # (K, K)
    end: Counts  # (K,)


def estimate(
    tags: tuple[str, ...], events: Events, counts: TagCounts, smoothing: Smoothing
) -> HiddenMarkov:
    """Return smoothed probabilities; observations are the events, a class as “<name>”."""
    by_class = _by_class(events, counts, smoothing.classes)
    totals = counts.words.sum(axis=1, keepdims=True)
    prior = smoothing.words * by_class[counts.word_classes]
    by_word = (counts.words + prior) / (totals + smoothing.words)
    unknown = counts.hapaxes.sum()
    share = (counts.hapaxes + HAPAX) / (counts.hapaxes + HAPAX).sum()
    weights = np.concatenate([totals[:, 0], unknown * share]) / (totals.sum() + unknown)
    joint = np.concatenate([by_word, by_class]) * weights[:, None]  # (V + C, K)
    leaving = np.column_stack([counts.transitions, counts.end]) + smoothing.transitions
    leaving /= leaving.sum(axis=1, keepdims=True)
    start = counts.start + smoothing.transitions
    return HiddenMarkov(
        states=tags,
        observations=(*events.words, *(f"<{name}>" for name in events.classes)),
        start=start / start.sum(),
        transitions=leaving[:, :-1],
        end=leaving[:, -1],
        emissions=(joint / joint.sum(axis=0)).T,
    )


def _by_class(events: Events, counts: TagCounts, weight: float) -> Counts:
    """Return p(tag | class), (C, K); parents precede their classes in `events`."""
    ids = {name: index for index, name in enumerate(events.classes)}
    by_class = np.empty_like(counts.classes)
    for index, name in enumerate(events.classes):
        row = counts.classes[index]
        if name == ANY:
            by_class[index] = (row + EVERY_TAG) / (row + EVERY_TAG).sum()
            continue
        above = parent(name)
        while above not in ids:
            above = parent(above)
        by_class[index] = (row + weight * by_class[ids[above]]) / (row.sum() + weight)
    return by_class


@dataclass(frozen=True, eq=False)
class CountedHmm:
    """Contents of the model folder of an HMM."""

    tags: tuple[str, ...]
    events: Events
    counts: TagCounts
    smoothing: Smoothing


class HmmTagger(SentenceTagger):
    """A counted HMM from a model folder."""

    family = HMM
    probabilistic = True

    def __init__(self, folder: Path) -> None:
        model = load_hmm(folder)
        super().__init__(folder, model.tags, scheme_of(model.tags))
        self.events = model.events
        self.chain = estimate(model.tags, model.events, model.counts, model.smoothing)

    def _score(self, words: tuple[str, ...]) -> Potentials:
        return self.chain.potentials([self.events.event(word) for word in words], words)


def save_hmm(folder: Path, model: CountedHmm) -> None:
    """Write the three files of the folder, and create it if needed."""
    write_header(folder, HMM, {"tags": list(model.tags), "smoothing": asdict(model.smoothing)})
    write_vocabulary(folder, {"words": model.events.words, "classes": model.events.classes})
    arrays = {name: table.astype(np.uint32) for name, table in vars(model.counts).items()}
    arrays["words"] = _narrow(arrays["words"])
    arrays["classes"] = _narrow(arrays["classes"])
    write_arrays(folder / WEIGHTS_FILE, arrays)


def load_hmm(folder: Path) -> CountedHmm:
    """Read and check the model folder of an HMM."""
    path, content, tags = read_header(folder, HMM)
    events = _events(folder / VOCABULARY_FILE)
    weights = folder / WEIGHTS_FILE
    arrays = read_arrays(weights)
    K, V, C = len(tags), len(events.words), len(events.classes)
    shapes: dict[str, tuple[int, ...]] = {
        "words": (V, K),
        "word_classes": (V,),
        "classes": (C, K),
        "hapaxes": (C,),
        "start": (K,),
        "transitions": (K, K),
        "end": (K,),
    }
    counts: dict[str, Any] = {}
    for name, expected in shapes.items():
        table = require_array(weights, arrays, name, expected, "uint")
        counts[name] = table.astype(np.int64 if name == "word_classes" else np.float64)
    if V and arrays["word_classes"].max() >= C:
        raise ModelError(f"{weights}: tensor 'word_classes' must be below {C}")
    return CountedHmm(tags, events, TagCounts(**counts), _smoothing(path, content.get("smoothing")))


def _events(path: Path) -> Events:
    content = read_json_object(path)
    words = read_names(path, content, "words", least=0)
    classes = content.get("classes")
    if not isinstance(classes, list) or classes[:1] != [ANY]:
        raise ModelError(f"{path}: field 'classes' must be a list that begins with an empty text")
    rest = read_names(path, {"classes": classes[1:]}, "classes", least=0)
    places = {name: index for index, name in enumerate(rest)}
    for index, name in enumerate(rest):
        if places.get(parent(name), -1) > index:
            raise ModelError(f"{path}: field 'classes' must list {parent(name)!r} before {name!r}")
    return Events(words, (ANY, *rest))


def _smoothing(path: Path, value: object) -> Smoothing:
    names = [field.name for field in fields(Smoothing)]
    if not isinstance(value, dict) or set(value) != set(names):
        raise ModelError(f"{path}: field 'smoothing' must have the keys {', '.join(names)}")
    return Smoothing(
        **{
            name: require_positive(path, f"smoothing.{name}", number)
            for name, number in value.items()
        }
    )


def _narrow(table: Any) -> Any:  # noqa: ANN401 - NumPy's dtypes
    """Return the table as uint16 if all counts fit."""
    return table.astype(np.uint16) if table.max(initial=0) <= np.iinfo(np.uint16).max else table
