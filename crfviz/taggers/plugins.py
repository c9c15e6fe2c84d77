"""Third-party taggers from installed packages, CRFVIZ_PLUGINS or `crfviz.register`.

A package names one in the entry point group `crfviz.taggers`: the object itself, or a class or
function that makes it without arguments. CRFVIZ_PLUGINS names such an object as `module:Class`, or
a folder. Each Python file of the folder has a variable `tagger`, or one class with `potentials`;
the name of the file is the model's. Changed code runs again.

These members of a `Tagger` are optional: `scheme`, `family`, `probabilistic`, `observations`,
`split`, `examples` (a list) and `card` (a text). Exceptions of plug-in code become a ModelError, so
a broken plug-in does not break the app.
"""

import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import cleandoc
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from crfviz.chain.edits import require_no_border
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ModelError, errors_at, warn_once
from crfviz.settings import settings
from crfviz.taggers.examples import GIVEN, Example
from crfviz.taggers.folder import NOWHERE, FolderTagger, SentenceTagger
from crfviz.taggers.tagger import CRF, HMM, MEMM, PERCEPTRON, Tagger
from crfviz.text.files import abbreviate_value
from crfviz.text.schemes import BIO

GROUP = "crfviz.taggers"
FAMILIES = (CRF, PERCEPTRON, HMM, MEMM)

Value = TypeVar("Value")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plugin:
    """A name in the list of models, and how to make the tagger."""

    name: str
    place: str  # module or file, for messages
    load: Callable[[], Any]  # an object, or a class or function that makes it
    version: str = ""  # changes with the code
    file: Path = NOWHERE  # file of the code


_registered: dict[str, Plugin] = {}
_numbers = count(1)


def plugins() -> Mapping[str, Plugin]:
    """Return plug-ins by name: registered ones win over CRFVIZ_PLUGINS, these over packages."""
    return {**installed_plugins(), **{each.name: each for each in _configured()}, **_registered}


@cache
def installed_plugins() -> Mapping[str, Plugin]:
    """Return the plug-ins of packages, cached because the lookup is slow."""
    points = entry_points(group=GROUP)
    return {point.name: Plugin(point.name, point.value, point.load) for point in points}


def plugin_version(name: str) -> str:
    """Return a text that changes when a plug-in does; empty for all other models."""
    return found.version if (found := plugins().get(name)) else ""


def register_plugin(tagger: object, name: str | None, taken: Collection[str]) -> Tagger:
    """Add a tagger for this process; see `crfviz.register`."""
    own = getattr(tagger, "name", None) or getattr(tagger, "__name__", type(tagger).__name__)
    wanted = own if name is None else name
    if not isinstance(wanted, str) or not wanted.strip():
        raise ModelError(f"a tagger needs a name, got {abbreviate_value(wanted)}")
    if wanted not in _registered and (wanted in taken or wanted in plugins()):
        raise ModelError(f"{wanted!r} is the name of another model: give it another `name`")
    plugin = Plugin(wanted, "crfviz.register", lambda: tagger, f"registered {next(_numbers)}")
    made = load_plugin(plugin)
    _registered[wanted] = plugin
    return made


def load_plugin(plugin: Plugin) -> Tagger:
    """Return the tagger of a plug-in under its name.

    Raises:
        ModelError: it cannot be imported or made, or lacks `tags` or `potentials`.
    """
    made = _load_object(plugin)
    if not isinstance(made, FolderTagger):
        return PluginTagger(plugin, made)
    named = copy(made)
    named.name = plugin.name
    named.folder = plugin.file if made.folder == NOWHERE else made.folder
    return cast(Tagger, named)


def _configured() -> Iterator[Plugin]:
    """Yield the plug-ins of CRFVIZ_PLUGINS."""
    for item in settings().plugins:
        module, _, attribute = item.rpartition(":")
        if module and attribute.isidentifier():
            file = _module_file(module)
            yield Plugin(attribute, item, partial(_object, module, attribute), _stamp(file), file)
        else:
            for file in sorted(Path(item).glob("[!_.]*.py")):
                yield Plugin(file.stem, str(file), partial(_tagger_in, file), _stamp(file), file)


def _module_file(module: str) -> Path:
    with suppress(Exception):  # of a parent package; reported when the tagger is loaded
        if (spec := find_spec(module)) and spec.origin:
            return Path(spec.origin)
    return NOWHERE


def _stamp(file: Path) -> str:
    try:
        found = file.stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_size}"


def _object(module: str, attribute: str) -> Any:  # noqa: ANN401 - of any type
    return getattr(_run(find_spec(module) or import_module(module).__spec__), attribute)


def _tagger_in(file: Path) -> Any:  # noqa: ANN401 - of any type
    """Return the `tagger` of a file, or its only class with `potentials`."""
    module = _run(spec_from_file_location(f"crfviz_plugin_{file.stem}", file))
    if hasattr(module, "tagger"):
        return module.tagger
    own = [each for each in vars(module).values() if isinstance(each, type)]
    own = [c for c in own if c.__module__ == module.__name__ and hasattr(c, "potentials")]
    if len(own) == 1:
        return own[0]
    raise ModelError(
        f"{file}: expected a variable `tagger` or one class with `potentials`, "
        f"got {len(own)} such classes"
    )


def _run(spec: ModuleSpec | None) -> ModuleType:
    if spec is None or not spec.origin:
        raise ModuleNotFoundError("the module has no file")
    sys.modules[spec.name] = module = module_from_spec(spec)
    exec(compile(Path(spec.origin).read_bytes(), spec.origin, "exec"), vars(module))
    return module


class PluginTagger(SentenceTagger):
    """Adapter of a plug-in's object to `Tagger`.

    Args:
        plugin: the plug-in, for its name.
        made: the object, with `tags` and `potentials`.
    """

    # ANN401: any object with potentials
    def __init__(self, plugin: Plugin, made: Any) -> None:  # noqa: ANN401
        self._object = made
        super().__init__(plugin.file, _tags(plugin, made), None)
        self.name = plugin.name
        self.scheme = self._own("scheme", None, (None, BIO))
        self.family = self._own("family", CRF, FAMILIES)
        self.probabilistic = bool(getattr(made, "probabilistic", self.family != PERCEPTRON))
        known = getattr(made, "observations", None)
        self.observations = None if known is None else tuple(map(str, known))

    def split(self, text: str) -> list[str]:
        """Split a text by the object; by default at blanks or, for any word, as English."""
        if not hasattr(self._object, "split"):
            return text.split() if self.observations else super().split(text)
        with as_model_error(f"The plug-in {self.name}"):
            return [str(word) for word in self._object.split(text)]

    def examples(self) -> list[Example]:
        """Return the object's examples; a text becomes an `Example`."""
        with as_model_error(f"The plug-in {self.name}"):
            return [
                each if isinstance(each, Example) else self._example(str(each))
                for each in getattr(self._object, "examples", ())
            ]

    def card(self) -> str:
        """Return the object's card, else its docstring."""
        with as_model_error(f"The plug-in {self.name}"):
            own = getattr(self._object, "card", None)
            text = own() if callable(own) else own
            return str(text or f"# {self.name}\n\n{cleandoc(self._object.__doc__ or '')}")

    def _example(self, text: str) -> Example:
        return Example(text, tuple(self.split(text)), f"“{text}”", GIVEN)

    def _score(self, words: tuple[str, ...]) -> Potentials:
        with as_model_error(f"The plug-in {self.name}"):
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


def _load_object(plugin: Plugin) -> Any:  # noqa: ANN401 - anything with tags and potentials
    with as_model_error(f"The plug-in {plugin.name}"):
        named = plugin.load()
        makes = isinstance(named, type) or (callable(named) and not hasattr(named, "potentials"))
        made = named() if makes else named
    for name in ("tags", "potentials"):
        if not hasattr(made, name):
            raise ModelError(f"{plugin.name}: the object of {plugin.place} has no {name!r}")
    return made


def _tags(plugin: Plugin, made: Any) -> tuple[str, ...]:  # noqa: ANN401 - any object with tags
    with as_model_error(f"The plug-in {plugin.name}"):
        tags = tuple(made.tags)
    if not tags or not all(isinstance(tag, str) and tag for tag in tags):
        raise ModelError(f"{plugin.name}: tags must be non-empty strings, got {tags[:5]}")
    if len(set(tags)) < len(tags):
        raise ModelError(f"{plugin.name}: tags must have different names, got {tags[:20]}")
    with errors_at(plugin.name, ModelError):
        require_no_border(tags)
    return tags


@contextmanager
def as_model_error(what: str) -> Iterator[None]:
    """Turn any exception of plug-in code into a ModelError, and log its traceback once."""
    try:
        yield
    except CrfvizError:
        raise
    except Exception as error:
        warn_once(_log, f"{what} failed", error)
        raise ModelError(f"{what} failed: {type(error).__name__}: {str(error)[:200]}") from error
