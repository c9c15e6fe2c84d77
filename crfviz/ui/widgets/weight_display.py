"""The switch between scores and probabilities, for models whose scores are logarithms of these."""

from crfviz.ui.scene import Scene
from crfviz.ui.state.bound import bound_buttons

SCORE, PROBABILITY = "score", "probability"


def weight_display(scene: Scene) -> str:
    """Draw the switch where it means something.

    Returns:
        `PROBABILITY` where the matrix should show exp of its scores, else `SCORE`.
    """
    if not scene.of_probabilities:
        return SCORE
    return bound_buttons(
        "Show",
        "weights",
        [SCORE, PROBABILITY],
        PROBABILITY,
        label_visibility="collapsed",
    )
