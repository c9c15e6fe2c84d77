"""Questions about one word: the tag that a decoder chooses, or the number in a cell.

Letters: `T` tokens, `K` tags.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.homework.bugs import MISPLACED
from crfviz.chain.homework.programs import ALPHA, BACKPOINTERS, BETA, VITERBI, right_program
from crfviz.chain.potentials import Array
from crfviz.chain.questions.rules import Ruled
from crfviz.views.formatting import added, format_probability, named, numbered, score
from crfviz.views.quiz.question import (
    MAX_WRONG,
    Ask,
    Choice,
    Question,
    distinct,
    forgotten_end,
    formula,
    operands_of,
    path_of,
    slips,
    terms_of,
    through,
    worked_out,
)
from crfviz.views.strips.decoders import LABELS

CLOSE = 0.05  # nats up to which two displayed scores look equal
CLOSE_SHARES = 0.015  # difference up to which two displayed probabilities look equal

Measures = Callable[[Analysis], Array]  # (T, K): the largest of a word's row is the tag chosen
Wrong = Iterator[tuple[str, str, int]]  # a mistake, its explanation, and the resulting tag

TEXTS = {
    "greedy": "Which tag wins at {word} alone, by its emission?",
    "viterbi": "Which tag does {named} get on the best path?",
    "max_marginal": "Which tag of {named} has the largest marginal?",
}
HINTS = {
    "greedy": "No neighbour counts: only the column of this word.",
    "viterbi": "Whole paths compete: what the word says, and the steps to its neighbours.",
    "max_marginal": "Add up the probability of all paths through each tag: α + β − log Z.",
}
UNDER_RULE = "Only paths that match the rule count: the share of them that passes the tag."
WITHOUT_RULE = ("rule left out", "That counts paths that do not match the rule, too.")
MEASURES: dict[str, Measures] = {
    "greedy": lambda analysis: analysis.potentials.emissions.detach().numpy(),
    "viterbi": lambda analysis: through(analysis.potentials),
    "max_marginal": lambda analysis: analysis.forward_backward.marginals.numpy(),
}
APART = 0.15  # minimum difference of two choices, nats: distinct with one decimal
APART_SHARES = 0.03  # the same for probabilities, which have two decimals
TABLES = {"alpha": ALPHA, "beta": BETA, "best": VITERBI}
NUMBER_TEXTS = {
    "alpha": "What is α of {tag} at {word}, its emission included?",
    "beta": "What is β of {tag} at {word}: all that may follow?",
    "best": "What is the score of the best path ending in {tag} at {word}, its emission included?",
    "marginal": "What is the marginal probability of {tag} at {word}?",
}


def tag_question(analysis: Analysis, ask: Ask, t: int) -> Question | None:
    """Ask which tag a decoder chooses at word t; None without a clear winner or wrong choice."""
    path = analysis.paths[ask.kind]
    if path is None:
        return None
    measures = MEASURES[ask.kind](analysis)[t]
    close = CLOSE_SHARES if ask.kind == "max_marginal" else CLOSE
    if not _wins(measures, path[t], close):
        return None
    right = Choice(analysis.tags[path[t]], _measured(analysis, ask.kind, measures, path[t]))
    wrong = (
        Choice(
            analysis.tags[k],
            f"{what} {_measured(analysis, ask.kind, measures, k)}".strip(),
            mistake,
        )
        for mistake, what, k in WRONG[ask.kind](analysis, t)
    )
    text = TEXTS[ask.kind].format(word=numbered(analysis.words, t), named=named(analysis.words, t))
    hint = UNDER_RULE if isinstance(analysis, Ruled) else HINTS[ask.kind]
    return _question(analysis, ask, text, hint, right, wrong)


def backpointer_question(analysis: Analysis, ask: Ask, t: int, k: int) -> Question | None:
    """Ask for the previous tag on the best path to tag k at word t."""
    if t == 0 or analysis.best[t, k] == -np.inf:
        return None
    before = analysis.best[t - 1].numpy()
    steps = analysis.potentials.step(t - 1)[:, k].detach().numpy()
    sums = before + steps
    best = int(analysis.backpointers[t, k])
    if not _wins(sums, best, CLOSE):
        return None

    def worked_out(j: int) -> str:
        name = analysis.tags[j]
        return (
            f"{name}: best {score(before[j])}, step {score(steps[j])}, together {score(sums[j])}."
        )

    mistakes = _wrong_pointers(analysis, t, k, before, steps)
    wrong = (
        Choice(analysis.tags[j], f"{what} {worked_out(j)}", mistake)
        for mistake, what, j in mistakes
    )
    text = (
        f"Best path ending in {analysis.tags[k]} at word {numbered(analysis.words, t)}: "
        f"which tag does word {numbered(analysis.words, t - 1)} have?"
    )
    hint = "The best score of each tag before and the step from it, together: the largest wins."
    found = _question(
        analysis, ask, text, hint, Choice(analysis.tags[best], worked_out(best)), wrong
    )
    program = right_program(analysis.potentials, VITERBI)
    operands = operands_of(program, VITERBI, t, k, analysis.tags, analysis.words)
    return found and replace(found, operands=operands[:-1])  # the emission decides nothing


def _question(
    analysis: Analysis, ask: Ask, text: str, hint: str, right: Choice, wrong: Iterator[Choice]
) -> Question | None:
    choices = [right, *distinct(right, wrong)]
    in_order = sorted(choices, key=lambda choice: analysis.tags.index(choice.text))
    return Question(ask, text, hint, tuple(in_order)) if len(choices) > 1 else None


def _wins(measures: Array, k: int, close: float) -> bool:
    """Return whether k has the largest value, visibly so after rounding."""
    others = np.delete(measures, k)
    return bool(np.isfinite(measures[k]) and (measures[k] - others > close).all())


def _measured(analysis: Analysis, decoder: str, measures: Array, k: int) -> str:
    name, value = analysis.tags[k], float(measures[k])
    if decoder == "greedy":
        return f"Alone, {name} has {score(value)}."
    if decoder == "max_marginal":
        return f"{format_probability(value)} of all probability passes {name}."
    if value == -np.inf:
        return f"No path is allowed through {name}."
    return f"The best path through {name} scores {score(value)}."


def _others(analysis: Analysis, decoder: str, t: int) -> Wrong:
    for other, path in analysis.paths.items():
        if path is not None and other != decoder:
            yield f"{LABELS[other]} taken for {LABELS[decoder]}", "", path[t]


def _wrong_greedy(analysis: Analysis, t: int) -> Wrong:
    for bug, mutant in slips(analysis.potentials, VITERBI):
        if bug.name == "emission of another word":
            yield bug.name, bug.explanation, int(mutant.emissions[t].argmax())
    yield from _others(analysis, "greedy", t)


def _wrong_viterbi(analysis: Analysis, t: int) -> Wrong:
    yield from _others(analysis, "viterbi", t)
    potentials = analysis.potentials
    for bug, mutant in [forgotten_end(potentials), *slips(potentials, BACKPOINTERS)]:
        path = None if bug.name == MISPLACED else path_of(mutant)
        if path is not None:
            yield bug.name, bug.explanation, path[t]


def _wrong_max_marginal(analysis: Analysis, t: int) -> Wrong:
    yield from _others(analysis, "max_marginal", t)
    if isinstance(analysis, Ruled):
        yield *WITHOUT_RULE, int(_without_rule(analysis, t).argmax())
        return
    tables = analysis.forward_backward
    before, after = tables.log_alpha.numpy()[t], tables.log_beta.numpy()[t]
    yield "β left out", "α alone knows nothing of the words that follow.", int(before.argmax())
    yield "α left out", "β alone knows nothing of the words up to here.", int(after.argmax())
    backward = {bug.name: mutant for bug, mutant in slips(analysis.potentials, BETA)}
    for bug, mutant in slips(analysis.potentials, ALPHA):
        other = backward.get(bug.name)
        if other is not None:
            sums = mutant.printed(ALPHA)[t] + other.printed(BETA)[t]
            if not np.isnan(sums).any():
                yield bug.name, bug.explanation, int(sums.argmax())


def _without_rule(analysis: Analysis, t: int) -> Array:
    """Return the (K,) marginals of a word over all paths, ignoring the rule."""
    return forward_backward(analysis.potentials).marginals[t].numpy()


def _wrong_pointers(analysis: Analysis, t: int, k: int, before: Array, steps: Array) -> Wrong:
    ahead = "The best score before is not all: the step from it counts as well."
    yield "transition left out", ahead, int(before.argmax())
    alone = "The largest step is not all: where it comes from counts as well."
    yield "transition alone", alone, int(steps.argmax())
    alone = "The word before does not decide alone."
    yield "independent", alone, analysis.greedy[t - 1]
    for bug, mutant in slips(analysis.potentials, BACKPOINTERS):
        pointers = mutant.printed(BACKPOINTERS)
        if bug.name != MISPLACED and t < len(pointers):
            yield bug.name, bug.explanation, int(pointers[t, k])


WRONG: dict[str, Callable[[Analysis, int], Wrong]] = {
    "greedy": _wrong_greedy,
    "viterbi": _wrong_viterbi,
    "max_marginal": _wrong_max_marginal,
}


Found = tuple[float, str, str]  # a wrong value, its arithmetic, and the mistake


def number_question(analysis: Analysis, ask: Ask, t: int, k: int) -> Question | None:
    """Ask for a cell's value, to one decimal; None if it is infinite or no mistake changes it."""
    kind = TABLES[ask.kind]
    program = right_program(analysis.potentials, kind)
    value = float(program.printed(kind)[t, k])
    if not math.isfinite(value):
        return None
    right = Choice(score(value, 1), worked_out(program, kind, t, k, value))
    wrong = _wrong_cells(analysis, kind, t, k, value)
    operands = operands_of(program, kind, t, k, analysis.tags, analysis.words)
    name = "max" if kind == VITERBI else "log Σ exp"
    hint = formula(name, *terms_of(program, kind, t, k))
    found = choose_number(ask, _text(analysis, ask, t, k), hint, value, right, wrong)
    return found and replace(found, operands=operands)


def marginal_question(analysis: Analysis, ask: Ask, t: int, k: int) -> Question | None:
    """Ask for a marginal, to two decimals."""
    if analysis.viterbi is None:
        return None
    tables = analysis.forward_backward
    value = float(tables.marginals[t, k])
    parts = (float(tables.log_alpha[t, k]), float(tables.log_beta[t, k]), tables.log_partition)
    alpha, beta, log_z = parts
    why = f"exp({score(alpha)} {added(beta)} {added(-log_z)}) = {format_probability(value)}"
    hint = f"exp(α + β − log Z): α {score(alpha)}, β {score(beta)}, log Z {score(log_z)}."
    if isinstance(analysis, Ruled):
        hint, why = UNDER_RULE, f"{format_probability(value)} of them passes {analysis.tags[k]}."
    elif not all(map(math.isfinite, parts)):
        return None
    right = Choice(format_probability(value), why)
    return choose_number(
        ask, _text(analysis, ask, t, k), hint, value, right, _wrong_shares(analysis, t, k)
    )


def choose_number(
    ask: Ask,
    text: str,
    hint: str,
    value: float,
    right: Choice,
    mistakes: Iterator[Found],
) -> Question | None:
    """Return the question for a number; None without clearly different wrong numbers."""
    shares = ask.kind == "marginal"
    apart, write = (APART_SHARES, format_probability) if shares else (APART, lambda x: score(x, 1))
    kept = [(value, right)]
    for wrong, why, mistake in mistakes:
        if all(abs(wrong - other) >= apart and one.mistake != mistake for other, one in kept):
            kept.append((wrong, Choice(write(wrong), why, mistake)))
        if len(kept) > MAX_WRONG:
            break
    if len(kept) == 1:
        return None
    kept.sort(key=lambda each: each[0])
    return Question(ask, text, hint, tuple(choice for _, choice in kept))


def _text(analysis: Analysis, ask: Ask, t: int, k: int) -> str:
    return NUMBER_TEXTS[ask.kind].format(tag=analysis.tags[k], word=numbered(analysis.words, t))


def _wrong_cells(analysis: Analysis, kind: str, t: int, k: int, right: float) -> Iterator[Found]:
    for bug, mutant in slips(analysis.potentials, kind):
        table = mutant.printed(kind)
        value = float(table[t, k]) if t < len(table) else math.nan
        if math.isfinite(value):
            done = worked_out(mutant, kind, t, k, right)
            yield value, f"{bug.explanation} It comes to {done}.", bug.name


def _wrong_shares(analysis: Analysis, t: int, k: int) -> Iterator[Found]:
    tables = analysis.forward_backward
    if isinstance(analysis, Ruled):  # its α and β are NaN, which cannot be compared
        yield float(_without_rule(analysis, t)[k]), WITHOUT_RULE[1], WITHOUT_RULE[0]
    for mistake, why, logs in (
        ("independent", "exp of the emission, divided by its sum.", analysis.potentials.emissions),
        ("β left out", "exp α, divided by its sum: what follows does not count.", tables.log_alpha),
        ("α left out", "exp β, divided by its sum: only what follows counts.", tables.log_beta),
    ):
        row = logs.detach().numpy()[t]
        with np.errstate(all="ignore"):
            share = np.exp(row - row.max())
        yield float(share[k] / share.sum()), why, mistake
    best = analysis.viterbi
    if best is not None and best.path[t] == k:
        yield best.probability, "Only the best path is counted, not all that pass.", "max for sum"
