"""Gain of a CRF layer on tagged sentences: figures, and the sentences that it changes.

Only the emissions of the tagger are used; transitions are fitted to them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crfviz.corpus.metrics import Rate
from crfviz.corpus.run.errors import words_in_context
from crfviz.corpus.run.tagging import score_sentences
from crfviz.corpus.table import DIGITS, Table, aligned, rate_cells
from crfviz.corpus.training.crf_gain import CRFGain, Score, crf_gain
from crfviz.corpus.training.transitions import FittedTransitions, fit_transitions
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

FOLDS = 5
WAYS = {"independent": "independent", "rules": "rules of BIO alone", "fitted": "fitted transitions"}
REPAIRED, SPOILED = "repaired", "spoiled"


@dataclass(frozen=True, eq=False)
class LayerGain:
    """The gain by cross-validation, and transitions fitted on all sentences."""

    gain: CRFGain
    fitted: FittedTransitions
    independent: tuple[tuple[int, ...], ...]  # the independent path of each sentence


def layer_gain(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    report: Callable[[float], object] = lambda _: None,
    pause: Callable[[], object] = lambda: None,
) -> LayerGain:
    """Return the gain of fitted transitions over a tagger's independent decoding.

    Args:
        tagger: the tagger that scores the sentences.
        sentences: sentences with gold tags that the tagger knows.
        report: called with the finished share, in [0, 1].
        pause: called from time to time during scoring.

    Raises:
        CrfvizError: there are too few sentences, or the emissions forbid a gold tag.
    """
    if len(sentences) < FOLDS:
        raise CrfvizError(
            f"Fitting transitions takes at least {FOLDS} tagged sentences, got {len(sentences)}."
        )
    chains = score_sentences(tagger, sentences, pause).trained
    report(0.0)
    paths = [sentence.tags or () for sentence in sentences]
    gain = crf_gain(chains, paths, FOLDS, report=lambda share: report(share * FOLDS / (FOLDS + 1)))
    fitted = fit_transitions(chains, paths, gain.folds[0].l2)
    report(1.0)
    alone = (tuple(chain.emissions.argmax(1).tolist()) for chain in chains)
    return LayerGain(gain, fitted, tuple(alone))


def sample_of(sentences: Sequence[Sentence], max_words: int) -> list[int]:
    """Return sorted indices of randomly drawn sentences, with at most `max_words` in total."""
    order = np.random.default_rng(0).permutation(len(sentences))
    words = np.cumsum([len(sentences[number].tokens) for number in order])
    return sorted(order[: max(1, int((words <= max_words).sum()))].tolist())


def gain_table(gain: CRFGain) -> Table:
    """Return a row for each decoder; with entity F1 if the tags are BIO."""
    rows: Table = []
    for name, title in WAYS.items():
        score: Score = getattr(gain, name)
        if name == "rules" and score.entity_f1 is None:
            continue
        cells = rate_cells("words_right", Rate(score.token_accuracy, *score.interval))
        f1 = {} if score.entity_f1 is None else {"entity_f1": score.entity_f1}
        rows.append({"decoder": title, **cells, **f1})
    return rows


def changed_table(measured: LayerGain, sentences: Sequence[Sentence], tags: Sequence[str]) -> Table:
    """Return a row for each repaired or spoiled sentence, the largest changes first.

    Sentences and positions count from 1; the position is that of the first word with this change.
    """
    gain = measured.gain
    rows: Table = []
    for change, numbers in ((REPAIRED, gain.repaired), (SPOILED, gain.spoiled)):
        for number in numbers:
            gold = sentences[number].tags or ()
            sides = (measured.independent[number], gain.paths[number])
            alone, fitted = ([tags[tag] for tag in path] for path in sides)
            moved = [
                (b == right) - (a == right) for a, b, right in zip(alone, fitted, gold, strict=True)
            ]
            t = moved.index(1 if change == REPAIRED else -1)
            rows.append(
                {
                    "sentence": number + 1,
                    "position": t + 1,
                    "around": words_in_context(sentences[number].tokens, t, t),
                    "change": change,
                    "more_right": sum(moved),
                    "gold": gold[t],
                    "independent_tag": alone[t],
                    "fitted_tag": fitted[t],
                }
            )
    return sorted(rows, key=lambda row: (-abs(int(row["more_right"] or 0)), row["sentence"]))


def gain_record(measured: LayerGain) -> dict[str, Any]:
    """Return the figures of the gain as JSON types."""
    gain, fitted = measured.gain, measured.fitted
    record: dict[str, Any] = {}
    for name in WAYS:
        score: Score = getattr(gain, name)
        record[name] = {
            "token_accuracy": round(score.token_accuracy, DIGITS),
            "token_accuracy_interval": [round(end, DIGITS) for end in score.interval],
            "entity_f1": None if score.entity_f1 is None else round(score.entity_f1, DIGITS),
        }
    return {
        **record,
        "measure": gain.measure,
        "verdict": gain.verdict,
        "difference": round(gain.difference, DIGITS),
        "difference_interval": [round(end, DIGITS) for end in gain.interval],
        "token_accuracy_difference": round(gain.token_difference, DIGITS),
        "token_accuracy_difference_interval": [round(end, DIGITS) for end in gain.token_interval],
        "repaired": len(gain.repaired),
        "spoiled": len(gain.spoiled),
        "folds": len(gain.folds),
        "scale": round(fitted.scale, DIGITS),
        "l2": fitted.l2,
    }


def gain_text(measured: LayerGain) -> str:
    """Return the text that `python -m crfviz evaluate --fit-transitions` prints."""
    gain = measured.gain
    bio = gain.independent.entity_f1 is not None
    rows = [["decoder", "token accuracy, %", *["F1, %"] * bio]]
    for row in gain_table(gain):
        right, low, high = (
            100 * float(row[f"words_right{end}"] or 0) for end in ("", "_low", "_high")
        )
        f1 = [f"{100 * float(row['entity_f1'] or 0):.2f}"] if bio else []
        rows.append([str(row["decoder"]), f"{right:.2f} ({low:.1f} to {high:.1f})", *f1])
    return "\n".join(
        [
            f"Transitions fitted on the emissions, {len(gain.folds)} folds",
            "",
            *aligned(rows),
            "",
            str(gain),
            f"It repairs words in {len(gain.repaired):,} sentences "
            f"and spoils some in {len(gain.spoiled):,}.",
        ]
    )
