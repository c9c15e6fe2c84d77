"""Validation of a parsed model, and notes on assumptions."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.edits import END, START
from crfviz.chain.potentials import Array, Potentials
from crfviz.exceptions import FormatError, errors_at
from crfviz.taggers.brought.boundary_tags import BoundaryTags, find_boundary_tags
from crfviz.taggers.brought.parsed_model import (
    LONGEST_TAG,
    LONGEST_WORD,
    MAX_TAGS,
    MAX_WORDS,
    ParsedModel,
    Reading,
    SentenceScores,
    Steps,
    first_few,
    precision_notes,
    readable_sentences,
    require_scores,
    require_words,
)
from crfviz.taggers.brought.score_arrays import (
    PERCENT,
    Likeness,
    likeness,
    log_steps,
    logarithm,
    shares,
    step_arrays,
    unnormalised,
    with_arrays,
    zero_steps,
)
from crfviz.taggers.brought.tagger import ScoreSet, save_imported, stored_size
from crfviz.taggers.folder import CARD_FILE
from crfviz.taggers.tagger import HMM
from crfviz.text.files import abbreviate
from crfviz.text.schemes import BIO, could_be_bio

NO_TRANSITIONS = (
    "There are no transitions: zeros. Independent and Viterbi agree until a rule or a transition "
    "is added."
)
LOOK_LIKE = (
    "The rows of {} sum to one; these look like probabilities: take logarithms?",
    "The rows of {} sum to 100; these look like percentages: divide by 100 and take logarithms?",
)
PERCENTAGES = "The percentages are divided by 100."
ANSWERS = (
    "Answer with Reading(probabilities=True) or --probabilities; with probabilities=False or "
    "--no-probabilities they are scores in nats."
)
RESERVED = (START, END)  # rows of the matrix; a tag must not have the same name

MIXED = (
    "The rows of {} sum to one, but other numbers are no probabilities: all are taken as scores.",
    "The rows of {} sum to 100, but other numbers are no percentages: all are taken as scores.",
)
MAX_NAMED = 3  # renamed tags that notes list
_NUMBER = re.compile(r"\d+")  # number of sentence or line in a message
_LINE_END = re.compile(r"[\r\n]")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, eq=False)
class ValidatedModel:
    """A checked upload, shown before it is saved."""

    kind: str  # kind of the files, for messages
    family: str
    tags: tuple[str, ...]  # K
    scheme: str | None
    sentences: Sequence[Potentials]  # at least one
    notes: tuple[str, ...]  # assumptions, as sentences
    unnormalised: tuple[str, ...]  # descriptions of rows that do not sum to one
    write: Callable[[Path], None]  # writes the model into an empty folder
    left_out: tuple[str, ...] = ()  # number of skipped sentences, and the first errors
    boundary_tags: tuple[str, ...] = ()  # tags that may not be word tags, see `Reading`
    batch_first: bool | None = None  # assumed axis order, see `Reading`
    # the tables that look like probabilities where nothing says that they are scores
    look_like: Likeness = field(default_factory=Likeness)

    @property
    def question(self) -> str:
        """The question to answer before the model is stored; empty if there is none."""
        return _said(LOOK_LIKE, self.look_like)

    @property
    def has_percentages(self) -> bool:
        """Whether the question is about percentages."""
        return self.look_like.whole == PERCENT


def validate(draft: ParsedModel, reading: Reading) -> ValidatedModel:
    """Validate a parsed model; sentences with errors are skipped and reported.

    Raises:
        FormatError: no sentence is valid, or the shared tables do not fit; names the sentence,
            the expected and the actual value.
    """
    arrays = _arrays([draft, *draft.parts])
    require_scores(sum(array.size for array in arrays))
    with errors_at("the file", FormatError):
        shared = step_arrays(draft.steps, reading)
    bare = not any(s.tables() for s in (draft.steps, *(part.steps for part in draft.parts)))
    if bare:
        shared = zero_steps(draft.parts)
    probabilities = draft.probabilities if reading.probabilities is None else reading.probabilities
    read = _Sentences(draft.parts, [*draft.left_out])
    read.change(partial(with_arrays, shared, reading, probabilities=bool(probabilities)))
    if not read.parts:
        raise FormatError("Expected at least one sentence, got none.")
    require_scores(stored_size(read.parts))
    require_words(sum(len(part.emissions) for part in read.parts))
    tags = every_tag = _tags(draft, read.parts[0].emissions.shape[1])
    rough: tuple[str, ...] = ()
    alike = likeness(read.parts)
    are_percentages = bool(probabilities) and alike.whole == PERCENT and not alike.mixed
    asked = Likeness() if probabilities is not None or alike.mixed else alike
    mixed = alike if probabilities is None and alike.mixed else Likeness()
    boundary = None if probabilities else find_boundary_tags(read.steps, tags)
    if are_percentages:
        read.rescore(*shares(read.parts))
    if probabilities:
        bare = not any(table.any() for each in read.steps for table in each.tables().values())
        normalise = reading.normalise and not bare
        rough = () if normalise or bare else unnormalised(read.steps, tags)
        take_logs = partial(log_steps, normalise=normalise)
        read.rescore(logarithm, (lambda steps: steps) if bare else take_logs)
    if boundary and boundary.are_left_out(reading):
        kept = boundary.kept
        read.rescore(lambda emissions: emissions[:, kept], boundary.without)
        tags = tuple(tags[k] for k in kept)
    given = read.score_set(tags)
    scheme = BIO if reading.bio else draft.scheme
    if scheme is not None and not could_be_bio(tags):
        raise FormatError(f"The rules of BIO need tags O, B-… and I-…, got {', '.join(tags[:10])}.")
    family = HMM if probabilities and not (rough or bare) else draft.family
    kind = draft.kind
    left_out = _left_out(read.wrong, len(given))
    notes = [
        *dict.fromkeys([*draft.notes, *precision_notes(array.dtype.name for array in arrays)]),
        *(_boundary_notes(boundary, reading) if boundary else ()),
        *([NO_TRANSITIONS] if bare else ()),
        *filter(None, [_said(MIXED, mixed), PERCENTAGES * are_percentages]),
        *_assumption_notes(draft, read.parts),
        *_duplicate_notes(read.twice),
    ]

    def write(folder: Path) -> None:
        save_imported(folder, given, family, scheme)
        if draft.write_features is not None:
            known = [part.features for part in given.parts if part.features is not None]
            draft.write_features(folder, known, [every_tag.index(tag) for tag in tags])
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
        boundary_tags=boundary.names if boundary else (),
        batch_first=draft.batch_first,
        look_like=asked,
    )


def _said(sentences: tuple[str, str], of: Likeness) -> str:
    """Return the sentence on probabilities or on percentages; empty without tables."""
    listed = " and ".join(of.names)
    return sentences[of.whole == PERCENT].format(listed) if listed else ""


class _Sentences:
    """Valid sentences of a model, and the errors of the others."""

    def __init__(self, parts: Sequence[SentenceScores], wrong: list[str]) -> None:
        self.parts, self.wrong = parts, wrong
        self.twice: list[str] = []  # sentences with the words of an earlier one
        self._alone = len(parts) == 1

    @property
    def steps(self) -> list[Steps]:
        """The different steps of the sentences, which may share them."""
        return list(dict.fromkeys(part.steps for part in self.parts))

    def change(self, change: Callable[[SentenceScores], SentenceScores]) -> None:
        def read(part: SentenceScores) -> SentenceScores:
            with errors_at(part.where, FormatError):
                return change(part)

        self.parts, wrong = readable_sentences(self.parts, read)
        self.wrong += wrong

    def rescore(self, emissions: Callable[[Array], Array], steps: Callable[[Steps], Steps]) -> None:
        """Change the scores; shared tables are changed once."""
        tables = (table for each in self.steps for table in each.tables().values())
        require_scores(sum(table.size for table in tables))
        once = cache(steps)
        self.change(lambda p: replace(p, emissions=emissions(p.emissions), steps=once(p.steps)))

    def score_set(self, tags: tuple[str, ...]) -> ScoreSet:
        """Return the sentences with different words, with names that can be drawn."""
        known: dict[tuple[str, ...], SentenceScores] = {}

        def name(part: SentenceScores) -> SentenceScores:
            words = _words(part, "" if self._alone else f"{part.where.split()[-1]}.")
            named = replace(part, tokens=words, gold=_gold(part, tags))
            if known.setdefault(words, named) is not named:
                self.twice.append(part.where)
            return named

        self.change(name)
        return ScoreSet(tags, list(known.values()))


def _left_out(wrong: Sequence[str], kept: int) -> tuple[str, ...]:
    """Return the number of skipped sentences, and the first errors."""
    number = f"{len(wrong):,} of {len(wrong) + kept:,} sentences are left out:"
    in_order = sorted(wrong, key=lambda message: int(_NUMBER.findall(message)[0]))
    return (number, *first_few(in_order)) if wrong else ()


def _duplicate_notes(places: Sequence[str]) -> list[str]:
    named = ", ".join(first_few(places))
    return [f"The words of {named} are those of an earlier one: left out."] if places else []


def _boundary_notes(boundary: BoundaryTags, reading: Reading) -> list[str]:
    if not boundary.names:
        return []
    listed = ", ".join(boundary.names)
    if boundary.are_left_out(reading):
        return [f"{listed} left out as tags: their steps are start and end scores."]
    return [f"{listed} kept as tags of words, which a path can pass."]


def _assumption_notes(draft: ParsedModel, parts: Sequence[SentenceScores]) -> list[str]:
    """Return notes on values that the file lacks, and their defaults."""
    notes = []
    if draft.tags is None:
        notes.append("The tags are not named: they are called by their ids.")
    notes += _renaming_notes(draft)
    if all(part.tokens is None for part in draft.parts):
        notes.append("The words are not given: they are called by their numbers.")
    notes += [
        f"There are no {name} scores: zeros."
        for name in ("start", "end")
        if all(getattr(part.steps, name) is None for part in parts)
    ]
    return notes


def _renaming_notes(draft: ParsedModel) -> list[str]:
    tags = [tag for tag in draft.tags or () if _tag_name(tag) != tag]
    notes = [f"The tag {tag} is called {_tag_name(tag)} here." for tag in tags]
    if more := notes[MAX_NAMED:]:
        notes[MAX_NAMED:] = [f"{len(more)} more tags have _ for blanks."]
    words = [word for part in draft.parts for word in part.tokens or () if _spelled(word) != word]
    if words:
        first = f"{abbreviate(words[0])} is {_spelled(words[0])}"
        notes.append(f"Words have _ for blanks here, {len(words):,} of them: {first}.")
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
        raise FormatError(f"at most {MAX_WORDS:,} words can be read, got {number}")
    if part.tokens is None:
        return tuple(f"{prefix}{position}" for position in range(1, number + 1))
    if len(part.tokens) != number:
        raise FormatError(
            f"expected {number} tokens to match the emissions, got {len(part.tokens)}"
        )
    return tuple(_name(word, "word", LONGEST_WORD) for word in part.tokens)


def _gold(part: SentenceScores, tags: tuple[str, ...]) -> tuple[str, ...] | None:
    if part.gold is None:
        return None
    gold, number = tuple(map(_tag_name, part.gold)), len(part.emissions)
    if len(gold) != number:
        raise FormatError(f"expected {number} gold tags, one a word, got {len(gold)}")
    unknown = next((tag for tag in gold if tag not in tags), None)
    if unknown is not None:
        raise FormatError(f"the gold tag {abbreviate(unknown)} is none of the tags")
    return gold


def _tag_name(text: str) -> str:
    name = _name(text, "tag", LONGEST_TAG)
    return f"{name}_" if name in RESERVED else name


def _spelled(text: str) -> str:
    return _BLANKS.sub("_", text.strip())


def _name(text: str, what: str, longest: int) -> str:
    """Return a name for links and text boxes: whitespace becomes _, a line break is refused."""
    if _LINE_END.search(text.strip()):
        raise FormatError(f"{what}: expected a name on one line, got {abbreviate(text)}")
    name = _spelled(text)
    if not name or len(name) > longest:
        raise FormatError(
            f"{what}: expected a name of 1 to {longest:,} characters, got {abbreviate(text)} with "
            f"{len(name):,}."
        )
    return name


def _arrays(scores: Sequence[SentenceScores | ParsedModel]) -> list[NDArray[Any]]:
    """Return the arrays of a file; its lists were counted while they were read."""
    tables = (t for each in scores for t in each.steps.tables().values())
    emissions = (each.emissions for each in scores if isinstance(each, SentenceScores))
    return [table for table in (*tables, *emissions) if isinstance(table, np.ndarray)]
