"""What happened, in a sentence, with the numbers that decided it.

Each function returns plain text with the user's words in it: show it as text, never as Markdown or
HTML.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gauge import compare
from crfviz.chain.recursions import TOLERANCE


def explain(analysis: Analysis, words: Sequence[str], tags: Sequence[str]) -> str:
    """Why Viterbi and the other decoders disagree, at the first word where they do.

    Args:
        analysis: the chain and its decoders.
        words: T words.
        tags: K tag names.

    Returns:
        One or two sentences; where all decoders agree, that they do.
    """
    tie = analysis.viterbi is not None and analysis.viterbi.ties
    return _reason(analysis, words, tags) + (" Another path is exactly as good." if tie else "")


def _reason(analysis: Analysis, words: Sequence[str], tags: Sequence[str]) -> str:
    if analysis.viterbi is None:
        return (
            "No tag sequence is allowed: forbidden cells leave no way from the first word to the "
            "last. Undo an edit, or restore a forbidden cell."
        )
    path = analysis.viterbi.path
    lone = _first_difference(path, analysis.greedy)
    if lone is not None:
        return _against_lone_word(analysis, path, lone, words, tags)
    turn = _first_difference(path, analysis.left_to_right)
    if turn is not None:
        return _against_left_to_right(analysis, path, turn, words, tags)
    if analysis.max_marginal is not None:
        shift = _first_difference(path, analysis.max_marginal)
        if shift is not None:
            return _against_max_marginal(analysis, path, shift, words, tags)
    return (
        "All four decoders agree on this sentence: the transitions change nothing here, "
        f"and the best path has probability {_probability(analysis.viterbi.probability)}."
    )


def explain_edits(
    trained: Analysis, now: Analysis, words: Sequence[str], tags: Sequence[str]
) -> str:
    """What the edits have done to the best path and its probability.

    Args:
        trained: the chain as trained.
        now: the chain with the edits.
        words: T words.
        tags: K tag names.

    Returns:
        One sentence.
    """
    if now.viterbi is None or trained.viterbi is None:
        return explain(now, words, tags)
    change = (
        f"p(best path) {_probability(trained.viterbi.probability)} → "
        f"{_probability(now.viterbi.probability)}"
    )
    moved = [t for t, pair in enumerate(_pairs(trained.viterbi.path, now.viterbi.path)) if pair]
    if not moved:
        same = compare(trained.forward_backward, now.forward_backward).same
        outcome = (
            "This edit changes nothing: every marginal is the same"
            if same
            else "The best path stays as it was"
        )
        return f"{outcome}; {change}."
    shown = ", ".join(
        f"“{words[t]}” {tags[trained.viterbi.path[t]]} → {tags[now.viterbi.path[t]]}"
        for t in moved[:3]
    )
    more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
    return f"The best path changes at {shown}{more}; {change}."


def _against_lone_word(
    analysis: Analysis, path: list[int], t: int, words: Sequence[str], tags: Sequence[str]
) -> str:
    """Viterbi's tag against the tag with the best emission, neighbours as on Viterbi's path."""
    potentials = analysis.potentials
    ours, theirs = path[t], analysis.greedy[t]
    emissions = potentials.emissions[t].tolist()
    lead = emissions[theirs] - emissions[ours]
    alone = (
        f"which the word alone scores no better than {tags[theirs]}"
        if _same(emissions[theirs], emissions[ours])
        else f"where the word alone prefers {tags[theirs]} by {_number(lead)}"
    )
    opening = f"Viterbi takes {tags[ours]} for “{words[t]}”, {alone}"
    sides = [_left(potentials, path, t, tags), _right(potentials, path, t, tags)]
    options = [_compare(*side, ours, theirs, tags) for side in sides]
    forbidden = [text for gain, text in options if math.isinf(gain) and gain > 0]
    if forbidden:
        return f"{opening}: {forbidden[0]} is forbidden."
    (other, other_text), (gain, text) = sorted(options)
    if gain < lead and not _same(gain, lead):
        return (
            f"{opening}: {text} by {_number(gain)} and {other_text} by {_number(other)}, "
            "and together they decide."
        )
    rest = f" (the other side {_signed(other)})" if abs(other) >= 0.05 else ""
    return f"{opening}: {text} by {_number(gain)}{rest}, and that decides."


def _against_left_to_right(
    analysis: Analysis, path: list[int], t: int, words: Sequence[str], tags: Sequence[str]
) -> str:
    """Where committing early went wrong: the step looked better, the whole path was not."""
    if analysis.viterbi is None:
        return ""
    potentials, greedy = analysis.potentials, analysis.left_to_right
    step = _arriving(potentials, path, t).tolist()
    lead = step[greedy[t]] - step[path[t]]
    level = _same(step[greedy[t]], step[path[t]])
    score = potentials.score(greedy)
    lost = analysis.viterbi.score - score
    better = "as good as" if level else f"{_number(lead)} better than"
    opening = (
        f"Left to right takes {tags[greedy[t]]} for “{words[t]}”, {better} {tags[path[t]]} "
        "as far as it can see"
    )
    if math.isinf(lost):
        return f"{opening}, and ends on a path that is forbidden."
    if _same(score, analysis.viterbi.score):
        return f"{opening}, and its path ends level with Viterbi's."
    return (
        f"{opening}; what follows costs it {_number(lost + lead)}, "
        f"so its path ends {_number(lost)} behind Viterbi's."
    )


def _against_max_marginal(
    analysis: Analysis, path: list[int], t: int, words: Sequence[str], tags: Sequence[str]
) -> str:
    """Where the most probable tag is not the one on the most probable path."""
    if analysis.max_marginal is None or analysis.viterbi is None:
        return ""
    theirs, ours = analysis.max_marginal[t], path[t]
    marginals = analysis.forward_backward.marginals[t].tolist()
    more = "as much as" if _same(marginals[theirs], marginals[ours]) else "more than"
    first, second = _told_apart(marginals[theirs], marginals[ours])
    best = "a best path" if analysis.viterbi.ties else "the single best path"
    return (
        f"For “{words[t]}” max-marginal takes {tags[theirs]} (p {first}): all paths through it "
        f"together weigh {more} those through {tags[ours]} (p {second}), which lies on {best}."
    )


Side = tuple[Tensor, str]  # score of each tag here on that side, and how to write its step


def _left(potentials: Potentials, path: list[int], t: int, tags: Sequence[str]) -> Side:
    if t == 0:
        return potentials.start, "START→{}"
    return potentials.step(t - 1)[path[t - 1]], f"{tags[path[t - 1]]}→{{}}"


def _right(potentials: Potentials, path: list[int], t: int, tags: Sequence[str]) -> Side:
    if t == len(path) - 1:
        return potentials.end, "{}→END"
    return potentials.step(t)[:, path[t + 1]], f"{{}}→{tags[path[t + 1]]}"


def _compare(
    scores: Tensor, template: str, ours: int, theirs: int, tags: Sequence[str]
) -> tuple[float, str]:
    """By how much our tag's step beats the other's, and both in words."""
    names = template.format(tags[ours]), template.format(tags[theirs])
    if scores[theirs].item() == -math.inf:
        return math.inf, names[1]
    return (scores[ours] - scores[theirs]).item(), f"{names[0]} beats {names[1]}"


def _arriving(potentials: Potentials, path: list[int], t: int) -> Tensor:
    """(K,) what left to right compares at t, having come along `path`."""
    before = potentials.start if t == 0 else potentials.step(t - 1)[path[t - 1]]
    after = potentials.end if t == len(path) - 1 else 0.0
    return before + potentials.emissions[t] + after


def _pairs(first: Sequence[int], second: Sequence[int]) -> list[bool]:
    return [a != b for a, b in zip(first, second, strict=True)]


def _first_difference(first: Sequence[int], second: Sequence[int]) -> int | None:
    return next((t for t, differs in enumerate(_pairs(first, second)) if differs), None)


def _same(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _number(value: float) -> str:
    size = abs(value)
    text = f"{value:.1f}" if size >= 0.95 else f"{value:.2f}" if size >= 0.005 else f"{value:.0e}"
    return text.replace("-", "−")


def _signed(value: float) -> str:
    return f"+{_number(value)}" if value > 0 else _number(value)


def _probability(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 else f"{value:.1e}"


def _told_apart(first: float, second: float) -> tuple[str, str]:
    """Two probabilities with as many digits as it takes to see which is larger."""
    texts = _probability(first), _probability(second)
    digits = 4
    while texts[0] == texts[1] and not _same(first, second):
        texts = f"{first:.{digits}f}", f"{second:.{digits}f}"
        digits += 2
    return texts
