"""A question about the chain on the screen: what is asked, and what may be answered.

An answer is always worked out. Each wrong choice is what a known mistake comes to, with its name
and its arithmetic; what cannot be told apart from the right answer, as it is written, is no choice.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crfviz.exceptions import FormatError

MOST_WRONG = 3
LONGEST = 200  # characters of a question as text
FORMS = {
    "greedy": ("word",),
    "viterbi": ("word",),
    "max_marginal": ("word",),
    "alpha": ("word", "tag"),
    "beta": ("word", "tag"),
    "best": ("word", "tag"),
    "marginal": ("word", "tag"),
    "backpointer": ("word", "tag"),
    "flips": ("from", "to"),
    "log_z": ("from", "to"),  # or nothing: against the trained chain
    "likeliest": (),
}  # by kind, what it is asked about
ALSO_PLAIN = ("log_z",)  # kinds that can be asked about nothing, too


@dataclass(frozen=True)
class Ask:
    """Which question: `alpha(2, 'NOUN')`, `flips('DET', 'NOUN')`, `likeliest()`."""

    kind: str  # one of FORMS
    word: int | str | None = None  # its number from 1, or its text
    tags: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As it stands in a link and in the file of a lecture."""
        given = self.tags if self.word is None else (self.word, *self.tags)
        return f"{self.kind}({','.join(map(repr, given))})"


@dataclass(frozen=True)
class Choice:
    """One answer."""

    text: str  # as it is offered
    why: str  # how it comes about, with its numbers
    mistake: str = ""  # the name of what leads there; empty: it is right


@dataclass(frozen=True)
class Question:
    """What is asked, with two or more choices of which one is right; their texts differ."""

    ask: Ask
    text: str
    hint: str
    choices: tuple[Choice, ...]

    @property
    def right(self) -> int:
        """The place of the right choice, from 0."""
        return next(place for place, choice in enumerate(self.choices) if not choice.mistake)


def read_ask(text: str) -> Ask:
    """The question that a text names.

    Raises:
        FormatError: it names none.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    match tree:
        case ast.Call(func=ast.Name(id=kind), args=args, keywords=[]) if kind in FORMS:
            given = [each.value for each in args if isinstance(each, ast.Constant)]
            if len(given) == len(args) and (ask := _asked(kind, given)):
                return ask
    forms = ", ".join(f"{kind}({', '.join(form)})" for kind, form in FORMS.items())
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    raise FormatError(f"expected a question, one of {forms}; got “{shown}”")


def distinct(right: Choice, wrong: Iterable[Choice]) -> list[Choice]:
    """The first wrong choices that read unlike the right one and each other, one a mistake."""
    kept: list[Choice] = []
    for choice in wrong:
        known = {text for other in (right, *kept) for text in (other.text, other.mistake)}
        if known.isdisjoint((choice.text, choice.mistake)):
            kept.append(choice)
        if len(kept) == MOST_WRONG:
            break
    return kept


def _asked(kind: str, given: Sequence[object]) -> Ask | None:
    form = FORMS[kind]
    if not given and kind in ALSO_PLAIN:
        return Ask(kind)
    if len(given) != len(form):
        return None
    word = given[0] if form[:1] == ("word",) else None
    tags = given if word is None else given[1:]
    if not (word is None or isinstance(word, str) or type(word) is int):
        return None
    names = tuple(tag for tag in tags if isinstance(tag, str))
    return Ask(kind, word, names) if len(names) == len(tags) else None
