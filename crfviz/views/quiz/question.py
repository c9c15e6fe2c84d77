"""A question about the chain on the screen, its choices, and the mistakes behind the wrong ones.

An answer is always computed. Each wrong choice is the result of a known mistake, with its name and
its arithmetic. A wrong choice that reads like the right answer is left out.

Letters: `T` tokens, `K` tags.
"""

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crfviz.chain.homework.answers import MACHINES
from crfviz.chain.homework.bugs import Bug, known_bugs
from crfviz.chain.homework.programs import BETA, VITERBI, Program, right_program
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import logsumexp, maximum
from crfviz.exceptions import FormatError
from crfviz.views.formatting import added, numbered, score

MAX_WRONG = 3
LONGEST = 200  # maximum number of characters of a question as text
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
    "log_z": ("from", "to"),  # optional: compares with the trained chain
    "likeliest": (),
    "cost": ("rule",),
}  # arguments by kind
ALSO_PLAIN = ("log_z",)  # kinds whose arguments are optional
MAX_OPERANDS = 7  # tags of the column that a cell is computed from
SHOWN = 3  # number of terms of a sum that are written out; others are "…"
OPERATORS = (("log Σ exp", logsumexp), ("max", maximum), ("Σ", lambda terms, axis: terms.sum(axis)))


@dataclass(frozen=True)
class Ask:
    """The kind of a question and its arguments: `alpha(2, 'NOUN')`, `likeliest()`."""

    kind: str  # one of FORMS
    word: int | str | None = None  # the word's number from 1, or its text
    tags: tuple[str, ...] = ()
    rule: str = ""  # over the tags, see `crfviz.chain.patterns`

    def __str__(self) -> str:
        """Return the question as links and lecture files write it."""
        given = self.tags if self.word is None else (self.word, *self.tags)
        given = (self.rule,) if self.rule else given
        return f"{self.kind}({','.join(map(repr, given))})"


@dataclass(frozen=True)
class Choice:
    """One possible answer to a question."""

    text: str  # text on the button
    why: str  # explanation, with numbers
    mistake: str = ""  # name of the mistake behind a wrong answer; empty for the right one


Operands = Sequence[Sequence[str]]  # rows of a table with a head: what a cell is computed from


@dataclass(frozen=True)
class Question:
    """A question with two or more distinct choices, one of them right."""

    ask: Ask
    text: str
    hint: str
    choices: tuple[Choice, ...]
    operands: Operands = ()  # of a cell

    @property
    def right(self) -> int:
        """The position of the right choice, from 0."""
        return next(place for place, choice in enumerate(self.choices) if not choice.mistake)


def read_ask(text: str) -> Ask:
    """Parse the text of a question.

    Raises:
        FormatError: the text is not a question.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    match tree:
        case ast.Call(func=ast.Name(id=kind), args=args, keywords=[]) if kind in FORMS:
            given = [each.value for each in args if isinstance(each, ast.Constant)]
            if len(given) == len(args) and (ask := _parsed(kind, given)):
                return ask
    forms = ", ".join(f"{kind}({', '.join(form)})" for kind, form in FORMS.items())
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    raise FormatError(f"expected a question, one of {forms}; got “{shown}”")


def distinct(right: Choice, wrong: Iterable[Choice]) -> list[Choice]:
    """Return the first wrong choices with distinct texts and distinct mistakes."""
    kept: list[Choice] = []
    for choice in wrong:
        known = {text for other in (right, *kept) for text in (other.text, other.mistake)}
        if known.isdisjoint((choice.text, choice.mistake)):
            kept.append(choice)
        if len(kept) == MAX_WRONG:
            break
    return kept


def _parsed(kind: str, given: Sequence[object]) -> Ask | None:
    form = FORMS[kind]
    if not given and kind in ALSO_PLAIN:
        return Ask(kind)
    if len(given) != len(form):
        return None
    if form == ("rule",):
        return Ask(kind, rule=given[0]) if given[0] and isinstance(given[0], str) else None
    word = given[0] if form[:1] == ("word",) else None
    tags = given if word is None else given[1:]
    if not (word is None or isinstance(word, str) or type(word) is int):
        return None
    names = tuple(tag for tag in tags if isinstance(tag, str))
    return Ask(kind, word, names) if len(names) == len(tags) else None


def slips(potentials: Potentials, kind: str) -> Iterator[tuple[Bug, Program]]:
    """Yield typical human mistakes in one kind of table, likeliest first, with their programs."""
    right = right_program(potentials, kind)
    for bug in known_bugs(kind):
        if bug.name not in MACHINES:
            yield from ((bug, mutant) for mutant in bug.mutants(right))


def forgotten_end(potentials: Potentials) -> tuple[Bug, Program]:
    """Return the bug of forgotten end scores, and a program with it for the best path.

    The bug changes the best path, but not Viterbi's table.
    """
    bug = next(bug for bug in known_bugs(BETA) if bug.name == "end score forgotten")
    (mutant,) = bug.mutants(right_program(potentials, VITERBI))
    return bug, mutant


def through(potentials: Potentials) -> Array:
    """Return (T, K) the score of the best path through each tag; -inf if none is allowed."""
    before = right_program(potentials, VITERBI).printed(VITERBI)
    after = replace(right_program(potentials, BETA), reduce=maximum).printed(BETA)
    return np.asarray(before + after)


def path_of(program: Program) -> list[int] | None:
    """Return the T tag ids that a program reads back from Viterbi's table; None if it fails."""
    table = program.printed(VITERBI)
    last = table[len(program.emissions) - 1] + program.end
    if not np.isfinite(last).any() or np.isnan(last).any():
        return None
    pointers = program.choices().argmax(2)
    path = [int(last.argmax())]
    for t in range(len(program.emissions) - 1, 0, -1):
        path.append(int(pointers[t, path[-1]]))
    return path[::-1]


def worked_out(program: Program, kind: str, t: int, k: int, right: float) -> str:
    """Return the program's arithmetic for one cell of α, β or Viterbi."""
    value = float(program.printed(kind)[t, k])
    terms, own = terms_of(program, kind, t, k)
    for name, reduce in OPERATORS:
        with np.errstate(all="ignore"):
            total = float(reduce(terms, 0)) + (own or 0.0) if terms.size else math.nan
        if terms.size and math.isclose(total, value, rel_tol=1e-9, abs_tol=1e-9):
            return f"{formula(name, terms, own)} = {score(value, 1)}"
    return f"{score(right)} {added(value - right)} = {score(value, 1)}"


def terms_of(program: Program, kind: str, t: int, k: int) -> tuple[Array, float | None]:
    """Return the (K,) terms that a cell reduces, and the emission added to it; in nats."""
    table = program.printed(kind)
    T = len(program.emissions)
    if kind == BETA:
        if t >= T - 1 or t + 1 >= len(table):
            return program.end[k : k + 1], None
        return program.steps[t][k] + program.emissions[t + 1] + table[t + 1], None
    own = float(program.emissions[t, k])
    if t == 0:
        return program.start[k : k + 1], own
    return table[t - 1] + program.steps[t - 1][:, k], own


def operands_of(
    program: Program, kind: str, t: int, k: int, names: Sequence[str], words: Sequence[str]
) -> Operands:
    """Return what a cell is computed from: the column before, its steps, and the emission.

    For β this is the column after. The tags with the largest terms are shown, in id order.
    """
    T, tag = len(program.emissions), names[k]
    table, e = program.printed(kind), program.emissions
    emission = [f"emission of {tag} at {numbered(words, t)}", e[t, k]]
    if kind == BETA:
        if t == T - 1:
            return [["", "END"], [f"from {tag}", score(float(program.end[k]))]]
        columns = {
            f"step from {tag}": program.steps[t][k],
            f"emissions at {numbered(words, t + 1)}": e[t + 1],
            f"β at {numbered(words, t + 1)}": table[t + 1],
        }
    elif t == 0:
        start = [f"START → {tag}", program.start[k]]
        return [["", ""], *([text, score(float(value))] for text, value in (start, emission))]
    else:
        letter = "best" if kind == VITERBI else "α"
        columns = {
            f"{letter} at {numbered(words, t - 1)}": table[t - 1],
            f"step to {tag}": program.steps[t - 1][:, k],
        }
    terms = sum(columns.values())
    shown = np.sort(np.argsort(-terms, kind="stable")[:MAX_OPERANDS])
    more = ["…"] if len(shown) < len(names) else []
    rows = [[text, *(score(float(row[j])) for j in shown), *more] for text, row in columns.items()]
    head = ["", *(names[j] for j in shown), *more]
    if kind == BETA:
        return [head, *rows]
    last = [emission[0], score(float(e[t, k])), *[""] * (len(head) - 2)]
    return [head, *rows, last]


def formula(name: str, terms: Array, own: float | None) -> str:
    """Return a sum or a maximum in full, its largest terms first."""
    finite = np.sort(terms[np.isfinite(terms)])[::-1]
    texts = [score(float(term)) for term in finite[:SHOWN]]
    if len(finite) > SHOWN:
        texts.append("…")
    inside = ", ".join(texts)
    whole = inside if len(finite) == 1 else f"{name}({inside})"
    return whole if own is None else f"{whole} {added(own)}"
