"""Documents with spans: brat, and spaCy's DocBin."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from itertools import accumulate

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate, abbreviate_names, decoded, decoded_otherwise
from crfviz.text.readers.losses import Losses
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


def read_brat(
    content: bytes, annotations: bytes, losses: Losses, split: Split = tokens
) -> Iterator[Tagged]:
    """Yield one sentence per line of a text, with brat's entities as BIO.

    The quotes of the entities show what the offsets count: characters, UTF-16 units or bytes, with
    or without CR and a byte order mark.

    Raises:
        FormatError: a line of the annotations is invalid, or an entity quotes other words.
    """
    raw, notes = decoded_otherwise(content, losses.name) or (decoded(content, name=losses.name), [])
    for note in notes:
        losses.add(note.removeprefix(f"{losses.name}: "), 0)
    marks = list(_brat_marks(decoded(annotations, name=losses.name), losses))
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    marks = _placed(raw, text, marks, losses)
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        end = start + len(line)
        here = [mark for mark in marks if start <= mark.start < end]
        marks = [mark for mark in marks if mark not in here]
        inner = []
        for mark in here:
            if mark.end > end:
                losses.add("entities that go on in the next line were left out", number)
            else:
                inner.append(Mark(mark.start - start, mark.end - start, mark.kind))
        if line.strip():
            places, tags = tagged_words(line, inner, losses, number, split=split)
            yield Tagged(number, Sentence(words_at(line, places), tags, line))
        start = end + 1
    if marks:
        raise FormatError(
            f"{losses.name}: expected entities inside of {len(text)} characters, "
            f"got [{marks[0].start}, {marks[0].end}]: is this the text of the annotations?"
        )


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


def read_archive(
    content: bytes, losses: Losses, most: int = MAX_UNPACKED, split: Split = tokens
) -> Iterator[Tagged]:
    """Yield the sentences of a ZIP archive with brat's pairs of .txt and .ann.

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
            yield from read_brat(parts[0], parts[1], losses, split)
    except FormatError:
        raise
    except (*DAMAGED, ValueError, OSError) as error:  # the last two: offsets outside the file
        raise FormatError(
            f"{losses.name}: expected a text file or brat's in one .zip, got a damaged Office "
            f"document or ZIP archive; save it as plain text (.txt)"
        ) from error


def is_docbin(content: bytes) -> bool:
    """Return whether the content looks like spaCy's DocBin: a compressed map."""
    if content[:1] != b"\x78":
        return False
    try:
        head = zlib.decompressobj().decompress(content, 4096)
    except zlib.error:
        return False
    return b"version" in head[:64] and b"attrs" in head[:64]


def read_docbin(content: bytes, losses: Losses, most: int = MAX_UNPACKED) -> Iterator[Tagged]:
    """Yield the sentences of spaCy's DocBin, with entities as BIO, else with fine or coarse tags.

    Raises:
        FormatError: it is damaged or too large.
    """
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    unpacker = zlib.decompressobj()
    try:
        unpacker.decompress(content, most)
        if unpacker.unconsumed_tail:
            raise FormatError(f"{losses.name}: expected at most {most // 2**20} MB unpacked")
        docs = list(DocBin().from_bytes(content).get_docs(Vocab()))
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(f"{losses.name}: expected spaCy's DocBin, got {error!r:.80}") from error
    for number, doc in enumerate(docs, start=1):
        parts = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
        for part in parts:
            words = [token for token in part if not token.is_space]
            if not words:
                continue
            if doc.has_annotation("ENT_IOB"):
                tags = [
                    f"{t.ent_iob_}-{t.ent_type_}" if t.ent_iob_ in "BI" and t.ent_type_ else "O"
                    for t in words
                ]
            elif doc.has_annotation("POS"):
                tags = [token.pos_ for token in words]
            elif doc.has_annotation("TAG"):
                tags = [token.tag_ for token in words]
            else:
                tags = None
            if len(words) < len(part):
                losses.add("white space that counts as a word was left out", number)
            yield Tagged(
                number,
                Sentence(
                    tuple(t.text for t in words), None if tags is None else tuple(tags), part.text
                ),
            )
        if any(doc.spans.values()):
            losses.add("groups of spans were left out; entities were read", number)
