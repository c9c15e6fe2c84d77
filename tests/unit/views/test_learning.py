"""What is said of a step is what the step was."""

import math

from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.views.explanation import step_note
from tests.support import oracle

COIN = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])


def test_the_note_says_before_after_and_what_was_predicted():
    """Three coins: a loss of log 8; gradient 1/2 in the four transitions and in start and end."""
    step = gradient_step(COIN, [0, 0, 1], 0.5)
    moved = step.potentials
    after = oracle.log_partition(moved) - oracle.paths(moved)[0, 0, 1]
    change = f"−{math.log(8) - after:.4f}"
    assert step_note(step, COIN, math.log(8)).startswith(
        f"−log p(right tags): 2.0794 → {after:.4f} nats after this step (2.0794 as trained): "
        f"{change}, where the gradient predicts −1.0000 at first order. Most change "
    )
    assert "(∞ as trained)" in step_note(step, COIN, math.inf)


def test_the_note_names_the_weights_that_change_most_before_and_after():
    right = [0, 1, 0]
    step = gradient_step(COIN, right, 1.0)
    before, after = oracle_weights(COIN), oracle_weights(step.potentials)
    largest = max(before, key=lambda weight: abs(after[weight] - before[weight]))
    told = step_note(step, COIN, 0.0).partition("Most change ")[2]
    source, target = largest
    size = f"{abs(after[largest] - before[largest]):.2f}"
    assert told.count("→") == 2 * 3
    assert size in told.split(",")[0]
    assert {source, target} <= {"START", "END", *COIN.tag_names}


def oracle_weights(chain):
    """Each weight of the layer by the names of its tags."""
    names = chain.tag_names
    moves = {
        (a, b): chain.transitions[i][j].item()
        for i, a in enumerate(names)
        for j, b in enumerate(names)
    }
    starts = {("START", tag): chain.start[k].item() for k, tag in enumerate(names)}
    return moves | starts | {(tag, "END"): chain.end[k].item() for k, tag in enumerate(names)}
