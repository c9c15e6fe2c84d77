"""The stops of the tour: what to do at each, on one's own sentence, and how it is noticed.

Pure: a stop looks at what is on the screen, and at what was there when it began; how somebody got
there does not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass

from crfviz.chain.decoding.analysis import Analysis
from crfviz.ui.state.link import MOST_STOPS
from crfviz.ui.state.scenario import Scenario
from crfviz.views.stage.picture import forward_backward_walk, viterbi_walk


@dataclass(frozen=True)
class Screen:
    """What is on the screen at one run."""

    path: str  # of the page
    state: Scenario
    trained: Analysis
    now: Analysis
    stepped: str = ""  # path of the page whose walk was stepped through since the stop began


@dataclass(frozen=True)
class Stop:
    """One thing to do."""

    path: str  # of the page where it is done
    task: str  # {word} and {tag} are those of `target`
    learnt: str  # what it showed
    done: Callable[[Screen, Screen], bool]  # the screen when the stop began, and now


def target(trained: Analysis) -> tuple[int, int]:
    """The position and tag id of a word's second best tag that is closest to its best."""
    emissions = trained.potentials.emissions
    if emissions.shape[1] == 1:
        return 0, 0
    scores, tags = emissions.topk(2, dim=1)
    gaps = (scores[:, 0] - scores[:, 1]).nan_to_num(nan=float("inf"))
    position = int(gaps.argmin())
    chosen = trained.greedy[position]
    others = [tag for tag in tags[position].tolist() if tag != chosen]
    return position, others[0]


def _typed(before: Screen, now: Screen) -> bool:
    return now.state.sentence != before.state.sentence


def _wins(_: Screen, now: Screen) -> bool:
    position, tag = target(now.trained)
    return now.now.greedy[position] == tag


def _path_changed(before: Screen, now: Screen) -> bool:
    moved = now.state.edits != before.state.edits
    same_words = now.state.sentence == before.state.sentence
    return moved and same_words and now.now.paths["viterbi"] != before.now.paths["viterbi"]


def _taken_back(_: Screen, now: Screen) -> bool:
    return not now.state.edits and not now.state.pins


def _walked(_: Screen, now: Screen) -> bool:
    num_words = len(now.now.words)
    return now.path == "viterbi" and now.state.step >= viterbi_walk(possible=True).steps(num_words)


def _read_z(before: Screen, now: Screen) -> bool:
    """Return whether log Z was read by steps: its page opens with all of them done."""
    num_words, step = len(now.now.words), now.state.step
    walked = now.stepped == now.path or (before.path == now.path and before.state.step != 0)
    at = forward_backward_walk().at(step, num_words)
    return now.path == "forward-backward" and at > num_words and (step != 0 or walked)


def _pinned(before: Screen, now: Screen) -> bool:
    return bool(now.state.pins) and now.state.pins != before.state.pins


def _answered(_: Screen, now: Screen) -> bool:
    return now.state.view.get("said", "?") != "?"


STOPS = (
    Stop(
        "",
        "Type a sentence of your own into the box on the left, and press Enter.",
        "Each row is a way to decide; red dashes show where they disagree.",
        _typed,
    ),
    Stop(
        "emissions",
        "Drag {word}’s {tag} cell up until {tag} wins, or type a value.",
        "That is an emission: what a word says by itself.",
        _wins,
    ),
    Stop(
        "transitions",
        "Change a matrix score until the best path changes.",
        "One transition score can retag distant words.",
        _path_changed,
    ),
    Stop(
        "",
        "Take everything back: Reset on the left, or Ctrl+Z.",
        "The model is as it was trained. Nothing that you try can break it.",
        _taken_back,
    ),
    Stop(
        "viterbi",
        "Walk to the last step with ▶, → or PageDown.",
        "Forward kept the best way into each tag; backward read off the path.",
        _walked,
    ),
    Stop(
        "forward-backward",
        "Go back to the start with Home, then step until log Z is read.",
        "The same walk with sums: Z is all paths together.",
        _read_z,
    ),
    Stop(
        "why",
        "Click a tag of a word, and pin it.",
        "A pin fixes one tag; the rest adapts.",
        _pinned,
    ),
    Stop(
        "",
        "Switch on “Ask me” on the left, and answer. Wrong answers are explained.",
        "That was the tour. The page Lectures goes on from here.",
        _answered,
    ),
)
END = MOST_STOPS  # the number after the last stop: the tour is over
