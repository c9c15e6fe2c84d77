"""A hidden Markov model that was counted on tagged sentences, from a model folder.

The folder has config.json, vocabulary.json and model.safetensors. It holds counts, as whole
numbers; the probabilities are worked out when it is loaded.
"""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.hmm.estimate import ANY, Events, Smoothing, TagCounts, estimate, parent
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
from crfviz.text.schemes import scheme_of


@dataclass(frozen=True, eq=False)
class CountedHmm:
    """What the folder holds."""

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
        """The logarithms of the probabilities."""
        return self.chain.potentials([self.events.event(word) for word in words], words)


def save_hmm(folder: Path, model: CountedHmm) -> None:
    """Write the three files of the folder, which is made if need be."""
    write_header(folder, HMM, {"tags": list(model.tags), "smoothing": asdict(model.smoothing)})
    write_vocabulary(folder, {"words": model.events.words, "classes": model.events.classes})
    arrays = {name: table.astype(np.uint32) for name, table in vars(model.counts).items()}
    arrays["words"] = _narrow(arrays["words"])
    arrays["classes"] = _narrow(arrays["classes"])
    write_arrays(folder / WEIGHTS_FILE, arrays)


def load_hmm(folder: Path) -> CountedHmm:
    """Read and check the folder."""
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
    for name, shape in shapes.items():
        table = require_array(weights, arrays, name, shape, "uint")
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
    """The table in two bytes a count where they suffice."""
    return table.astype(np.uint16) if table.max(initial=0) <= np.iinfo(np.uint16).max else table
