"""A draft checked in every part: the model that it would be, and what had to be assumed."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.weights import END, START
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.brought.draft import (
    LONGEST_TAG,
    LONGEST_WORD,
    MOST_TAGS,
    MOST_WORDS,
    STEPS,
    Draft,
    Part,
    Reading,
    good_parts,
    require_scores,
    require_words,
)
from crfviz.taggers.brought.given import GivenScores, Scores
from crfviz.taggers.brought.tagger import save_imported
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.tagger import HMM
from crfviz.taggers.textbook.markov import TOLERANCE
from crfviz.text.lines import shown
from crfviz.text.schemes import BIO, could_be_bio

RESERVED = (START, END)  # rows of the matrix; a tag of this name could not be told from them
MOST_SAID = 5  # rows that do not sum to one, sentences that are left out

Gold = tuple[str, ...] | None  # T tag names; None where nobody knows them

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, eq=False)
class Understood:
    """What was read out of somebody's files, to be looked at before it is used."""

    kind: str  # what the files are, for people
    family: str
    tags: tuple[str, ...]  # K
    scheme: str | None
    sentences: Sequence[Potentials]  # that can be shown, at least one
    notes: tuple[str, ...]  # what was assumed, in sentences
    unnormalised: tuple[str, ...]  # rows of probabilities that do not sum to one, in words
    write: Callable[[Path], None]  # writes the model folder; the folder is there and empty
    left_out: tuple[str, ...] = ()  # how many sentences, and what is wrong with the first few


def understand(draft: Draft, reading: Reading) -> Understood:
    """Check a draft; sentences with something wrong in them are left out, and said.

    Raises:
        FormatError: nothing is left, or what all sentences share does not fit; says in which
            sentence, what was expected, what came.
    """
    require_scores(sum(map(_size, draft.parts)))
    shared = _shared_steps(draft, reading)
    parts, wrong = good_parts(draft.parts, lambda part: _with_arrays(draft, part, shared, reading))
    if not parts:
        raise FormatError("Expected at least one sentence, got none.")
    require_scores(_kept_size(parts))
    require_words(sum(len(part.emissions) for part in parts))
    tags = _tags(draft, parts[0].emissions.shape[1])
    rough: tuple[str, ...] = ()
    if draft.probabilities:
        rough = () if reading.normalise else _unnormalised(parts, tags)
        logarithms = _Logarithms(shared, normalise=reading.normalise)
        parts, rows = good_parts(parts, logarithms.of)
        wrong += rows
    given, zeros = GivenScores(tags), np.zeros(len(tags))
    twice: list[str] = []
    alone = len(draft.parts) == 1

    def add(part: Part) -> Part:
        words = _words(part, "" if alone else f"{part.where.split()[-1]}.")
        gold = _gold(part, tags)
        if given.knows(words):
            twice.append(part.where)
        else:
            given.add(words, _checked(part, tags, words, zeros), gold)
        return part

    _, rows = good_parts(parts, add)
    wrong += rows
    scheme = BIO if reading.bio else draft.scheme
    if scheme is not None and not could_be_bio(tags):
        raise FormatError(f"The rules of BIO need tags O, B-… and I-…, got {', '.join(tags[:10])}.")
    family = HMM if draft.probabilities and not rough else draft.family
    kind = draft.kind
    left_out = _left_out([*draft.left_out, *wrong], len(given))
    notes = [*draft.notes, *_assumed(draft), *_said_twice(twice)]

    def write(folder: Path) -> None:
        save_imported(folder, given, family, scheme)
        listed = "".join(f"- {note}\n" for note in [*left_out, *notes])
        about = f"{kind}. Scores of given sentences; no others can be scored."
        (folder / CARD_FILE).write_text(f"# Given scores\n\n{about}\n\n{listed}", encoding="utf-8")

    return Understood(kind, family, tags, scheme, given, tuple(notes), rough, write, left_out)


def _left_out(wrong: Sequence[str], kept: int) -> tuple[str, ...]:
    """How many sentences are left out, and what is wrong with the first few."""
    if not wrong:
        return ()
    number = f"{len(wrong):,} of {len(wrong) + kept:,} sentences are left out:"
    more = (f"and {len(wrong) - MOST_SAID:,} more",) if len(wrong) > MOST_SAID else ()
    return (number, *wrong[:MOST_SAID], *more)


def _said_twice(places: Sequence[str]) -> list[str]:
    if not places:
        return []
    more = f" and {len(places) - MOST_SAID:,} more" if len(places) > MOST_SAID else ""
    named = f"{', '.join(places[:MOST_SAID])}{more}"
    return [f"The words of {named} are those of an earlier one: left out."]


def _assumed(draft: Draft) -> list[str]:
    """What the file leaves open, and what was taken instead."""
    notes = []
    if draft.tags is None:
        notes.append("The tags are not named: they are called by their ids.")
    notes += [
        f"The tag {name} is called {name}_ here." for name in draft.tags or () if name in RESERVED
    ]
    if all(part.tokens is None for part in draft.parts):
        notes.append("The words are not given: they are called by their numbers.")
    notes += [
        f"There are no {name} scores: zeros."
        for name in ("start", "end")
        if getattr(draft, name) is None and all(getattr(p, name) is None for p in draft.parts)
    ]
    return notes


def _tags(draft: Draft, number: int) -> tuple[str, ...]:
    if number > MOST_TAGS:
        raise FormatError(f"The model has {number} tags; up to {MOST_TAGS} can be drawn legibly.")
    if draft.tags is None:
        return tuple(map(str, range(number)))
    names = [_tag_name(tag) for tag in draft.tags]
    if len(names) != number:
        raise FormatError(f"Expected {number} tags to match the emissions, got {len(names)}.")
    if len(set(names)) < number:
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"Expected tags with different names, got {twice!r} twice.")
    return tuple(names)


def _words(part: Part, prefix: str) -> tuple[str, ...]:
    number = len(part.emissions)
    if number > MOST_WORDS:
        raise FormatError(f"{part.where}: at most {MOST_WORDS} words can be read, got {number}.")
    if part.tokens is None:
        return tuple(f"{prefix}{position}" for position in range(1, number + 1))
    if len(part.tokens) != number:
        raise FormatError(
            f"{part.where}: expected {number} tokens to match the emissions, "
            f"got {len(part.tokens)}."
        )
    return tuple(_name(word, f"{part.where}: word", LONGEST_WORD) for word in part.tokens)


def _gold(part: Part, tags: tuple[str, ...]) -> Gold:
    if part.gold is None:
        return None
    gold = tuple(_tag_name(tag) for tag in part.gold)
    if len(gold) != len(part.emissions):
        raise FormatError(
            f"{part.where}: expected {len(part.emissions)} gold tags, one a word, got {len(gold)}."
        )
    unknown = next((tag for tag in gold if tag not in tags), None)
    if unknown is not None:
        raise FormatError(f"{part.where}: the gold tag {shown(unknown)} is none of the tags.")
    return gold


def _tag_name(text: str) -> str:
    name = _name(text, "tag", LONGEST_TAG)
    return f"{name}_" if name in RESERVED else name


def _name(text: str, what: str, longest: int) -> str:
    """A name that a link and a text box can hold: blanks become _."""
    name = _BLANKS.sub("_", text.strip())
    if not name or len(name) > longest:
        raise FormatError(
            f"{what}: expected a name of 1 to {longest:,} characters, got {shown(text)} with "
            f"{len(name):,}."
        )
    return name


def _checked(part: Part, tags: tuple[str, ...], words: tuple[str, ...], zeros: Array) -> Scores:
    """The scores of a sentence, if a chain can be made of them."""
    start, end = (zeros if table is None else table for table in (part.start, part.end))
    scores = part.emissions, part.transitions, start, end
    try:
        Potentials(*scores, tags=tags, tokens=words)
    except CrfvizError as error:
        raise FormatError(f"{part.where}: {error}.") from error
    return scores


def _size(part: Part) -> int:
    """The numbers of a sentence's own arrays; lists have been counted as they were read."""
    tables = (getattr(part, name) for name in ("emissions", *STEPS))
    return sum(int(table.size) for table in tables if isinstance(table, np.ndarray))


def _kept_size(parts: Sequence[Part]) -> int:
    """The numbers of a model as it is kept: what not all sentences share is kept for each."""
    size: int = sum(part.emissions.size for part in parts)
    for name in STEPS:
        tables = [getattr(part, name) for part in parts]
        shared = all(table is tables[0] for table in tables)
        size += sum(t.size for t in tables[: 1 if shared else None] if t is not None)
    return size


def _shared_steps(draft: Draft, reading: Reading) -> dict[str, Array]:
    """The arrays that all sentences share; matrices [from, to]."""
    given = {name: getattr(draft, name) for name in STEPS}
    return {
        name: _read("the file", name, value, reading)
        for name, value in given.items()
        if value is not None
    }


def _read(where: str, name: str, value: Any, reading: Reading) -> Array:  # noqa: ANN401
    table = _numbers(where, name, value)
    if name != "transitions" or table.ndim < 2:
        return table
    return table.swapaxes(-1, -2) if reading.to_from else table


def _with_arrays(draft: Draft, part: Part, shared: Mapping[str, Array], reading: Reading) -> Part:
    """A sentence with its scores, or those of the file, as arrays that fit; matrices [from, to].

    Raises:
        FormatError: there are no numbers, or not in rows of one length, or no transitions, or of
            another shape; or what should be probabilities is negative or not finite.
    """
    emissions = _numbers(part.where, "emissions", part.emissions)
    if emissions.ndim != 2 or emissions.size == 0:
        raise FormatError(
            f"{part.where}: emissions must be (T, K), a row of K scores for each of T words, "
            f"got {emissions.shape}."
        )
    T, K = emissions.shape
    own = {name: getattr(part, name) for name in STEPS}
    steps: dict[str, Any] = {  # arrays
        **shared,
        **{
            n: _read(part.where, n, value, reading) for n, value in own.items() if value is not None
        },
    }
    if "transitions" not in steps:
        raise FormatError(
            f"{part.where}: there are no transitions. Put them into the file as “transitions”, or "
            "bring the file of the CRF layer along with it."
        )
    if steps["transitions"].size == 0:  # JSON has one empty list for no steps at all
        steps["transitions"] = np.zeros((0, K, K))
    _require_shapes(part.where, steps, T, K)
    if draft.probabilities:
        _require_probabilities(part.where, {"emissions": emissions, **steps})
    return replace(part, emissions=emissions, **steps)


def _require_shapes(where: str, steps: Mapping[str, Array], T: int, K: int) -> None:
    for name, table in steps.items():
        shapes = [(K, K), (T - 1, K, K)] if name == "transitions" else [(K,)]
        if table.shape not in shapes:
            raise FormatError(
                f"{where}: {name} must be {' or '.join(map(str, shapes))} to match emissions "
                f"{(T, K)}, got {table.shape}."
            )


def _require_probabilities(where: str, tables: Mapping[str, Array]) -> None:
    for name, table in tables.items():
        good = np.isfinite(table) & (table >= 0)
        if not good.all():
            raise FormatError(
                f"{where}: {name} must hold probabilities, from 0 to 1, "
                f"got {table[~good].flat[0]:g}."
            )


def _numbers(where: str, name: str, value: Any) -> Array:  # noqa: ANN401 - checked in here
    """Numbers as an array; the text "-inf" is a number, too."""
    try:
        if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
            raise TypeError(f"got {value.dtype}")
        with np.errstate(invalid="ignore"):  # a NaN of an odd kind; scores are checked later
            return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"{where}: {name} must be numbers in rows of one length ({str(error)[:80]})."
        ) from error


class _Logarithms:
    """Scores for p(word | tag), p(tag | tag before), p(first tag) and p(END | tag).

    Args:
        shared: the tables of all sentences, worked out once.
        normalise: divide each row by its sum first.
    """

    def __init__(self, shared: Mapping[str, Array], *, normalise: bool) -> None:
        self._shared = shared
        self._normalise = normalise
        self._known: dict[str, Array] | None = None

    def of(self, part: Part) -> Part:
        """The sentence with logarithms.

        Raises:
            FormatError: a row of zeros should be divided by its sum.
        """
        return replace(part, emissions=_logarithm(part.emissions), **self._steps(part))

    def _steps(self, part: Part) -> dict[str, Any]:
        usual = all(getattr(part, name) is self._shared.get(name) for name in STEPS)
        if usual and self._known is not None:
            return self._known
        whole = _normalised(part) if self._normalise else part
        tables = {name: getattr(whole, name) for name in STEPS}
        logs = {name: _logarithm(table) for name, table in tables.items() if table is not None}
        if usual:
            self._known = logs
        return logs


def _logarithm(table: Array) -> Array:
    with np.errstate(divide="ignore"):  # the logarithm of 0 is -inf: forbidden
        logs: Array = np.log(table)
    return logs


def _unnormalised(parts: Sequence[Part], tags: Sequence[str]) -> tuple[str, ...]:
    """The rows that do not sum to one, in words, each once; at most five of them."""
    said: dict[str, None] = {}
    seen = None
    for part in parts:
        tables = [getattr(part, name) for name in STEPS]
        if seen is not None and all(one is other for one, other in zip(tables, seen, strict=True)):
            continue
        seen = tables
        sums = [] if part.start is None else [("start", part.start.sum())]
        name = "transitions" if part.end is None else "transitions with end"
        for rows in np.atleast_2d(_leaving(part)):
            sums += [
                (f"{name}, row {tag!r},", total) for tag, total in zip(tags, rows, strict=False)
            ]
        for row, total in sums:
            if abs(total - 1.0) > TOLERANCE:
                said[f"{row} sums to {total:.6g}"] = None
    return tuple(said)[:MOST_SAID]


def _leaving(part: Part) -> Array:
    """(K,) or (T-1, K): what each row of the transitions sums to, END included."""
    total: Array = part.transitions.sum(-1)
    return total if part.end is None else total + part.end


def _normalised(part: Part) -> Part:
    """Each row divided by its sum; END belongs to the rows of transitions."""
    leaving = _leaving(part)
    starts = np.ones(1) if part.start is None else np.atleast_1d(part.start.sum())
    if not (leaving > 0).all() or not (starts > 0).all():
        raise FormatError(f"{part.where}: a row of zeros cannot be divided by its sum.")
    if part.end is not None and leaving.ndim > 1 and np.ptp(leaving, axis=0).max() > TOLERANCE:
        raise FormatError(
            f"{part.where}: the rows of the steps have different sums, so one row of end scores "
            "cannot be divided by all of them."
        )
    ends = leaving if leaving.ndim == 1 else leaving[0]
    return replace(
        part,
        transitions=part.transitions / leaving[..., None],
        start=None if part.start is None else part.start / starts,
        end=None if part.end is None else part.end / ends,
    )
