"""Questions whose answer is a number: α, β, the best score of a prefix, a marginal.

Letters: `T` tokens, `K` tags.
"""

import math
from collections.abc import Iterator

import numpy as np

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.homework.programs import ALPHA, BETA, VITERBI, right_program
from crfviz.views.numbers import added, probability, score
from crfviz.views.phrases import numbered
from crfviz.views.quiz.mistakes import formula, slips, terms_of, worked_out
from crfviz.views.quiz.question import MOST_WRONG, Ask, Choice, Question

APART = 0.15  # nats between two choices: one decimal tells them apart, however they are rounded
APART_SHARES = 0.03  # of probabilities, which have two
TABLES = {"alpha": ALPHA, "beta": BETA, "best": VITERBI}
TEXTS = {
    "alpha": "What is α of {tag} at {word}, its emission included?",
    "beta": "What is β of {tag} at {word}: all that may follow?",
    "best": "What does the best way to {tag} at {word} score, its emission included?",
    "marginal": "Which share of all probability passes {tag} at {word}?",
}

Found = tuple[float, str, str]  # a wrong value, how it comes about, and the mistake


def number_question(analysis: Analysis, ask: Ask, t: int, k: int) -> Question | None:
    """A cell of a table, to one decimal; None where it is infinite, or no mistake changes it."""
    kind = TABLES[ask.kind]
    program = right_program(analysis.potentials, kind)
    value = float(program.printed(kind)[t, k])
    if not math.isfinite(value):
        return None
    right = Choice(score(value, 1), worked_out(program, kind, t, k, value))
    found = _wrong_cells(analysis, kind, t, k, value)
    name = "max" if kind == VITERBI else "log Σ exp"
    hint = formula(name, *terms_of(program, kind, t, k))
    return _question(ask, _text(analysis, ask, t, k), hint, value, right, found)


def marginal_question(analysis: Analysis, ask: Ask, t: int, k: int) -> Question | None:
    """A marginal, to two decimals."""
    if analysis.viterbi is None:
        return None
    tables = analysis.forward_backward
    value = float(tables.marginals[t, k])
    parts = (float(tables.log_alpha[t, k]), float(tables.log_beta[t, k]), tables.log_partition)
    if not all(map(math.isfinite, parts)):
        return None
    alpha, beta, log_z = parts
    why = f"exp({score(alpha)} {added(beta)} {added(-log_z)}) = {probability(value)}"
    hint = f"exp(α + β − log Z): α {score(alpha)}, β {score(beta)}, log Z {score(log_z)}."
    right = Choice(probability(value), why)
    return _question(
        ask, _text(analysis, ask, t, k), hint, value, right, _wrong_shares(analysis, t, k)
    )


def _question(
    ask: Ask,
    text: str,
    hint: str,
    value: float,
    right: Choice,
    found: Iterator[Found],
) -> Question | None:
    shares = ask.kind == "marginal"
    apart, write = (APART_SHARES, probability) if shares else (APART, lambda x: score(x, 1))
    kept = [(value, right)]
    for wrong, why, mistake in found:
        if all(abs(wrong - other) >= apart and one.mistake != mistake for other, one in kept):
            kept.append((wrong, Choice(write(wrong), why, mistake)))
        if len(kept) > MOST_WRONG:
            break
    if len(kept) == 1:
        return None
    kept.sort(key=lambda each: each[0])
    return Question(ask, text, hint, tuple(choice for _, choice in kept))


def _text(analysis: Analysis, ask: Ask, t: int, k: int) -> str:
    return TEXTS[ask.kind].format(tag=analysis.tags[k], word=numbered(analysis.words, t))


def _wrong_cells(analysis: Analysis, kind: str, t: int, k: int, right: float) -> Iterator[Found]:
    for bug, mutant in slips(analysis.potentials, kind):
        table = mutant.printed(kind)
        value = float(table[t, k]) if t < len(table) else math.nan
        if math.isfinite(value):
            done = worked_out(mutant, kind, t, k, right)
            yield value, f"{bug.explanation} It comes to {done}.", bug.name


def _wrong_shares(analysis: Analysis, t: int, k: int) -> Iterator[Found]:
    tables = analysis.forward_backward
    for mistake, why, logs in (
        ("word alone", "exp of the emission, divided by its sum.", analysis.potentials.emissions),
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
