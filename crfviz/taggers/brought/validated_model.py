"""Validation of a parsed model, and the notes on what was assumed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crfviz.chain.edits import END, START
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.brought.boundary_tags import find_boundary_tags, without_boundary_tags
from crfviz.taggers.brought.parsed_model import (
    LONGEST_TAG,
    LONGEST_WORD,
    MAX_SAID,
    MAX_TAGS,
    MAX_WORDS,
    STEPS,
    ParsedModel,
    Reading,
    SentenceScores,
    readable_sentences,
    require_scores,
    require_words,
)
from crfviz.taggers.brought.score_arrays import logarithms, shared_steps, unnormalised, with_arrays
from crfviz.taggers.brought.tagger import Gold, Scores, ScoreSet, save_imported
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.tagger import HMM
from crfviz.text.files import abbreviate
from crfviz.text.schemes import BIO, could_be_bio

RESERVED = (START, END)  # rows of the matrix; a tag of this name could not be told from them

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, eq=False)
class ValidatedModel:
    """A checked upload, shown before it is saved."""

    kind: str  # what the files are, for people
    family: str
    tags: tuple[str, ...]  # K
    scheme: str | None
    sentences: Sequence[Potentials]  # that can be shown, at least one
    notes: tuple[str, ...]  # what was assumed, in sentences
    unnormalised: tuple[str, ...]  # rows of probabilities that do not sum to one, in words
    write: Callable[[Path], None]  # writes the model folder; the folder is there and empty
    left_out: tuple[str, ...] = ()  # how many sentences, and what is wrong with the first few
    boundary_tags: tuple[str, ...] = ()  # that may be no tags of words, see `Reading`
    batch_first: bool | None = None  # assumed of arrays that do not tell, see `Reading`


def validate(draft: ParsedModel, reading: Reading) -> ValidatedModel:
    """Validate a parsed model; sentences with errors are skipped and reported.

    Raises:
        FormatError: nothing is left, or what all sentences share does not fit; says in which
            sentence, what was expected, what came.
    """
    require_scores(sum(map(_size, draft.parts)))
    shared = shared_steps(draft, reading)
    parts, wrong = readable_sentences(
        draft.parts, lambda part: with_arrays(draft, part, shared, reading)
    )
    if not parts:
        raise FormatError("Expected at least one sentence, got none.")
    require_scores(_stored_size(parts))
    require_words(sum(len(part.emissions) for part in parts))
    tags = every_tag = _tags(draft, parts[0].emissions.shape[1])
    rough: tuple[str, ...] = ()
    if draft.probabilities:
        rough = () if reading.normalise else unnormalised(parts, tags)
        parts, rows = logarithms(parts, normalise=reading.normalise)
        wrong += rows
    boundary = None if draft.probabilities else find_boundary_tags(parts, tags)
    if boundary and boundary.are_left_out(reading):
        parts = without_boundary_tags(parts, boundary)
        tags = tuple(tag for tag in tags if tag not in boundary.names)
    given, zeros = ScoreSet(tags), np.zeros(len(tags))
    twice: list[str] = []
    alone = len(draft.parts) == 1

    def add(part: SentenceScores) -> SentenceScores:
        words = _words(part, "" if alone else f"{part.where.split()[-1]}.")
        gold = _gold(part, tags)
        if given.knows(words):
            twice.append(part.where)
        else:
            given.add(words, _checked(part, tags, words, zeros), gold, part.features)
        return part

    _, rows = readable_sentences(parts, add)
    wrong += rows
    scheme = BIO if reading.bio else draft.scheme
    if scheme is not None and not could_be_bio(tags):
        raise FormatError(f"The rules of BIO need tags O, B-… and I-…, got {', '.join(tags[:10])}.")
    family = HMM if draft.probabilities and not rough else draft.family
    kind = draft.kind
    left_out = _left_out([*draft.left_out, *wrong], len(given))
    names = boundary.names if boundary else ()
    notes = [
        *draft.notes,
        *(boundary.notes(reading) if boundary else ()),
        *_assumption_notes(draft, parts),
        *_duplicate_notes(twice),
    ]

    def write(folder: Path) -> None:
        save_imported(folder, given, family, scheme)
        _write_features(folder, draft, given, every_tag)
        listed = "".join(f"- {note}\n" for note in [*left_out, *notes])
        about = f"{kind}. Scores of given sentences; no others can be scored."
        (folder / CARD_FILE).write_text(f"# Given scores\n\n{about}\n\n{listed}", encoding="utf-8")

    return ValidatedModel(
        kind,
        family,
        tags,
        scheme,
        given,
        tuple(notes),
        rough,
        write,
        left_out,
        boundary_tags=names,
        batch_first=draft.batch_first,
    )


def _write_features(
    folder: Path, draft: ParsedModel, given: ScoreSet, every_tag: tuple[str, ...]
) -> None:
    """Write the features of the sentences where the files have any."""
    if draft.write_features is not None:
        known = [features for features in given.features if features is not None]
        draft.write_features(folder, known, [every_tag.index(tag) for tag in given.tags])


def _left_out(wrong: Sequence[str], kept: int) -> tuple[str, ...]:
    """Return how many sentences are left out, and what is wrong with the first few."""
    if not wrong:
        return ()
    number = f"{len(wrong):,} of {len(wrong) + kept:,} sentences are left out:"
    more = (f"and {len(wrong) - MAX_SAID:,} more",) if len(wrong) > MAX_SAID else ()
    return (number, *wrong[:MAX_SAID], *more)


def _duplicate_notes(places: Sequence[str]) -> list[str]:
    if not places:
        return []
    more = f" and {len(places) - MAX_SAID:,} more" if len(places) > MAX_SAID else ""
    named = f"{', '.join(places[:MAX_SAID])}{more}"
    return [f"The words of {named} are those of an earlier one: left out."]


def _assumption_notes(draft: ParsedModel, parts: Sequence[SentenceScores]) -> list[str]:
    """Return what the file leaves open, and what was taken instead."""
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
        if all(getattr(part, name) is None for part in parts)
    ]
    return notes


def _tags(draft: ParsedModel, number: int) -> tuple[str, ...]:
    if number > MAX_TAGS:
        raise FormatError(f"The model has {number} tags; up to {MAX_TAGS} can be drawn legibly.")
    if draft.tags is None:
        return tuple(map(str, range(number)))
    names = [_tag_name(tag) for tag in draft.tags]
    if len(names) != number:
        raise FormatError(f"Expected {number} tags to match the emissions, got {len(names)}.")
    if len(set(names)) < number:
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"Expected tags with different names, got {twice!r} twice.")
    return tuple(names)


def _words(part: SentenceScores, prefix: str) -> tuple[str, ...]:
    number = len(part.emissions)
    if number > MAX_WORDS:
        raise FormatError(f"{part.where}: at most {MAX_WORDS:,} words can be read, got {number}.")
    if part.tokens is None:
        return tuple(f"{prefix}{position}" for position in range(1, number + 1))
    if len(part.tokens) != number:
        raise FormatError(
            f"{part.where}: expected {number} tokens to match the emissions, "
            f"got {len(part.tokens)}."
        )
    return tuple(_name(word, f"{part.where}: word", LONGEST_WORD) for word in part.tokens)


def _gold(part: SentenceScores, tags: tuple[str, ...]) -> Gold:
    if part.gold is None:
        return None
    gold = tuple(_tag_name(tag) for tag in part.gold)
    if len(gold) != len(part.emissions):
        raise FormatError(
            f"{part.where}: expected {len(part.emissions)} gold tags, one a word, got {len(gold)}."
        )
    unknown = next((tag for tag in gold if tag not in tags), None)
    if unknown is not None:
        raise FormatError(f"{part.where}: the gold tag {abbreviate(unknown)} is none of the tags.")
    return gold


def _tag_name(text: str) -> str:
    name = _name(text, "tag", LONGEST_TAG)
    return f"{name}_" if name in RESERVED else name


def _name(text: str, what: str, longest: int) -> str:
    """Return a name that a link and a text box can hold: blanks become _."""
    name = _BLANKS.sub("_", text.strip())
    if not name or len(name) > longest:
        raise FormatError(
            f"{what}: expected a name of 1 to {longest:,} characters, got {abbreviate(text)} with "
            f"{len(name):,}."
        )
    return name


def _checked(
    part: SentenceScores, tags: tuple[str, ...], words: tuple[str, ...], zeros: Array
) -> Scores:
    """Return the scores of a sentence, if a chain can be made of them."""
    start, end = (zeros if table is None else table for table in (part.start, part.end))
    scores = part.emissions, part.transitions, start, end
    try:
        Potentials(*scores, tags=tags, tokens=words)
    except CrfvizError as error:
        raise FormatError(f"{part.where}: {error}.") from error
    return scores


def _size(part: SentenceScores) -> int:
    """Return the numbers of a sentence's own arrays; lists have been counted as they were read."""
    tables = (part.emissions, *part.tables().values())
    return sum(int(table.size) for table in tables if isinstance(table, np.ndarray))


def _stored_size(parts: Sequence[SentenceScores]) -> int:
    """The numbers of a model as it is kept: what not all sentences share is kept for each."""
    size: int = sum(part.emissions.size for part in parts)
    for name in STEPS:
        tables = [getattr(part, name) for part in parts]
        shared = all(table is tables[0] for table in tables)
        size += sum(t.size for t in tables[: 1 if shared else None] if t is not None)
    return size
