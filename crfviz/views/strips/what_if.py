"""Changes of the best path by another word, another weight, another strength of the CRF."""

import math
from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import Weight, resolve, value_of, weight_of
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.aligned_chains import Moved, emission_changes
from crfviz.chain.questions.tipping import Interval, tipping_points
from crfviz.taggers.perturbations import WhatIf
from crfviz.views.explanation import explain_error
from crfviz.views.formatting import columns, listed, moved
from crfviz.views.stage.picture import Grid, Mark, Piece, Row, Ruler
from crfviz.views.strips.pictures import scale_of

MAX_NAMED = 4  # maximum number of flips that the note names
MAX_WORDS = 3  # maximum number of words in the label of an interval or mark


def error_note(changed: WhatIf, gold: Sequence[int], position: int) -> str:
    """Describe the error at a word, and the effect of the change on it.

    Args:
        changed: both sentences.
        gold: T tag ids of the sentence before.
        position: of the word before, from 0.
    """
    if changed.before.viterbi is None or position >= len(gold):
        return ""
    error, place = explain_error(changed.before, gold, position), changed.place_of(position)
    if place is None:
        return f"{error} The change takes this word away."
    tag = changed.before.tags[place[1]]
    right = ", as gold says" if place[1] == gold[position] else ""
    return f"{error} After the change it is {tag}{right}."


def what_if_rows(changed: WhatIf) -> list[Row]:
    """Return the old words and tags, and the best path now with the flips marked."""
    old, origins, words = changed.before.words, changed.perturbed.origins, changed.perturbed.words
    was = [
        "new" if o is None else "·" if old[o] == words[t] else old[o] for t, o in enumerate(origins)
    ]
    before = changed.before.paths["viterbi"]
    rows = [Row("word", "the word was", None, texts=was)]
    if before is not None and None not in origins:
        rows.append(Row("before", "Viterbi before", [before[o] for o in origins if o is not None]))
    elif before is not None:
        texts = ["new" if o is None else changed.before.tags[before[o]] for o in origins]
        after = changed.after.paths["viterbi"] or changed.after.greedy
        tags = [after[t] if o is None else before[o] for t, o in enumerate(origins)]
        rows.append(Row("before", "Viterbi before", tags, texts=texts))
    marks = ["≠" if t in changed.flips else "·" for t in range(len(words))]
    now = Row("viterbi", "Viterbi now", changed.after.paths["viterbi"], against="before")
    return [*rows, now, Row("flips", "tag flips", None, texts=marks)]


def moved_grid(changed: WhatIf) -> Grid:
    """Return the change of the emissions without the mean of each word."""
    change = emission_changes(
        changed.before.potentials, changed.after.potentials, changed.perturbed.origins
    )
    label = (
        "emissions now − before (nats), without the mean change of the word; "
        "tags that move by less than 0.05 everywhere are left out"
    )
    return Grid("moved", label, change, scale_of(change), 1, "change")


def what_if_note(changed: WhatIf, kind: str) -> str:
    """Return the change made and its effect on the tags."""
    what, words = changed.perturbed.what, changed.perturbed.words
    done = f"{kind.capitalize()}{f' ({what})' if what else ''}:"
    if changed.paths is None:
        return f"{done} no path is allowed."
    if not changed.flips:
        return f"{done} no tag flips."
    tags = changed.before.tags
    named = [f"“{words[t]}” {tags[old]} → {tags[new]}" for t, (old, new) in changed.flips.items()]
    return f"{done} {len(named)} of {len(words)} tags flip: {listed(named, MAX_NAMED)}."


def flip_frame(changed: WhatIf) -> pd.DataFrame:
    """Return a row per flipped word, with the probabilities of both tags after the change."""
    marginals = changed.after.forward_backward.marginals
    before, now = columns(changed.before.words), columns(changed.perturbed.words)
    return pd.DataFrame(
        {
            "word before": before[changed.perturbed.origins[t] or 0],
            "word now": now[t],
            "tag before": changed.before.tags[old],
            "tag now": changed.before.tags[new],
            "p(tag before)": float(marginals[t, old]),
            "p(tag now)": float(marginals[t, new]),
        }
        for t, (old, new) in changed.flips.items()
    )


def moved_frame(changed: WhatIf) -> pd.DataFrame:
    """Return the scores that changed most, emissions and per-step transitions."""
    return pd.DataFrame([_moved_row(changed, moved) for moved in changed.moved()])


def _moved_row(changed: WhatIf, moved: Moved) -> dict[str, object]:
    tag = changed.before.tags[moved.tag]
    step = moved.before_tag is not None
    return {
        "word now": columns(changed.perturbed.words)[moved.position],
        "score of": f"{changed.before.tags[moved.before_tag or 0]} → {tag}" if step else tag,
        "before": moved.before,
        "now": moved.after,
        "change": moved.change,
    }


def ruler(potentials: Potentials, trained: Potentials, move: tuple[str, str]) -> Ruler:
    """Return all values of one weight, in intervals with the same best path.

    If each step has its own matrix, a value applies to all steps. A weight is two tag names, where
    START and END are allowed. Intervals are labelled by the tags of the words that differ.

    Raises:
        CrfvizError: the chain has no such tag, or no allowed path.
    """
    weight = weight_of(move)
    pieces = tipping_points(potentials, weight)
    value = _value(trained, weight)
    return Ruler(
        weight=move,
        trained=value,
        varies=math.isnan(value),
        pieces=[
            Piece(piece.low, piece.high, label)
            for piece, label in zip(pieces, _labels(pieces, potentials.tag_names), strict=True)
        ],
    )


def strength_marks(pieces: Sequence[Interval], chain: Analysis) -> list[Mark]:
    """Return a mark for every strength at which a tag flips, with the flip in words.

    The pieces are the intervals of the strength with the same best path of the chain, in order.
    """
    return [
        Mark(after.low, moved(before.path, after.path, chain, most=MAX_WORDS))
        for before, after in pairwise(pieces)
    ]


def _value(potentials: Potentials, weight: Weight) -> float:
    if weight[0] == "transition" and not potentials.homogeneous:
        return math.nan
    return value_of(potentials, resolve(potentials, weight))


def _labels(pieces: Sequence[Interval], tags: Sequence[str]) -> list[str]:
    """Return the tags of the first few words at which the intervals differ."""
    columns = zip(*(piece.path for piece in pieces), strict=True)
    differing = [t for t, column in enumerate(columns) if len(set(column)) > 1]
    shown = differing[:MAX_WORDS]
    more = " …" if len(differing) > len(shown) else ""
    return [" ".join(tags[piece.path[t]] for t in shown) + more for piece in pieces]
