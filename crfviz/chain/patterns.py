"""Minimal automata of rules over tags, and chains times automata.

A rule describes the tags of a whole sentence. The empty rule describes the sentence without words.
A chain times an automaton is a chain: its tags are copies, one for each state that a tag leads to.

Source:
    Antimirov, "Partial Derivatives of Regular Expressions and Finite Automaton Constructions"
    (1996): what may follow a tag is a set of expressions, which are the states. Moore, "Gedanken-
    experiments on Sequential Machines" (1956): states that agree on every continuation are one.
    Allauzen, Mohri and Rastogi, "General Algorithms for Testing the Ambiguity of Finite Automata"
    (2008), section 2, on products of weighted automata.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import count

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.pattern_syntax import Either, Expression, Repeat, Terms, parse
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.text.files import abbreviate_value

MAX_STATES = 64  # of a minimal automaton
MAX_UNMERGED = 1000  # states of an automaton before equal ones are merged
MAX_TERMS = 100_000  # expressions in all of them


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
        """(K', 2) tag and state of each copy, in the order of `product` but without its cost."""
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
    expression, tag_sets = parse(pattern, tags)
    states, table = _explored(expression, tag_sets, len(tags))
    accepting = np.array([any(map(_is_nullable, state)) for state in states] + [False])
    next_state, accepting = _minimal(table, accepting)
    if len(accepting) > MAX_STATES:
        raise CrfvizError(
            f"the rule needs {len(accepting)} states, and at most {MAX_STATES} are possible"
        )
    return Automaton(pattern, tags, next_state, accepting)


def _is_nullable(expression: Expression) -> bool:
    """Return whether an expression matches no word."""
    match expression:
        case frozenset():
            return False
        case Either(options):
            return any(map(_is_nullable, options))
        case Repeat(item, low, _):
            return low == 0 or _is_nullable(item)
    return all(map(_is_nullable, expression))


def _after(expression: Expression, tag: int) -> frozenset[Terms]:
    """Return what may follow a tag with which an expression begins: its partial derivatives."""
    found = set[Terms]()
    match expression:
        case frozenset():
            found.update([()] if tag in expression else [])
        case Either(options):
            found.update(*(_after(option, tag) for option in options))
        case Repeat(item, low, high):
            low = 0 if _is_nullable(item) else max(0, low - 1)
            rest = () if high == 1 else (Repeat(item, low, None if high is None else high - 1),)
            found.update(term + rest for term in _after(item, tag))
        case _:
            for place, item in enumerate(expression, start=1):
                found.update(term + expression[place:] for term in _after(item, tag))
                if not _is_nullable(item):
                    break
    return frozenset(found)


def _explored(
    expression: Expression, members: Sequence[frozenset[int]], num_tags: int
) -> tuple[list[frozenset[Terms]], NDArray[np.int64]]:
    """Return all states, as sets of sequences, and (S+1, K) their successors; the last is dead.

    Breadth first, by tag. Tags that are in the same of the rule's sets are tried once.
    """
    signs = [tuple(tag in tags for tags in members) for tag in range(num_tags)]
    first = {sign: signs.index(sign) for sign in signs}
    classes = list(first.values())
    of_tag = [classes.index(first[sign]) for sign in signs]
    start: frozenset[Terms] = frozenset([(expression,)])
    numbers = {start: 0}
    states, rows, num_terms = [start], list[list[int]](), 0
    after = cache(_after)
    for state in states:  # grows while it is read
        row = list[int]()
        for tag in classes:
            reached = frozenset[Terms]().union(*(after(term, tag) for term in state))
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
