"""The questions that a page asks about a chain, one after the other, and what each must not show.

Letters: `T` tokens, `K` tags.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, zip_longest

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.edits import END, START
from crfviz.exceptions import CrfvizError, UnknownObservationError
from crfviz.views.quiz.numbers import marginal_question, number_question
from crfviz.views.quiz.paths import flips_question, likeliest_question, sum_question
from crfviz.views.quiz.question import Ask, Question
from crfviz.views.quiz.tags import backpointer_question, tag_question

PAGES: Mapping[str, tuple[str, ...]] = {
    "explore": ("viterbi", "likeliest", "greedy", "max_marginal", "flips"),
    "forward-backward": ("alpha", "beta", "log_z"),
    "viterbi": ("best", "backpointer", "viterbi"),
    "marginals": ("marginal", "max_marginal"),
    "transitions": ("flips", "log_z"),
    "naive": ("likeliest", "log_z"),
}  # the kinds of questions, by page
TAG_OF_WORD = ("greedy", "viterbi", "max_marginal")
TRIED = 60  # questions that are looked at for one that can be asked
NEXT_BEST = 6  # paths whose steps are asked about
LIKELY = 0.01  # share of all paths that a tag has which is asked about


def can_ask(page: str) -> bool:
    """Whether there are questions about a page, by its path in the address."""
    return (page or "explore") in PAGES


def question(now: Analysis, trained: Analysis, ask: Ask) -> Question | None:
    """The question over a chain, and over the same as trained.

    Returns:
        It, or None where it has no one right answer or no wrong one that somebody would give.

    Raises:
        CrfvizError: there is no such word or tag.
    """
    kind = ask.kind
    if kind in ("flips", "log_z"):
        for tag, end in zip(ask.tags, (START, END), strict=False):
            if tag != end:
                now.potentials.tag_id(tag)
        if ask.tags == (START, END):
            raise CrfvizError("expected a step with a tag, got START to END")
        return flips_question(now, ask) if kind == "flips" else sum_question(now, trained, ask)
    if ask.word is None:
        return likeliest_question(now, ask)
    t = _position(now, ask.word)
    if not ask.tags:
        return tag_question(now, ask, t)
    k = now.potentials.tag_id(ask.tags[0])
    if kind == "backpointer":
        return backpointer_question(now, ask, t, k)
    return (
        marginal_question(now, ask, t, k) if kind == "marginal" else number_question(now, ask, t, k)
    )


def next_question(
    now: Analysis, trained: Analysis, page: str, after: Ask | None = None
) -> Question | None:
    """The first question of a page, or that after another one; None where none can be asked."""
    asks = list(_asks(now, page, edited=now is not trained))
    begin = asks.index(after) + 1 if after in asks else 0
    for ask in islice(asks[begin:] + asks[:begin], TRIED):
        found = question(now, trained, ask)
        if found is not None:
            return found
    return None


def withheld(chain: Analysis, ask: Ask, rows: Sequence[str]) -> list[tuple[str, int, int]]:
    """What would tell the answer: parts of the stage, each from a word up to before another.

    The parts go by the names of `views.stage.steps`, and "cell" is what a side panel explains.

    Args:
        chain: that of the question.
        ask: a question that can be asked about it.
        rows: the ids of the rows on the stage.
    """
    T = len(chain.words)
    t = 0 if ask.word is None else _position(chain, ask.word)
    whole = {
        "alpha": ("beta", "nodes", "sums", "score", *rows),
        "beta": ("nodes", "sums", "score", *rows),
        "best": ("path", "score", *rows),
        "backpointer": ("path",),
        "flips": (),
        "log_z": ("score", "sums", "z", *rows),
        "likeliest": ("path", "pointers", "score", *rows),
    }.get(ask.kind, ("path",))
    here: dict[str, tuple[tuple[str, ...], int, int]] = {
        "alpha": (("alpha",), t, T),
        "beta": (("beta",), 0, t + 1),
        "best": (("nodes", "pointers"), t, T),
        "backpointer": (("pointers", *rows), t - 1, T),
        "marginal": (("marginals", "nodes"), t, t + 1),
        "log_z": ((("alpha",)), T - 1, T),
    }
    here |= dict.fromkeys(TAG_OF_WORD, (("marginals", "nodes", *rows), t, t + 1))
    parts = [(part, 0, T) for part in (*whole, "note", "cell", "ruler")]
    near, begin, end = here.get(ask.kind, ((), 0, 0))
    return parts + [(part, begin, end) for part in near]


def _asks(chain: Analysis, page: str, *, edited: bool) -> Iterator[Ask]:
    """All questions that a page might ask: the kinds in turn, the places mixed, always alike."""
    mixed = []
    for kind in PAGES[page]:
        places = list(_places(chain, kind, edited=edited))
        random.Random(kind).shuffle(places)
        mixed.append(places)
    for turn in zip_longest(*mixed):
        yield from (ask for ask in turn if ask is not None)


def _places(chain: Analysis, kind: str, *, edited: bool) -> Iterator[Ask]:
    T = len(chain.words)
    if kind == "likeliest":
        yield Ask(kind)
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
        for t in words:
            for k in (chain.forward_backward.marginals[t] >= LIKELY).nonzero()[:, 0].tolist():
                yield Ask(kind, t + 1, (chain.tags[k],))


def _steps(chain: Analysis, *, of_best: bool) -> list[tuple[str, str]]:
    """The steps between tags that the best path makes, or those that only the next best make."""
    if chain.viterbi is None:
        return []
    best, *others = (path.tags for path in k_best(chain.potentials, NEXT_BEST))
    on_best = dict.fromkeys(pairwise(best))
    elsewhere = dict.fromkeys(step for path in others for step in pairwise(path))
    wanted = on_best if of_best else [step for step in elsewhere if step not in on_best]
    return [(chain.tags[before], chain.tags[after]) for before, after in wanted or on_best]


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
