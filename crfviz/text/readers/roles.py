"""Evidence for the columns of a file: which holds the words, and which the tags.

Names decide first. Without names, the values of each column show its kind. The words are in the
first column of words. The tags are in the last column, if its values are tags and no other column
has as much evidence. Anything else is a question: the error lists the columns.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from crfviz.exceptions import FormatError
from crfviz.text.readers.kinds import (
    CAPITAL,
    ENTITY,
    MIN_CAPITAL_ROWS,
    MIN_REPEATED_ROWS,
    STRONG,
    Column,
    Kind,
    are_attributes,
    are_counts,
    are_gold_and_predicted,
    are_lemmas,
    are_texts,
    have_one_prefix,
    kind_of,
)
from crfviz.text.readers.losses import question
from crfviz.text.schemes import OUTSIDE

WORD_NAMES = ("word", "token", "form", "words", "tokens", "surface")
TAG_NAMES = (
    *("ner", "ner_tag", "ner_tags", "tag", "tags", "label", "labels", "entity", "iob", "bio"),
    *("iob_tag", "named_entity", "upos", "pos", "pos_tag", "xpos", "chunk", "chunk_tag"),
)
ANSWER_NAMES = ("pred", "answer", "system", "guess", "output", "auto", "model")  # begin so
CONLL_NAMES = ("word", "pos", "chunk", "ner")  # of four columns without a header
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)?:(?=\S)")
_WITH_SCORE = re.compile(r"[^/]+/[01]\.[0-9]+")  # as CRF++ writes a tag
_READ_AS = "column {} was read as the words and column {} as the tags"


@dataclass(frozen=True)
class Roles:
    """The columns of words and tags; negative numbers count from the end."""

    word: int
    tag: int
    predicted: int | None = None  # column of predicted tags, after the gold tags
    note: str = ""  # which columns are read, if they are not the first and the last


@dataclass(frozen=True)
class Header:
    """What a file says about its columns."""

    names: Sequence[str] = ()  # of the columns; empty if they are unknown
    is_row: bool = False  # whether the first row has the names
    own: bool = False  # whether crfviz has written the file
    certain: bool = True  # whether the rows cannot be plain text


def find_roles(
    cells: Sequence[Sequence[str]], header: Header, chosen: tuple[int | None, int | None], name: str
) -> Roles | None:
    """Return the columns of words and tags; None if the rows may be plain text.

    Args:
        cells: the rows.
        header: what the file says about its columns.
        chosen: the columns of words and tags that the caller has named; None finds them.
        name: name of the file, for messages.

    Raises:
        FormatError: the values leave the columns open; lists them.
    """
    word, tag = chosen
    width = len(cells[0]) if cells else 2
    named = [each.rpartition(":")[2] for each in header.names]
    rows = [[cell.strip() for cell in row] for row in cells if len(row) == width]
    columns = list(zip(*rows, strict=True))
    if word is None:
        word = next((named.index(each) for each in WORD_NAMES if each in named), None)
    if not columns or width < 2 or len(header.names) > width:  # reading reports the line
        known = next((named.index(each) for each in TAG_NAMES if each in named), -1)
        return Roles(word or 0, known if tag is None else tag)
    if header.own or (word is not None and tag is not None):
        return Roles(word or 0, -1 if tag is None else tag)

    def ask(problem: str) -> FormatError:
        return question(name, problem, header.names, columns)

    kinds = [kind_of(values) for values in columns]
    _refuse_features(columns, tag, ask)
    if width == 2 and word is None and not header.is_row:
        return _of_pair(columns, kinds, tag, header, ask)
    is_first = word is not None
    if word is None:
        taken = None if tag is None else tag % width
        word = _word(columns, kinds, taken, ask)
        if word is None:
            if not header.certain:
                return None
            raise ask("no column shows words")
    _refuse_as_words(columns[word], word, ask, named=is_first)
    found = Roles(word, tag) if tag is not None else _tag(columns, kinds, word, header, ask)
    if found is None or is_first:
        return found
    if word == 0 or (word == 1 and are_counts(columns[0])):
        return found
    return replace(found, note=_READ_AS.format(word + 1, found.tag % width + 1))


def _refuse_features(
    columns: Sequence[Column], tag: int | None, ask: Callable[[str], FormatError]
) -> None:
    """Reject features of CRFsuite, and scores of CRF++, unless the caller names the tags."""
    if tag is not None:
        return
    if attributes := [n for n, values in enumerate(columns) if are_attributes(values)]:
        raise ask(f"column {attributes[0] + 1} has attributes (CRFsuite), not words")
    if len(columns) == 2 and any(map(have_one_prefix, columns)):
        raise ask("a column has attributes, not words")
    if len(columns[-1]) >= MIN_CAPITAL_ROWS and all(map(_WITH_SCORE.fullmatch, columns[-1])):
        raise ask("seems to be output of CRF++ with probabilities; run crf_test without -v")


def _refuse_as_words(
    words: Column, number: int, ask: Callable[[str], FormatError], *, named: bool
) -> None:
    """Reject attributes; if the column is not named, also texts and WikiANN's `en:Oslo`."""
    if have_one_prefix(words):
        raise ask(f"column {number + 1} has attributes, not words")
    if named:
        return
    if are_texts(words):
        raise ask(f"column {number + 1} has texts, not words")
    codes = {found[0] if (found := _LANGUAGE.match(word)) else "" for word in words}
    if len(words) >= MIN_CAPITAL_ROWS and len(codes) == 1 and "" not in codes:
        raise ask(
            f"all words in column {number + 1} begin with {min(codes)}, the code of a language"
        )


def _word(
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    taken: int | None,
    ask: Callable[[str], FormatError],
) -> int | None:
    """Return the first column of words; a column of few values if it is the only one."""
    free = [n for n in range(len(kinds)) if n != taken]
    words = [n for n in free if kinds[n] == "words" and "" not in columns[n]]
    if words:
        if any(_are_lemmas_of(columns[words[0]], columns[n]) for n in words[1:]):
            raise ask(f"column {words[0] + 1} seems to have lemmas")
        return words[0]
    weak = [n for n in free if kinds[n] == "weak" and "" not in columns[n]]
    varied = sorted(weak, key=lambda n: -len({*columns[n]}))
    if varied and len(weak) < len(free) + (taken is not None):
        return varied[0]
    if taken != 0 and kinds[0] == "constant" and columns[0][0][:1].isalpha():
        return 0  # `ha ha ha`, if no other column has words
    small = len(columns[0]) < MIN_CAPITAL_ROWS
    return 0 if small and taken != 0 and kinds[0] != "entities" else None


def _of_pair(
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    tag: int | None,
    header: Header,
    ask: Callable[[str], FormatError],
) -> Roles | None:
    """Return the roles of two columns: a word and its tag, or a tag and its word."""
    first, last = columns
    if tag is not None:
        return Roles(1 - tag % 2, tag)
    if kinds[0] in STRONG and kinds[1] == "words" and len(first) > 1:
        if kinds[0] == "entities":
            return Roles(1, 0)
        if len(first) >= MIN_REPEATED_ROWS:
            return Roles(1, 0, note=_READ_AS.format(2, 1))
    if not header.certain:  # rows.columns_of looks at the tags
        return Roles(0, 1)
    if len(first) >= MIN_REPEATED_ROWS and (
        kinds[0] in STRONG or are_counts(first) or (kinds[0] == "constant" and len({*last}) > 1)
    ):
        raise ask("no column shows words")
    _refuse_as_words(first, 0, ask, named=False)
    if kinds[1] in (*STRONG, "weak"):
        return Roles(0, 1)
    if kinds[1] == "ids":
        raise ask("column 2 has numbers, not tags")
    if are_texts(last):
        raise ask("column 2 has texts, not tags")
    few = len(last) < MIN_REPEATED_ROWS  # too few to repeat
    marked = few and any(ENTITY.fullmatch(v) or CAPITAL.fullmatch(v) for v in last)
    if are_lemmas(first, last) or (len(last) > 1 and not marked and 2 * len({*last}) > len(last)):
        raise ask("column 2 seems to have words or lemmas, not tags")
    return Roles(0, 1)


def _tag(
    columns: Sequence[Column],
    kinds: Sequence[Kind],
    word: int,
    header: Header,
    ask: Callable[[str], FormatError],
) -> Roles | None:
    """Return the column of tags, with the evidence of names first."""
    last = len(columns) - 1
    others = [n for n in range(last + 1) if n != word]
    entities = [n for n in others if kinds[n] in ("entities", "types")]
    strong = [n for n in others if kinds[n] in STRONG]
    several = ask("several columns may have the tags")
    names = [each.rpartition(":")[2] for each in header.names]
    if known := [names.index(each) for each in TAG_NAMES if each in names]:
        if known[0] not in entities and any(
            n >= len(names) or names[n] not in TAG_NAMES for n in entities
        ):
            raise several
        return Roles(word, known[0])
    is_pair = last - 1 != word and are_gold_and_predicted(columns[last - 1], columns[last])
    is_open = is_pair and names and not "".join(names[last:]).startswith(ANSWER_NAMES)
    if is_pair and not is_open and not any(n < last - 1 for n in entities):
        return Roles(word, last - 1, last)
    is_speech = last in strong and kinds[last] == "speech"
    if is_open or len({columns[n] for n in entities}) > 1 or (entities and is_speech):
        raise several
    if entities:
        return _noted(word, entities[0], last, "" if entities[1:] else "the only one with entities")
    if last in strong or (last != word and {*columns[last]} == {OUTSIDE}):
        return Roles(word, last)
    if strong:
        if len({columns[n] for n in strong}) > 1 or kinds[last] == "weak":
            raise several
        return _noted(word, strong[0], last, "" if strong[1:] else "the only one with tags")
    is_weak = kinds[last] == "weak" and not are_lemmas(columns[word], columns[last])
    if last != word and (is_weak or (last == 1 and len(columns[0]) < MIN_CAPITAL_ROWS)):
        return Roles(word, last)
    if last == 1 != word and all(value in ("_", "") for value in columns[last]):
        return Roles(word, last)
    if not header.certain:
        return None
    raise ask("no column shows tags")


def _noted(word: int, tag: int, last: int, what: str) -> Roles:
    """Return the roles with a note if the tags are not in the last column."""
    note = ", ".join(filter(None, (f"column {tag + 1} was read", what))) if tag != last else ""
    return Roles(word, tag, note=note)


def _are_lemmas_of(lemmas: Column, words: Column) -> bool:
    """Return whether the first column has lemmas of the second: a capital is small in it, or ?."""
    if not are_lemmas(words, lemmas):
        return False
    pairs = [(a, b) for a, b in zip(lemmas, words, strict=True) if a != b]
    lower = sum(a == b.lower() for a, b in pairs) - sum(b == a.lower() for a, b in pairs)
    return lower > 0 or "<unknown>" in lemmas
