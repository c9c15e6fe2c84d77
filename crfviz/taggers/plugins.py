"""Taggers of other packages, found by entry points.

A package names one in the group `crfviz.taggers`: the object itself, or a class or function that
makes it without arguments. More of what a `Tagger` has may be there, and is used then: `scheme`,
`family`, `probabilistic`, `observations`, `split`, `examples` (a list) and `card` (a text). What
such code raises comes out as a ModelError, so that a broken one is a message and no broken app.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeVar

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.taggers.examples import GIVEN, Example
from crfviz.taggers.folder import SentenceTagger
from crfviz.taggers.log_once import warn_once
from crfviz.taggers.tagger import CRF, HMM, MEMM, PERCEPTRON
from crfviz.text.schemes import BIO

GROUP = "crfviz.taggers"
FAMILIES = (CRF, PERCEPTRON, HMM, MEMM)

Value = TypeVar("Value")

_log = logging.getLogger(__name__)


@cache
def plugins() -> Mapping[str, EntryPoint]:
    """Return the entry points by name, cached because the lookup is slow."""
    return {point.name: point for point in entry_points(group=GROUP)}


class PluginTagger(SentenceTagger):
    """Adapter of a plug-in's object; see `Tagger` for what it offers.

    Args:
        point: the entry point.

    Raises:
        ModelError: it cannot be imported or made, or lacks `tags` or `potentials`.
    """

    def __init__(self, point: EntryPoint) -> None:
        self._object = made = _load_object(point)
        folder = Path(GROUP) / point.name  # nowhere: there are no files
        super().__init__(folder, _tags(point, made), None)
        self.name = point.name
        self.scheme = self._own("scheme", None, (None, BIO))
        self.family = self._own("family", CRF, FAMILIES)
        self.probabilistic = bool(getattr(made, "probabilistic", self.family != PERCEPTRON))
        known = getattr(made, "observations", None)
        self.observations = None if known is None else tuple(map(str, known))

    def split(self, text: str) -> list[str]:
        """Return the words of a text: as the object splits them, else English ones."""
        if not hasattr(self._object, "split"):
            return text.split() if self.observations else super().split(text)
        with _as_model_error(self.name):
            return [str(word) for word in self._object.split(text)]

    def examples(self) -> list[Example]:
        """Return its own, each an `Example` or a text."""
        with _as_model_error(self.name):
            return [
                each if isinstance(each, Example) else self._example(str(each))
                for each in getattr(self._object, "examples", ())
            ]

    def card(self) -> str:
        """Return its own, else what the docstring of the object says."""
        with _as_model_error(self.name):
            own = getattr(self._object, "card", None)
            text = own() if callable(own) else own
            return str(text or f"# {self.name}\n\n{cleandoc(self._object.__doc__ or '')}")

    def _example(self, text: str) -> Example:
        return Example(text, tuple(self.split(text)), f"“{text}”", GIVEN)

    def _score(self, words: tuple[str, ...]) -> Potentials:
        with _as_model_error(self.name):
            chain = self._object.potentials(list(words))
        if not isinstance(chain, Potentials):
            raise ModelError(
                f"{self.name}: potentials(tokens) must return crfviz.Potentials, "
                f"got {type(chain).__name__}"
            )
        shape = chain.num_tokens, chain.num_tags
        if shape != (len(words), len(self.tags)) or chain.tags not in (None, self.tags):
            raise ModelError(
                f"{self.name}: potentials of {len(words)} tokens and the tags "
                f"{', '.join(self.tags)} were expected, got {shape} of {chain.tags}"
            )
        return replace(chain, tags=self.tags, tokens=words)

    def _own(self, name: str, default: Value, known: Sequence[Value]) -> Value:
        value: Value = getattr(self._object, name, default)
        if value not in known:
            raise ModelError(f"{self.name}: {name} must be one of {known}, got {value!r}")
        return value


def _load_object(point: EntryPoint) -> Any:  # noqa: ANN401 - anything with tags and potentials
    """Load the object of an entry point, calling it if it is a class or a factory."""
    with _as_model_error(point.name):
        named = point.load()
        made = named() if isinstance(named, type) or not hasattr(named, "potentials") else named
    for name in ("tags", "potentials"):
        if not hasattr(made, name):
            raise ModelError(f"{point.name}: the object of {point.value} has no {name!r}")
    return made


def _tags(point: EntryPoint, made: Any) -> tuple[str, ...]:  # noqa: ANN401
    with _as_model_error(point.name):
        tags = tuple(made.tags)
    if not tags or not all(isinstance(tag, str) and tag for tag in tags):
        raise ModelError(f"{point.name}: tags must be non-empty strings, got {tags[:5]}")
    if len(set(tags)) < len(tags):
        raise ModelError(f"{point.name}: tags must have different names, got {tags[:20]}")
    return tags


@contextmanager
def _as_model_error(name: str) -> Iterator[None]:
    """Turn any exception of a plug-in into a ModelError, and log its traceback once."""
    try:
        yield
    except CrfvizError:
        raise
    except Exception as error:
        warn_once(_log, f"the plug-in {name} failed", error)
        raise ModelError(
            f"The plug-in {name} failed: {type(error).__name__}: {str(error)[:200]}"
        ) from error
