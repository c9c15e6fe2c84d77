"""Spans of JSON objects as marks, and offsets of their words, as other programs write them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crfviz.exceptions import FormatError
from crfviz.text.files import abbreviate_value
from crfviz.text.readers.keys import ENDS, INSIDE, KINDS, STARTS, verdict_of
from crfviz.text.readers.losses import Losses
from crfviz.text.readers.spans import Mark
from crfviz.text.sentences import Offsets, words_at

NO_SPANS = "annotations that are no spans of text were left out"
EXPECTED = 'expected spans such as [0, 4, "PER"]'


def marks_of(found: object, text: str, losses: Losses, line: int) -> list[Mark]:
    """Return the spans in a value, with the words that they quote.

    Args:
        found: a list of spans, or a dictionary of them by type.
        text: of the sentence.
        losses: collects rejected spans, and annotations of other kinds.
        line: of the sentence.

    Raises:
        FormatError: a span has no start, end or type, or several types.
    """
    where = f"{losses.name}, line {line}"
    rows = _by_type(found, where) if isinstance(found, dict) else _by_points(found)
    marks = []
    for row in rows:
        if isinstance(row, dict) and (verdict := verdict_of(row, where)):
            losses.add(f"spans answered “{verdict}” were left out", line)
            continue
        mark = _mark(row, losses, line, where)
        if mark is None:
            continue
        is_first = isinstance(row, list) and bool(row) and isinstance(row[0], str)
        if is_first and mark.kind == text[mark.start : mark.end]:
            raise FormatError(
                f"{where}: expected the type of a span, got its words {abbreviate_value(row)}"
            )
        marks.append(mark)
    return marks


def counts_words(rows: object) -> bool:
    """Return whether spans name the numbers of words alone."""
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return any(_has_words_only(row) for row in found)


def _has_words_only(row: Mapping[str, Any]) -> bool:
    return "token_start" in row and not any(key in row for key in STARTS)


def _mark(row: object, losses: Losses, line: int, where: str) -> Mark | None:
    """Read one span: a list [start, end, kind], or an object."""
    quote = ""
    if isinstance(row, dict):
        row = row.get("value", row) if isinstance(row.get("value"), dict) else row
        quote = row["text"] if isinstance(row.get("text"), str) else ""
        place = row["span"] if isinstance(row.get("span"), dict) else row
        kind = next((row[key] for key in KINDS if key in row), None)
        if _has_words_only(row):
            place = {"start": row["token_start"], "end": row.get("token_end")}
        if not any(key in place for key in STARTS):
            is_other = any(key in row for key in ("from_id", "head", "choices", "rating"))
            numbers = sum(isinstance(each, int) for each in row.values())
            if (kind is not None or numbers > 1) and not is_other:
                raise FormatError(
                    f"{where}: expected the start and end of each span, got {abbreviate_value(row)}"
                )
            losses.add(NO_SPANS, line)
            return None
        if isinstance(kind, list) and len(kind) > 1:
            raise FormatError(
                f"{where}: expected one label on a span, got {abbreviate_value(kind)}"
            )
        kind = kind[0] if isinstance(kind, list) and kind else kind
        ends = [next((place[k] for k in keys if k in place), None) for keys in (STARTS, ENDS)]
        if ends[1] is None and isinstance(place.get("length"), int):
            ends[1] = ends[0] + place["length"] if isinstance(ends[0], int) else None
        row = [*ends, kind]
    match row:
        case [int(start), int(end), str(kind), *_] if kind:
            return Mark(start, end, kind, quote)
        case [str(kind), int(start), int(end)] if kind:  # Argilla
            return Mark(start, end, kind, quote)
        case [int(_), int(_), int(_), *_]:
            raise FormatError(
                f"{where}: the spans have class numbers without their names; export them with "
                f"the names of the labels"
            )
    raise FormatError(f"{where}: {EXPECTED}, got {abbreviate_value(row)}")


def _by_type(spans: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """Return the spans of {type: {words: [[first, last], ...]}}, as in CLUENER; `last` included."""
    try:
        return [
            {"label": kind, "start": first, "end": last + 1, "text": words}
            for kind, places in spans.items()
            for words, all_places in places.items()
            for first, last in all_places
        ]
    except (AttributeError, TypeError, ValueError) as error:
        raise FormatError(f"{where}: {EXPECTED}, got {abbreviate_value(spans)}") from error


def _by_points(rows: object) -> Iterator[Any]:
    """Yield spans of Dataturks, {"label": [...], "points": [...]}, whose ends are included."""
    for row in rows if isinstance(rows, Sequence) else ():
        points = row.get("points") if isinstance(row, dict) else None
        if not isinstance(points, list):
            yield row
            continue
        for point in points:
            if isinstance(point, dict) and isinstance(point.get("end"), int):
                yield {**point, "end": point["end"] + 1, "labels": row.get("label")}


def words_inside(words: Sequence[Mapping[str, Any]], text: object, where: str) -> list[str]:
    """Return the words of token objects: a value of each, or its part of the text.

    Raises:
        FormatError: an object has no word.
    """
    found = [next((word[key] for key in INSIDE if key in word), None) for word in words]
    offsets = offsets_of(words)
    if offsets is not None and isinstance(text, str) and None in found:
        return list(words_at(text, offsets))
    if not all(isinstance(word, str) for word in found):
        raise FormatError(f'{where} needs a "text" of each word')
    return found  # type: ignore[return-value] # checked


def tags_inside(
    words: Sequence[Mapping[str, Any]], keys: Sequence[str]
) -> tuple[str, list[str] | None]:
    """Return the first of some keys with a text in all token objects, and these texts."""
    name = next((k for k in keys if all(isinstance(word.get(k), str) for word in words)), "")
    return name, [word[name] for word in words] if name else None


def offsets_of(words: Sequence[Mapping[str, Any]]) -> Offsets | None:
    """Return the offsets of token objects; None if one has none."""
    places = tuple((word.get("start"), word.get("end")) for word in words)
    whole = all(isinstance(start, int) and isinstance(end, int) for start, end in places)
    return places if whole else None  # type: ignore[return-value] # checked


def own_words(value: Mapping[str, Any], text: str) -> Offsets | None:
    """Return the words in `offsets`, which `text.writing` adds to spans; None for anything else."""
    rows = value.get("offsets")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return None
    ends = [end for row in rows for end in row if isinstance(end, int)]
    if {*map(len, rows)} != {2} or len(ends) != 2 * len(rows) or ends != sorted(ends):
        return None
    places = tuple((start, end) for start, end in rows)
    inside = ends[0] >= 0 and ends[-1] <= len(text) and all(a < b for a, b in places)
    return places if inside else None
