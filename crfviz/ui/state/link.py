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

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import starmap
from typing import TypeVar
from urllib.parse import urlencode

from crfviz.chain.edits import Edits
from crfviz.chain.pattern_syntax import MAX_LENGTH
from crfviz.taggers.exercises import is_exercise
from crfviz.ui.state.link_text import (
    cell_text,
    moves_text,
    number_text,
    pack,
    places_text,
    read_move,
    read_number,
    read_place,
    read_score,
    scores_text,
    unpack,
)
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    DO,
    MAX_CHARACTERS,
    MAX_DRAFT,
    MAX_SCORE,
    MAX_STEP,
    MAX_STRENGTH,
    MAX_WORDS,
    OF_PAGE,
    OF_TAGS,
    RULE,
    RULE_DRAFT,
    THEIRS,
    TRIES,
    Scenario,
)
from crfviz.ui.words import clean, quote
from crfviz.views.contents import VIEW
from crfviz.views.formatting import count

LONGEST_LINK = 16_000  # characters; servers and chat programs cut longer ones
LONGEST_OPTION = 64  # characters of a page option
LONGEST_NAMES = 4_000  # characters of a page option with names of tags, which grow when encoded
LONGER = {
    **dict.fromkeys(OF_TAGS, LONGEST_NAMES),
    "own": MAX_CHARACTERS,
    THEIRS: MAX_CHARACTERS,
    RULE: MAX_LENGTH,
    RULE_DRAFT: MAX_DRAFT,
    "asked": 200,
    "said": 200,
    TRIES: 4_000,
}  # characters of page options that may be longer than `LONGEST_OPTION`

Key = TypeVar("Key")
Value = TypeVar("Value")

_STEP = re.compile(r"\d{1,5}", re.ASCII)
_OPTION_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_OF_POSITIONS = ("e", "p", "r", "step")  # parameters that only make sense with the sentence
_START = "start"  # value of `step` before the first step
OPTION = "v."  # prefix of the name of a page option
TOUR, MAX_STOPS = "tour", 9  # the stop of the tour
_BARE = (TOUR, VIEW, DO)  # page options without the prefix in a link
_MAX_OPTIONS = 32
_MAX_ITEMS = 5000  # items of one list; no chain on the screen has as many cells
_EXPECTED = {
    "t": f"FROM.TO:score with a score of at most ±{MAX_SCORE:,.0f} or -inf",
    "e": f"position.TAG:score with a score of at most ±{MAX_SCORE:,.0f} or -inf",
    "p": "position.TAG",
    "r": "position.TAG",
}


@dataclass(frozen=True)
class Models:
    """The available models, and the model and sentence of a URL that names none."""

    names: Sequence[str]
    default: str  # the model of a URL without one
    first_sentence: Callable[[str], str]  # by model, the sentence of a URL without one

    def knows(self, name: str) -> bool:
        """Return whether a model can be loaded: one of the list, or the chain of an exercise."""
        return name in self.names or is_exercise(name)


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
    reader = _Reader(params, place)
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


class _Reader:
    """Reader of parameters one by one; it collects messages about invalid ones."""

    def __init__(self, params: Mapping[str, str], place: Callable[[str], str]) -> None:
        self.left = dict(params)
        self.place = place
        self.ignored: list[str] = []

    def ignore(self, name: str, what: str, expected: str) -> None:
        self.ignored.append(f"Ignored {what} in {self.place(name)}: expected {expected}.")

    def model(self, models: Models) -> str:
        name = self.left.pop("model", models.default)
        if models.knows(name) or name == models.default:
            return name
        self.ignore("model", f"the model {quote(name)}", f"one of {', '.join(models.names)}")
        return models.default

    def sentence(self, default: str) -> str:
        text = self.left.pop("sentence", default)
        if len(text) > MAX_CHARACTERS:
            self.ignore(
                "sentence", "the end of the sentence", f"at most {MAX_CHARACTERS:,} characters"
            )
        return clean(text[:MAX_CHARACTERS])

    def edits(self) -> Edits:
        return Edits(
            transitions={**self.packed(), **dict(self.items("t", read_move))},
            emissions=dict(self.items("e", read_score)),
            strength=self.strength(),
            constrained=self.constrained(),
        )

    def packed(self) -> dict[tuple[str, str], float]:
        text = self.left.pop("m", "")
        edits = unpack(text) if text else {}
        if edits is None:
            where = self.place("m")
            self.ignored.append(
                f"Ignored the packed edits {quote(text)} in {where}: the link is damaged; "
                "copy it again."
            )
        return edits or {}

    def strength(self) -> float:
        text = self.left.pop("k", "1")
        value = read_number(text)
        if value is None or not 0 <= value <= MAX_STRENGTH:
            self.ignore("k", f"the strength {quote(text)}", f"a number from 0 to {MAX_STRENGTH:g}")
            return 1.0
        return value

    def constrained(self) -> bool:
        text = self.left.pop("c", "1")
        if text not in ("0", "1"):
            self.ignore("c", f"c={quote(text)}", "0 or 1")
        return text != "0"

    def step(self) -> int:
        text = self.left.pop("step", "0")
        step = read_step(text)
        if step is None:
            self.ignore("step", f"the step {quote(text)}", f"a whole number from 0 to {MAX_STEP}")
        return step or 0

    def view(self) -> dict[str, str]:
        names = [name for name in self.left if name.startswith(OPTION)]
        options = {name.removeprefix(OPTION): self.left.pop(name) for name in names} | self.tour()
        options |= {name: self.left.pop(name) for name in (VIEW, DO) if self.left.get(name)}
        good = dict([item for item in options.items() if is_option(*item)][:_MAX_OPTIONS])
        for name in options.keys() - good.keys():
            self.ignore(
                OPTION + name, f"the page option {quote(name)}", "a short name and a short value"
            )
        return good

    def tour(self) -> dict[str, str]:
        text = self.left.pop(TOUR, "")
        if not text or (text.isdecimal() and 1 <= int(text[:4]) <= MAX_STOPS):
            return {TOUR: text} if text else {}
        self.ignore(TOUR, f"the stop {quote(text)} of the tour", f"a number from 1 to {MAX_STOPS}")
        return {TOUR: "1"}

    def rest(self) -> None:
        for name in self.left:
            known = (
                "model, sentence, t, m, e, k, c, p, r, step, view, do, tour or a page option v.…"
            )
            self.ignore(name, f"the part {quote(name)}", known)

    def items(
        self, name: str, read: Callable[[str], tuple[Key, Value] | None]
    ) -> Iterator[tuple[Key, Value]]:
        """Yield the valid items of a list; report the others in one message."""
        texts = [text for text in self.left.pop(name, "").split(",") if text]
        bad = texts[_MAX_ITEMS:]
        for text in texts[:_MAX_ITEMS]:
            item = read(text)
            if item is None:
                bad.append(text)
            else:
                yield item
        if bad:
            what = f"{count(len(bad), 'part')} of {name}, the first being {quote(bad[0])},"
            self.ignore(name, what, _EXPECTED[name])


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


def step_text(step: int) -> str:
    return _START if step == BEFORE_FIRST else str(step)


def read_step(text: str) -> int | None:
    """Parse the text of `step_text`; None if it is invalid."""
    if text == _START:
        return BEFORE_FIRST
    return int(text) if _STEP.fullmatch(text) and int(text) <= MAX_STEP else None


def is_option(name: str, value: str) -> bool:
    """Return whether a name and a value are a valid page option."""
    return (
        _OPTION_NAME.fullmatch(name) is not None
        and 0 < len(value) <= LONGER.get(name, LONGEST_OPTION)
        and clean(value) == value
    )
