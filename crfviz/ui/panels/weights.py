"""The weights of the matrix: which one is asked about, where tags flip, how they are written."""

from crfviz.chain.edits import END, START
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_tabs
from crfviz.ui.session.current import view_option
from crfviz.views.stage.picture import Mark, Ruler
from crfviz.views.strips.what_if import strength_marks

SCORE, PROBABILITY = "score", "probability"


def chosen_ruler(scene: Scene) -> Ruler | None:
    """The tipping points of the cell that has the focus; None where no cell was chosen."""
    before, _, after = view_option("weight").partition(" ")
    names = scene.tags
    if (
        before not in (*names, START)
        or after not in (*names, END)
        or (before, after) == (START, END)
    ):
        return None
    if scene.windowed:  # tipping points of a long chain take minutes
        return None
    move = (before, after)
    trained = scene.trained.potentials
    many = not trained.homogeneous and before != START and after != END
    if many and move not in scene.scenario.edits.transitions:
        return None  # each step has its own value: there is no one place on the ruler
    try:
        return cached.ruler(scene.scenario, move)
    except CrfvizError:  # no allowed path: the page says so already
        return None


def flip_marks(scene: Scene) -> list[Mark]:
    """Where a tag flips along the strength of the CRF; none where no path is allowed.

    None of a long sentence either: they take minutes.
    """
    if scene.windowed:
        return []
    try:
        pieces = cached.strength_pieces(scene.scenario)
    except CrfvizError:  # the page says so already
        return []
    return strength_marks(pieces, scene.now)


def weight_display(scene: Scene) -> str:
    """Draw the switch where it means something.

    Returns:
        `PROBABILITY` where the matrix should show exp of its scores, else `SCORE`.
    """
    if not scene.of_probabilities:
        return SCORE
    return bound_tabs("Show", "weights", [SCORE, PROBABILITY], PROBABILITY)
