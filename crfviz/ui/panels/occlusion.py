"""Where the clicked emission comes from: the sentence scored again with each word hidden."""

from dataclasses import dataclass, field

import pandas as pd

from crfviz.chain.distribution import position_entropies
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.state.scenario import MAX_WORDS
from crfviz.views.stage.picture import Row
from crfviz.views.strips.why import (
    Watched,
    occlusion_frame,
    occlusion_note,
    occlusion_rows,
)


@dataclass(frozen=True)
class Origin:
    """Where one emission comes from."""

    asked: tuple[int, int]  # position and tag id of the emission
    note: str
    rows: list[Row] = field(default_factory=list)
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)  # the rows as a table


def origin(scene: Scene) -> Origin:
    """What hiding each word does to the clicked emission, at first that of the least certain word.

    The emissions are the tagger's own, without edits; the decoded tags are those with the edits.
    """
    now = scene.scenario
    position, tag = asked = scene.place("cell") or least_certain(scene)
    if scene.windowed:
        return Origin(asked, f"Words are hidden one by one in sentences of up to {MAX_WORDS} only.")
    try:
        occlusion = cached.occlusion(now.model, now.sentence, constrained=now.edits.constrained)
    except CrfvizError as error:
        return Origin(asked, f"{error}.")
    watched = Watched(
        position,
        tag,
        change=occlusion.change(position, tag).tolist(),
        path=scene.now.paths["viterbi"],
        hidden=cached.hidden_paths(now),
        words=scene.words,
        tags=scene.tags,
    )
    note, rows = occlusion_note(watched), occlusion_rows(watched)
    return Origin(asked, note, rows, occlusion_frame(watched))


def least_certain(scene: Scene) -> tuple[int, int]:
    """The word with the largest entropy as trained, and its tag there."""
    trained = scene.trained
    position = int(position_entropies(trained.forward_backward).argmax())
    path = trained.paths["viterbi"] or trained.greedy
    return position, path[position]
