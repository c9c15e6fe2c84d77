"""The parameters of a link, read one by one, with messages about the invalid ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from crfviz.chain.edits import Edits
from crfviz.taggers.exercises import is_exercise
from crfviz.ui.state.link_text import (
    MAX_STOPS,
    OPTION,
    TOUR,
    is_option,
    read_move,
    read_number,
    read_score,
    read_step,
    unpack,
)
from crfviz.ui.state.scenario import (
    DO,
    MAX_CHARACTERS,
    MAX_SCORE,
    MAX_STEP,
    MAX_STRENGTH,
)
from crfviz.ui.words import clean, quote
from crfviz.views.contents import VIEW
from crfviz.views.formatting import count

Key = TypeVar("Key")
Value = TypeVar("Value")

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


class LinkReader:
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
