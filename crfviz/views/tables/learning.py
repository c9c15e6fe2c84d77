"""One step of learning in words."""

import math

from crfviz.chain.questions.gradient import GradientStep


def step_note(step: GradientStep, trained: float) -> str:
    """The loss of the right tags as trained, now and after the step, and what was predicted.

    Args:
        step: the step from the weights as they are now.
        trained: -log p of the right tags under the trained weights, nats; may be infinite.
    """
    change = step.loss_after - step.loss_before
    return (
        f"−log p(right tags): {_nats(step.loss_before)} nats now ({_nats(trained)} as trained), "
        f"{_nats(step.loss_after)} after the step: {_signed(change)}, where the gradient predicts "
        f"{_signed(step.predicted)} at first order."
    )


def _nats(value: float) -> str:
    return "∞" if value == math.inf else f"{value:.4f}"


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
