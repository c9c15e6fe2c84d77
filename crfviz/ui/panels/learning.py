"""The pages Learn and EM: one gradient step of a CRF, and EM on a hidden Markov model."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from crfviz.chain.baum_welch import Iteration, Parameters, baum_welch, posterior
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Tag
from crfviz.chain.questions.em import STARTS, TRANSITION, Number, by_day, numbers_of
from crfviz.chain.questions.sensitivity import GradientStep, gradient_step, loss
from crfviz.exceptions import CrfvizError
from crfviz.taggers.textbook import HiddenMarkov, MarkovTagger
from crfviz.ui import cached
from crfviz.ui.scene import Scene, scene_of
from crfviz.ui.session.bound_widgets import (
    bound_flag,
    bound_select,
    bound_tabs,
    bound_text,
    bound_to,
)
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.scenario_state import (
    change,
    scenario,
    set_right,
    set_view_option,
    view_option,
)
from crfviz.ui.session.session_store import errors_as_messages
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain, quote
from crfviz.views.explanation import step_note
from crfviz.views.frames.em import em_walk, history_frame, moved, name_of, use_of

SIZE, LARGEST_SIZE = "0.5", 100.0
LEAVE, OPEN = "open", -1  # page option: only marked words have gold tags; id of an open tag
OPEN_HELP = "Other words stay open: observed counts are summed over all paths with the marked tags."
ICE_CREAM = "textbook/ice-cream"
START_NAMES = {
    "model": "the model's numbers",
    "better": "counts of its best path",
    "symmetric": "all states alike",
    "zero": "one emission is 0",
}
ITERATIONS = ("11", "30", "100")
MAX_NUMBERS = 60  # maximum number of parameters, each drawn as a button
NO_BREAK = "\N{NO-BREAK SPACE}"
CELL = "count"  # page option: the parameter whose count is shown


@dataclass(frozen=True)
class Learning:
    """The gold tags of the page Learn, and the gradient step towards them."""

    right: list[int]  # T tag ids, OPEN at words without a gold tag
    step: GradientStep | None  # None if the size is invalid or the gold tags are forbidden
    note: str  # text below the picture; if empty, the step button is disabled


def right_tags(scene: Scene) -> list[int]:
    """Return the T tag ids to learn, word by word.

    Each is the reader's mark, else the gold tag, else the tag on the trained best path. With the
    page option `LEAVE`, words without a mark are OPEN.
    """
    trained = scene.trained
    if flag_option(LEAVE):
        marks = scene.scenario.right
        return [scene.tags.index(marks[t]) if t in marks else OPEN for t in range(len(scene.words))]
    decoded = trained.paths["viterbi"] or trained.greedy
    return [
        scene.tags.index(marked) if (marked := scene.scenario.right.get(t)) else known
        for t, known in enumerate(scene.gold or decoded)
    ]


def step_size(text: str) -> float:
    """Parse a typed step size.

    Raises:
        CrfvizError: the text is not a number, or too large; the message says what to type.
    """
    typed = text.strip().replace("−", "-").replace(",", ".")
    try:
        size = float(typed)
    except ValueError:
        size = math.nan
    if not math.isfinite(size):
        raise CrfvizError(f"{quote(text)} is no step size. Type a number such as {SIZE}.")
    if abs(size) > LARGEST_SIZE:
        raise CrfvizError(
            f"A step of {quote(text)} is too large: type a number from -{LARGEST_SIZE:g} to "
            f"{LARGEST_SIZE:g}, such as {SIZE}."
        )
    return size


def lesson(scene: Scene) -> Learning:
    """Return the gradient step of the chosen size; show a message if it cannot be computed."""
    right = right_tags(scene)
    now = scene.now.potentials
    if not now.homogeneous:
        st.info("This chain has a transition matrix for each word and no CRF layer to learn.")
        return Learning(right, None, "")
    path = _path(right)
    if scene.now.viterbi is None or loss(now, path) == math.inf:
        st.info(
            "The gold tags are forbidden here: their probability is 0, and no step changes what "
            "is forbidden. Mark other tags, drop the pin, or undo the edit that forbids them."
        )
        return Learning(right, None, "")
    try:
        step = gradient_step(now, path, step_size(view_option("size", SIZE)))
    except CrfvizError as error:
        st.warning(plain(str(error)))
        return Learning(right, gradient_step(now, path, 0.0), "")
    if OPEN in right and set(right) == {OPEN}:
        return Learning(right, step, "Mark a tag: while every path is allowed, nothing is learnt.")
    what = "marked tags" if OPEN in right else "gold tags"
    trained = loss(scene.trained.potentials, path)
    return Learning(right, step, step_note(step, now, trained, what))


def _path(right: list[int]) -> list[Tag | None]:
    return [None if tag == OPEN else tag for tag in right]


def take_step() -> None:
    """Apply the step towards the current gold tags, as edits that can be undone."""
    with errors_as_messages():
        here = scene_of(scenario())
        before = here.now.potentials
        step = gradient_step(before, _path(right_tags(here)), step_size(view_option("size", SIZE)))
        change(edits=here.scenario.edits.reaching(before, step.potentials))


def controls(lesson: Learning) -> None:
    """Draw the step size, the step button, and the reset button."""
    able, marks = bool(lesson.note), scenario().right
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.text("Step")
        bound_text("Step size", "size", SIZE, label_visibility="collapsed", width=64)
        st.button("Take the step", on_click=take_step, disabled=not able)
        bound_flag(st.toggle, "Only marked words", LEAVE, help=OPEN_HELP)
        st.button("Reset gold", on_click=set_right, args=({},), disabled=not marks)


@dataclass(frozen=True, eq=False)
class Training:
    """A run of EM. `starts[n]` has the parameters after n iterations, `steps[n]` the next one."""

    starts: Sequence[Parameters]
    steps: Sequence[Iteration]
    sequence: Sequence[int]
    names: tuple[Sequence[str], Sequence[str]]  # of states and symbols

    @property
    def width(self) -> int:
        """The number of parameters in the longest row of `numbers_of`."""
        return max(map(len, numbers_of(self.starts[0])))


def scene_with_states(own: Scene) -> Scene:
    """Return the scene, or the ice-cream diary if the scene's model is not a hidden Markov model.

    The diary does not change model and sentence in the bar; a button loads it.
    """
    if hidden_markov(own) is not None or ICE_CREAM not in cached.models():
        return own
    diary = max(cached.examples(ICE_CREAM), key=lambda example: len(example.tokens))
    now = replace(own.scenario, model=ICE_CREAM, sentence=diary.text, edits=Edits(), pins={})
    with st.container(horizontal=True, vertical_alignment="center", key="lent"):
        st.caption(
            plain(f"{own.model} is no hidden Markov model. This is Eisner's ice-cream diary."),
            width="content",
        )
        st.button(
            "Open the ice-cream diary",
            on_click=lambda: change(model=ICE_CREAM, sentence=diary.text),
            type="tertiary",
        )
    return scene_of(replace(now, right={}))


def training(scene: Scene, start: DeltaGenerator, length: DeltaGenerator) -> Training | None:
    """Draw the choice of start and iterations, and run EM; None, with a message, if it fails."""
    model = hidden_markov(scene)
    if model is None:
        st.info(f"EM learns the numbers of a hidden Markov model. {_way_to_one()}")
        return None
    starts = {name: f"start: {text}" for name, text in START_NAMES.items()}
    chosen = bound_select("Start", "start", starts, "model", at=start, label_visibility="collapsed")
    iterations = bound_tabs("Iterations", "iterations", ITERATIONS, ITERATIONS[0], at=length)
    if sum(map(len, numbers_of(model.parameters))) > MAX_NUMBERS:
        st.info(f"This model has more than {MAX_NUMBERS} numbers, too many to draw.")
        return None
    try:
        return trained(model, scene.words, chosen, int(iterations))
    except CrfvizError as error:
        st.error(plain(str(error)))
        return None


def _way_to_one() -> str:
    """Return what to do where the chosen model is no hidden Markov model."""
    names = (name for name in cached.models() if _chain_of(cached.known_tagger(name)))
    known = next(names, None)
    return plain(f"Choose one above, such as {known}.") if known else "This server has none."


def trained(model: HiddenMarkov, words: Sequence[str], start: str, iterations: int) -> Training:
    """Run EM on a sequence of observations, from one of `STARTS`.

    Raises:
        CrfvizError: there is no such start for these words.
    """
    sequence = [model.observations.index(word) for word in words]
    first = STARTS[start](model.parameters, sequence)
    steps = baum_welch(
        first.start, first.transitions, first.emissions, [sequence], iterations + 1, end=first.end
    )
    starts = [first, *(step.parameters for step in steps[:-1])]
    return Training(starts, steps, sequence, (model.states, model.observations))


def history(scene: Scene) -> pd.DataFrame | None:
    """Return a table of the iterations up to the scene's step; None if the model is no HMM."""
    model = hidden_markov(scene)
    if model is None:
        return None

    def chosen(option: str, known: Collection[str]) -> str:
        requested = scene.scenario.view.get(option, "")
        return requested if requested in known else next(iter(known))

    iterations = int(chosen("iterations", ITERATIONS))
    run = trained(model, scene.words, chosen("start", START_NAMES), iterations)
    done = em_walk(run.steps).at(scene.scenario.step, len(scene.words))
    return history_frame(run.starts[: done + 1], run.steps[: done + 1], run.names)


def hidden_markov(scene: Scene) -> HiddenMarkov | None:
    """Return the parameters of a scene's HMM; None if its model is no hidden Markov model."""
    return _chain_of(scene.tagger)


def _chain_of(tagger: object) -> HiddenMarkov | None:
    chain = tagger.chain if isinstance(tagger, MarkovTagger) else None
    return chain if isinstance(chain, HiddenMarkov) else None


def scrubber(run: Training, done: int) -> None:
    """Draw a slider over the iterations.

    The slider has another key at each step. After fast key presses the browser may send the value
    of the previous step, which would otherwise count as a choice.
    """
    last, key = len(run.steps) - 1, f"em.iteration.{done}"
    bound_to(
        st.slider,
        "Iteration",
        key,
        done,
        _go_to,
        label_visibility="collapsed",
        min_value=0,
        max_value=last,
    )


def _go_to(iteration: int) -> None:
    change(step=iteration)


def parameter_buttons(run: Training, done: int) -> Number:
    """Draw a button per parameter; return the chosen one, whose expected count is shown."""
    now = run.starts[done]
    rows = numbers_of(now)
    every = {_key(number): number for row in rows for number in row}
    default = _key(Number(TRANSITION, 0, min(1, len(run.names[0]) - 1)))
    open_ = every.get(view_option(CELL), every[default])
    for row in rows:
        columns = st.columns(run.width, gap="xxsmall")
        for column, number in zip(columns, row, strict=False):
            before = number.value(run.starts[done - 1]) if done else None
            column.button(
                _label(name_of(number, *run.names), moved(number.value(now), before)),
                key=f"em.{_key(number)}",
                type="primary" if number == open_ else "secondary",
                on_click=set_view_option,
                args=(CELL, _key(number), default),
                width="stretch",
            )
    return open_


def _label(name: str, value: str) -> str:
    """Return the text of a button in two lines: it breaks at the only space between the parts."""
    return " ".join(plain(part).replace(" ", NO_BREAK) for part in (name, value))


def _key(number: Number) -> str:
    return f"{number.kind} {number.of} {number.to}"


def days_table(scene: Scene, run: Training, done: int, number: Number) -> pd.DataFrame:
    """Return a row per day: what it adds to the count of `number`, and the states' posterior."""
    tables = posterior(run.starts[done], run.sequence)
    days = list(scene.numbered().values())
    table = pd.DataFrame(tables.marginals.numpy(), index=days, columns=list(run.names[0]))
    table.insert(0, use_of(number, *run.names), by_day(number, tables, run.sequence))
    return table
