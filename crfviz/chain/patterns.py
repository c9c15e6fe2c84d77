"""Rules over tags: regular expressions whose letters are tag names, and their minimal automata.

    NOUN            this tag; in double quotes if its name has a blank or one of .[]^()|*+?{}"
    .               any tag
    [A B]  [^ A B]  one of these tags; any tag but these
    A B    A | B    A and then B; A or B
    ( )             grouping
    A*  A+  A?      any number of A; at least one; at most one
    A{m}  A{m,n}  A{m,}   exactly m; m to n; at least m

A rule describes the tags of a whole sentence. The empty rule describes the sentence without words.
A chain times an automaton is a chain: its tags are copies, one for each state that a tag leads to.

Source:
    Antimirov, "Partial Derivatives of Regular Expressions and Finite Automaton Constructions"
    (1996): what may follow a tag is a set of expressions, which are the states. Moore, "Gedanken-
    experiments on Sequential Machines" (1956): states that agree on every continuation are one.
    Allauzen, Mohri and Rastogi, "General Algorithms for Testing the Ambiguity of Finite Automata"
    (2008), section 2, on products of weighted automata.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from itertools import count
from typing import NamedTuple, NoReturn

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.exceptions import CrfvizError, FormatError, UnknownTagError
from crfviz.text.files import abbreviate, abbreviate_value

MAX_STATES = 64  # of a minimal automaton
MAX_LENGTH = 1000  # characters of a rule
MAX_DEPTH = 50  # of brackets in brackets
MAX_LISTED = 20  # tags in a message
MAX_UNMERGED = 1000  # states of an automaton before equal ones are merged
MAX_TERMS = 100_000  # expressions in all of them

_SPECIAL = re.escape('.[]^()|*+?{}"')
_PLAIN = re.compile(rf"[^\s{_SPECIAL}]+")
_TOKEN = re.compile(rf'"(?:[^"]|"")*"|\{{[^{{}}]*\}}|[{_SPECIAL}]|[^\s{_SPECIAL}]+')
_COUNT = re.compile(r"\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}")
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


@dataclass(frozen=True, eq=False)
class Product:
    """Copies of the tags, one for each state that a tag leads to; K' of them, K or more.

    A path of copies is one path of tags that an automaton can read, and the other way round. Those
    of a rule come by tag, then by state; a tag that leads nowhere has one copy, never allowed.
    """

    tags: NDArray[np.int64]  # (K',) id of the tag
    states: NDArray[np.int64]  # (K',) state after it; -1 where it is never allowed
    start: Tensor  # (K',) bool, whether a sentence may begin with it
    transitions: Tensor  # (K', K') bool, whether the second may follow the first
    end: Tensor  # (K',) bool, whether a sentence may end with it

    def names(self, tags: Sequence[str]) -> tuple[str, ...]:
        """Return K' names, those of the K tags, with the state where a tag has several copies."""
        copies = Counter(self.tags.tolist())
        dot = next(dot for n in count(1) if not any((dot := "·" * n) in name for name in tags))
        return tuple(
            tags[tag] + (f"{dot}{state}" if copies[tag] > 1 else "")
            for tag, state in zip(self.tags.tolist(), self.states.tolist(), strict=True)
        )


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton over tags, without the state from which nothing matches.

    State 0 is the first one. That of a rule is the smallest, and its other states are numbered in
    the order in which a search by breadth, by tag id, comes to them.
    """

    pattern: str
    tags: tuple[str, ...]  # K names
    next: NDArray[np.int64]  # (S, K) state after a tag; -1 where no match is possible any more
    accepting: NDArray[np.bool_]  # (S,) whether a sentence may end there

    @property
    def num_states(self) -> int:
        """S, from 1 to `MAX_STATES`."""
        return len(self.accepting)

    def complement(self) -> "Automaton":
        """Return an automaton of all sentences that this one does not match."""
        dead = self.num_states
        moves = np.where(self.next < 0, dead, self.next)
        return replace(
            self,
            next=np.vstack([moves, np.full_like(moves[:1], dead)]),
            accepting=np.append(~self.accepting, [True]),
        )

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """(K', 2) tag and state of each copy in the product, in order; cheap, as that is not."""
        pairs = {
            (tag, state)
            for row in self.next.tolist()
            for tag, state in enumerate(row)
            if state >= 0
        }
        pairs |= {(tag, -1) for tag in set(range(len(self.tags))) - {tag for tag, _ in pairs}}
        return np.array(sorted(pairs))

    @cached_property
    def product(self) -> Product:
        """The automaton times a chain of its tags."""
        tags, states = self.copies.T
        used = states >= 0
        return Product(
            tags=tags,
            states=states,
            start=torch.from_numpy(used & (self.next[0, tags] == states)),
            transitions=torch.from_numpy(
                used & used[:, None] & (self.next[states][:, tags] == states)
            ),
            end=torch.from_numpy(used & self.accepting[states]),
        )


def quoted(tag: str) -> str:
    """Return a tag name as a rule has to spell it.

    >>> quoted("B-PER"), quoted(".")
    ('B-PER', '"."')
    """
    return tag if _PLAIN.fullmatch(tag) else '"{}"'.format(tag.replace('"', '""'))


def automaton(pattern: str, tags: tuple[str, ...]) -> Automaton:
    """Return the automaton of a rule over K tag names.

    Raises:
        FormatError: the rule cannot be read; the message names the column, from 1.
        UnknownTagError: it has a tag that is not among `tags`; the message has similar ones, too.
        CrfvizError: it needs more than `MAX_STATES` states.

    Example:
        >>> automaton("A (B A)*", ("A", "B")).next.tolist()
        [[1, -1], [-1, 0]]
    """
    if not isinstance(pattern, str):
        raise FormatError(f"a rule must be a text, got {abbreviate_value(pattern)}")
    return _automaton(pattern, tags)


@lru_cache(maxsize=64)
def _automaton(pattern: str, tags: tuple[str, ...]) -> Automaton:
    parser = _Parser(pattern, tags)
    states, table = _explored(parser.parsed(), parser.members, len(tags))
    accepting = np.array([any(map(_is_nullable, state)) for state in states] + [False])
    next_state, accepting = _minimal(table, accepting)
    if len(accepting) > MAX_STATES:
        raise CrfvizError(
            f"the rule needs {len(accepting)} states, and at most {MAX_STATES} are possible"
        )
    return Automaton(pattern, tags, next_state, accepting)


@dataclass(frozen=True, slots=True)
class _Either:
    options: tuple["_Expression", ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    item: "_Expression"
    low: int
    high: int | None  # None: no bound


_Sequence = tuple["_Expression", ...]
_Expression = frozenset[int] | _Sequence | _Either | _Repeat  # a set: one of these tags


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

    def parsed(self) -> _Expression:
        found = self._either()
        if self.tokens:
            _fail(self.tokens[-1], "closes a bracket that was never opened")
        return found

    def _either(self) -> _Expression:
        options = [self._sequence()]
        while self._accept("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else _Either(tuple(options))

    def _sequence(self) -> _Expression:
        items: list[_Expression] = []
        while self.tokens and self.tokens[-1].text not in ("|", ")"):
            items.append(self._repeated(self._item(self.tokens.pop())))
        return items[0] if len(items) == 1 else tuple(items)

    def _item(self, token: _Token) -> _Expression:
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

    def _one_of(self, tags: Iterable[int]) -> _Expression:
        self.members.append(frozenset(tags))
        return self.members[-1]

    def _group(self, opened: _Token) -> _Expression:
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

    def _repeated(self, item: _Expression) -> _Expression:
        if not self.tokens or (bounds := _repeat(self.tokens[-1])) is None:
            return item
        self.tokens.pop()
        if self.tokens and _repeat(self.tokens[-1]):
            _fail(self.tokens[-1], "follows another repeat: put the first into ( )")
        low, high = bounds
        return () if high == 0 else _Repeat(item, low, high)

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


def _is_nullable(expression: _Expression) -> bool:
    """Return whether an expression matches no word."""
    match expression:
        case frozenset():
            return False
        case _Either(options):
            return any(map(_is_nullable, options))
        case _Repeat(item, low, _):
            return low == 0 or _is_nullable(item)
    return all(map(_is_nullable, expression))


def _after(expression: _Expression, tag: int) -> frozenset[_Sequence]:
    """Return what may follow a tag with which an expression begins: its partial derivatives."""
    found = set[_Sequence]()
    match expression:
        case frozenset():
            found.update([()] if tag in expression else [])
        case _Either(options):
            found.update(*(_after(option, tag) for option in options))
        case _Repeat(item, low, high):
            low = 0 if _is_nullable(item) else max(0, low - 1)
            rest = () if high == 1 else (_Repeat(item, low, None if high is None else high - 1),)
            found.update(term + rest for term in _after(item, tag))
        case _:
            for place, item in enumerate(expression, start=1):
                found.update(term + expression[place:] for term in _after(item, tag))
                if not _is_nullable(item):
                    break
    return frozenset(found)


def _explored(
    expression: _Expression, members: Sequence[frozenset[int]], num_tags: int
) -> tuple[list[frozenset[_Sequence]], NDArray[np.int64]]:
    """Return all states, as sets of sequences, and (S+1, K) their successors; the last is dead.

    Breadth first, by tag. Tags that are in the same of the rule's sets are tried once.
    """
    signs = [tuple(tag in tags for tags in members) for tag in range(num_tags)]
    first = {sign: signs.index(sign) for sign in signs}
    classes = list(first.values())
    of_tag = [classes.index(first[sign]) for sign in signs]
    start: frozenset[_Sequence] = frozenset([(expression,)])
    numbers = {start: 0}
    states, rows, num_terms = [start], list[list[int]](), 0
    after = cache(_after)
    for state in states:  # grows while it is read
        row = list[int]()
        for tag in classes:
            reached = frozenset[_Sequence]().union(*(after(term, tag) for term in state))
            num_terms += len(reached)
            if reached and reached not in numbers:
                numbers[reached] = len(states)
                states.append(reached)
            row.append(numbers.get(reached, -1))
        rows.append(row)
        if len(states) > MAX_UNMERGED or num_terms > MAX_TERMS:
            raise CrfvizError(
                f"the rule needs {len(states):,} states or more before equal ones are merged, "
                f"and at most {MAX_STATES} are possible"
            )
    table = np.array([*rows, [-1] * len(classes)])
    table[table < 0] = len(states)
    return states, table[:, of_tag]


def _minimal(
    table: NDArray[np.int64], accepting: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Merge states that no continuation tells apart; leave out the dead one, which comes last.

    Those that are left stay in order.
    """
    group = accepting.astype(np.int64)
    while True:
        rows = np.column_stack([group, group[table]])
        finer = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        if finer.max() == group.max():
            break
        group = finer
    first = np.unique(group, return_index=True)[1]
    states = np.sort(first[group[first] != group[-1]])
    number = np.full(len(first), -1)
    number[group[states]] = np.arange(len(states))
    states = states if len(states) else np.array([0])  # nothing matches at all
    return number[group[table[states]]], accepting[states]
