"""What is expensive and shared by all sessions: models, and the numbers of one sentence.

Numbers are kept by what they depend on: model, sentence, edits and pins (`BY_NUMBERS`). Models and
numbers are shared, not copied: nobody may change one. (Copies are made by pickling, which takes
longer than most of the numbers themselves.)

Streamlit's own cache hashes the arguments of each call anew, and replays what was drawn meanwhile:
a look-up takes a tenth of a millisecond, and a page has ten. So `remembered` is a dictionary with a
lock.
"""

import gc
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import update_wrapper
from threading import Lock
from time import monotonic
from typing import Generic, ParamSpec, TypeVar

import streamlit as st
import torch

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.edits import Edits, Move
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import Match, Ruled, analyse_match, match
from crfviz.chain.questions.tipping import Interval, intervals_between
from crfviz.exceptions import CrfvizError, ModelError, NoPathError
from crfviz.taggers.brought.parsed_model import MAX_TAGS
from crfviz.taggers.examples import Example
from crfviz.taggers.log_once import warn_once
from crfviz.taggers.perturbations import Occlusion, occlude
from crfviz.taggers.plugins import plugin_version
from crfviz.taggers.registry import brought_models, list_taggers, load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import version_stamp
from crfviz.text.tokenizer import given_words
from crfviz.ui.state.scenario import MAX_STRENGTH, MAX_WORDS, Scenario
from crfviz.views.stage.picture import Ruler, most_words
from crfviz.views.strips.what_if import ruler as draw_ruler

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class Remembered(Generic[Arguments, Value]):
    """A function that remembers what it gave; who asks while a value is made waits for it.

    Args:
        make: makes a value, and draws nothing. What it raises is not remembered.
        most: how many values; the one that nobody asked for the longest goes first.
        key: what a value depends on, of the function's arguments.
    """

    def __init__(
        self, make: Callable[Arguments, Value], most: int, key: Callable[Arguments, Hashable]
    ) -> None:
        update_wrapper(self, make)
        self._make, self._most, self._key = make, most, key
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._made: dict[Hashable, Lock] = {}  # what is being made
        self._lock = Lock()

    def __call__(self, *args: Arguments.args, **named: Arguments.kwargs) -> Value:
        """The value of these arguments, the same object each time: nobody may change it."""
        key = self._key(*args, **named)
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            turn = self._made.setdefault(key, Lock())
        with turn:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                value = self._make(*args, **named)
                with self._lock:
                    self._values[key] = value
                    if len(self._values) > self._most:
                        self._values.popitem(last=False)
            finally:
                with self._lock:
                    self._made.pop(key, None)
        return value

    def clear(self, *args: Arguments.args, **named: Arguments.kwargs) -> None:
        """Forget one value, or without arguments all of them."""
        with self._lock:
            if args or named:
                self._values.pop(self._key(*args, **named), None)
            else:
                self._values.clear()


def remembered(
    most: int, key: Callable[Arguments, Hashable]
) -> Callable[[Callable[Arguments, Value]], Remembered[Arguments, Value]]:
    """Make a function one that remembers; see `Remembered`."""
    return lambda make: Remembered(make, most, key)


DEFAULT_MODEL = "upos-en"  # of an address without a model
LESSON_MODEL = "upos-en-contextfree"  # no word sees its neighbours: the decoders differ more
EXAMPLES_AGE = 60.0  # seconds, after which they are looked for anew: a broken model may be mended
MOST_NODES = 8_000  # words times tags of a long sentence with tipping points: half a second
MOST_MODELS = 1000  # more are loaded again: nobody has as many
FALLBACK_SENTENCE = "These look fine to me ."  # for a model without examples


def model_key(name: str) -> tuple[object, ...]:
    """A model by name and version: plug-ins and models of documents are replaced by later ones."""
    return name, plugin_version(name), version_stamp(name)


def _numbers(scenario: Scenario) -> str:
    """What the numbers of a scenario depend on; page options, right tags and step are left out."""
    return repr((model_key(scenario.model), scenario.sentence, scenario.edits, scenario.pins))


def _sentence(model: str, sentence: str, *, constrained: bool) -> tuple[object, ...]:
    return model_key(model), sentence, constrained


BY_NUMBERS: dict[str | type, Callable[[Scenario], str]] = {Scenario: _numbers}  # as `hash_funcs`

_log = logging.getLogger(__name__)


def models() -> list[str]:
    """Names of all models there are: the default, the lesson's, and the others."""
    first = (DEFAULT_MODEL, LESSON_MODEL)
    return sorted(list_taggers(), key=lambda name: [name != each for each in first])


def ready_models() -> list[str]:
    """Names of the models that may be loaded before somebody chooses one.

    Those that people brought may be large and many: each is loaded when it is used.
    """
    brought = brought_models()
    return [name for name in models() if name not in brought]


def default_model(names: Sequence[str]) -> str:
    """Return the model of an address that names none."""
    return next(iter(names), DEFAULT_MODEL)


@remembered(MOST_MODELS, lambda name: model_key(name))
def tagger(name: str) -> Tagger:
    """The model of this name, loaded once for all sessions.

    Raises:
        ModelError: the folder is no model, or the model has more tags than can be drawn.
    """
    loaded = load_tagger(name)
    if len(loaded.tags) > MAX_TAGS:
        raise ModelError(
            f"{name} has {len(loaded.tags):,} tags; the pages draw at most {MAX_TAGS}. Choose "
            "another model on the left; the library and the command line take this one."
        )
    return loaded


def known_tagger(name: str) -> Tagger | None:
    """The same; None where it cannot be loaded."""
    with suppress(CrfvizError):
        return tagger(name)
    return None


@remembered(64, lambda model: (model_key(model), monotonic() // EXAMPLES_AGE))
def examples(model: str) -> list[Example]:
    """The example sentences of a model; empty where it has none or cannot be loaded.

    Shared, nobody may change them.
    """
    try:
        return list(tagger(model).examples())
    except CrfvizError as error:
        warn_once(_log, f"no examples of {model}", error)
        return []


def first_sentence(model: str) -> str:
    """The sentence that a model shows before anybody typed one."""
    return next((example.text for example in examples(model)), FALLBACK_SENTENCE)


@remembered(256, lambda model, sentence: (model_key(model), sentence))
def words(model: str, sentence: str) -> list[str]:
    """All words of a sentence as typed, split as the model wants it; none in a blank one.

    Where every gap is of two blanks or more, they are the words as they stand. Shared, nobody may
    change them.

    Raises:
        ModelError: the folder is no model.
    """
    return given_words(sentence) or tagger(model).split(sentence)


@remembered(64, _sentence)
def potentials(model: str, sentence: str, *, constrained: bool) -> Potentials:
    """The model's scores of the first 120 words.

    Raises:
        CrfvizError: there is no word, or the folder is no model.
    """
    return tagger(model).potentials(words(model, sentence)[:MAX_WORDS], constrained=constrained)


@remembered(8, _sentence)
def all_potentials(model: str, sentence: str, *, constrained: bool) -> Potentials:
    """The model's scores of all words that `most_words` allows.

    Raises:
        CrfvizError: there is no word, or the folder is no model.
    """
    used, every = tagger(model), words(model, sentence)
    scores = used.potentials(every[: most_words(len(used.tags))], constrained=constrained)
    most = most_words(len(used.tags), homogeneous=scores.homogeneous)
    if scores.num_tokens <= most:
        return scores
    return used.potentials(every[:most], constrained=constrained)


def all_trained(scenario: Scenario) -> Analysis:
    """All words of the sentence as the model was trained."""
    return all_edited(Scenario(scenario.model, scenario.sentence))


@remembered(8, _numbers)
def all_edited(scenario: Scenario) -> Analysis:
    """All words of the sentence with the scenario's edits and pins.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have.
    """
    edits = scenario.edits
    scores = all_potentials(scenario.model, scenario.sentence, constrained=edits.constrained)
    return analyse(_changed(scores, edits, scenario.pins))


def whole(scenario: Scenario) -> Analysis:
    """`all_edited`, and of a short sentence `edited`, which the page has anyway."""
    short = len(words(scenario.model, scenario.sentence)) <= MAX_WORDS
    return edited(scenario) if short else all_edited(scenario)


def most_weighed(tags: Sequence[str]) -> int:
    """Return how many words a sentence may have for its tipping points: they take T²K²."""
    return max(MAX_WORDS, MOST_NODES // len(tags))


def _weighed(scenario: Scenario) -> Potentials:
    chain = whole(scenario).potentials
    if chain.num_tokens > most_weighed(chain.tag_names):
        raise CrfvizError(f"expected a shorter sentence, got {chain.num_tokens:,} words")
    return chain


def trained(scenario: Scenario) -> Analysis:
    """The sentence as the model was trained."""
    return edited(Scenario(scenario.model, scenario.sentence))


@remembered(64, _numbers)
def edited(scenario: Scenario) -> Analysis:
    """The sentence with the scenario's edits and pins.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have.
    """
    edits = scenario.edits
    scores = potentials(scenario.model, scenario.sentence, constrained=edits.constrained)
    return analyse(_changed(scores, edits, scenario.pins))


def unpinned(scenario: Scenario) -> Analysis:
    """The sentence with the scenario's edits alone.

    Raises:
        CrfvizError: an edit names a tag that the model does not have.
    """
    return edited(replace(scenario, pins={}))


def strength_pieces(scenario: Scenario) -> list[Interval]:
    """The intervals of the CRF's strength with the same best path, under the edits and pins.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have, no path is allowed,
            or the sentence is too long.
    """
    return _strength_pieces(replace(scenario, edits=replace(scenario.edits, strength=1.0)))


@remembered(64, lambda at_one: _numbers(at_one))
def _strength_pieces(at_one: Scenario) -> list[Interval]:
    at_none = replace(at_one, edits=replace(at_one.edits, strength=0.0))
    return intervals_between(_weighed(at_none), _weighed(at_one), MAX_STRENGTH)


def ruler(scenario: Scenario, move: Move) -> Ruler:
    """The tipping points of one weight under all other edits and the pins.

    They do not depend on the weight's own value: while it is being changed, they are known already.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have, no path is allowed,
            or the sentence is too long.
    """
    return _ruler(replace(scenario, edits=scenario.edits.without(move)), move)


@remembered(64, lambda others, move: (_numbers(others), move))
def _ruler(others: Scenario, move: Move) -> Ruler:
    as_trained = Scenario(others.model, others.sentence)
    return draw_ruler(_weighed(others), _weighed(as_trained), move)


@remembered(16, _sentence)
def occlusion(model: str, sentence: str, *, constrained: bool) -> Occlusion:
    """The first 120 words, and with each of them hidden; shared, nobody may change it.

    Raises:
        CrfvizError: there is no word, none can be hidden, or the folder is no model.
    """
    return occlude(tagger(model), words(model, sentence)[:MAX_WORDS], constrained=constrained)


@remembered(64, lambda now, rule, *, windowed=False: (_numbers(now), rule, windowed))
def matched(now: Scenario, rule: str, *, windowed: bool = False) -> Match | str:
    """What a rule leaves of the sentence with the scenario's edits and pins; a text if nothing.

    Of a long sentence these are the first 120 words, or all of which a page draws a window.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have, or the rule cannot
            be read.
    """
    try:
        return match((whole(now) if windowed else edited(now)).potentials, rule)
    except NoPathError as error:
        return str(error)


@remembered(16, lambda now, rule: (_numbers(now), rule))
def ruled(now: Scenario, rule: str) -> Ruled:
    """The sentence with the scenario's edits and pins, given a rule.

    Raises:
        CrfvizError: as `matched` does.
    """
    return analyse_match(edited(now).potentials, rule)


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=BY_NUMBERS)
def hidden_paths(scenario: Scenario) -> list[list[int] | None]:
    """The best path with each word hidden, edits and pins applied; None where there is none."""
    edits = scenario.edits
    every = occlusion(scenario.model, scenario.sentence, constrained=edits.constrained)
    return [_path(_changed(chain, edits, scenario.pins)) for chain in every.hidden]


def _path(chain: Potentials) -> list[int] | None:
    try:
        return best_path(chain)
    except NoPathError:
        return None


def _changed(chain: Potentials, edits: Edits, pins: Mapping[int, str]) -> Potentials:
    within = _within(pins, chain)
    edited = edits.apply(chain)
    return edited.pin(within) if within else edited


def _within(pins: Mapping[int, str], chain: Potentials) -> dict[int, str]:
    """The pins of words that the chain has."""
    return {position: tag for position, tag in pins.items() if position < chain.num_tokens}


@st.cache_resource(show_spinner="Starting …")
def warm_up() -> bool:
    """Load and run everything once, before the first picture has to be quick.

    `gc.freeze` moves what is alive now out of sight of collections of garbage, which take 100 ms
    longer without it. One thread: the tensors of one sentence are too small to share.
    """
    torch.set_num_threads(1)
    for name in ready_models():
        try:
            edited(Scenario(name, first_sentence(name)))
        except CrfvizError as error:
            warn_once(_log, f"model {name} does not start", error)
    import crfviz.views.figures.charts  # noqa: F401 - Altair takes a second to import

    gc.collect()
    gc.freeze()
    return True
