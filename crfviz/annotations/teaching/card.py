"""The card of a model that was taught: from what, how, and what it gained."""

from __future__ import annotations

import re

from crfviz.annotations.teaching.gains import Gain
from crfviz.annotations.teaching.learning import WHAT
from crfviz.annotations.teaching.lesson import Lesson, Taught
from crfviz.corpus.metrics import Rate
from crfviz.corpus.tables.report import BEGIN, END
from crfviz.taggers.folder import version_of
from crfviz.taggers.tagger import Tagger


def card_of(taught: Taught, lesson: Lesson, base: Tagger) -> str:
    """README.md of the new model.

    Args:
        taught: what came of it.
        lesson: how it was taught.
        base: the model it was taught from; its own card is quoted, without its figures.
    """
    recipe = lesson.recipe
    parts = [
        f"# {taught.name}",
        f"`{base.name}` after it has learnt from {taught.num_sentences:,} annotated sentences. "
        "Written by `python -m crfviz teach`.",
        gains_table(taught.gains),
        "In brackets: 95 % intervals (Wilson; of F1: bootstrap over sentences). Nothing was learnt "
        "from the sentences held out; what is measured on the taught ones is how well they were "
        "learnt, not how good the model is.",
        "## How",
        f"- Taught: {WHAT[lesson.method]} (`--method {lesson.method}`), {recipe.epochs} passes, "
        f"learning rate {recipe.learning_rate:g}, seed {lesson.seed}. `teaching.json` holds all "
        "numbers.\n"
        f"- From: `{base.name}`, version {version_of(base)}. Its words, its tags "
        "and its temperature are kept.",
        "## Licence",
        f"The weights come from those of `{base.name}`: what the card below says about data and "
        "licence holds here, too. The annotated sentences belong to whoever has them; of them only "
        "the words are in this folder, with their tags in `lexicon.json`.",
        f"## The card of {base.name}",
        _quoted(base.card()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def gains_table(gains: tuple[Gain, ...]) -> str:
    """Before and after, as Markdown."""
    f1 = any(gain.before.entity_f1 for gain in gains)
    names = ["entity F1, %"] if f1 else []
    header = ["sentences", "words", "", *names, "words right, %", "sentences right, %", "log p"]
    lines = [_row([*header, "words righted, broken"]), _row(["---"] * (len(header) + 1))]
    for gain in gains:
        changed = f"{gain.righted}, {gain.broken}"
        for when, score, last in (("before", gain.before, ""), ("after", gain.after, changed)):
            shares = [score.entity_f1] if score.entity_f1 else []
            rates = map(_percent, (*shares, score.words, score.sentences))
            size = [f"{gain.name} ({gain.num_sentences:,})", f"{gain.num_words:,}"]
            lines.append(_row([*size, when, *rates, f"{score.log_likelihood:.3f}", last]))
    return "\n".join(lines) + "\n\n`log p`: of the right tags, per word, in nats."


def _percent(rate: Rate) -> str:
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _quoted(card: str) -> str:
    """A card one level down, without its title and its figures, which are not of this model."""
    begin, end = re.escape(BEGIN), re.escape(END)
    body = re.sub(rf"(?:^#+ Figures\s+)?{begin}.*?{end}", "", card, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(r"\A# .*\n", "", body)
    return re.sub(r"^(#+ )", r"#\1", body, flags=re.MULTILINE).strip()
