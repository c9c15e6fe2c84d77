"""Sentences that explain a result, with the numbers that decided it.

Each function returns plain text with the user's words in it: show it as text, never as Markdown or
HTML.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import END, START, Edits, weight_matrix
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gauge import compare
from crfviz.chain.questions.sensitivity import GradientStep
from crfviz.views.formatting import (
    count,
    differing,
    format_probability,
    listed,
    minus,
    moved,
    numbered,
    rounding,
    same,
    score,
    short,
    signed,
    told_apart,
)

MAX_CHANGES = 3  # weights in the note on a step


def explain(analysis: Analysis) -> str:
    """Return why Viterbi and another decoder disagree, at the first word where they do.

    Returns:
        One or two sentences; where all decoders agree, that they do.
    """
    tie = analysis.viterbi is not None and analysis.viterbi.ties
    return _reason(analysis) + (" Another path is exactly as good." if tie else "")


def _reason(window: Analysis) -> str:
    analysis, words = window.sentence, len(window.words)
    if analysis.viterbi is None:
        return (
            "No tag sequence is allowed: forbidden cells leave no way from the first word to the "
            "last. Undo an edit, or restore a forbidden cell."
        )
    path = analysis.viterbi.path
    for other, reason in (
        (analysis.greedy, _against_lone_word),
        (analysis.left_to_right, _against_left_to_right),
        (analysis.max_marginal, _against_max_marginal),
    ):
        places = set(differing(path, other))
        inside = [t for t in range(window.first, window.first + words) if t in places]
        if inside:
            t = inside[0]
            while other is analysis.left_to_right and t - 1 in places:
                t -= 1  # where they differ; may be before the window
            named = "" if window is analysis else f"Word {t + 1:,}: "
            return named + reason(analysis, path, t)
    where = "this sentence" if window is analysis else f"these {words} words"
    return (
        f"All decoders agree on {where}: the transitions do not change these tags. "
        f"The best path has probability {format_probability(analysis.viterbi.probability)}."
    )


def explain_error(analysis: Analysis, gold: Sequence[int], position: int) -> str:
    """Return one sentence on a wrong word: the best path's tag against the gold tag.

    Args:
        analysis: of T words; it has a best path.
        gold: T tag ids.
        position: of the word, from 0.
    """
    word = numbered(analysis.sentence.words, analysis.first + position)
    path = analysis.viterbi.path if analysis.viterbi else gold
    chosen, right = (analysis.tags[tags[position]] for tags in (path, gold))
    if chosen == right:
        return f"Word {word} is {chosen}, as gold says."
    return f"Word {word} is {chosen} by the model and {right} in gold."


def explain_answers(
    now: Analysis, answers: Sequence[int], gold: Sequence[int] | None = None, at: int | None = None
) -> str:
    """Return one sentence on where the best path agrees with another tagger's T tag ids.

    With gold tags and the position of an error, a sentence on the tagger's tag there comes first.
    """
    if gold is not None and at is not None:
        word = numbered(now.sentence.words, now.first + at)
        given, right = (now.tags[tags[at]] for tags in (answers, gold))
        verdict = f"{given}, as gold says" if given == right else f"{given}, and {right} in gold"
        return (
            f"The other tagger says that word {word} is {verdict}. {explain_answers(now, answers)}"
        )
    best = now.viterbi.path if now.viterbi else None
    places = differing(best, answers)
    if not places:
        return "The model and the other tagger agree on every word."
    if best is None or len(places) == len(answers):
        return "The model and the other tagger agree on no word."
    return (
        f"The model and the other tagger differ at {len(places)} of {count(len(answers), 'word')}: "
        f"{moved(best, answers, now, sign='≠')}."
    )


def explain_edits(trained: Analysis, now: Analysis) -> str:
    """Return one sentence on how the edits changed the best path and its probability."""
    trained, now = trained.sentence, now.sentence
    if now.viterbi is None or trained.viterbi is None:
        return explain(now)
    before, after = trained.viterbi, now.viterbi
    shares = (format_probability(each.probability) for each in (before, after))
    change = f"p(best path) {' → '.join(shares)}"
    if changes := moved(before.path, after.path, now):
        return f"The best path changes at {changes}; {change}."
    if compare(trained.forward_backward, now.forward_backward).same:
        return f"This edit changes nothing: every marginal is the same; {change}."
    return f"The best path stays as it was; {change}."


def edit_list(edits: Edits, words: Sequence[str], most: int = 5) -> str:
    """Return what differs from the trained model, as "2 edits: AUX → VERB −3.00, …".

    Emissions beyond the last word have no effect and are left out. Empty without edits.
    """
    texts = [
        f"{before} → {after} {score(value)}" for (before, after), value in edits.transitions.items()
    ]
    texts += [
        f"{numbered(words, t)} {tag} {score(value)}"
        for (t, tag), value in edits.emissions.items()
        if t < len(words)
    ]
    if edits.strength != 1.0:
        texts.append(f"transitions × {edits.strength:g}")
    if not edits.constrained:
        texts.append("without the hard constraints")
    return f"{count(len(texts), 'edit')}: {listed(texts, most)}" if texts else ""


def verdict(trained: Analysis, now: Analysis) -> str:
    """Return one or two sentences on whether the edits change the distribution at all."""
    if now is trained:
        return "Nothing is edited yet. Shift something below, or edit a cell."
    if now.viterbi is None or trained.viterbi is None:
        return "No tag sequence is allowed: forbidden cells leave no way through."
    change = compare(trained.forward_backward, now.forward_backward)
    sums = _log_z(change.log_partition_change, trained.forward_backward.log_partition)
    if change.same:
        return (
            "This edit changes nothing: the largest change of any marginal is "
            f"{rounding(change.largest_change)}, which is rounding. {sums}"
        )
    gap = now.forward_backward.marginals - trained.forward_backward.marginals
    t, k = divmod(int(gap.abs().argmax()), len(now.tags))
    before, after = (a.forward_backward.marginals[t, k].item() for a in (trained, now))
    first, second = told_apart(before, after, digits=3)
    return (
        f"This edit changes the distribution: p({now.tags[k]} at “{now.words[t]}”) goes from "
        f"{first} to {second}. {sums}"
    )


def _log_z(change: float, log_partition: float) -> str:
    if math.isclose(change, 0.0, abs_tol=1e-12 * max(1.0, abs(log_partition))):
        return "Even log Z is the same."
    return f"log Z moved by {minus(f'{change:+.4g}')}."


def step_note(step: GradientStep, now: Potentials, trained: float, what: str = "gold tags") -> str:
    """Return the loss before and after a gradient step, and the weights that change most.

    Args:
        step: the step from the weights as they are now.
        now: the chain before the step.
        trained: -log p of the right tags under the trained weights, nats; may be infinite.
        what: the name of the right tags.
    """
    change = step.loss_after - step.loss_before
    loss = (
        f"−log p({what}): {score(step.loss_before, 4)} → {score(step.loss_after, 4)} nats "
        f"after this step ({score(trained, 4)} as trained): {signed(change, 4)}, "
        f"first-order prediction: {signed(step.predicted, 4)}."
    )
    largest = _largest_changes(now, step.potentials)
    return f"{loss} Most change {', '.join(largest)}." if largest else loss


def _largest_changes(before: Potentials, after: Potentials) -> list[str]:
    first, second = weight_matrix(before), weight_matrix(after)
    moved = torch.nan_to_num((second - first).abs(), nan=0.0).flatten()
    names = [START, *before.tag_names], [*before.tag_names, END]
    texts = []
    for cell in moved.topk(min(MAX_CHANGES, len(moved))).indices.tolist():
        j, k = divmod(cell, first.shape[1])
        if moved[cell] > 0:
            old, new = (score(matrix[j, k].item()) for matrix in (first, second))
            texts.append(f"{names[0][j]}→{names[1][k]} {old} → {new}")
    return texts


def _against_lone_word(analysis: Analysis, path: list[int], t: int) -> str:
    potentials, tags, words = analysis.potentials, analysis.tags, analysis.words
    ours, theirs = path[t], analysis.greedy[t]
    emissions = potentials.emissions[t].tolist()
    lead = emissions[theirs] - emissions[ours]
    alone = (
        f"scores {tags[theirs]} as high"
        if same(emissions[theirs], emissions[ours])
        else f"prefers {tags[theirs]} by {short(lead)} nats"
    )
    opening = f"Viterbi tags “{words[t]}” {tags[ours]} although its emission {alone}"
    sides = [_left(potentials, path, t), _right(potentials, path, t)]
    options = [_compare(*side, ours, theirs, tags) for side in sides]
    forbidden = [text for gain, text in options if math.isinf(gain) and gain > 0]
    if forbidden:
        return f"{opening}: the transition {forbidden[0]} is forbidden."
    (other, other_text), (gain, text) = sorted(options)
    if gain < lead and not same(gain, lead):
        return (
            f"{opening}: the transition {text} by {short(gain)}, and {other_text} by "
            f"{short(other)}."
        )
    rest = f" (the other neighbour: {short(other, plus=True)})" if abs(other) >= 0.05 else ""
    return f"{opening}: the transition {text} by {short(gain)}{rest}."


def _against_left_to_right(analysis: Analysis, path: list[int], t: int) -> str:
    """Explain a greedy step that looked better than the whole path it leads to."""
    if analysis.viterbi is None:
        return ""
    potentials, tags, greedy = analysis.potentials, analysis.tags, analysis.left_to_right
    step = _arriving(potentials, path, t).tolist()
    lead = step[greedy[t]] - step[path[t]]
    level = same(step[greedy[t]], step[path[t]])
    total = potentials.score(greedy)
    lost = analysis.viterbi.score - total
    better = "as good as" if level else f"{short(lead)} better than"
    opening = (
        f"Greedy tags “{analysis.words[t]}” {tags[greedy[t]]}, {better} {tags[path[t]]} so far"
    )
    if math.isinf(lost):
        return f"{opening}, but its path is forbidden."
    if same(total, analysis.viterbi.score):
        return f"{opening}, and its path scores as much as Viterbi's."
    return (
        f"{opening}; the rest costs it {short(lost + lead)}, "
        f"so its path scores {short(lost)} less than Viterbi's."
    )


def _against_max_marginal(analysis: Analysis, path: list[int], t: int) -> str:
    """Explain a most probable tag that is not on the most probable path."""
    if analysis.max_marginal is None or analysis.viterbi is None:
        return ""
    tags, theirs, ours = analysis.tags, analysis.max_marginal[t], path[t]
    marginals = analysis.forward_backward.marginals[t].tolist()
    more = "as much as" if same(marginals[theirs], marginals[ours]) else "more than"
    first, second = told_apart(marginals[theirs], marginals[ours])
    best = "a best path" if analysis.viterbi.ties else "the single best path"
    return (
        f"For “{analysis.words[t]}” max-marginal takes {tags[theirs]} (p {first}): all paths "
        f"through it together weigh {more} those through {tags[ours]} (p {second}), which lies "
        f"on {best}."
    )


# Each tag's score on that side, and the texts before and after the tag. They are no format strings,
# because a tag may contain braces.
Side = tuple[Tensor, tuple[str, str]]


def _left(potentials: Potentials, path: list[int], t: int) -> Side:
    before = potentials.tag_names[path[t - 1]] if t else START
    return _entering(potentials, path, t), (f"{before}→", "")


def _right(potentials: Potentials, path: list[int], t: int) -> Side:
    if t == len(path) - 1:
        return potentials.end, ("", "→END")
    return potentials.step(t)[:, path[t + 1]], ("", f"→{potentials.tag_names[path[t + 1]]}")


def _compare(
    scores: Tensor, around: tuple[str, str], ours: int, theirs: int, tags: Sequence[str]
) -> tuple[float, str]:
    """Return how much our tag's step leads the other's, and both steps as text."""
    names = tags[ours].join(around), tags[theirs].join(around)
    if scores[theirs].item() == -math.inf:
        return math.inf, names[1]
    return (scores[ours] - scores[theirs]).item(), f"{names[0]} beats {names[1]}"


def _entering(potentials: Potentials, path: list[int], t: int) -> Tensor:
    """Return (K,) the scores of the step into each tag at t, after `path`."""
    return potentials.step(t - 1)[path[t - 1]] if t else potentials.start


def _arriving(potentials: Potentials, path: list[int], t: int) -> Tensor:
    """Return (K,) the scores that greedy decoding compares at t, after `path`."""
    before = _entering(potentials, path, t)
    after = potentials.end if t == len(path) - 1 else 0.0
    return before + potentials.emissions[t] + after
