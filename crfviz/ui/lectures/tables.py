"""What a page shows as numbers and words instead of a picture, as HTML for paper."""

from html import escape

import pandas as pd

from crfviz.chain.demonstrations.log_space import cell_inputs, log_sum_exp, telling_position
from crfviz.chain.demonstrations.naive import words_that_fit
from crfviz.ui.lectures.lecture import Cue
from crfviz.ui.panels.demonstrations import TERM_FORMATS, enumeration
from crfviz.ui.panels.learning import history
from crfviz.ui.panels.why import question
from crfviz.ui.scene import scene_of
from crfviz.ui.state.scenario import BEFORE_FIRST, Scenario
from crfviz.views.formatting import signed
from crfviz.views.frames.chains import plain_table
from crfviz.views.frames.demonstrations import (
    alpha_line,
    direct_line,
    listing_note,
    path_frame,
    sum_line,
    sum_note,
    term_frame,
)
from crfviz.views.strips.why import Question, why_gap, why_note

SEEN = 0.005  # nats; terms below it are left out, as on the page
MOST_PATHS = 12  # of the naive way, the best ones
PATH_FORMATS = {"score": "{:.4f}", "p": "{:.3g}", "running sum / Z": "{:.6f}"}


def tables_of(cue: Cue, *, key: bool = False) -> str:
    """The tables of a cue's page; empty where it has none, or only the `key` may have them.

    Raises:
        CrfvizError: the scene cannot be drawn.
    """
    if not key and (cue.ask or cue.scenario.step == BEFORE_FIRST):
        return ""
    every = {"why": _why, "log-space": _log_sum, "naive": _every_path, "em": _iterations}
    make = every.get(cue.page)
    return "" if make is None else make(cue.scenario)


def why_asked(state: Scenario) -> Question | None:
    """What the page Why this tag asks; None where no tag sequence is allowed."""
    return question(scene_of(state))


def _why(state: Scenario) -> str:
    """The gap to the best path, word by word."""
    asked = why_asked(state)
    if asked is None:
        return ""
    gap = why_gap(asked)
    words = [*asked.chain.words, "END"]
    terms = zip(words, gap.transitions, gap.emissions, strict=False)
    rows = [
        {"word": word, "transition": signed(step), "emission": signed(own)}
        for word, step, own in terms
        if max(abs(step), abs(own)) >= SEEN
    ]
    table = plain_table(pd.DataFrame(rows), [])
    return f"{_line(gap.title)}{table}{_line(gap.foot)}{_line(why_note(asked))}"


def _log_sum(state: Scenario) -> str:
    """The sum of one cell of α, with the largest taken out and without."""
    scene = scene_of(state)
    chain, tables, T = scene.now.potentials, scene.now.forward_backward, len(scene.words)
    best = scene.now.paths["viterbi"] or scene.now.greedy
    named = state.view.get("lse_word", "")
    telling = telling_position(chain, tables, best)
    at = int(named) if named.isdecimal() and 1 <= int(named) <= T else telling
    tag = state.view.get("lse_tag", "")
    k = scene.tags.index(tag) if tag in scene.tags else best[min(at, T - 1)]
    summed = log_sum_exp(cell_inputs(chain, tables, at, k))
    of_end = at == T
    weight = "end(j)" if of_end else f"w(j, {scene.tags[k]})"
    lines = [f"a = α({at}, j) + {weight}: {sum_line(summed)}"]
    lines += [direct_line(summed, precision) for precision in summed.direct]
    if not of_end:
        own = chain.emissions[at, k].item()
        lines.append(alpha_line(summed.result, own, (at + 1, scene.tags[k])))
    table = plain_table(term_frame(summed, scene.tags), [], TERM_FORMATS)
    return "".join(map(_line, lines)) + table


def _every_path(state: Scenario) -> str:
    """The best of all paths of the first words, and what all of them add up to."""
    scene = scene_of(state)
    fit = words_that_fit(scene.now.potentials)
    named = state.view.get("naive", "")
    words = int(named) if named.isdecimal() and 1 <= int(named) <= fit else fit
    if not words:
        return ""
    every = enumeration(state, words)
    frame = path_frame(every, scene.tags).head(MOST_PATHS)
    notes = _line(sum_note(every)) + _line(listing_note(every))
    return plain_table(frame, [], PATH_FORMATS) + notes


def _iterations(state: Scenario) -> str:
    """The log-likelihood and the numbers of each iteration of EM so far."""
    frame = history(scene_of(state))
    if frame is None:
        return ""
    names = [str(name) for name in frame.columns]
    return plain_table(frame.reset_index(), [], dict.fromkeys(names, "{:.4f}"))


def _line(text: str) -> str:
    return f"<p>{escape(text)}</p>"
