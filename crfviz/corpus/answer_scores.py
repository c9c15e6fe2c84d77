"""Scores of a tagger's answers beside gold, as conlleval and seqeval's strict mode count them.

An entity is right if gold has one of the same words and the same type:

    precision = right / answered,  recall = right / in gold,  F1 = 2 right / (answered + in gold)

and 0 where the denominator is 0. Each side is read by its own scheme, see `crfviz.text.entities`.
Tags without a scheme, such as parts of speech, count word by word.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from crfviz.chain.validation import items, plain_tag
from crfviz.exceptions import CrfvizError, FormatError, ShapeError
from crfviz.text.entities import (
    IO,
    lenient_entities,
    parts_of,
    scheme_of_sentences,
    strict_entities,
)
from crfviz.text.files import abbreviate, abbreviate_value, decoded, lines_of
from crfviz.text.formats import Sentences, detect_format, parse_sentences, require_same_words
from crfviz.text.readers.roles import ANSWER_NAMES
from crfviz.text.readers.rows import Wanted
from crfviz.text.readers.spelling import AS_WRITTEN, is_io, respelled
from crfviz.text.schemes import BIO, OUTSIDE, Span, tags_of
from crfviz.text.sentences import Sentence

Mode = Literal["conlleval", "strict"]
MODES: tuple[Mode, ...] = get_args(Mode)
Tags = Sequence[Sequence[str]]  # the tags of each sentence
IN_COLUMNS = ("columns", "table")  # formats of files with gold and answers
OTHERS = set("SEUL")  # prefixes that show another scheme than gold's
_SEPARATOR = re.compile(r"[\t,;]")  # of the columns of a header


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1, each in [0, 1], with the counts behind them."""

    correct: int  # right answers
    answered: int  # entities, or words without entities, in the answers
    gold: int  # the same in gold

    @property
    def precision(self) -> float:
        """Return the share of the answers that are right."""
        return self.correct / self.answered if self.answered else 0.0

    @property
    def recall(self) -> float:
        """Return the share of gold that was found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        both = self.answered + self.gold
        return 2 * self.correct / both if both else 0.0


@dataclass(frozen=True)
class AnswerScores:
    """Scores of answers beside gold; all shares are in [0, 1]."""

    mode: Mode
    total: Score  # over all types
    by_type: dict[str, Score]  # types of gold or the answers, by name; tags without a scheme
    accuracy: float  # share of the words with the right tag
    num_words: int
    scheme: tuple[str | None, str | None]  # of gold and of the answers; None for other tags
    notes: tuple[str, ...]  # how the tags were read, and how many are ill-formed

    @property
    def precision(self) -> float:
        """Return the share of the answers that are right."""
        return self.total.precision

    @property
    def recall(self) -> float:
        """Return the share of gold that was found."""
        return self.total.recall

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return self.total.f1

    def __str__(self) -> str:
        """Return the scores in per cent, a line per type, and the notes."""
        lines = [_line(f"{self.mode}: accuracy {100 * self.accuracy:.2f} %", self.total)]
        lines += [_line(f"  {name}", score) for name, score in self.by_type.items()]
        return "\n".join([*lines, *self.notes])


def _line(name: str, score: Score) -> str:
    shares = (score.precision, score.recall, score.f1)
    said = (
        f"{what} {100 * share:.2f} %"
        for what, share in zip(("precision", "recall", "F1"), shares, strict=True)
    )
    return f"{name}; {', '.join(said)} ({score.correct} of {score.answered} and {score.gold})"


def score_answers(
    gold: str | Path | Tags,
    answers: str | Path | Tags | None = None,
    mode: Mode = "conlleval",
    *,
    words: str | int | None = None,
    tags: str | int | None = None,
    sentences: str | int | None = None,
) -> AnswerScores:
    """Return precision, recall and F1 of a tagger's answers beside gold, and accuracy.

    All shares are in [0, 1]. With two schemes, accuracy compares the entities as BIO tags.

    Args:
        gold: a file with gold tags, or the tags of each sentence.
        answers: the same sentences with a tagger's tags; None if the last two columns of `gold` are
            gold and answers.
        mode: "conlleval" also counts ill-formed entities, by its rules. "strict" does not: answers
            are read by gold's scheme unless a prefix S, E, U or L shows another.
        words: column or key of the words in each file, see `read_sentences`.
        tags: of the tags in each file; of gold alone if the answers are the last column.
        sentences: of the sentences in each file.

    Raises:
        FormatError: a file cannot be read, lacks a column, has other words, or has no tags.
        ShapeError: the numbers of sentences or of words differ.
        CrfvizError: the mode is unknown.

    Source:
        conlleval.pl of Tjong Kim Sang and Buchholz (2000); seqeval 1.2.2, `mode="strict"`.

    >>> score_answers([["B-PER", "I-PER", "O"]], [["I-PER", "I-PER", "O"]]).f1
    1.0
    >>> score_answers([["B-PER", "I-PER", "O"]], [["I-PER", "I-PER", "O"]], mode="strict").f1
    0.0
    """
    if mode not in MODES:
        raise CrfvizError(f"expected one of the modes {', '.join(MODES)}, got {mode!r}")
    if answers is None:
        if not isinstance(gold, str | Path):
            raise FormatError("expected answers: the tags of each sentence, or a file")
        expected, given = _both_columns(Path(gold), Wanted(words, tags, sentences))
        return score_tags(expected, given, mode)
    wanted = Wanted(words, tags, sentences)
    sides = _side(gold, "gold", wanted), _side(answers, "answers", wanted)
    if all(isinstance(each[0], Sentence) for each in sides if each):
        both = [[each for each in side if isinstance(each, Sentence)] for side in sides]
        require_same_words(*both, name=str(answers))
    return score_tags(_tags(sides[0]), _tags(sides[1]), mode)


def score_tags(gold: Tags, answers: Tags, mode: Mode) -> AnswerScores:
    """Return the scores of the answered tags of each sentence; see `score_answers`.

    Raises:
        ShapeError: the numbers of sentences or of words differ.
        FormatError: there is no sentence.
    """
    _require_same_shape(gold, answers)
    (gold, respelled_gold), (answers, respelled_answers) = map(_usually_spelled, (gold, answers))
    own = _schemes(gold, answers)
    schemes = own
    is_other = OTHERS & {prefix for tags in answers for prefix, _ in parts_of(tags)}
    if mode == "strict" and own[0] is not None and not is_other:
        schemes = own[0], own[0]
    if None in own:
        return _by_words(gold, answers, mode, own)
    notes = [f"Gold: {respelled_gold}"] * bool(respelled_gold)
    notes += [f"The answers: {respelled_answers}"] * bool(respelled_answers)
    if own[0] != own[1] and schemes == own:
        notes.append(f"Gold is {own[0]}, and the answers are {own[1]}: each is read by its own.")
    elif own[0] != own[1]:
        notes.append(f"The answers look like {own[1]} and are read as gold, which is {own[0]}.")
    counts: dict[str, Counter[str]] = {}  # by type: correct, answered and gold
    sides: list[list[list[Span]]] = []
    for name, tags, scheme in zip(("Gold", "The answers"), (gold, answers), schemes, strict=True):
        strict = [strict_entities(each, scheme or BIO) for each in tags]
        lenient = [lenient_entities(each) for each in tags]
        sides.append(strict if mode == "strict" else lenient)
        count = sum(len({*b} - {*a}) for a, b in zip(strict, lenient, strict=True))
        if count:
            fate = "do not count" if mode == "strict" else "count as conlleval reads them"
            verb = "is" if count == 1 else "are"
            entities = "entity" if count == 1 else "entities"
            notes.append(f"{name}: {count} {entities} {verb} ill-formed in {scheme}; they {fate}.")
    for expected, guessed in zip(*sides, strict=True):
        groups = {"correct": {*expected} & {*guessed}, "answered": guessed, "gold": expected}
        for name, entities in groups.items():
            for entity in entities:
                counts.setdefault(entity.type, Counter())[name] += 1
    right = sum(
        a == b for pair in zip(gold, answers, strict=True) for a, b in zip(*pair, strict=True)
    )
    if schemes[0] != schemes[1]:
        right = sum(
            a == b
            for tags, *pair in zip(gold, *sides, strict=True)
            for a, b in zip(*(tags_of(entities, len(tags)) for entities in pair), strict=True)
        )
        notes.append("The accuracy compares the entities as BIO tags.")
    return _scores(mode, counts, right, gold, schemes, notes)


def _usually_spelled(sentences: Tags) -> tuple[Tags, str]:
    """Return tags such as PER-B or b-PER as B-PER, and a note about it."""
    tags = sorted({tag for each in sentences for tag in each})
    names = respelled(tags)
    changed = next((tag for tag in tags if names[tag][1:] != tag[1:] or tag[0].islower()), None)
    if changed is None:
        return sentences, ""
    note = f"tags such as {abbreviate(changed)} were read as {abbreviate(names[changed])}."
    return [[names[tag] for tag in each] for each in sentences], note


def _scores(
    mode: Mode,
    counts: dict[str, Counter[str]],
    right: int,
    gold: Tags,
    schemes: tuple[str | None, str | None],
    notes: Sequence[str],
) -> AnswerScores:
    total = sum(counts.values(), Counter[str]())
    words = sum(map(len, gold))
    score = partial(_score)
    by_type = {name: score(counts[name]) for name in sorted(counts)}
    return AnswerScores(
        mode, score(total), by_type, right / max(1, words), words, schemes, tuple(notes)
    )


def _score(count: Counter[str]) -> Score:
    return Score(count["correct"], count["answered"], count["gold"])


def _by_words(
    gold: Tags, answers: Tags, mode: Mode, schemes: tuple[str | None, str | None]
) -> AnswerScores:
    """Return the scores of tags without a scheme of entities, word by word."""
    counts: dict[str, Counter[str]] = {}
    pairs = [(a, b) for pair in zip(gold, answers, strict=True) for a, b in zip(*pair, strict=True)]
    for expected, guessed in pairs:
        counts.setdefault(expected, Counter())["gold"] += 1
        counts.setdefault(guessed, Counter())["answered"] += 1
        counts[expected]["correct"] += expected == guessed
    right = sum(a == b for a, b in pairs)
    note = "The tags have no scheme of entities: each word counts."
    return _scores(mode, counts, right, gold, schemes, [note])


def _schemes(gold: Tags, answers: Tags) -> tuple[str | None, str | None]:
    names = [{tag for tags in side for tag in tags} for side in (gold, answers)]
    kinds = {kind for tags in gold for _, kind in parts_of(tags)} - {""}
    own: list[str | None] = []
    for side, used in zip((gold, answers), names, strict=True):
        scheme = scheme_of_sentences(side)
        types = used - {OUTSIDE}
        if scheme is None and (is_io(used) or (OUTSIDE in names[0] and types <= kinds)):
            scheme = IO if OUTSIDE in used or own[:1] not in ([], [None]) else None
        own.append(scheme)
    return (own[0], own[1]) if None not in own else (None, None)


def sides_of_columns(wanted: Wanted) -> tuple[Wanted, Wanted]:
    """Return how gold and answers in one file are read: the last two columns, or a named one."""
    gold = replace(wanted, tags=-2) if wanted.tags is None else wanted
    return gold, replace(wanted, tags=-1)


def _both_columns(path: Path, wanted: Wanted) -> tuple[Tags, Tags]:
    """Return the tags of gold and those in the last column of a file.

    Raises:
        FormatError: it has no two columns of the same tags.
    """
    content, columns = _content(path), sides_of_columns(wanted)
    lines = lines_of(decoded(content, name=str(path)))
    found = detect_format(lines, name=str(path), wanted=columns[0])
    header = _SEPARATOR.split(lines[0].lower()) if lines else []
    if wanted.tags is None and header[-2:-1] and header[-2].strip().startswith(ANSWER_NAMES):
        raise FormatError(
            f"{path}: expected gold tags before the answers, got the columns {header[-2]} and "
            f"{header[-1]}; change their order, or give two files"
        )
    if found not in IN_COLUMNS:
        raise FormatError(
            f"{path}: expected columns, the last two with gold tags and answers, got {found}. "
            "Give the answers as a second file."
        )
    read = [_parsed(path, content, each) for each in columns]
    if read[0].reading == read[1].reading:
        raise FormatError(
            f"{path}: the gold tags and the answers are the same column; name another with tags="
        )
    gold, answers = map(_tags, read)
    sides = [
        {kind for each in _usually_spelled(side)[0] for _, kind in parts_of(each)} - {""}
        for side in (gold, answers)
    ]
    if sides[1] and 2 * len(sides[0] & sides[1]) < min(map(len, sides)):
        shown = (abbreviate(", ".join(sorted(side)[:4])) for side in sides)
        raise FormatError(
            f"{path}: expected gold tags and answers in the last two columns, got "
            f"{' and '.join(shown)}. Give the answers as a second file."
        )
    return gold, answers


def _side(side: str | Path | Tags, name: str, wanted: Wanted) -> Sequence[Sentence | Sequence[str]]:
    """Return the sentences of a file or the given ones.

    Raises:
        FormatError: the file cannot be read, or something else was given.
    """
    if isinstance(side, str | Path):
        path = Path(side)
        return _parsed(path, _content(path), wanted)
    if any(isinstance(each, str) for each in side):
        got = abbreviate_value(list(side)[:3])
        raise FormatError(f"{name}: expected a list of tags for each sentence, got {got}")
    return list(side)


def _tags(side: Sequence[Sentence | Sequence[str]]) -> Tags:
    return [
        each.tags or ()
        if isinstance(each, Sentence)
        else [str(plain_tag(tag)) for tag in items("tags", each)]
        for each in side
    ]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: expected a file to read, got: {error.strerror}") from error


def _parsed(path: Path, content: bytes, wanted: Wanted) -> Sentences:
    """Return the sentences of a file with their tags as they are written."""
    sentences = parse_sentences(
        content, name=str(path), wanted=wanted, scheme=AS_WRITTEN, told=lambda _: None
    )
    number = next((n for n, each in enumerate(sentences, 1) if each.tags is None), None)
    if number is not None:
        raise FormatError(f"{path}, sentence {number}: expected a tag for each word, got none")
    return sentences


def _require_same_shape(gold: Tags, answers: Tags) -> None:
    for number, (one, other) in enumerate(zip(gold, answers, strict=False), start=1):
        if len(one) != len(other):
            raise ShapeError(
                f"sentence {number}: expected {len(one)} tags as in gold, got {len(other)}"
            )
    if len(gold) != len(answers):
        raise ShapeError(f"expected {len(gold):,} sentences as in gold, got {len(answers):,}")
    if not gold:
        raise FormatError("expected tagged sentences, got none")
