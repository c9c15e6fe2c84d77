"""Questions of each page in order, and the parts that they hide.

Letters: `T` tokens, `K` tags.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, zip_longest

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import END, START
from crfviz.chain.questions.rules import Ruled
from crfviz.exceptions import CrfvizError, UnknownObservationError
from crfviz.views.quiz.cells import (
    backpointer_question,
    marginal_question,
    number_question,
    tag_question,
)
from crfviz.views.quiz.path_questions import (
    cost_question,
    flips_question,
    likeliest_question,
    sum_question,
)
from crfviz.views.quiz.question import Ask, Question
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
