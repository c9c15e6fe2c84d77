"""Questions about whole paths: the likeliest, the cost of a rule, the effect of a lower weight."""

import math
from collections.abc import Iterator, Sequence

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.decoding.viterbi import k_best, margin
from crfviz.chain.distribution import lead
from crfviz.chain.distribution import probability as share_of
from crfviz.chain.edits import Weight, resolve, uses, value_of, weight_of, with_weight
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import match
from crfviz.exceptions import NoPathError
from crfviz.views.formatting import added, differing, format_probability, score, signed
from crfviz.views.quiz.cells import APART, CLOSE, Found, choose_number
from crfviz.views.quiz.question import Ask, Choice, Question
from crfviz.views.strips.decoders import LABELS

DROP = 1.0  # nats by which a question lowers a weight
MAX_PATHS = 3
MAX_DIFFERING = 5  # maximum number of words at which the paths of a question differ
LARGER, SAME, SMALLER = "larger", "the same", "smaller"


def likeliest_question(analysis: Analysis, ask: Ask) -> Question | None:
    """Ask which of three paths is the likeliest; each is shown by the words where they differ."""
    if analysis.viterbi is None:
        return None
    paths = _some_paths(analysis)
    if len(paths) < 2:
        return None
    at = sorted({t for path, _ in paths for t in differing(paths[0][0], path)})
    if len(at) > MAX_DIFFERING:
        return None
    log_z = analysis.forward_backward.log_partition

    def choice(path: Sequence[int], mistake: str) -> Choice:
        text = ", ".join(f"{t + 1} “{analysis.words[t]}” {analysis.tags[path[t]]}" for t in at)
        total = analysis.potentials.score(path)
        why = f"It scores {score(total)}: p = {format_probability(share_of(total, log_z))}."
        return Choice(text, why, mistake)

    by_tags = sorted(paths, key=lambda each: each[0])
    choices = tuple(choice(path, mistake) for path, mistake in by_tags)
    hint = "Add up emissions, START, steps and END along each; p is exp(score − log Z)."
    return Question(ask, f"Which of these {len(paths)} paths is the likeliest?", hint, choices)


def cost_question(analysis: Analysis, ask: Ask) -> Question | None:
    """Ask for the cost of a rule; None if no path matches or the best path matches."""
    potentials = analysis.potentials
    try:
        result = match(potentials, ask.rule)
    except NoPathError:
        return None
    if analysis.viterbi is None or result.cost < CLOSE:
        return None
    best, after = analysis.viterbi.score, result.score
    ahead = lead(potentials, analysis.viterbi.path, result.path)
    parts = [float(terms.sum()) for terms in (ahead.emission_terms, ahead.transition_terms)]
    spent = -math.log(result.probability) if result.probability else math.inf
    right = Choice(score(result.cost, 1), f"{score(best)} {added(-after)} = {score(result.cost)}.")
    wrong: list[Found] = [
        (spent, "That is −log P(rule), over all paths.", "sum for max"),
        (parts[0], "The emissions alone: the steps differ, too.", "transition left out"),
        (parts[1], "The steps alone: the emissions differ, too.", "emission left out"),
    ]
    text = f"What does the rule {ask.rule} cost, in nats?"
    hint = "The score of the best path minus that of the best path that matches."
    finite = (each for each in wrong if math.isfinite(each[0]))
    return choose_number(ask, text, hint, result.cost, right, finite)


def flips_question(analysis: Analysis, ask: Ask) -> Question | None:
    """Ask whether the best path changes when a transition on it is lowered; None off the path."""
    changed = _dropped(analysis.potentials, ask)
    ahead = margin(analysis.potentials)
    if changed is None or ahead is None or ahead < CLOSE or analysis.viterbi is None:
        return None
    weight, potentials = changed
    path = analysis.viterbi.path
    used = uses(resolve(potentials, weight), path)
    after = analyse(potentials)
    if used == 0 or after.viterbi is None:
        return None
    old, new = potentials.score(path), after.viterbi.score
    flips = after.viterbi.path != path
    near = margin(potentials)
    if (flips and new - old < CLOSE) or (not flips and (near is None or near < CLOSE)):
        return None
    name = " → ".join(ask.tags)
    loss = score(used * DROP, 1)
    lost = f"The path takes {name} {_times(used)} and falls by {loss}, to {score(old)}"
    if flips:
        right = f"{lost}; another one then has {score(new)}, and wins."
        wrong = "The best path stays best as long as the drop is smaller than its lead."
    else:
        right = f"{lost}; the next one then has {score(new - (near or 0.0))}, and stays behind."
        wrong = "What falls still wins while it is ahead of every other path."
    choices = (
        Choice("yes", right) if flips else Choice("yes", wrong, "any loss taken for a flip"),
        Choice("no", wrong, "the lead taken for safe") if flips else Choice("no", right),
    )
    text = f"{name} drops by {DROP:g}. Does the best path change?"
    hint = f"It is {score(ahead)} ahead of the next one. How often does it take this step?"
    return Question(ask, text, hint, choices)


def sum_question(now: Analysis, trained: Analysis, ask: Ask) -> Question | None:
    """Ask whether log Z is larger or smaller than before the edits or a drop."""
    if ask.tags:
        changed = _dropped(now.potentials, ask)
        if changed is None:
            return None
        before, after = now, analyse(changed[1])
        text = f"{' → '.join(ask.tags)} drops by {DROP:g}. What does log Z become?"
        hint = "Z sums all paths, also those that are not the best: which of them take this step?"
    else:
        before, after = trained, now
        text = "As the scores are now, what is log Z against the trained one?"
        hint = "Z sums exp(score) over all paths: what do the changes do to those that use them?"
    if now is trained and not ask.tags:
        return None
    if before.viterbi is None or after.viterbi is None:
        return None
    moved = after.forward_backward.log_partition - before.forward_backward.log_partition
    best = after.viterbi.score - before.viterbi.score
    if abs(moved) < CLOSE:
        return None
    return Question(ask, text, hint, tuple(_ways(moved, best)))


def _ways(moved: float, best: float) -> Iterator[Choice]:
    right = LARGER if moved > 0 else SMALLER
    of_best = SAME if abs(best) < CLOSE / 10 else LARGER if best > 0 else SMALLER
    looked = f"That is the best path alone, whose score moves by {signed(best)}: max for sum."
    turned = "exp grows with the score: paths that lose make Z smaller, paths that gain larger."
    for way in (LARGER, SAME, SMALLER):
        if way == right:
            yield Choice(way, f"All paths together: log Z moves by {signed(moved)}.")
        elif way == of_best:
            yield Choice(way, looked, "max for sum")
        elif way != SAME:
            yield Choice(way, turned, "sign turned round")


def _some_paths(analysis: Analysis) -> list[tuple[list[int], str]]:
    """Return the best path, the decoders' paths and the next best, each with its mistake."""
    best = [path.tags for path in k_best(analysis.potentials, 1 + MAX_PATHS)]
    others = [
        (path, f"{LABELS[decoder]} taken for the best path")
        for decoder, path in analysis.paths.items()
        if decoder != "viterbi" and path is not None
    ]
    others += [(path, "next best taken for best") for path in best[1:]]
    kept = [(best[0], "")]
    top = analysis.potentials.score(best[0])
    for path, mistake in others:
        behind = top - analysis.potentials.score(path)
        if all(path != other for other, _ in kept) and APART <= behind < float("inf"):
            kept.append((path, mistake))
        if len(kept) == MAX_PATHS:
            break
    return kept if (margin(analysis.potentials) or 0.0) >= CLOSE else []


def _dropped(potentials: Potentials, ask: Ask) -> tuple[Weight, Potentials] | None:
    """Return a question's weight and the chain with it lowered; None if it varies or is -inf."""
    if not potentials.homogeneous:
        return None
    before, after = ask.tags
    weight = weight_of((before, after))
    value = value_of(potentials, resolve(potentials, weight))
    if value == float("-inf"):
        return None
    return weight, with_weight(potentials, weight, value - DROP)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
