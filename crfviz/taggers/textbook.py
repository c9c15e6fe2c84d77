"""Textbook chains: hand-written HMMs and MEMMs in JSON, and their tagger.

    hidden       p(y, x) = p(y_1) · Π p(y_t | y_{t-1}) · p(END | y_T) · Π p(x_t | y_t)
    conditional  p(y | x) = p(y_1 | x_1) · Π p(y_t | y_{t-1}, x_t)

The logarithms of the hidden model are the potentials of a chain whose Z is p(x). Without END, a
sentence may stop anywhere at no cost. Each factor of the conditional model, a maximum-entropy
Markov model, sums to one over the tags, whatever the observation. So a state with one successor
passes on all its mass, which is label bias, and Z is always one.

Source:
    Rabiner (1989), section II, whose B are the emissions here; McCallum, Freitag and Pereira
    (2000); Lafferty, McCallum and Pereira (2001), section 2.

`models/textbook/NAME.json` holds one chain, checked field by field; the README there describes the
fields. The words of such a tagger are the names of the observations.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.baum_welch import Parameters
from crfviz.chain.edits import require_no_border
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import distribution_problem
from crfviz.exceptions import CrfvizError, ModelError, UnknownObservationError, errors_at
from crfviz.taggers.examples import Example, example_of
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.storage import (
    CONFIG_FILE,
    LARGEST,
    read_choice,
    read_json_object,
    read_names,
    write_json,
)
from crfviz.taggers.tagger import HMM, MEMM
from crfviz.text.files import abbreviate

Probabilities = NDArray[np.float64]
TEXTBOOK = "textbook"  # folder, and prefix of the model names
TEXTS = ("title", "about", "source")
CHAIN_FIELDS = ("states", "observations")  # by which a chain is recognised
CHAIN_FILE = "chain.json"  # in the folder of an uploaded chain, beside a config.json
UPLOADED = ("Uploaded chain", "Its numbers are those of the file.", "the uploaded file")


@dataclass(frozen=True, eq=False)
class Markov(ABC):
    """Probabilities of tags and observations, checked.

    Raises:
        ModelError: a shape is wrong, a number is not a probability, or a row does not sum to one.
    """

    states: tuple[str, ...]  # K tag names
    observations: tuple[str, ...]  # V names of observations

    @abstractmethod
    def potentials(self, observed: Sequence[int], tokens: Sequence[str]) -> Potentials:
        """Return the potentials of T observations, given as ids, with T `tokens` as words."""


@dataclass(frozen=True, eq=False)
class HiddenMarkov(Markov):
    """A hidden Markov model: transitions between tags, and emissions."""

    start: Probabilities  # (K,)
    transitions: Probabilities  # (K, K) from, to
    end: Probabilities | None  # (K,), part of the rows of `transitions`; None: no END
    emissions: Probabilities  # (K, V), p(observation | state)

    def __post_init__(self) -> None:
        try:
            self.parameters.require(self.states, len(self.observations), "field '{}'")
        except CrfvizError as error:
            raise ModelError(str(error)) from error

    @property
    def parameters(self) -> Parameters:
        return Parameters(self.start, self.transitions, self.emissions, self.end)

    def potentials(self, observed: Sequence[int], tokens: Sequence[str]) -> Potentials:
        """Return the logarithms of the probabilities."""
        return self.parameters.potentials(observed, tags=self.states, tokens=tokens)


@dataclass(frozen=True, eq=False)
class ConditionalMarkov(Markov):
    """A MEMM: p(next tag | tag before, observation); the emissions are all 0."""

    start: Probabilities  # (V, K), p(first tag | observation)
    transitions: Probabilities  # (V, K, K), p(tag | tag before, observation)

    def __post_init__(self) -> None:
        K, V = len(self.states), len(self.observations)
        _require_shape("start", self.start, (V, K))
        _require_shape("transitions", self.transitions, (V, K, K))
        _require_rows("start", self.start, self.observations)
        for name, matrix in zip(self.observations, self.transitions, strict=True):
            _require_rows(f"transitions.{name}", matrix, self.states)

    def potentials(self, observed: Sequence[int], tokens: Sequence[str]) -> Potentials:
        """Return the logarithms of the probabilities, as transitions and start."""
        observed = list(observed)
        emissions = np.zeros((len(observed), len(self.states)))
        with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
            steps, start = np.log(self.transitions[observed[1:]]), np.log(self.start[observed[0]])
        return Potentials(emissions, steps, start, tags=self.states, tokens=tokens)


def _require_shape(name: str, table: Probabilities, shape: tuple[int, ...]) -> None:
    if table.shape != shape:
        raise ModelError(
            f"field {name!r} must be {shape} to match the states and observations, "
            f"got {table.shape}"
        )


def _require_rows(name: str, table: Probabilities, rows: Sequence[str]) -> None:
    """Reject a field with a row that is not a distribution; `rows` are the names of the rows."""
    if problem := distribution_problem(f"field {name!r}", table, rows):
        raise ModelError(problem)


class MarkovTagger(SentenceTagger):
    """A chain of probabilities whose words are its observations; see `Tagger`.

    Args:
        folder: folder of the chain's file, or `NOWHERE`.
        chain: the probabilities; names of observations have no blanks.
        about: description in Markdown, with a title.
        source: source of the numbers.
    """

    probabilistic = True
    needs = "a sequence needs at least one observation"

    def __init__(
        self, folder: Path, chain: HiddenMarkov | ConditionalMarkov, about: str, source: str
    ) -> None:
        with errors_at(folder.name, ModelError):
            require_no_border(chain.states)
        super().__init__(folder, chain.states, None)
        self.chain = chain
        self.family = HMM if isinstance(chain, HiddenMarkov) else MEMM
        self.observations = chain.observations
        self._ids = {name: index for index, name in enumerate(chain.observations)}
        self._card = _card(about, source, chain)

    def split(self, text: str) -> list[str]:
        """Split at blanks: observations are names, not English.

        If every observation is one letter, blanks between letters may be left out.
        """
        letters = all(len(name) == 1 for name in self._ids)
        pieces = [list(word) if letters and word.isalnum() else [word] for word in text.split()]
        return [name for piece in pieces for name in piece]

    def card(self) -> str:
        """Return title, description, source and all numbers, as Markdown."""
        return self._card

    def _score(self, words: tuple[str, ...]) -> Potentials:
        for position, word in enumerate(words, start=1):
            if word not in self._ids:
                raise UnknownObservationError(
                    f"{self.name} has no observation {abbreviate(word)} (number {position}): "
                    f"type some of {', '.join(self._ids)}, with blanks between them"
                )
        return self.chain.potentials([self._ids[word] for word in words], words)


class TextbookTagger(MarkovTagger):
    """A tagger over a textbook chain in a JSON file, or in the folder of an uploaded one."""

    def __init__(self, path: Path) -> None:
        file = path / CHAIN_FILE if path.is_dir() else path
        content = read_json_object(file)
        title, about, source = (_text(file, content, name) for name in TEXTS)
        family = read_choice(file, content, "family", (HMM, MEMM), f"{HMM!r} or {MEMM!r}")
        try:
            chain = (_hidden if family == HMM else _conditional)(file, content)
        except ModelError as error:
            raise error if str(file) in str(error) else ModelError(f"{file}: {error}") from error
        super().__init__(file.parent, chain, f"# {title}\n\n{about}", source)
        self.name = path.name if path.is_dir() else f"{TEXTBOOK}/{file.stem}"
        self._examples = _examples(file, content.get("examples", []))

    def examples(self) -> list[Example]:
        return list(self._examples)


def is_chain(content: object) -> bool:
    """Return whether a JSON value has the fields of a textbook chain, right or wrong."""
    return isinstance(content, dict) and content.keys() >= set(CHAIN_FIELDS)


def write_chain(content: Mapping[str, Any], folder: Path) -> None:
    """Write a chain into the folder of a model, with texts for those that it lacks."""
    texts = dict(zip(TEXTS, UPLOADED, strict=True))
    write_json(folder / CHAIN_FILE, {"family": HMM, **texts, **content})
    write_json(folder / CONFIG_FILE, {"family": TEXTBOOK})


def _examples(path: Path, examples: object) -> list[Example]:
    if not isinstance(examples, list):
        raise ModelError(f"{path}: field 'examples' must be a list, got {type(examples).__name__}")
    return [
        example_of(f"{path}, example {number}", example)
        for number, example in enumerate(examples, start=1)
    ]


def _hidden(path: Path, content: Mapping[str, Any]) -> HiddenMarkov:
    states, observations = _names(path, content)
    end = content.get("end")
    return HiddenMarkov(
        states=states,
        observations=observations,
        start=_numbers(path, "start", content.get("start")),
        transitions=_numbers(path, "transitions", content.get("transitions")),
        end=None if end is None else _numbers(path, "end", end),
        emissions=_numbers(path, "emissions", content.get("emissions")),
    )


def _conditional(path: Path, content: Mapping[str, Any]) -> ConditionalMarkov:
    states, observations = _names(path, content)
    tables = {}
    for name in ("start", "transitions"):
        by_name = content.get(name)
        if not isinstance(by_name, dict) or set(by_name) != set(observations):
            expected = ", ".join(observations)
            raise ModelError(f"{path}: field {name!r} must have the keys {expected}")
        rows = [by_name[observation] for observation in observations]
        tables[name] = _numbers(path, name, rows)
    return ConditionalMarkov(states, observations, tables["start"], tables["transitions"])


def _names(path: Path, content: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    states = read_names(path, content, "states", least=1)
    observations = read_names(path, content, "observations", least=1)
    split = [name for name in observations if name.split() != [name]]
    if split:
        raise ModelError(f"{path}: field 'observations' must hold no blanks, got {split[0]!r}")
    return states, observations


def _numbers(path: Path, name: str, value: object) -> Probabilities:
    table = np.array(value, dtype=object)  # holds lists if rows differ in length
    if not all(type(n) is float or (type(n) is int and abs(n) < LARGEST) for n in table.flat):
        raise ModelError(f"{path}: field {name!r} must be a list of numbers, rows equally long")
    return table.astype(np.float64)


def _text(path: Path, content: Mapping[str, Any], name: str) -> str:
    text = content.get(name)
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"{path}: field {name!r} must be a text, got {text!r}")
    return text.strip()


def _card(text: str, source: str, chain: HiddenMarkov | ConditionalMarkov) -> str:
    parts = [text]
    states, seen = chain.states, chain.observations
    if isinstance(chain, HiddenMarkov):
        ends = [] if chain.end is None else ["END"]
        columns = [chain.transitions] if chain.end is None else [chain.transitions, chain.end]
        first = np.concatenate([chain.start, np.full(len(ends), np.nan)])
        steps = np.vstack([first, np.column_stack(columns)])
        parts += [_table("from ↓ to →", ["START", *states], [*states, *ends], steps)]
        parts += [_table("says", list(states), list(seen), chain.emissions)]
    else:
        for index, name in enumerate(seen):
            rows = np.vstack([chain.start[index], chain.transitions[index]])
            parts += [_table(f"at `{name}`: from ↓ to →", ["START", *states], list(states), rows)]
    return "\n\n".join([*parts, f"Source: {source}"]) + "\n"


def _table(corner: str, rows: list[str], columns: list[str], values: Probabilities) -> str:
    lines = [f"| {corner} | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for label, row in zip(rows, values.tolist(), strict=True):
        cells = ["" if number != number else f"{number:.4g}" for number in row]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)
