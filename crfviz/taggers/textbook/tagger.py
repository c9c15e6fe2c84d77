"""Textbook chains: a few states and observations, with every number written down.

`models/textbook/NAME.json` holds one, read and checked field by field; its README says what stands
in it. The words of such a tagger are the names of the observations.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError, UnknownObservationError
from crfviz.taggers.examples import Example, example_of
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.storage import read_choice, read_json_object, read_names
from crfviz.taggers.tagger import HMM, MEMM
from crfviz.taggers.textbook.markov import ConditionalMarkov, HiddenMarkov, Probabilities
from crfviz.text.lines import shown

TEXTBOOK = "textbook"  # the folder, and the first part of the names

TEXTS = ("title", "about", "source")


class TextbookTagger(SentenceTagger):
    """A chain from a JSON file; see `Tagger` for what it offers."""

    probabilistic = True
    needs = "a sequence needs at least one observation"

    def __init__(self, file: Path) -> None:
        content = read_json_object(file)
        title, about, source = (_text(file, content, name) for name in TEXTS)
        self.family = read_choice(file, content, "family", (HMM, MEMM), f"{HMM!r} or {MEMM!r}")
        try:
            read = _hidden if self.family == HMM else _conditional
            self._chain = chain = read(file, content)
        except ModelError as error:
            raise error if str(file) in str(error) else ModelError(f"{file}: {error}") from error
        super().__init__(file.parent, chain.states, None)
        self.name = f"{TEXTBOOK}/{file.stem}"
        self.observations = chain.observations
        self._ids = {name: index for index, name in enumerate(chain.observations)}
        self._examples = _examples(file, content.get("examples", []))
        self._card = _card(f"# {title}\n\n{about}", source, chain)

    def split(self, text: str) -> list[str]:
        """What stands between blanks: observations are names, not English."""
        return text.split()

    def examples(self) -> list[Example]:
        """The sequences of the file that show something."""
        return list(self._examples)

    def card(self) -> str:
        """Title, what it is about, its source and all its numbers, as markdown."""
        return self._card

    def _score(self, words: tuple[str, ...]) -> Potentials:
        """The logarithms of the probabilities for a sequence of observations."""
        for position, word in enumerate(words, start=1):
            if word not in self._ids:
                raise UnknownObservationError(
                    f"{self.name} has no observation {shown(word)} (number {position}): "
                    f"type some of {', '.join(self._ids)}, with blanks between them"
                )
        return self._chain.potentials([self._ids[word] for word in words], words)


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
    """Nested lists as a table; the shape is checked later."""
    table = np.array(value, dtype=object) if _rectangular(value) else np.array(None)
    if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in table.flat):
        raise ModelError(f"{path}: field {name!r} must be a list of numbers, rows equally long")
    return table.astype(np.float64)


def _rectangular(value: object) -> bool:
    """Whether these are lists of equally long lists, and so on."""
    if not isinstance(value, list) or not value:
        return False
    lengths = {len(row) if isinstance(row, list) else None for row in value}
    return len(lengths) == 1 and (None in lengths or all(map(_rectangular, value)))


def _text(path: Path, content: Mapping[str, Any], name: str) -> str:
    text = content.get(name)
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"{path}: field {name!r} must be a text, got {text!r}")
    return text.strip()


def _card(text: str, source: str, chain: HiddenMarkov | ConditionalMarkov) -> str:
    """The card: a text, the numbers as tables, the source."""
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
