"""The file format of lectures: title, minutes, and cues, each a screen with a text.

    title = "Greedy, and why it fails"
    minutes = 10

    [[cue]]
    page = "viterbi"
    model = "upos-en"
    sentence = "My old bed got tossed in a dumpster ."
    step = "start"
    cover = ["path", "note"]
    say = "Alone, “tossed” is {greedy('tossed')}."
    holds = ["greedy('tossed') != viterbi('tossed')"]
    ask = "viterbi('tossed')"

Besides `page`, `cover`, `say`, `holds` and `ask`, a cue has the parameters of a link: `model`,
`sentence`, `edits` (DET.NOUN:1.25), `matrix` (many edits, packed), `scores` of single words
(3.NOUN:2), `strength`, `constrained` (0: without the rules), `pins` (0.DET), `right`, `step`, and
page options in `view`, such as `view.at = "3 NOUN"`. The defaults are those of a link. `page` may
be the name of a view, such as "naive"; so may `view`, beside the path of its page.
`crfviz.ui.lectures.expressions` describes expressions, `crfviz.views.quiz.question` questions, and
`crfviz.views.quiz.own` questions of the author: `ask = {text = …, answers = […], right = 1}`.
A cue that has only `same = "greedy 3"` repeats the third cue of the lecture "greedy".
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from crfviz.chain.edits import END, START
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.ui.lectures.expressions import expressions, parse
from crfviz.ui.state.link import decode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import PARTS, Scenario, for_tags, with_covered
from crfviz.ui.words import quote
from crfviz.views.contents import FORMER, VIEW, page_of, views_of
from crfviz.views.quiz.own import OwnQuestion, problems, read_own
from crfviz.views.quiz.question import LONGEST, read_ask
from crfviz.views.quiz.selection import PAGES, can_ask

MAX_CUES = 200
LONGEST_SAY = 400  # characters of a cue's text, short enough to read at a glance
LONGEST_FILE = 1_000_000  # characters
IN_LINK = {
    "model": "model",
    "sentence": "sentence",
    "edits": "t",
    "matrix": "m",
    "scores": "e",
    "strength": "k",
    "constrained": "c",
    "pins": "p",
    "right": "r",
    "step": "step",
}  # from a key of a cue to a parameter of a link
OWN = ("page", "cover", "say", "holds", "ask", "view")
SAME = "same"
OWN_FORM = "a question of your own is ask = {text = …, answers = […], right = 1}"
BELOW = "below"  # page option: show the parts below the picture instead of it
_CUE = re.compile(r"^[ \t]*\[\[[ \t]*cue[ \t]*\]\][ \t]*(#.*)?$", re.MULTILINE)
_LINE = re.compile(r"\(at line (\d+), column \d+\)$")


@dataclass(frozen=True)
class Cue:
    """One screen of a lecture, with its text, claims and question."""

    page: str  # path in the URL, or name of a view; empty for Explore
    scenario: Scenario  # its page options include the covered parts
    say: str  # the text, with expressions in braces
    holds: tuple[str, ...]  # expressions that must be true
    place: str  # file:line, for messages
    ask: str | OwnQuestion = ""  # to answer first, such as viterbi('tossed'); empty for none

    @property
    def of_model(self) -> str:
        """The question that the model answers; empty without one."""
        return self.ask if isinstance(self.ask, str) else ""

    @property
    def own(self) -> OwnQuestion | None:
        """The question that the author wrote; None without one."""
        return self.ask if isinstance(self.ask, OwnQuestion) else None


@dataclass(frozen=True)
class Lecture:
    """A parsed lecture: its cues in order, and the problems of the file."""

    title: str
    minutes: float
    cues: tuple[Cue, ...]
    problems: tuple[str, ...]  # messages with file:line; their cues were skipped or changed


def read_lecture(
    text: str,
    file: str,
    models: Models,
    tags: Callable[[str], Sequence[str]],
    pages: Collection[str],
    other: Callable[[str], Lecture],
) -> Lecture:
    """Parse the text of a lecture.

    An invalid key of a cue is reported as a problem of the lecture, and the rest of the cue is
    used. A cue with an unknown page or model is skipped.

    Args:
        text: TOML.
        file: its name, for messages.
        models: the known models.
        tags: returns the K tag names of a model, or raises a CrfvizError.
        pages: the paths of all pages, and the names of all views.
        other: returns the lecture of a name, or raises a FormatError.

    Raises:
        FormatError: the text is not TOML, or has no title or no valid cue; the message says where.
    """
    if len(text) > LONGEST_FILE:
        raise FormatError(
            f"{file}: expected at most {LONGEST_FILE:,} characters, got {len(text):,}"
        )
    (top, before), *parts = _parts(text)
    head = _Section(file, top, before)
    cues = [_Section(file, line, part, "cue") for line, part in parts]
    if len(cues) > MAX_CUES:
        raise FormatError(f"{cues[MAX_CUES].at()}: expected at most {MAX_CUES} cues")
    title, minutes = head.text("title", 100), head.number("minutes")
    head.rest(("title", "minutes"))
    if not title:
        raise FormatError(f'{head.at()}: expected a line such as title = "Viterbi"')
    read = [
        _same(section, other) if SAME in section.content else _cue(section, models, tags, pages)
        for section in cues
    ]
    problems = [problem for section in (head, *cues) for problem in section.problems]
    shown = tuple(cue for cue in read if cue is not None)
    if not shown:
        why = problems[0] if problems else f"{head.at()}: expected a [[cue]]"
        raise FormatError(f"{file} has no cue that can be shown. {why}")
    return Lecture(title, minutes, shown, tuple(problems))


def _parts(text: str) -> list[tuple[int, str]]:
    """Split a text before each cue; return the parts, each with the number of its first line."""
    begins = [0, *(match.start() for match in _CUE.finditer(text)), len(text)]
    return [(text.count("\n", 0, a) + 1, text[a:b]) for a, b in pairwise(begins)]


class _Section:
    """One table of the file: it reads the values, and collects the problems of the keys."""

    def __init__(self, file: str, line: int, text: str, table: str = "") -> None:
        self.file, self.line, self.source = file, line, text
        self.problems: list[str] = []
        try:
            content = tomllib.loads(text.replace("\r\n", "\n"))
        except (ValueError, RecursionError) as error:
            raise FormatError(self._broken(str(error))) from error
        self.content: dict[str, Any] = content.pop(table)[0] if table else content
        if table:
            self.refuse(content, ["[[cue]]"])

    def _broken(self, message: str) -> str:
        match = _LINE.search(message)
        line = self.line + int(match[1]) - 1 if match else self.line
        text = message[: match.start()].strip() if match else message
        return f"{self.file}:{line}: expected TOML ({text or 'it ends too early'})"

    def at(self, name: str = "") -> str:
        """Return file:line of the key `name`, or of the section."""
        key = re.compile(rf"^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*[.=]", re.MULTILINE)
        match = key.search(self.source) if name else None
        before = self.source[: match.start()] if match else ""
        line = self.line + before.count("\n")
        return f"{self.file}:{line}"

    def wrong(self, name: str, message: str) -> None:
        self.problems.append(f"{self.at(name)}: {message}")

    def text(self, name: str, longest: int) -> str:
        value = self.content.get(name, "")
        if isinstance(value, str) and len(value) <= longest:
            return value.strip()
        self.wrong(name, f"expected a text of at most {longest} characters as {name}")
        return value.strip()[:longest] if isinstance(value, str) else ""

    def number(self, name: str) -> float:
        value = self.content.get(name, 0)
        if isinstance(value, int | float) and 0 <= value <= 1000:
            return float(value)
        self.wrong(name, f"expected a number from 0 to 1000 as {name}")
        return 0.0

    def texts(self, name: str) -> list[str]:
        value = self.content.get(name, [])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return value
        self.wrong(name, f"expected a list of texts as {name}")
        return []

    def params(self) -> dict[str, str]:
        """Return the values of the keys in `IN_LINK` and `view`, as parameters of a link."""
        given = {name: self.content[name] for name in IN_LINK if name in self.content}
        view = self.content.get("view", {})
        if isinstance(view, str):
            view = {VIEW: view}
        elif not isinstance(view, Mapping):
            self.wrong("view", 'expected page options such as view.at = "3 NOUN"')
            view = {}
        values = {IN_LINK[name]: value for name, value in given.items()}
        values |= {f"v.{name}": value for name, value in view.items()}
        for name in [name for name, each in values.items() if isinstance(each, list | dict | bool)]:
            self.wrong(_key(name), f"expected a text or a number as {_key(name)}")
            del values[name]
        return {name: str(value) for name, value in values.items()}

    def rest(self, known: Collection[str]) -> None:
        self.refuse([name for name in self.content if name not in known], known)

    def refuse(self, names: Iterable[str], known: Collection[str]) -> None:
        for name in names:
            self.wrong(name, f"expected one of {', '.join(known)}, got {quote(name)}")


def _key(name: str) -> str:
    """Return the key of a cue that sets a parameter of a link."""
    words = {link: word for word, link in IN_LINK.items()}
    return "view" if name.startswith("v.") else words.get(name, name)


def _same(section: _Section, other: Callable[[str], Lecture]) -> Cue | None:
    section.rest((SAME,))
    name, _, number = section.text(SAME, 100).partition(" ")
    try:
        cues = other(name).cues
    except FormatError as error:
        section.wrong(SAME, str(error))
        return None
    if number.isdecimal() and 1 <= int(number) <= len(cues):
        return cues[int(number) - 1]
    section.wrong(SAME, f"expected a lecture and a number up to {len(cues)}, such as “{name} 1”")
    return None


def _cue(
    section: _Section,
    models: Models,
    tags: Callable[[str], Sequence[str]],
    pages: Collection[str],
) -> Cue | None:
    section.rest((*OWN, *IN_LINK))
    page, params = section.text("page", 40), section.params()
    page = FORMER.get(page, page)
    if page not in pages:
        section.wrong(
            "page", f"there is no page {quote(page)}; expected {', '.join(filter(None, pages))}"
        )
        return None
    model = params.get("model", models.default)
    if not models.knows(model):
        section.wrong(
            "model", f"there is no model {quote(model)}; expected {', '.join(models.names)}"
        )
        return None
    decoded = decode(params | {"model": model}, models, lambda name: section.at(_key(name)))
    section.problems += decoded.ignored
    try:
        fitted, unknown = for_tags(decoded.scenario, tags(model))
    except CrfvizError as error:
        section.wrong("model", str(error))
        return None
    if unknown:
        section.wrong("edits", f"{model} has no tag {', '.join(map(quote, unknown))}")
    view = (
        with_covered(fitted.view, _covered(section)) if "cover" in section.content else fitted.view
    )
    page = _view_of(section, page, view.get(VIEW, ""))
    view = {name: value for name, value in view.items() if name != VIEW}
    return Cue(
        page=page,
        scenario=replace(fitted, view=view),
        say=_notes(section),
        holds=tuple(each for each in section.texts("holds") if _reads(section, "holds", each)),
        place=section.at(),
        ask=_question_of(section, page, tags(model)),
    )


def _view_of(section: _Section, page: str, named: str) -> str:
    """Return the name of the view that a cue names beside its page, the page itself without one."""
    name = FORMER.get(named, named) or page
    known = views_of(page_of(page))
    if name in known:
        return name
    section.wrong("view", f"expected a view of {', '.join(filter(None, known))}; got {quote(name)}")
    return page


def _covered(section: _Section) -> list[str]:
    parts = section.texts("cover")
    for part in parts:
        if part not in PARTS:
            section.wrong("cover", f"expected parts of {', '.join(PARTS)}; got {quote(part)}")
    return parts


def _notes(section: _Section) -> str:
    say = section.text("say", LONGEST_SAY)
    return say if all(_reads(section, "say", each) for each in expressions(say)) else ""


def _question_of(section: _Section, page: str, tags: Sequence[str]) -> str | OwnQuestion:
    """Return the question of a cue, empty if invalid; the player checks that it has an answer."""
    own = section.content.get("ask")
    if isinstance(own, Mapping):
        wrong = problems(own)
        for problem in wrong.values():
            section.wrong("ask", problem)
        return "" if wrong else read_own(own)
    text = section.text("ask", LONGEST)
    if text and not can_ask(page):
        section.wrong(
            "ask", f"nothing can be asked on the page {page}; expected {', '.join(PAGES)}"
        )
        return ""
    try:
        ask = read_ask(text) if text else None
    except FormatError as error:
        section.wrong("ask", f"{error}; {OWN_FORM}")
        return ""
    unknown = set(ask.tags if ask else ()) - {*tags, START, END}
    if unknown:
        section.wrong("ask", f"there is no tag {', '.join(map(quote, sorted(unknown)))}")
    return "" if unknown else text


def _reads(section: _Section, name: str, expression: str) -> bool:
    try:
        parse(expression)
    except FormatError as error:
        section.wrong(name, str(error))
        return False
    return True
