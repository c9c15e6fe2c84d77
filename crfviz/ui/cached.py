"""Caches that all sessions share: models, and the analyses of sentences.

The cache key of an analysis has model, sentence, edits and pins (`BY_NUMBERS`). Callers share the
cached values and must not change them: a copy by pickle would take longer than most computations.
"""

import gc
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

import streamlit as st
import torch

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.edits import Edits, Move
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import Match, Ruled, analyse_match, match
from crfviz.chain.questions.tipping import Interval, intervals_between
from crfviz.corpus.tables.coverage import FolderCalibration, read_calibrations
from crfviz.exceptions import CrfvizError, ModelError, NoPathError, warn_once
from crfviz.taggers.brought.parsed_model import MAX_TAGS
from crfviz.taggers.examples import Example
from crfviz.taggers.perturbations import Occlusion, occlude
from crfviz.taggers.plugins import plugin_version
from crfviz.taggers.registry import brought_models, list_taggers, load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import version_stamp
from crfviz.text.tokenizer import given_words
from crfviz.ui.shared_cache import shared_cache
from crfviz.ui.state.scenario import MAX_STRENGTH, MAX_WORDS, Scenario
from crfviz.views.stage.picture import Ruler, most_words
from crfviz.views.strips.what_if import ruler as draw_ruler

DEFAULT_MODEL = "upos-en"  # the model of a URL that names none
LESSON_MODEL = "upos-en-contextfree"  # emissions ignore neighbours, so decoders differ more often
EXAMPLES_LIFETIME = 60.0  # seconds, because a broken model may be repaired
MAX_NODES = 8_000  # words times tags for tipping points, which then take half a second
MAX_MODELS = 1000  # models in the cache
FALLBACK_SENTENCE = "These look fine to me ."  # for a model without examples


def model_key(name: str) -> tuple[object, ...]:
    """Return the cache key of a model: name and version, because models can be replaced."""
    return name, plugin_version(name), version_stamp(name)


def _numbers(scenario: Scenario) -> str:
    """Return the cache key of a scenario; it ignores page options, right tags and the step."""
    return repr((model_key(scenario.model), scenario.sentence, scenario.edits, scenario.pins))


def _sentence(model: str, sentence: str, *, constrained: bool) -> tuple[object, ...]:
    return model_key(model), sentence, constrained


BY_NUMBERS: dict[str | type, Callable[[Scenario], str]] = {Scenario: _numbers}  # for `hash_funcs`

_log = logging.getLogger(__name__)


def models() -> list[str]:
    first = (DEFAULT_MODEL, LESSON_MODEL)
    return sorted(list_taggers(), key=lambda name: [name != each for each in first])


def ready_models() -> list[str]:
    """Return the names of the models to load when the server starts.

    Uploaded models may be large and numerous, so each is loaded on first use.
    """
    uploaded = brought_models()
    return [name for name in models() if name not in uploaded]


def default_model(names: Sequence[str]) -> str:
    return next(iter(names), DEFAULT_MODEL)


@shared_cache(MAX_MODELS, lambda name: model_key(name))
def tagger(name: str) -> Tagger:
    """Return the model, loaded once for all sessions.

    Raises:
        ModelError: there is no valid model of that name, or it has too many tags to draw.
    """
    loaded = load_tagger(name)
    if len(loaded.tags) > MAX_TAGS:
        raise ModelError(
            f"{name} has {len(loaded.tags):,} tags; the pages draw at most {MAX_TAGS}. Choose "
            "another model above; the library and the command line take this one."
        )
    return loaded


def known_tagger(name: str) -> Tagger | None:
    """Return the model, or None if it cannot be loaded."""
    with suppress(CrfvizError):
        return tagger(name)
    return None


@shared_cache(64, lambda model: (model_key(model), monotonic() // EXAMPLES_LIFETIME))
def examples(model: str) -> list[Example]:
    """Return the example sentences of a model; none if it cannot be loaded.

    Callers share the list and must not change it.
    """
    try:
        return list(tagger(model).examples())
    except CrfvizError as error:
        warn_once(_log, f"no examples of {model}", error)
        return []


def first_sentence(model: str) -> str:
    """Return the sentence that a model opens with: its first example, or a fallback."""
    return next((example.text for example in examples(model)), FALLBACK_SENTENCE)


@shared_cache(256, lambda model, sentence: (model_key(model), sentence))
def words(model: str, sentence: str) -> list[str]:
    """Return all words of a sentence, split by the model; none of a blank sentence.

    If two or more blanks separate all words, they are not split further. Callers share the list and
    must not change it.

    Raises:
        ModelError: the folder has no valid model.
    """
    return given_words(sentence) or tagger(model).split(sentence)


@shared_cache(64, _sentence)
def potentials(model: str, sentence: str, *, constrained: bool) -> Potentials:
    """Return the model's scores of the first 120 words.

    Raises:
        CrfvizError: the sentence is blank, or the folder has no valid model.
    """
    return tagger(model).potentials(words(model, sentence)[:MAX_WORDS], constrained=constrained)


@shared_cache(8, _sentence)
def all_potentials(model: str, sentence: str, *, constrained: bool) -> Potentials:
    """Return the model's scores of all words that `most_words` allows.

    Raises:
        CrfvizError: the sentence is blank, or the folder has no valid model.
    """
    used, every = tagger(model), words(model, sentence)
    scores = used.potentials(every[: most_words(len(used.tags))], constrained=constrained)
    most = most_words(len(used.tags), homogeneous=scores.homogeneous)
    if scores.num_tokens <= most:
        return scores
    return used.potentials(every[:most], constrained=constrained)


def all_trained(scenario: Scenario) -> Analysis:
    return all_edited(Scenario(scenario.model, scenario.sentence))


@shared_cache(8, _numbers)
def all_edited(scenario: Scenario) -> Analysis:
    """Return the analysis of all words with the scenario's edits and pins.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have.
    """
    edits = scenario.edits
    scores = all_potentials(scenario.model, scenario.sentence, constrained=edits.constrained)
    return analyse(_changed(scores, edits, scenario.pins))


def whole(scenario: Scenario) -> Analysis:
    """Return the analysis of all words; for a short sentence that of `edited`, already cached."""
    short = len(words(scenario.model, scenario.sentence)) <= MAX_WORDS
    return edited(scenario) if short else all_edited(scenario)


def most_weighed(tags: Sequence[str]) -> int:
    """Return the maximum number of words for tipping points, whose time grows with T²K²."""
    return max(MAX_WORDS, MAX_NODES // len(tags))


def _weighed(scenario: Scenario) -> Potentials:
    chain = whole(scenario).potentials
    if chain.num_tokens > most_weighed(chain.tag_names):
        raise CrfvizError(f"expected a shorter sentence, got {chain.num_tokens:,} words")
    return chain


def trained(scenario: Scenario) -> Analysis:
    return edited(Scenario(scenario.model, scenario.sentence))


@shared_cache(64, _numbers)
def edited(scenario: Scenario) -> Analysis:
    """Return the analysis of the sentence with the scenario's edits and pins.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have.
    """
    edits = scenario.edits
    scores = potentials(scenario.model, scenario.sentence, constrained=edits.constrained)
    return analyse(_changed(scores, edits, scenario.pins))


def unpinned(scenario: Scenario) -> Analysis:
    """Return the analysis of the sentence with the scenario's edits, without pins.

    Raises:
        CrfvizError: an edit names a tag that the model does not have.
    """
    return edited(replace(scenario, pins={}))


def strength_pieces(scenario: Scenario) -> list[Interval]:
    """Return the intervals of strengths within which the best path stays the same.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have, no path is allowed,
            or the sentence is too long.
    """
    return _strength_pieces(replace(scenario, edits=replace(scenario.edits, strength=1.0)))


@shared_cache(64, lambda at_one: _numbers(at_one))
def _strength_pieces(at_one: Scenario) -> list[Interval]:
    at_none = replace(at_one, edits=replace(at_one.edits, strength=0.0))
    return intervals_between(_weighed(at_none), _weighed(at_one), MAX_STRENGTH)


def ruler(scenario: Scenario, move: Move) -> Ruler:
    """Return the tipping points of one weight under all other edits and the pins.

    They do not depend on the weight's own value, so they stay valid while it is dragged.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have, no path is allowed,
            or the sentence is too long.
    """
    return _ruler(replace(scenario, edits=scenario.edits.without(move)), move)


@shared_cache(64, lambda others, move: (_numbers(others), move))
def _ruler(others: Scenario, move: Move) -> Ruler:
    as_trained = Scenario(others.model, others.sentence)
    return draw_ruler(_weighed(others), _weighed(as_trained), move)


@shared_cache(MAX_MODELS, lambda model: model_key(model))
def calibration(model: str) -> FolderCalibration | None:
    """Return the calibrated sets of a model folder, if it has any.

    Raises:
        ModelError: the file is invalid.
    """
    return read_calibrations(tagger(model).folder)


@shared_cache(16, _sentence)
def occlusion(model: str, sentence: str, *, constrained: bool) -> Occlusion:
    """Return the scores of the first 120 words with each word hidden; callers share them.

    Raises:
        CrfvizError: the sentence is blank, no word can be hidden, or the folder has no valid model.
    """
    return occlude(tagger(model), words(model, sentence)[:MAX_WORDS], constrained=constrained)


@shared_cache(64, lambda now, rule, *, windowed=False: (_numbers(now), rule, windowed))
def matched(now: Scenario, rule: str, *, windowed: bool = False) -> Match | str:
    """Return the match of a rule under edits and pins, or a message if no path matches.

    The match covers the first 120 words, or the whole sentence on pages with a window.

    Raises:
        CrfvizError: an edit or a pin names a tag that the model does not have, or the rule cannot
            be read.
    """
    try:
        return match((whole(now) if windowed else edited(now)).potentials, rule)
    except NoPathError as error:
        return str(error)


@shared_cache(8, lambda now, rule, *, windowed=False: (_numbers(now), rule, windowed))
def ruled(now: Scenario, rule: str, *, windowed: bool = False) -> Ruled:
    """Return the analysis of the same words as `matched`, conditioned on a rule.

    Raises:
        CrfvizError: see `matched`; no error is raised if no path matches.
    """
    return analyse_match((whole(now) if windowed else edited(now)).potentials, rule)


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=BY_NUMBERS)
def hidden_paths(scenario: Scenario) -> list[list[int] | None]:
    """Return the best path with each word hidden; None where no path is allowed."""
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
    return {position: tag for position, tag in pins.items() if position < chain.num_tokens}


@st.cache_resource(show_spinner="Starting …")
def warm_up() -> bool:
    """Load and run every model once, so that the first picture is fast.

    `gc.freeze` excludes the present objects from garbage collection, which saves 100 ms per
    collection. Torch gets one thread, because the tensors of one sentence are too small to split.
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
