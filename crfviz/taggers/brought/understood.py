"""A draft checked in every part: the model that it would be, and what had to be assumed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.chain.weights import END, START
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.brought.draft import (
    LONGEST_NAME,
    MOST_SENTENCES,
    MOST_TAGS,
    MOST_WORDS,
    Draft,
    Part,
    Reading,
)
from crfviz.taggers.brought.tables import ScoreArrays, logarithms, read_tables, unnormalised
from crfviz.taggers.brought.tagger import Imported, save_imported
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.tagger import HMM
from crfviz.text.schemes import BIO, could_be_bio

RESERVED = (START, END)  # rows of the matrix; a tag of this name could not be told from them

Gold = tuple[str, ...] | None  # T tag names; None where nobody knows them

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, eq=False)
class Understood:
    """What was read out of somebody's files, to be looked at before it is used."""

    kind: str  # what the files are, for people
    family: str
    tags: tuple[str, ...]  # K
    scheme: str | None
    sentences: tuple[Potentials, ...]  # that can be shown, at least one
    notes: tuple[str, ...]  # what was assumed, in sentences
    unnormalised: tuple[str, ...]  # rows of probabilities that do not sum to one, in words
    write: Callable[[Path], None]  # writes the model folder; the folder is there and empty


def understand(draft: Draft, reading: Reading) -> Understood:
    """Check a draft.

    Raises:
        FormatError: something does not fit; says in which sentence, what was expected, what came.
    """
    if not 1 <= len(draft.parts) <= MOST_SENTENCES:
        raise FormatError(
            f"Expected 1 to {MOST_SENTENCES} sentences, got {len(draft.parts)}. Leave some out."
        )
    tables = [read_tables(draft, part, reading) for part in draft.parts]
    tags = _tags(draft, tables[0].emissions.shape[1])
    rough: tuple[str, ...] = ()
    if draft.probabilities:
        rough = () if reading.normalise else unnormalised(tables, tags)
        tables = [logarithms(table, normalise=reading.normalise) for table in tables]
    prefix = "{}." if len(draft.parts) > 1 else ""
    sentences: dict[tuple[str, ...], tuple[Potentials, Gold]] = {}
    notes = [*draft.notes, *_assumed(draft)]
    for number, (part, table) in enumerate(zip(draft.parts, tables, strict=True), start=1):
        words = _words(part, len(table.emissions), prefix.format(number))
        if words in sentences:
            notes.append(f"The words of {part.where} are those of an earlier one: left out.")
        else:
            sentences[words] = _chain(part, table, tags, words), _gold(part, words, tags)
    imported = Imported(
        tags=tags,
        sentences=tuple(chain for chain, _ in sentences.values()),
        gold=tuple(gold for _, gold in sentences.values()),
        family=HMM if draft.probabilities and not rough else draft.family,
        scheme=_scheme(BIO if reading.bio else draft.scheme, tags),
    )
    return Understood(
        kind=draft.kind,
        family=imported.family,
        tags=tags,
        scheme=imported.scheme,
        sentences=imported.sentences,
        notes=tuple(notes),
        unnormalised=rough,
        write=lambda folder: _write(folder, imported, draft.kind, notes),
    )


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


def _scheme(scheme: str | None, tags: tuple[str, ...]) -> str | None:
    if scheme is not None and not could_be_bio(tags):
        raise FormatError(f"The rules of BIO need tags O, B-… and I-…, got {', '.join(tags[:10])}.")
    return scheme


def _words(part: Part, number: int, prefix: str) -> tuple[str, ...]:
    if number > MOST_WORDS:
        raise FormatError(f"{part.where}: at most {MOST_WORDS} words can be read, got {number}.")
    if part.tokens is None:
        return tuple(f"{prefix}{position}" for position in range(1, number + 1))
    if len(part.tokens) != number:
        raise FormatError(
            f"{part.where}: expected {number} tokens to match the emissions, "
            f"got {len(part.tokens)}."
        )
    return tuple(_name(word, f"{part.where}: word") for word in part.tokens)


def _gold(part: Part, words: tuple[str, ...], tags: tuple[str, ...]) -> Gold:
    if part.gold is None:
        return None
    gold = tuple(_tag_name(tag) for tag in part.gold)
    if len(gold) != len(words):
        raise FormatError(
            f"{part.where}: expected {len(words)} gold tags, one a word, got {len(gold)}."
        )
    unknown = next((tag for tag in gold if tag not in tags), None)
    if unknown is not None:
        raise FormatError(f"{part.where}: the gold tag {unknown!r} is none of the tags.")
    return gold


def _tag_name(text: str) -> str:
    name = _name(text, "tag")
    return f"{name}_" if name in RESERVED else name


def _name(text: str, what: str) -> str:
    """A name that a link and a text box can hold: blanks become _."""
    name = _BLANKS.sub("_", text.strip())
    if not name or len(name) > LONGEST_NAME:
        raise FormatError(
            f"{what}: expected a name of 1 to {LONGEST_NAME} characters, got {text[:80]!r}."
        )
    return name


def _chain(
    part: Part, table: ScoreArrays, tags: tuple[str, ...], words: tuple[str, ...]
) -> Potentials:
    try:
        return Potentials(
            table.emissions, table.transitions, table.start, table.end, tags=tags, tokens=words
        )
    except CrfvizError as error:
        raise FormatError(f"{part.where}: {error}.") from error


def _write(folder: Path, imported: Imported, kind: str, notes: Sequence[str]) -> None:
    save_imported(folder, imported)
    listed = "".join(f"- {note}\n" for note in notes)
    text = f"# Given scores\n\n{kind}. Scores of given sentences; no others can be scored.\n"
    (folder / CARD_FILE).write_text(f"{text}\n{listed}", encoding="utf-8")
