"""EM on the sentence of a textbook HMM: the run, its scrubber, and the parameters as buttons."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from crfviz.chain.baum_welch import Iteration, Parameters, baum_welch, posterior
from crfviz.chain.questions.em import STARTS, TRANSITION, Number, by_day, numbers_of
from crfviz.exceptions import CrfvizError
from crfviz.taggers.textbook import HiddenMarkov, MarkovTagger
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_buttons, bound_select, bound_to
from crfviz.ui.session.current import change, set_view_option, view_option
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain
from crfviz.views.frames.em import em_walk, history_frame, moved, name_of, use_of

ICE_CREAM = "textbook/ice-cream"
START_NAMES = {
    "model": "the model's numbers",
    "better": "counts of its best path",
    "symmetric": "all states alike",
    "zero": "one emission is 0",
}
ITERATIONS = ("11", "30", "100")
MAX_NUMBERS = 60  # parameters that are drawn as buttons
NO_BREAK = "\N{NO-BREAK SPACE}"
CELL = "count"  # page option: the parameter whose count is opened


@dataclass(frozen=True, eq=False)
class Training:
    """A run of EM; position n of both lists is what n iterations reached."""

    starts: Sequence[Parameters]
    steps: Sequence[Iteration]
    sequence: Sequence[int]
    names: tuple[Sequence[str], Sequence[str]]  # of states and symbols

    @property
    def width(self) -> int:
        """How many numbers stand in a row."""
        return max(map(len, numbers_of(self.starts[0])))


def training(scene: Scene, start: DeltaGenerator, length: DeltaGenerator) -> Training | None:
    """Run EM from the chosen start; None where the page says why not."""
    model = hidden_markov(scene)
    if model is None:
        st.info("EM learns the numbers of a hidden Markov model. Choose a textbook model with one.")
        if ICE_CREAM in cached.models():
            diary = max(cached.examples(ICE_CREAM), key=lambda example: len(example.tokens))
            st.button(
                "Open the ice-cream diary",
                on_click=lambda: change(model=ICE_CREAM, sentence=diary.text),
            )
        return None
    chosen = bound_select("Start", "start", START_NAMES, "model", at=start)
    iterations = bound_buttons("Iterations", "iterations", ITERATIONS, ITERATIONS[0], at=length)
    given = Parameters(model.start, model.transitions, model.emissions, model.end)
    if sum(map(len, numbers_of(given))) > MAX_NUMBERS:
        st.info(f"This model has more than {MAX_NUMBERS} numbers, too many to draw.")
        return None
    try:
        return trained(model, scene.words, chosen, int(iterations))
    except CrfvizError as error:
        st.error(plain(str(error)))
        return None


def trained(model: HiddenMarkov, words: Sequence[str], start: str, iterations: int) -> Training:
    """Run EM on a sequence of observations, from one of `STARTS`.

    Raises:
        CrfvizError: there is no such start for these words.
    """
    sequence = [model.observations.index(word) for word in words]
    given = Parameters(model.start, model.transitions, model.emissions, model.end)
    first = STARTS[start](given, sequence)
    steps = baum_welch(
        first.start, first.transitions, first.emissions, [sequence], iterations + 1, end=first.end
    )
    starts = [first, *(step.parameters for step in steps[:-1])]
    return Training(starts, steps, sequence, (model.states, model.observations))


def history(scene: Scene) -> pd.DataFrame | None:
    """Every iteration up to the step of the scene; None where the model has nothing to learn."""
    model = hidden_markov(scene)
    if model is None:
        return None
    wanted = scene.scenario.view.get("start", "model")
    start = wanted if wanted in START_NAMES else "model"
    run = trained(model, scene.words, start, int(ITERATIONS[0]))
    done = em_walk(run.steps).at(scene.scenario.step, len(scene.words))
    return history_frame(run.starts[: done + 1], run.steps[: done + 1], run.names)


def hidden_markov(scene: Scene) -> HiddenMarkov | None:
    """The HMM of a textbook chain or of `from_hmm`; None for every other model."""
    tagger: object = scene.tagger
    chain = tagger.chain if isinstance(tagger, MarkovTagger) else None
    return chain if isinstance(chain, HiddenMarkov) else None


def scrubber(run: Training, done: int) -> None:
    """A slider over the iterations, beside the keys.

    Each step has a slider of its own: with fast keys the browser sends the value of the step
    before, which would count as a choice.
    """
    last, key = len(run.steps) - 1, f"em.iteration.{done}"
    bound_to(st.slider, "Iteration", key, done, _go_to, min_value=0, max_value=last)


def _go_to(iteration: int) -> None:
    change(step=iteration)


def parameter_buttons(run: Training, done: int) -> Number:
    """A button for each parameter, which opens its count; gives the one that is open."""
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
    """The two lines of a button, which breaks at blanks."""
    return " ".join(plain(part).replace(" ", NO_BREAK) for part in (name, value))


def _key(number: Number) -> str:
    return f"{number.kind} {number.of} {number.to}"


def days_table(scene: Scene, run: Training, done: int, number: Number) -> pd.DataFrame:
    """A row per day: what it adds to the count of a number, and the posterior of the states."""
    tables = posterior(run.starts[done], run.sequence)
    days = list(scene.numbered().values())
    table = pd.DataFrame(tables.marginals.numpy(), index=days, columns=list(run.names[0]))
    table.insert(0, use_of(number, *run.names), by_day(number, tables, run.sequence))
    return table
