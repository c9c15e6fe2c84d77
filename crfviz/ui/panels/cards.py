"""The cards of all models, with their measured figures."""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from crfviz.corpus.tables.card import read_evaluations
from crfviz.corpus.tables.report import Record
from crfviz.exceptions import CrfvizError, warn_once
from crfviz.taggers.folder import FolderTagger
from crfviz.taggers.registry import SHIPPED, brought_models, model_path
from crfviz.taggers.storage import CONFIG_FILE, read_json_object, read_names
from crfviz.text.files import outside
from crfviz.ui import cached

COMPARISON_FILE = "upos-en-perceptron/comparison.json"  # measured with version 0.1

_COMMENT = ("<!--", "-->")
_TITLE = re.compile(r"\A# [^\n]*\n*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Card:
    """The card of one model, or the reason why it cannot be read."""

    model: str
    text: str = ""  # Markdown below the title; empty without a card
    ours: bool = False  # shipped with crfviz; other Markdown could load remote pictures
    tags: tuple[str, ...] = ()
    evaluations: Mapping[str, Record] = field(default_factory=dict)  # by evaluated file
    problem: str | None = None  # why the model or its figures cannot be read


def cards() -> list[Card]:
    """Return a card for each model, the default first."""
    uploaded = brought_models()
    return [
        _unread(model, uploaded[model]) if model in uploaded else _card(model)
        for model in cached.models()
    ]


def comparison() -> pd.DataFrame | None:
    """Return the shipped comparison of greedy and Viterbi training; None if it cannot be read."""
    from crfviz.views.figures.evaluations import comparison_frame  # Altair is slow to load

    path = SHIPPED / COMPARISON_FILE
    try:
        return comparison_frame(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        warn_once(_log, f"{path} cannot be read", error)
        return None


def summary(model: str) -> str:
    """Return the first sentence of a model's card; empty without a card.

    A model folder is not loaded for this.
    """
    try:
        path = model_path(model)
        if path is not None and path.is_dir():
            return card_summary(FolderTagger(path, (), None).card())
        tagger = cached.known_tagger(model) if path is None else cached.tagger(model)
        return card_summary(tagger.card()) if tagger else ""
    except CrfvizError:  # error of the model, or only of its card
        return ""


def card_body(card: str) -> str:
    """Return the text of a card without its title and HTML comments."""
    text = "".join(outside(card, *_COMMENT)).strip()
    return _TITLE.sub("", text).strip()


def card_summary(card: str) -> str:
    r"""Return the first sentence of a card; empty if it does not begin with text.

    >>> card_summary("# upos-en\n\nTags words. Trained on EWT.")
    'Tags words.'
    """
    written = card.partition("<!--")[0]  # `evaluate --card` writes the rest
    paragraph = " ".join(card_body(written).partition("\n\n")[0].split())
    if paragraph[:1] in ("#", "|", "-", "*", "<"):
        return ""
    return _SENTENCE_END.split(paragraph)[0]


def _unread(model: str, folder: Path) -> Card:
    path = folder / CONFIG_FILE
    try:
        tags = read_names(path, read_json_object(path), "tags", least=1)
        return Card(
            model,
            text=card_body(FolderTagger(folder, tags, None).card()),
            tags=tags,
            evaluations=read_evaluations(folder),
        )
    except CrfvizError as error:
        return Card(model, problem=str(error))


def _card(model: str) -> Card:
    try:
        tagger = cached.tagger(model)
        return Card(
            model,
            text=card_body(tagger.card()),
            ours=SHIPPED in tagger.folder.parents,
            tags=tagger.tags,
            evaluations=read_evaluations(tagger.folder),
        )
    except CrfvizError as error:
        return Card(model, problem=str(error))
