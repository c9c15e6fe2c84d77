"""Questions of each page in order, the parts that they hide, and questions about whole paths.

Letters: `T` tokens, `K` tags.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, zip_longest

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.decoding.viterbi import k_best, margin
from crfviz.chain.distribution import lead
from crfviz.chain.distribution import probability as share_of
from crfviz.chain.edits import END, START, Weight, resolve, uses, value_of, weight_of, with_weight
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import Ruled, match
from crfviz.exceptions import CrfvizError, NoPathError, UnknownObservationError
from crfviz.views.formatting import added, differing, format_probability, score, signed
from crfviz.views.quiz.cells import (
    APART,
    CLOSE,
    Found,
    backpointer_question,
    choose_number,
    marginal_question,
    number_question,
    tag_question,
)
from crfviz.views.quiz.question import Ask, Choice, Question
from crfviz.views.strips.decoders import LABELS
from crfviz.views.strips.rules import examples

PAGES: Mapping[str, tuple[str, ...]] = {
    "explore": ("viterbi", "likeliest", "greedy", "max_marginal", "flips"),
    "forward-backward": ("alpha", "beta", "log_z"),
    "viterbi": ("best", "backpointer", "viterbi"),
    "marginals": ("marginal", "max_marginal"),
    "transitions": ("flips", "log_z"),
    "naive": ("likeliest", "log_z"),
    "rules": ("cost",),
}  # the kinds of questions, by page
CELLS = {"backpointer": backpointer_question, "marginal": marginal_question}
TAG_OF_WORD = ("greedy", "viterbi", "max_marginal")
TRIED = 60  # maximum number of candidates to try for one question
LIKELY = 0.01  # minimum marginal of a tag in a question
DROP = 1.0  # nats by which a question lowers a weight
MAX_PATHS = 3
MAX_DIFFERING = 5  # maximum number of words at which the paths of a question differ
LARGER, SAME, SMALLER = "larger", "the same", "smaller"


def can_ask(page: str) -> bool:
    return (page or "explore") in PAGES


def question(now: Analysis, trained: Analysis, ask: Ask) -> Question | None:
    """Return the question about a chain and its trained version.

    Returns:
        The question; None if it has no unique right answer, or no plausible wrong one.

    Raises:
        CrfvizError: there is no such word or tag, or the rule cannot be parsed.
    """
    kind = ask.kind
    if isinstance(now, Ruled) and kind not in PAGES["marginals"]:
        return None
    if kind in ("flips", "log_z"):
        for tag, end in zip(ask.tags, (START, END), strict=False):
            if tag != end:
                now.potentials.tag_id(tag)
        if ask.tags == (START, END):
            raise CrfvizError("expected a step with a tag, got START to END")
        return flips_question(now, ask) if kind == "flips" else sum_question(now, trained, ask)
    if ask.word is None:
        return cost_question(now, ask) if ask.rule else likeliest_question(now, ask)
    t = _position(now, ask.word)
    if not ask.tags:
        return tag_question(now, ask, t)
    of_cell = CELLS.get(kind, number_question)
    return of_cell(now, ask, t, now.potentials.tag_id(ask.tags[0]))


def due(page: str, done: int, T: int) -> Mapping[str, int]:
    """Return the word that the next step of a page's walk computes, by kind of question.

    Args:
        page: the path of the page.
        done: number of steps done.
        T: number of words.

    Returns:
        Empty before and after the sweeps, and on pages without them.
    """
    if page == "viterbi":
        if done < T:
            return {"best": done, "backpointer": done}
        return {"viterbi": 2 * T - 1 - done} if done < 2 * T else {}
    if page == "forward-backward":
        if done < T:
            return {"alpha": done}
        return {"beta": 2 * T - done} if T < done <= 2 * T else {}
    return {}


def is_due(ask: Ask, places: Mapping[str, int]) -> bool:
    return isinstance(ask.word, int) and places.get(ask.kind) == ask.word - 1


def next_question(
    now: Analysis,
    trained: Analysis,
    page: str,
    after: Ask | None = None,
    done: int | None = None,
) -> Question | None:
    """Return a page's first question, or the one after `after`; None if there is none.

    After `done` steps of its walk it is about the column that the next step computes.
    """
    places = {} if done is None else due(page, done, len(now.words))
    asks = list(_asks(now, page, edited=now is not trained, edges=bool(places)))
    if places:
        asks.sort(key=lambda ask: not is_due(ask, places))
    begin = asks.index(after) + 1 if after in asks else 0
    for ask in islice(asks[begin:] + asks[:begin], TRIED):
        result = question(now, trained, ask)
        if result is not None:
            return result
    return None


def withheld(chain: Analysis, ask: Ask, rows: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the parts of the stage that would reveal the answer, with their range of words.

    Parts have the names that `views.stage.walks.Walk` uses. "cell" is the panel beside the words.

    Args:
        chain: the chain of the question.
        ask: a question that can be asked about this chain.
        rows: the ids of the rows on the stage.
    """
    T = len(chain.words)
    t = 0 if ask.word is None else _position(chain, ask.word)
    whole = {
        "alpha": ("beta", "sums", "score", *rows),
        "beta": ("sums", "score", *rows),
        "best": ("path", "score", *rows),
        "backpointer": ("path",),
        "flips": (),
        "log_z": ("score", "sums", "z", *rows),
        "likeliest": ("path", "pointers", "score", *rows),
        "cost": ("path", "ruled", "moved", *rows),
    }.get(ask.kind, ("path",))
    here: dict[str, tuple[tuple[str, ...], int, int]] = {
        "alpha": (("alpha", "nodes"), t, T),
        "beta": (("beta", "nodes"), 0, t + 1),
        "best": (("nodes", "pointers"), t, T),
        "backpointer": (("pointers", *rows), t - 1, T),
        "marginal": (("marginals", "nodes"), t, t + 1),
        "log_z": ((("alpha",)), T - 1, T),
    }
    here |= dict.fromkeys(TAG_OF_WORD, (("marginals", "nodes", *rows), t, t + 1))
    parts = [(part, 0, T) for part in (*whole, "note", "cell", "ruler")]
    near, begin, end = here.get(ask.kind, ((), 0, 0))
    return parts + [(part, begin, end) for part in near]


def _asks(chain: Analysis, page: str, *, edited: bool, edges: bool) -> Iterator[Ask]:
    """Yield all questions of a page: the kinds in turn, the places shuffled with a fixed seed.

    With `edges` also those of the column where a sweep begins.
    """
    mixed = []
    for kind in PAGES[page]:
        places = list(_places(chain, kind, edited=edited, edges=edges))
        random.Random(kind).shuffle(places)
        mixed.append(places)
    for turn in zip_longest(*mixed):
        yield from (ask for ask in turn if ask is not None)


def _places(chain: Analysis, kind: str, *, edited: bool, edges: bool) -> Iterator[Ask]:
    T = len(chain.words)
    if kind in ("likeliest", "cost"):
        rules = [each.rule for each in examples(chain.tags)] if kind == "cost" else [""]
        yield from (Ask(kind, rule=rule) for rule in rules)
    elif kind in ("flips", "log_z"):
        if kind == "log_z" and edited:
            yield Ask(kind)
        for path in (chain.paths["viterbi"], *([chain.greedy] if kind == "log_z" else [])):
            names = [START, *(chain.tags[k] for k in path or ()), END]
            yield from dict.fromkeys(Ask(kind, tags=pair) for pair in pairwise(names[1:-1]))
    elif kind in TAG_OF_WORD:
        yield from (Ask(kind, t + 1) for t in range(T))
    else:
        words = range(T - 1) if kind == "beta" and T > 1 else range(T > 1, T)
        words = range(T) if edges else words
        for t in words:
            for k in (chain.forward_backward.marginals[t] >= LIKELY).nonzero()[:, 0].tolist():
                yield Ask(kind, t + 1, (chain.tags[k],))


def _position(chain: Analysis, word: int | str) -> int:
    T = len(chain.words)
    if isinstance(word, int) and 1 <= word <= T:
        return word - 1
    if chain.words.count(str(word)) == 1:
        return chain.words.index(str(word))
    shown = str(word)[:40]
    raise UnknownObservationError(
        f"expected a word that occurs once, or its number from 1 to {T}; got “{shown}”"
    )


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
