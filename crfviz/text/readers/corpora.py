"""Special column formats: WebAnno TSV 3 and CoNLL-2012."""

import re
from collections.abc import Iterable, Iterator, Sequence

from crfviz.exceptions import FormatError
from crfviz.text.columns import blocks
from crfviz.text.files import abbreviate, abbreviate_names
from crfviz.text.readers.losses import TAGS_HELP, Losses, key_question
from crfviz.text.readers.rows import are_brackets, entities_of_brackets
from crfviz.text.readers.spelling import Tagged
from crfviz.text.schemes import OUTSIDE, begin, inside
from crfviz.text.sentences import Sentence

WEBANNO = "#FORMAT=WebAnno TSV 3"
CONLL_2012 = "#begin document"
_LAYER = re.compile(r"#T_(SP|CH|RL)=([^|]+)\|?(.*)")
_UNIT = re.compile(r"([0-9]+)-([0-9]+)(\.[0-9]+)?")
_VALUE = re.compile(r"(.*?)(?:\[([0-9]+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
NONE = "_"
MASKED = "[WORD]"  # in files of CoNLL-2012 without the text of OntoNotes
NO_VALUE = "annotations without a value were read as the type SPAN"
WORD_2012, POS_2012, FIRST_2012 = 3, 4, 10  # columns; the last one has the coreference


def read_webanno(
    lines: Iterable[str], column: str | int | None, losses: Losses
) -> Iterator[Tagged]:
    """Yield the sentences of WebAnno TSV 3, with the entities of one column.

    Args:
        lines: of the file.
        column: name of a layer's feature, or its number from 1; None for the first feature.
        losses: collects losses of partial words and stacked annotations.

    Raises:
        FormatError: a row is invalid, or the column does not exist; names the line.
    """
    features: list[tuple[str, str]] = []  # layer and feature of each column
    text = ""
    for block in blocks(lines):
        words: list[str] = []
        values: list[str] = []
        for number, line in block:
            if line.startswith("#Text="):
                text = f"{text}\n{line[6:]}" if text else line[6:]
            elif line.startswith("#T_"):
                features += _features(line)
            elif not line.startswith("#"):
                index = _feature(features, column, losses.name)
                cells = line.split("\t")
                unit = _UNIT.fullmatch(cells[0])
                if unit is None or len(cells) < 3 + len(features):
                    raise FormatError(
                        f"{losses.name}, line {number}: expected {3 + len(features)} columns, "
                        f"got {abbreviate(line)}"
                    )
                if unit[3]:
                    losses.add("annotations of parts of words were left out", number)
                    continue
                words.append(_ESCAPED.sub(r"\1", cells[2]))
                value, *more = cells[3 + index].split("|") if features else [NONE]
                if more:
                    losses.add("of stacked annotations only the first was read", number)
                if value.partition("[")[0] == "*":
                    losses.add(NO_VALUE, number)
                values.append(value)
        if words:
            is_pos = (
                bool(features) and features[_feature(features, column, losses.name)][0] == "POS"
            )
            tags = values if is_pos else _entities(values)
            yield Tagged(
                block[0][0], Sentence(tuple(words), tuple(tags) if features else None, text or None)
            )
            text = ""


def _features(line: str) -> list[tuple[str, str]]:
    """Return the layer and name of each feature in a line of the header."""
    if not (layer := _LAYER.fullmatch(line)):
        return []
    name = layer[2].rpartition(".")[2]
    names = layer[3].split("|") if layer[3] else [name]
    return [(name, feature.rpartition(".")[2]) for feature in names]


def layers_in(lines: Sequence[str]) -> dict[str, str]:
    """Return the tag columns of WebAnno by number, of CoNLL-2012 by name; none of others."""
    if any(line.startswith(WEBANNO) for line in lines[:5]):
        features = [each for line in lines for each in _features(line)]
        return {str(n): " ".join(names) for n, names in enumerate(features, start=1)}
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    begins = any(line.startswith(CONLL_2012) for line in lines[:5])
    if not are_conll_2012([" ".join(row) for row in rows], begins=begins):
        return {}
    columns = {"ner": FIRST_2012, "pos": POS_2012}
    return {
        name: abbreviate_names([*dict.fromkeys(row[at] for row in rows if len(row) > at)][:2])
        for name, at in columns.items()
    }


def _feature(features: list[tuple[str, str]], column: str | int | None, name: str) -> int:
    if column is None:
        spans = [n for n, (_, feature) in enumerate(features) if feature == "value"]
        if len(features) > 1 and len(spans) != 1:
            fields = {str(n): " ".join(names) for n, names in enumerate(features, start=1)}
            raise key_question(name, "several layers may have the tags", fields, TAGS_HELP)
        return spans[0] if spans else 0
    wanted = [n for n, names in enumerate(features, start=1) if str(column) in (str(n), *names)]
    if not wanted:
        known = abbreviate_names(feature for _, feature in features)
        raise FormatError(
            f"{name}: expected one of the columns {known}, got {abbreviate(str(column))}"
        )
    return wanted[0] - 1


def _entities(values: Iterable[str]) -> list[str]:
    """Return BIO tags; words of one annotation share its number."""
    tags, before = [], ("", "")
    for value in values:
        match = _VALUE.fullmatch(value)
        kind, number = (_ESCAPED.sub(r"\1", match[1]), match[2] or "") if match else ("", "")
        if value in (NONE, ""):
            tags.append(OUTSIDE)
            before = ("", "")
            continue
        kind = "SPAN" if kind == "*" else kind
        same = bool(number) and before == (kind, number)
        tags.append(inside(kind) if same else begin(kind))
        before = (kind, number)
    return tags


def are_conll_2012(lines: Sequence[str], *, begins: bool) -> bool:
    """Return whether lines of words are CoNLL-2012 rather than other columns.

    Args:
        lines: of the words.
        begins: whether the file names a document, as in SemEval-2010, where words begin with ids.
    """
    rows = [line.split() for line in lines[:100]]
    if begins:
        return not rows or not (rows[0][0] == "1" and not "".join(rows[0][2:3]).isdecimal())
    return bool(rows) and all(
        len(row) > FIRST_2012 and row[1].isdecimal() and row[2].isdecimal() and "*" in row[5]
        for row in rows
    )


def read_conll_2012(
    lines: Iterable[str], column: str | int | None, losses: Losses
) -> Iterator[Tagged]:
    """Yield the sentences of CoNLL-2012, with bracketed entities as BIO.

    Args:
        lines: of the file.
        column: `pos`, or a column number from 1; None for the entities.
        losses: names the file.

    Raises:
        FormatError: a row has too few columns; says which line.
    """
    index = FIRST_2012
    if column is not None:
        named = {"pos": POS_2012, "ner": FIRST_2012}
        wanted = str(column)
        if wanted not in named and not (wanted.isdecimal() and int(wanted)):
            raise FormatError(f"{losses.name}: expected pos, ner or a number, got {column!r}")
        index = named[wanted] if wanted in named else int(wanted) - 1
    for block in blocks(lines):
        rows = [(number, line.split()) for number, line in block if not line.startswith("#")]
        for number, row in rows:
            if len(row) <= max(index, FIRST_2012):
                raise FormatError(
                    f"{losses.name}, line {number}: expected at least "
                    f"{max(index, FIRST_2012) + 1} columns, got {len(row)}"
                )
        if rows:
            if all(row[WORD_2012] == MASKED for _, row in rows):
                raise FormatError(
                    f"{losses.name}, line {rows[0][0]}: has {MASKED} in place of the words; bring "
                    f"the file that OntoNotes has filled in"
                )
            tags = [row[index] for _, row in rows]
            tags = entities_of_brackets(tags) if are_brackets(tags) else tags
            words = tuple(row[WORD_2012] for _, row in rows)
            yield Tagged(rows[0][0], Sentence(words, tuple(tags)))
