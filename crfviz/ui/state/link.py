"""The scenario as the query string of a URL: encoding and decoding.

    model=upos-en&sentence=These+look+fine&k=0.5&c=0&t=DET.NOUN:1.25,START.PRON:-inf
        &e=3.NOUN:2&p=0.DET&r=3.VERB&step=4&v.rows=viterbi

`t` has edited transitions, `m` many of them packed, `e` edited emissions of single words, `k` the
strength, `p` the pins, `r` the tags marked as right, `step` the number of steps done (`start`:
none), `view` the view of the page, `do` the exercise, `tour` the stop of the tour, and `v.*` are
page options. `c=0` switches the tagger's constraints off. Defaults are left out.

The parser is lenient, because people edit URLs by hand. It uses the valid parts and reports the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import starmap
from urllib.parse import urlencode

from crfviz.chain.edits import Edits
from crfviz.ui.state.link_reader import LinkReader, Models
from crfviz.ui.state.link_text import (
    OPTION,
    TOUR,
    cell_text,
    moves_text,
    number_text,
    pack,
    places_text,
    read_place,
    scores_text,
    step_text,
)
from crfviz.ui.state.scenario import (
    DO,
    MAX_WORDS,
    OF_PAGE,
    THEIRS,
    Scenario,
)
from crfviz.views.contents import VIEW
from crfviz.views.formatting import count

LONGEST_LINK = 16_000  # characters; servers and chat programs cut longer ones
_OF_POSITIONS = ("e", "p", "r", "step")  # parameters that only make sense with the sentence
_BARE = (TOUR, VIEW, DO)  # page options without the prefix in a link


@dataclass(frozen=True)
class Link:
    """The query string of a URL, as parameters."""

    params: dict[str, str]
    complete: bool  # False if parts were left out because the scenario is too long for a link

    @property
    def elsewhere(self) -> Link:
        params = {name: value for name, value in self.params.items() if name not in NOT_ELSEWHERE}
        return replace(self, params=params)


@dataclass(frozen=True)
class Decoded:
    """The decoded content of a URL."""

    scenario: Scenario
    ignored: list[str] = field(default_factory=list)  # one message per ignored part


def encode(scenario: Scenario, models: Models | None = None) -> Link:
    """Return the link of a scenario.

    Args:
        scenario: the state to encode.
        models: the available models; without them the link always names model and sentence.

    Returns:
        The link; a parameter that would make it too long is left out completely.

    """
    parts = whole(scenario)
    if models and scenario.model == models.default:
        parts["model"] = ""
    default = {"sentence": models.first_sentence(scenario.model) if models else ""}
    parts = {name: value for name, value in parts.items() if value != default.get(name, "")}
    params: dict[str, str] = {}
    length = -1  # no & before the first parameter
    for name, value in parts.items():
        longer = length + 1 + len(_in_query(name, value))
        if longer <= LONGEST_LINK:
            params[name], length = value, longer
    if "sentence" in parts and "sentence" not in params:
        params = {name: value for name, value in params.items() if name not in _OF_POSITIONS}
    return Link(params, complete=len(params) == len(parts))


def explorer_link(
    model: str,
    text: str | None,
    gold: Sequence[str],
    at: tuple[int, str] | None,
    answers: Sequence[str] = (),
    edits: Edits | None = None,
) -> str | None:
    """Return the URL that opens a sentence with gold tags in the explorer.

    Args:
        model: name of the model.
        text: the sentence; None if no text gives its words.
        gold: the gold tags by position.
        at: position and tag to select.
        answers: the tags of another tagger, drawn below those of the model.
        edits: edits of the model's scores.

    Returns:
        A relative URL; None if the link is too long, or there is no text or selected word to draw.
    """
    if text is None or (at is not None and at[0] >= MAX_WORDS):
        return None
    right = dict(enumerate(gold[:MAX_WORDS]))
    view = {} if at is None else {"at": cell_text(*at)}
    if answers:
        view[THEIRS] = places_text(dict(enumerate(answers[:MAX_WORDS])))
    link = encode(Scenario(model, text, edits=edits or Edits(), right=right, view=view))
    return home_address(link) if link.complete else None


def read_places(text: str) -> dict[int, str]:
    """Parse tags of single words, such as `0.DET,2.VERB`; ignore invalid items."""
    items = map(read_place, text.split(","))
    return dict(item for item in items if item is not None)


def home_address(link: Link) -> str:
    """Return the link as the URL of the home page, relative to any other page."""
    return f"./?{'&'.join(starmap(_in_query, link.params.items()))}"


@lru_cache(maxsize=64)  # a list of errors has many links to the same sentences
def _in_query(name: str, value: str) -> str:
    return urlencode({name: value})


def whole(scenario: Scenario) -> dict[str, str]:
    """Return all parameters of a link at any length; empty for defaults but model and sentence."""
    return {
        "sentence": scenario.sentence,
        "model": scenario.model,
        **encode_changes(scenario),
        "r": places_text(scenario.right),
        "step": step_text(scenario.step) if scenario.step else "",
        **{_in_address(name): value for name, value in scenario.view.items()},
    }


def encode_changes(scenario: Scenario) -> dict[str, str]:
    """Return the parameters for edits and pins, without those at their default."""
    edits = scenario.edits
    packed = pack(edits.transitions)
    parts = {
        "k": "" if edits.strength == 1.0 else number_text(edits.strength),
        "c": "" if edits.constrained else "0",
        "m": packed,
        "t": "" if packed else moves_text(edits.transitions),
        "e": scores_text(edits.emissions),
        "p": places_text(scenario.pins),
    }
    return {name: value for name, value in parts.items() if value}


def decode(
    params: Mapping[str, str], models: Models, place: Callable[[str], str] = lambda _: "the address"
) -> Decoded:
    """Return the scenario of a URL; invalid values are replaced by defaults.

    Args:
        params: the percent-decoded values by name.
        models: the available models.
        place: returns the place of a parameter, such as "the address", for messages.

    Returns:
        A valid scenario, and messages about the values that were ignored. It may name tags that the
        model lacks.
    """
    reader = LinkReader(params, place)
    model = reader.model(models)
    scenario = Scenario(
        model=model,
        sentence=reader.sentence(models.first_sentence(model)),
        edits=reader.edits(),
        pins=dict(reader.items("p", read_place)),
        right=dict(reader.items("r", read_place)),
        view=reader.view(),
        step=reader.step(),
    )
    reader.rest()
    return Decoded(scenario, reader.ignored)


def for_words(scenario: Scenario, number: int) -> tuple[Scenario, list[str]]:
    """Return the scenario without changes of words beyond the first `number`.

    Returns:
        The scenario, and a message if something was dropped.
    """
    fitted = scenario.with_changes(scenario.changes.for_words(number))
    kept = _of_words(fitted)
    missing = [item for item in _of_words(scenario) if item not in kept]
    words, first = count(number, "word"), ", ".join(missing[:5])
    message = f"The sentence has {words}: {first} in the link is dropped."
    return fitted, [message] if missing else []


def _of_words(scenario: Scenario) -> list[str]:
    """Return all changes of single words, each as the text of an item in a link."""
    texts = [
        scores_text(scenario.edits.emissions),
        places_text(scenario.pins),
        places_text(scenario.right),
    ]
    return [item for text in texts if text for item in text.split(",")]


def _in_address(option: str) -> str:
    """Return the parameter name of a page option."""
    return option if option in _BARE else OPTION + option


NOT_ELSEWHERE = ("step", *map(_in_address, OF_PAGE))  # parameters that links to other pages omit
