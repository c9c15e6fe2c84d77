"""Reasons for a word's tag: the gap to the best path, and the effect of hiding each word."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.questions.conditioning import WhyNot, why_not
from crfviz.chain.questions.rules import Ruled
from crfviz.exceptions import NoPathError
from crfviz.views.explanation import explain
from crfviz.views.formatting import (
    columns,
    differing,
    format_probability,
    named,
    numbered,
    score,
    signed,
)
from crfviz.views.stage.picture import Gap, Picture, Row
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.paths import entropy_row

WHY_LEGEND = (
    "click a tag to compare it · thick line: best path · red dashes: the best path with that tag"
)
LEGEND = "hidden: word unknown · tags changed: on the best path"


RESIDUAL = ("X", "SYM")  # tags for what no other tag is for
NEAR = 3.0  # nats


@dataclass(frozen=True)
class Question:
    """A tag that is not on the best path, and the exact reason."""

    chain: Analysis
    position: int  # of the word
    tag: int  # id
    answer: WhyNot

    @property
    def what(self) -> str:
        return f"{tag_label(self.chain.tags, self.tag)} at “{self.chain.words[self.position]}”"


def tag_label(tags: Sequence[str], tag: int) -> str:
    """Return the name of a tag; the X of Universal Dependencies is “X (other)”.

    >>> tag_label(["NOUN", "SYM", "X"], 2)
    'X (other)'
    """
    return "X (other)" if tags[tag] == "X" and "SYM" in tags else tags[tag]


def rival(analysis: Analysis, position: int) -> int | None:
    """Return the other tag of a word with the best path; of several the likeliest.

    `X` and `SYM` stand back if the path of another tag is at most `NEAR` nats worse.

    Args:
        analysis: the chain.
        position: of the word.

    Returns:
        The tag id; None if no path is allowed, or none with another tag.
    """
    if analysis.viterbi is None:
        return None
    best = analysis.viterbi.path[position]
    gaps = {}
    for tag in range(len(analysis.tags)):
        answer = None if tag == best else answer_why(analysis, position, tag)
        if answer is not None:
            gaps[tag] = answer.gap
    if not gaps:
        return None
    marginals = analysis.forward_backward.marginals[position].tolist()
    order = sorted(gaps, key=lambda tag: (round(gaps[tag], 9), -marginals[tag]))
    first = order[0]
    near = [tag for tag in order if gaps[tag] <= gaps[first] + NEAR]
    return next((tag for tag in near if analysis.tags[tag] not in RESIDUAL), first)


def likeliest_loser(analysis: Analysis) -> tuple[int, int]:
    """Return the word with the least certain tag on the best path, and the rival of that tag.

    Returns:
        Position and tag id; (0, 0) where no path is allowed or there is one tag only.
    """
    if analysis.viterbi is None or analysis.potentials.num_tags < 2:
        return 0, 0
    marginals = analysis.forward_backward.marginals
    positions = range(len(analysis.viterbi.path))
    sure = [marginals[t, analysis.viterbi.path[t]].item() for t in positions]
    position = min(positions, key=lambda t: sure[t])
    other = rival(analysis, position)
    return position, analysis.viterbi.path[position] if other is None else other


def ask_why(now: Analysis, place: tuple[int, int] | None) -> Question | None:
    """Return the question about a position and tag id; by default about the likeliest loser.

    Returns:
        None if no path is allowed; the default if no allowed path has the tag there.
    """
    best = now.viterbi
    if best is None:
        return None
    for position, tag in filter(None, [place, likeliest_loser(now), (0, best.path[0])]):
        if answer := answer_why(now, position, tag):
            return Question(now, position, tag, answer)
    return None


def answer_why(chain: Analysis, position: int, tag: int) -> WhyNot | None:
    """Return the answer; None if no allowed path has the tag."""
    rule = chain.pattern if isinstance(chain, Ruled) else None
    try:
        return why_not(chain.potentials, position, tag, rule=rule)
    except NoPathError:
        return None


def why_picture(
    now: Analysis,
    asked: Question | None,
    gold: Sequence[int] | None,
    trained: Analysis | None = None,
    *,
    legend: str = WHY_LEGEND,
) -> Picture:
    """Return the lattice with the gap; `trained` is the chain before the edits.

    Without a question it explains the outcome.
    """
    rows = decoder_rows(now, which=["viterbi", "gold"], gold=gold)
    if asked is None:
        return Picture(["strips", "lattice"], rows, note=explain(now))
    before = answer_why(trained, asked.position, asked.tag) if trained else None
    return Picture(
        ["strips", "lattice"],
        [*rows, why_row(asked), log_odds_row(now, asked.tag), entropy_row(now)],
        side=why_gap(asked, before),
        contrast="why",
        asks="at",
        asked=(asked.position, asked.tag),
        note=why_note(asked),
        legend=legend,
    )


def why_gap(question: Question, trained: WhyNot | None = None) -> Gap:
    """Return the gap as bars; `trained` answers for the chain before the edits."""
    answer = question.answer
    chosen = answer.best[question.position] == question.tag
    return Gap(
        title=f"{question.what} is chosen" if chosen else f"Why not {question.what}?",
        emissions=answer.emission_terms.tolist(),
        transitions=answer.transition_terms.tolist(),
        foot=f"They add up to {score(answer.gap, 4)} nats; positive bars favour the best path.",
        trained=None
        if trained is None
        else (trained.emission_terms.tolist(), trained.transition_terms.tolist()),
    )


def why_note(question: Question) -> str:
    """Return the cost of the tag and the deciding term, in two sentences."""
    answer = question.answer
    if answer.path == answer.best:
        return f"{question.what} is on the best path: nothing speaks against it."
    if answer.gap == 0:
        return f"A path with {question.what} is as good as the best one."
    return (
        f"{question.what} would cost {score(answer.gap)} nats: the best path with it is "
        f"{_times(answer)} times less probable (p {format_probability(answer.probability, 3)}). "
        f"{_deciding(answer, question.chain)}"
    )


def why_lines(chain: Analysis, position: int) -> list[str]:
    """Return why a word has its tag on the best path, as sentences; none without a path."""
    if chain.viterbi is None:
        return []
    own, other = chain.viterbi.path[position], rival(chain, position)
    marginals = chain.forward_backward.marginals[position]
    share = format_probability(marginals[own].item(), 2)
    told = f"“{chain.words[position]}” is {tag_label(chain.tags, own)} for the model (p {share})"
    asked = other is not None and ask_why(chain, (position, other))
    if not asked:
        return [f"{told}: no other tag is allowed here."]
    share = format_probability(marginals[asked.tag].item(), 2)
    name = tag_label(chain.tags, asked.tag)
    return [f"{told}; its rival is {name} (p {share}).", f"{why_facts(asked)}.", why_note(asked)]


def why_facts(question: Question) -> str:
    """Return the two sides of the gap to the best path in one line: emissions and transitions."""
    answer = question.answer
    emission, transition = (
        float(terms.sum()) for terms in (answer.emission_terms, answer.transition_terms)
    )
    return (
        f"emissions {signed(emission)} · transitions {signed(transition)} · "
        f"together {signed(answer.gap)} nats"
    )


def why_row(question: Question) -> Row:
    name = question.chain.tags[question.tag]
    return Row("why", f"with {name} at {question.position + 1}", question.answer.path)


def log_odds_row(analysis: Analysis, tag: int) -> Row:
    """Return log p / (1 - p) of one tag at every word, in nats; pins make it infinite.

    The chance against the tag is summed over the others, so that it does not round to 0.
    """
    tables = analysis.forward_backward
    ruled = isinstance(analysis, Ruled)
    scores = tables.marginals.log() if ruled else tables.log_alpha + tables.log_beta
    tags = analysis.tags
    others = torch.arange(len(tags)) != tag
    against = torch.logsumexp(scores[:, others], 1) if len(tags) > 1 else scores[:, tag] - math.inf
    odds = torch.where(scores.isneginf().all(1), math.nan, scores[:, tag] - against).tolist()
    return Row("log_odds", f"log-odds {tags[tag]}", None, texts=[signed(value) for value in odds])


def _times(answer: WhyNot) -> str:
    ratio = float(f"{math.exp(min(answer.gap, 500.0)):.2g}")
    return f"{ratio:,.0f}" if 10 <= ratio < 1e6 else f"{ratio:.2g}"


def _deciding(answer: WhyNot, chain: Analysis) -> str:
    words, tags, term = chain.words, chain.tags, answer.deciding
    t = term.position
    ours, theirs = answer.best, answer.path
    if term.kind == "emission":
        what = f"the word “{words[t]}” itself, which prefers {tags[ours[t]]} to {tags[theirs[t]]}"
    elif term.kind == "start":
        what = f"the start, START→{tags[ours[0]]} over START→{tags[theirs[0]]}"
    elif term.kind == "end":
        what = f"the end, {tags[ours[-1]]}→END over {tags[theirs[-1]]}→END"
    else:
        what = (
            f"{tags[ours[t - 1]]}→{tags[ours[t]]} over {tags[theirs[t - 1]]}→{tags[theirs[t]]} "
            f"at “{words[t]}”"
        )
    return f"The largest contribution is {what}: {score(term.value)}."


@dataclass(frozen=True)
class Watched:
    """One emission while each of the T words is hidden in turn."""

    position: int  # of the emission
    tag: int  # id, of the emission
    change: Sequence[float]  # T nats, from `Occlusion.change`
    path: Sequence[int] | None  # T tag ids, from the whole sentence; None where none is allowed
    hidden: Sequence[Sequence[int] | None]  # T paths, each decoded with one word hidden
    words: Sequence[str]  # T
    tags: Sequence[str]  # K names

    def changes(self, hidden: int) -> list[str]:
        """Return the decoded tags that change with one word hidden, in words."""
        before, after, tags = self.path, self.hidden[hidden], self.tags
        if before is None or after is None:
            return []
        places = differing(before, after)
        return [f"{numbered(self.words, t)} {tags[before[t]]} → {tags[after[t]]}" for t in places]


def occlusion_rows(watched: Watched) -> list[Row]:
    """Return a bar per word, how hiding it moves the emission, and the tags that then change."""
    change, tag = watched.change, watched.tags[watched.tag]
    size = max((abs(value) for value in change if math.isfinite(value)), default=0.0) or 1.0
    changes = [watched.changes(hidden) for hidden in range(len(watched.words))]
    return [
        Row(
            "occlusion",
            f"hidden: {tag}",
            None,
            texts=[signed(value) for value in change],
            shares=[max(-1.0, min(1.0, value / size)) for value in change],
            titles=[
                f"without “{word}” {signed(value, 4)} nats"
                for word, value in zip(watched.words, change, strict=True)
            ],
        ),
        Row(
            "occlusion_tags",
            "tags changed",
            None,
            texts=[str(len(changed) or "·") for changed in changes],
            titles=[
                f"without “{word}”: {', '.join(changed)}" if changed else ""
                for word, changed in zip(watched.words, changes, strict=True)
            ],
        ),
    ]


def occlusion_note(watched: Watched) -> str:
    """Return which hidden word moves the emission most, and the tags without it."""
    change, tag = watched.change, watched.tags[watched.tag]
    own = f"Hiding {named(watched.words, watched.position)} {_moved(change, watched, tag)}"
    others = [s for s, value in enumerate(change) if s != watched.position and value != 0.0]
    if not others:
        return f"{own}; hiding others changes nothing."
    most = max(others, key=lambda s: abs(change[s]))
    word = named(watched.words, most)
    return (
        f"{own}. Of the others {word} matters most ({signed(change[most])}): without it "
        f"{', '.join(watched.changes(most)) or 'no decoded tag changes'}."
    )


def _moved(change: Sequence[float], watched: Watched, tag: str) -> str:
    value = change[watched.position]
    if value == 0.0:
        return f"does not change its {tag} score"
    return f"{'lowers' if value < 0 else 'raises'} its {tag} score by {score(abs(value))}"


def occlusion_frame(watched: Watched) -> pd.DataFrame:
    """Return the effects of hiding each word as a table, a row per hidden word."""
    return pd.DataFrame(
        {
            "hidden word": word,
            "emission moves by": watched.change[s],
            "tags that change": ", ".join(watched.changes(s)),
        }
        for s, word in enumerate(columns(watched.words))
    )
