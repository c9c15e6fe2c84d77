"""A sentence and the same sentence with one thing changed: strips, a table of scores, and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.questions.aligned import (
    Moved,
    emission_changes,
    flips,
    largest_changes,
    largest_step_changes,
)
from crfviz.taggers.occlusion import ROUNDING
from crfviz.taggers.perturbations import Perturbed
from crfviz.views.phrases import listed
from crfviz.views.stage.parts import Grid, Row

MOST_MOVED = 10  # scores in the list
MOST_NAMED = 4  # flips in the sentence in words


@dataclass(frozen=True, eq=False)
class WhatIf:
    """Both sentences, decoded by the same model."""

    words: Sequence[str]  # T, before
    before: Analysis
    perturbed: Perturbed  # T' words
    after: Analysis
    tags: Sequence[str]  # K names

    @property
    def flips(self) -> list[int]:
        """Positions after the change of words that were there before, under another tag."""
        first, second = self.before.paths["viterbi"], self.after.paths["viterbi"]
        if first is None or second is None:
            return []
        return flips(first, second, self.perturbed.origins)


def what_if_rows(found: WhatIf) -> list[Row]:
    """What each word was, its tag before, and the best path now with red where a tag flips."""
    origins, words = found.perturbed.origins, found.perturbed.words
    was = ["new" if o is None else _was(found.words[o], words[t]) for t, o in enumerate(origins)]
    before, after = found.before.paths["viterbi"], found.after.paths["viterbi"]
    rows = [Row("word", "the word was", None, texts=was)]
    if before is not None and None not in origins:
        rows.append(Row("before", "Viterbi before", [before[o] for o in origins if o is not None]))
    elif before is not None:
        texts = ["new" if o is None else found.tags[before[o]] for o in origins]
        rows.append(Row("before", "Viterbi before", None, texts=texts))
    rows.append(Row("viterbi", "Viterbi now", after, against="before"))
    flipped = set(found.flips)
    marks = ["≠" if t in flipped else "·" for t in range(len(words))]
    return [*rows, Row("flips", "tag flips", None, texts=marks)]


def moved_grid(found: WhatIf) -> Grid:
    """How the emissions moved, a cell per word and tag, without the mean of each word."""
    change = emission_changes(
        found.before.potentials, found.after.potentials, found.perturbed.origins
    )
    finite = change[change.isfinite()].abs()
    size = max(1.0, float(finite.max())) if finite.numel() else 1.0
    label = (
        "emissions now − before (nats), without the mean change of the word; "
        "tags that move by less than 0.05 everywhere are left out"
    )
    return Grid("moved", label, change, size, 1, "change")


def what_if_note(found: WhatIf, kind: str) -> str:
    """What was done, and what came of it."""
    done = f"{kind.capitalize()}{f' ({found.perturbed.what})' if found.perturbed.what else ''}:"
    if found.before.paths["viterbi"] is None or found.after.paths["viterbi"] is None:
        return f"{done} no path is allowed."
    flipped = found.flips
    if not flipped:
        return f"{done} no tag flips."
    named = listed([_flip(found, t) for t in flipped], MOST_NAMED)
    return f"{done} {len(flipped)} of {len(found.perturbed.words)} tags flip: {named}."


def flip_frame(found: WhatIf) -> pd.DataFrame:
    """A line per word whose tag flips, with the probabilities of both tags after the change."""
    before, after = found.before.paths["viterbi"], found.after.paths["viterbi"]
    marginals = found.after.forward_backward.marginals
    rows = []
    for t in found.flips:
        origin = found.perturbed.origins[t]
        if before is None or after is None or origin is None:
            continue
        old, new = before[origin], after[t]
        rows.append(
            {
                "word before": f"{origin + 1} {found.words[origin]}",
                "word now": f"{t + 1} {found.perturbed.words[t]}",
                "tag before": found.tags[old],
                "tag now": found.tags[new],
                "p(tag before), now": float(marginals[t, old]),
                "p(tag now), now": float(marginals[t, new]),
            }
        )
    return pd.DataFrame(rows)


def moved_frame(found: WhatIf) -> pd.DataFrame:
    """The scores that moved most, emissions and, where each step has its own, transitions."""
    chains = found.before.potentials, found.after.potentials, found.perturbed.origins
    emissions = largest_changes(*chains, MOST_MOVED, ROUNDING)
    steps = largest_step_changes(*chains, MOST_MOVED)
    every = sorted([*emissions, *steps], key=lambda moved: -abs(moved.change))[:MOST_MOVED]
    return pd.DataFrame([_moved_row(found, moved) for moved in every])


def _moved_row(found: WhatIf, moved: Moved) -> dict[str, object]:
    tag = found.tags[moved.tag]
    step = moved.before_tag is not None
    return {
        "word now": f"{moved.position + 1} {found.perturbed.words[moved.position]}",
        "score of": f"{found.tags[moved.before_tag or 0]} → {tag}" if step else tag,
        "before": moved.before,
        "now": moved.after,
        "change": moved.change,
    }


def _flip(found: WhatIf, t: int) -> str:
    before, after = found.before.paths["viterbi"] or [], found.after.paths["viterbi"] or []
    old, new = before[found.perturbed.origins[t] or 0], after[t]
    return f"“{found.perturbed.words[t]}” {found.tags[old]} → {found.tags[new]}"


def _was(before: str, now: str) -> str:
    return "·" if before == now else before
