"""What is said of a step is what the step was."""

import math

from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gradient import gradient_step
from crfviz.views.explanation import step_note
from tests import oracle

COIN = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])


def test_the_note_says_before_after_and_what_was_predicted():
    """Three coins: a loss of log 8; gradient 1/2 in the four transitions and in start and end."""
    step = gradient_step(COIN, [0, 0, 1], 0.5)
    moved = step.potentials
    after = oracle.log_partition(moved) - oracle.paths(moved)[0, 0, 1]
    change = f"−{math.log(8) - after:.4f}"
    assert step_note(step, math.log(8)) == (
        f"−log p(right tags): 2.0794 nats now (2.0794 as trained), {after:.4f} after the step: "
        f"{change}, where the gradient predicts −1.0000 at first order."
    )
    assert "(∞ as trained)" in step_note(step, math.inf)
