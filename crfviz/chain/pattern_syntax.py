"""The syntax of rules over tags: regular expressions whose letters are tag names.

NOUN            this tag; in double quotes if its name has a blank or one of .[]^()|*+?{}"
.               any tag
[A B]  [^ A B]  one of these tags; any tag but these
A B    A | B    A and then B; A or B
( )             grouping
A*  A+  A?      any number of A; at least one; at most one
A{m}  A{m,n}  A{m,}   exactly m; m to n; at least m
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

from crfviz.exceptions import FormatError, UnknownTagError
from crfviz.text.files import abbreviate

MAX_LENGTH = 1000  # characters of a rule
MAX_DEPTH = 50  # of brackets in brackets
MAX_LISTED = 20  # tags in a message

_SPECIAL = re.escape('.[]^()|*+?{}"')
_PLAIN = re.compile(rf"[^\s{_SPECIAL}]+")
_TOKEN = re.compile(rf'"(?:[^"]|"")*"|\{{[^{{}}]*\}}|[{_SPECIAL}]|[^\s{_SPECIAL}]+')
_COUNT = re.compile(r"\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}")
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(frozen=True, slots=True)
class Either:
    """One of several expressions: A | B."""

    options: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An expression several times in a row: A{low,high}."""

    item: "Expression"
    low: int
    high: int | None  # None: no bound


Terms = tuple["Expression", ...]
Expression = frozenset[int] | Terms | Either | Repeat  # a set: one of these tags


def quoted(tag: str) -> str:
    """Return a tag name as a rule has to spell it.

    >>> quoted("B-PER"), quoted(".")
    ('B-PER', '"."')
    """
    return tag if _PLAIN.fullmatch(tag) else '"{}"'.format(tag.replace('"', '""'))


def parse(pattern: str, tags: tuple[str, ...]) -> tuple[Expression, list[frozenset[int]]]:
    """Return the expression of a rule, and the set of tags of each of its places for one tag.

    Raises:
        FormatError: the rule cannot be read; the message names the column, from 1.
        UnknownTagError: it has a tag that is not among `tags`; the message has similar ones, too.
    """
    parser = _Parser(pattern, tags)
    return parser.parsed(), parser.members


class _Token(NamedTuple):
    text: str
    column: int  # from 1


class _Parser:
    """Recursive descent over the tokens of a rule."""

    def __init__(self, pattern: str, tags: tuple[str, ...]) -> None:
        if len(pattern) > MAX_LENGTH:
            raise FormatError(
                f"column {MAX_LENGTH + 1}: a rule may have at most {MAX_LENGTH:,} characters, "
                f"got {len(pattern):,}"
            )
        self.tags = tags
        self.tokens = [_Token(m[0], m.start() + 1) for m in _TOKEN.finditer(pattern)][::-1]
        self.depth = 0
        self.members: list[frozenset[int]] = []  # the tags of each place for one

    def parsed(self) -> Expression:
        found = self._either()
        if self.tokens:
            _fail(self.tokens[-1], "closes a bracket that was never opened")
        return found

    def _either(self) -> Expression:
        options = [self._sequence()]
        while self._accept("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _sequence(self) -> Expression:
        items: list[Expression] = []
        while self.tokens and self.tokens[-1].text not in ("|", ")"):
            items.append(self._repeated(self._item(self.tokens.pop())))
        return items[0] if len(items) == 1 else tuple(items)

    def _item(self, token: _Token) -> Expression:
        match token.text[0]:
            case "(":
                return self._group(token)
            case "[":
                return self._one_of(self._tag_set(token))
            case ".":
                return self._one_of(range(len(self.tags)))
            case "*" | "+" | "?" | "{" if _repeat(token):
                _fail(token, "has nothing before it to repeat")
            case "^":
                _fail(token, "may only stand right after [")
            case "]" | "}":
                _fail(token, "closes a bracket that was never opened")
        return self._one_of([self._tag(token)])

    def _one_of(self, tags: Iterable[int]) -> Expression:
        self.members.append(frozenset(tags))
        return self.members[-1]

    def _group(self, opened: _Token) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            _fail(opened, f"is too deep: at most {MAX_DEPTH} brackets may stand in each other")
        found = self._either()
        if not self._accept(")"):
            _fail(opened, "is never closed")
        self.depth -= 1
        return found

    def _tag_set(self, opened: _Token) -> set[int]:
        inverted = self._accept("^")
        members = set[int]()
        while not self._accept("]"):
            if not self.tokens:
                _fail(opened, "is never closed")
            token = self.tokens.pop()
            if token.text[0] in ".[^()|*+?{}":
                _fail(token, "cannot stand in [ ], where tags are listed")
            members.add(self._tag(token))
        if not members:
            _fail(opened, "has no tag before its ]")
        return set(range(len(self.tags))) - members if inverted else members

    def _repeated(self, item: Expression) -> Expression:
        if not self.tokens or (bounds := _repeat(self.tokens[-1])) is None:
            return item
        self.tokens.pop()
        if self.tokens and _repeat(self.tokens[-1]):
            _fail(self.tokens[-1], "follows another repeat: put the first into ( )")
        low, high = bounds
        return () if high == 0 else Repeat(item, low, high)

    def _tag(self, token: _Token) -> int:
        if token.text == '"':
            _fail(token, "is never closed")
        name = token.text[1:-1].replace('""', '"') if token.text[0] == '"' else token.text
        if name in self.tags:
            return self.tags.index(name)
        folded = {tag.casefold(): tag for tag in reversed(self.tags)}
        near = [folded[tag] for tag in get_close_matches(name.casefold(), folded, cutoff=0.5)]
        expected = [quoted(tag) for tag in near or self.tags[:MAX_LISTED]]
        more = [] if near or len(self.tags) <= MAX_LISTED else ["…"]
        raise UnknownTagError(
            f"column {token.column}: expected a tag{' such as' if near else ':'} "
            f"{', '.join(expected + more)}, got {abbreviate(name)}"
        )

    def _accept(self, text: str) -> bool:
        if self.tokens and self.tokens[-1].text == text:
            self.tokens.pop()
            return True
        return False


def _fail(token: _Token, problem: str) -> NoReturn:
    raise FormatError(f"column {token.column}: {abbreviate(token.text)} {problem}")


def _repeat(token: _Token) -> tuple[int, int | None] | None:
    """Return the least and the largest number of times, None if the token repeats nothing."""
    if token.text[0] != "{":
        return _REPEATS.get(token.text)
    if not token.text.endswith("}"):
        _fail(token, "is never closed")
    if not (count := _COUNT.fullmatch(token.text)):
        _fail(token, "must be a number of times, such as {2}, {1,3} or {2,}")
    low, high = int(count[1]), int(count[3]) if count[3] else None
    if not count[2]:
        high = low
    if high is not None and high < low:
        _fail(token, "must have the smaller number first")
    return low, high
