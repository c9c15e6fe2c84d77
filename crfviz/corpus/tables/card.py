"""The evaluations of a model folder: evaluation.json, and the figures of its card.

evaluation.json of a model folder maps labels ("ud-english-ewt/test.conllu") to evaluations. The
card, README.md, shows all evaluations between two marker comments; text outside the markers is
never changed.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from crfviz.corpus.tables.report import Record, as_markdown
from crfviz.exceptions import ModelError
from crfviz.taggers.folder import CALIBRATION_FILE, CARD_FILE, EVALUATION_FILE
from crfviz.taggers.storage import read_json_object

BEGIN = "<!-- figures: written by `python -m crfviz evaluate --card`, not by hand -->"
END = "<!-- end of figures -->"


def read_evaluations(folder: Path) -> dict[str, Record]:
    """Return the evaluations of a model folder by label; empty if it has no such file.

    Raises:
        ModelError: the file is not a JSON object of evaluations.
    """
    path = folder / EVALUATION_FILE
    if not path.exists():
        return {}
    records = read_json_object(path)
    for label, record in records.items():
        _render(path, label, record)
    return records


def record_evaluation(folder: Path, label: str, record: Record) -> None:
    """Add one evaluation to evaluation.json, and rewrite the figures of the card.

    If the card has no markers, they are appended; if there is no card, it is created.

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


def forget_evaluations(folder: Path) -> bool:
    """Remove evaluation.json and the card's figures, not its text; return False if there are none.

    Raises:
        ModelError: a file of the folder cannot be read or written, or its markers are broken.
    """
    path, evaluations = folder / CARD_FILE, folder / EVALUATION_FILE
    (folder / CALIBRATION_FILE).unlink(missing_ok=True)
    try:
        card = path.read_text(encoding="utf-8") if path.exists() else ""
        has_evaluation = BEGIN in card or END in card
        if has_evaluation:
            path.write_text(_with_figures(path, card, {}), encoding="utf-8")
        has_evaluation = has_evaluation or evaluations.exists()
        evaluations.unlink(missing_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read or written ({error})") from error
    return has_evaluation


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
        return as_markdown(record)  # type: ignore[arg-type]  # other objects raise below
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{path}: {label!r} is no evaluation ({error!r}); evaluate again with --card"
        ) from error
