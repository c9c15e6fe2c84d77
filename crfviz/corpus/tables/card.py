"""Measured figures of a model folder: evaluation.json, and the part of README.md made from it.

evaluation.json maps a label ("ud-english-ewt/test.conllu") to one evaluation as `report.as_record`
gives it. The card shows all of them between two marker comments; what stands outside the markers is
never touched.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from crfviz.corpus.tables.report import Record, as_markdown
from crfviz.exceptions import ModelError
from crfviz.taggers.folder import CARD_FILE, EVALUATION_FILE

BEGIN = "<!-- figures: written by `python -m crfviz evaluate --card`, not by hand -->"
END = "<!-- end of figures -->"


def read_evaluations(folder: Path) -> dict[str, Record]:
    """The evaluations of a model folder by label; none where it has no such file.

    Raises:
        ModelError: the file is no JSON object of evaluations.
    """
    path = folder / EVALUATION_FILE
    if not path.exists():
        return {}
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # no permission; no UTF-8 or no JSON
        raise ModelError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(records, dict):
        raise ModelError(f"{path}: must hold a JSON object, got {type(records).__name__}")
    for label, record in records.items():
        _render(path, label, record)
    return records


def record_evaluation(folder: Path, label: str, record: Record) -> None:
    """Put one evaluation into evaluation.json and write the figures of the card anew.

    A card without the markers gets them at its end; a folder without a card gets one.

    Raises:
        ModelError: a file of the folder cannot be read or written, or its markers are broken.
    """
    records = {**read_evaluations(folder), label: record}
    path = folder / CARD_FILE
    try:
        card = path.read_text(encoding="utf-8") if path.exists() else f"# {folder.name}\n"
        path.write_text(_with_figures(path, card, records), encoding="utf-8")
        text = json.dumps(records, indent=2, ensure_ascii=False)
        (folder / EVALUATION_FILE).write_text(f"{text}\n", encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read or written ({error})") from error


def _with_figures(path: Path, card: str, records: Mapping[str, Record]) -> str:
    sections = [_render(path, label, record) for label, record in records.items()]
    figures = "\n\n".join([BEGIN, *sections, END])
    if BEGIN not in card and END not in card:
        return f"{card.rstrip()}\n\n{figures}\n"
    before, begin, rest = card.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ModelError(f"{path}: expected the markers {BEGIN!r} and {END!r}, in this order")
    return f"{before}{figures}{after}"


def _render(path: Path, label: str, record: object) -> str:
    try:
        return as_markdown(record)  # type: ignore[arg-type]  # what is no record fails below
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{path}: {label!r} is no evaluation ({error!r}); evaluate again with --card"
        ) from error
