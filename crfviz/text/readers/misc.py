"""Entities beside the tags of columns: in FEATS and MISC of CoNLL-U, and in comments.

Examples are `NER=B-PER|SpaceAfter=No` and `# entities = [[0, 1, "PER"]]`.
"""

import json
import re
from collections.abc import Sequence

from crfviz.text.columns import CONLLU, CONLLU_XPOS, UNTAGGED, Block, is_comment
from crfviz.text.files import abbreviate_names
from crfviz.text.readers.keys import may_be_tags
from crfviz.text.readers.kinds import ENTITY, MARK, kind_of
from crfviz.text.readers.losses import Losses
from crfviz.text.schemes import OUTSIDE

CELLS = (9, 5)  # MISC and FEATS
PREFIX = "misc:"  # may stand before a key
_NAMES = ("ner", "ne", "nertag", "netag", "entity", "entities", "namedentity", "ent", "nerlabel")
_OF_SENTENCE = ("ents", "nes", "nertags", "netags", "namedentities", "mentions", "spans")
_NOTHING = re.compile(r"(?:[Oo_\s-]|\[\]|\{\}|none|null|0)*", re.IGNORECASE)
_NO_LETTER = re.compile(r"\W|_")
_SPELLED = re.compile(rf"[<\[({{]?[BIESLU]{MARK}.+")
_OWN = "Proposal"  # in exports of crfviz, whose final tags are in UPOS


def value_of(cells: Sequence[str], key: str) -> str:
    """Return the value of a key in a row of ten cells; `O` without one."""
    parts = (part.partition("=") for cell in CELLS for part in cells[cell].split("|"))
    return next((value for name, _, value in parts if name == key), OUTSIDE)


def with_entity(line: str, key: str) -> str:
    """Return a row with the value of a key as its UPOS; other lines are unchanged."""
    cells = line.split("\t")
    if len(cells) == CONLLU.width:
        cells[CONLLU.tag] = value_of(cells, key)
    return "\t".join(cells)


def find_entities(lines: Sequence[str], wanted: str | int | None) -> tuple[str, str]:
    """Return the key that is read instead of UPOS, empty for none, and a note about entities.

    Args:
        lines: of the words.
        wanted: the key that the caller names, or another column; None reads entities only where
            UPOS and XPOS are empty.
    """
    rows = _rows(lines)
    values = _values(rows)
    if wanted is not None:
        key = str(wanted).lower().removeprefix(PREFIX)
        return next((name for name in values if name.lower() == key), ""), ""
    keys = [key for key in values if _has_entities(key, values[key])]
    if not keys or kind_of([row[CONLLU.tag] for row in rows]) == "entities":
        return "", ""
    spelled = [key for key in keys if _are_spelled(values[key])]
    upos, xpos = ({row[layout.tag] for row in rows} for layout in (CONLLU, CONLLU_XPOS))
    if len(spelled) == len(keys) == 1 and upos | xpos <= {UNTAGGED, ""}:
        return keys[0], f"the column UPOS is empty; the entities in MISC ({keys[0]}) were read"
    shown = abbreviate_names(keys)
    how = f"; tags={spelled[0]} reads them" if spelled else ""
    return "", f"entities in MISC ({shown}) were left out{how}"


def note_comments(block: Block, tags: Sequence[str] | None, losses: Losses) -> None:
    """Record entities in the comments of a sentence whose tags are no entities."""
    comments = [each for each in block if each[1].startswith("#") and is_comment(each[1])]
    if not comments or (tags and any(map(_SPELLED.fullmatch, tags))):
        return
    words = len(block) - len(comments)
    for number, line in comments:
        name, _, value = (part.strip() for part in line.removeprefix("#").partition("="))
        if value and not _NOTHING.fullmatch(value) and _says_entities(name, value, words):
            key = abbreviate_names([name])
            losses.add(f"entities in the comment “{key}” were left out", number)


def _says_entities(name: str, value: str, words: int) -> bool:
    if _NO_LETTER.sub("", name).lower() in (*_NAMES, *_OF_SENTENCE):
        return True
    if value[0] in "[{":
        try:
            return may_be_tags(json.loads(value), words, sure=True)
        except (ValueError, RecursionError):
            return False
    parts = value.split()
    return len(parts) == words > 1 and _are_spelled({*parts})


def spelled_in(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the keys whose values can be read as tags, with the values in order."""
    values = _values(_rows(lines))
    return {key: sorted(each) for key, each in values.items() if key != _OWN and _are_spelled(each)}


def _rows(lines: Sequence[str]) -> list[list[str]]:
    split = (line.split("\t") for line in lines)
    return [row for row in split if len(row) == CONLLU.width and row[0].isdecimal()]


def _values(rows: Sequence[Sequence[str]]) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for row in rows:
        for cell in CELLS:
            for name, _, value in (part.partition("=") for part in row[cell].split("|")):
                values.setdefault(name, set()).add(value)
    return values


def _has_entities(key: str, values: set[str]) -> bool:
    if key == _OWN:
        return False
    return _NO_LETTER.sub("", key).lower() in _NAMES or _are_spelled(values)


def _are_spelled(values: set[str]) -> bool:
    return any(map(_SPELLED.fullmatch, values)) and all(map(ENTITY.fullmatch, values))
