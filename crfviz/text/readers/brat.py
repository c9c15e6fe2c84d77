"""Texts with brat's entities, in pairs of .txt and .ann.

All types are read, and the longer of nested entities, unless the caller names one type or the
shorter ones.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_names, decoded, decoded_otherwise
from crfviz.text.readers.losses import Losses, key_question
from crfviz.text.readers.spans import (
    CHARACTERS,
    LETTERS,
    Draft,
    Mark,
    fits,
    is_quoted,
    moved,
    tagged_words,
)
from crfviz.text.readers.spelling import Tagged
from crfviz.text.sentences import Sentence, words_at
from crfviz.text.splitting import Split
from crfviz.text.tokenizer import tokens

MAX_UNPACKED = 200 * 2**20  # bytes of an archive
DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)
BRAT_LINE = re.compile(r"(?:[TREAMN][0-9]+|\*|#[0-9]*)\t.*")
_LINE_END = re.compile(r"\r\n?|\n")
_PLACES = r"([0-9]{1,9}(?: [0-9]{1,9})?(?:;[0-9]+ [0-9]+)*)"
_ENTITY = re.compile(rf"T[0-9]+\t(\S+) {_PLACES}(?:\t(.*))?")
OUTER, INNER = "outer", "inner"  # of brat's nested entities, the longer or the shorter ones
Pair = tuple[bytes, bytes]  # a text, and brat's annotations of it


def read_brat(
    pairs: Iterable[Pair], losses: Losses, split: Split = tokens, named: str | None = None
) -> Iterator[Tagged]:
    """Yield one sentence per line of each text, with brat's entities as BIO.

    The quotes of the entities show what the offsets count: characters, UTF-16 units or bytes, with
    or without CR and a byte order mark.

    Args:
        pairs: texts with their annotations.
        losses: collects what is not read.
        split: the tokenizer.
        named: the type that is read, or `INNER` or `OUTER`; None is `OUTER`, of all types.

    Raises:
        FormatError: a line of the annotations is invalid, an entity quotes other words, or no
            entity has the type.
    """
    quotes: dict[str, str] = {}
    for text, annotations in pairs:
        marks = list(_brat_marks(decoded(annotations, name=losses.name), losses))
        quotes |= {mark.kind: mark.quote for mark in marks if mark.kind not in quotes}
        if named in quotes:
            marks = [mark for mark in marks if mark.kind == named]
        elif named not in (None, OUTER, INNER):
            marks = []
        yield from _brat_sentences(text, marks, losses, split, inner=named == INNER not in quotes)
    if named not in (None, OUTER, INNER, *quotes):
        raise key_question(losses.name, f"no entities of the type {named!r}", quotes)


def brat_layers(pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the types of brat's entities, each with an entity, and `INNER` of nested ones.

    Raises:
        FormatError: a line of the annotations is invalid.
    """
    quotes, nested = dict[str, str](), False
    for _, annotations in pairs:
        marks = sorted(_brat_marks(decoded(annotations, name="file"), Losses("file")))
        quotes |= {mark.kind: mark.quote for mark in marks if mark.kind not in quotes}
        ends = [*accumulate((mark.end for mark in marks), max)]
        later = zip(ends[:-1], marks[1:], strict=True)
        nested = nested or any(mark.start < end for end, mark in later)
    layers = {OUTER: "the longer of nested entities", INNER: "the shorter ones"} if nested else {}
    return layers | quotes


def _brat_sentences(
    content: bytes, marks: list[Mark], losses: Losses, split: Split, *, inner: bool
) -> Iterator[Tagged]:
    raw, notes = decoded_otherwise(content, losses.name) or (decoded(content, name=losses.name), [])
    for note in notes:
        losses.add(note.removeprefix(f"{losses.name}: "), 0)
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    marks = _placed(raw, text, marks, losses)
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        end = start + len(line)
        here = [mark for mark in marks if start <= mark.start < end]
        marks = [mark for mark in marks if mark not in here]
        kept = []
        for mark in here:
            if mark.end > end:
                losses.add("entities that go on in the next line were left out", number)
            else:
                place = mark.start - start, mark.end - start
                kept.append(Mark(*place, mark.kind, mark.quote))
        if line.strip():
            kept = _innermost(kept) if inner else kept
            places, tags = tagged_words(line, kept, losses, number, split=split)
            yield Tagged(number, Sentence(words_at(line, places), tags, line))
        start = end + 1
    if marks:
        raise FormatError(
            f"{losses.name}: expected entities inside of {len(text)} characters, "
            f"got [{marks[0].start}, {marks[0].end}]: is this the text of the annotations?"
        )


def _innermost(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks that have no shorter one inside of them."""
    inside = {
        mark
        for mark in marks
        for other in marks
        if other[:2] != mark[:2] and mark.start <= other.start and other.end <= mark.end
    }
    return [mark for mark in marks if mark not in inside]


def _placed(raw: str, text: str, marks: list[Mark], losses: Losses) -> list[Mark]:
    """Return the entities at their characters of the text with LF alone."""
    counted = [text, *dict.fromkeys(each for each in (raw, f"\ufeff{text}", f"\ufeff{raw}"))]
    for each in dict.fromkeys(counted):
        draft = Draft(each, marks)
        for unit in LETTERS[:3]:
            if fits(draft, unit) and (found := moved(draft, unit)) is not None:
                index = _without_returns(each)
                return [
                    mark._replace(start=index[mark.start], end=index[mark.end]) for mark in found
                ]
    plain = Draft(text, marks)
    wrong = next((m for m in marks if m.quote and not is_quoted(text, m)), None)
    if wrong is None and moved(plain, CHARACTERS) is not None:
        return marks
    wrong = wrong or max(marks)
    got = text[wrong.start : wrong.end]
    raise FormatError(
        f"{losses.name}: the entity [{wrong.start}, {wrong.end}] quotes {abbreviate(wrong.quote)}, "
        f"and the text of {len(text)} characters has {abbreviate(got)} there; is this the text of "
        f"the annotations?"
    )


def _without_returns(text: str) -> list[int]:
    """Return for each character of a text its place without the CR of CR LF and without BOM."""
    kept = [
        letter != "\ufeff" and not (letter == "\r" and text[at + 1 : at + 2] == "\n")
        for at, letter in enumerate(text)
    ]
    return [*accumulate(kept, initial=0)]


def _brat_marks(annotations: str, losses: Losses) -> Iterator[Mark]:
    for number, line in enumerate(_LINE_END.split(annotations), start=1):
        if not line.strip() or line[0] != "T":  # relations, events and notes are not tags of words
            continue
        entity = _ENTITY.fullmatch(line)
        if not entity:
            raise FormatError(
                f"{losses.name}, line {number} of the annotations: expected T1, a type and two "
                f"numbers, got {abbreviate(line)}"
            )
        if ";" in entity[2]:
            losses.add("discontinuous entities were left out", number, line)
            continue
        first, _, last = entity[2].partition(" ")
        yield Mark(int(first), int(last or first), entity[1], entity[3] or "")


def brat_pairs(content: bytes, losses: Losses, most: int = MAX_UNPACKED) -> Iterator[Pair]:
    """Yield brat's pairs of .txt and .ann in a ZIP archive.

    Raises:
        FormatError: the archive has no such pairs, is damaged or too large.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = archive.namelist()
        pairs = [(f"{n[:-4]}.txt", n) for n in names if n.endswith(".ann") and "__MACOSX" not in n]
        if not pairs or not any(text in names for text, _ in pairs):
            raise FormatError(
                f"{losses.name}: expected pairs of .txt and .ann (brat) in the archive, got "
                f"{abbreviate_names(names) or 'no files'}; other files are read one by one"
            )
        left = most
        for text_name, name in pairs:
            if text_name not in names:
                losses.add("annotations without their text were left out", 0, name)
                continue
            parts: list[bytes] = []
            for each in (text_name, name):
                with archive.open(each) as file:
                    data = file.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise FormatError(
                        f"{losses.name}: expected at most {most // 2**20} MB unpacked"
                    )
                parts.append(data)
            yield parts[0], parts[1]
    except FormatError:
        raise
    except (*DAMAGED, ValueError, OSError) as error:  # the last two: offsets outside the file
        raise FormatError(
            f"{losses.name}: expected a text file or brat's in one .zip, got a damaged Office "
            f"document or ZIP archive; save it as plain text (.txt)"
        ) from error
