"""The pages' pictures: a scene on the stage, with its table twin."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.decoding.k_best import margin
from crfviz.chain.edits import Edits
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.current import handle_events, set_view_option, view_option
from crfviz.ui.session.kept import last_event
from crfviz.ui.widgets.download import download
from crfviz.views.stage.component import mount
from crfviz.views.stage.parts import Panels, Row, Stage, Table
from crfviz.views.stage.payload import payload

GHOSTS = "▲ ▼ dotted: against the trained model"  # what the marks mean while edits are active


def with_ghost(scene: Scene, make: Callable[[Analysis], Table]) -> Table:
    """A table of the chain as it is now; while edits are active with the trained values, too."""
    table = make(scene.now)
    return replace(table, trained=make(scene.trained).values) if scene.edited else table


def show_stage(
    scene: Scene,
    panels: Panels,
    *,
    key: str,
    other: Scene | None = None,
    **parts: Any,  # noqa: ANN401 - fields of Stage
) -> None:
    """Draw a scene on the stage.

    Args:
        scene: the sentence under its model.
        panels: which parts of the stage to show.
        key: identity of the stage, one of its own for each of a page.
        other: a scene with the same words and tags whose values are the ghosts, instead of those
            of the trained model.
        parts: further fields of `crfviz.views.stage.payload.Stage`.
    """
    now, name = scene.scenario, f"stage.{key}"
    unedited = (
        None
        if now.edits.constrained or other is not None
        else cached.potentials(now.model, now.sentence, constrained=False)
    )
    if scene.edited and "title" not in parts:
        parts["legend"] = " · ".join(filter(None, [parts.get("legend"), GHOSTS]))
    data = Stage(
        words=scene.words,
        tags=scene.tags,
        trained=scene.trained if other is None else other.now,
        now=scene.now,
        edits=now.edits if other is None else Edits(),
        panels=panels,
        constrained=now.edits.constrained if scene.scheme == "BIO" else None,
        step=now.step,
        pins=now.pins,
        ack=last_event(name),
        unedited=unedited,
        probabilistic=scene.probabilistic,
        margin=None if scene.probabilistic else margin(scene.now.potentials),
        **parts,
    )
    mount("stage", payload(data), key=name, on_events=partial(handle_events, name))


def table_twin(
    scene: Scene, *, rows: Sequence[Row] = (), tables: Sequence[Table] = (), save: bool = False
) -> bool:
    """The picture above as plain tables, to read, copy and download; drawn only when asked for.

    Args:
        scene: the sentence under its model.
        rows: strips of the picture.
        tables: number tables of the picture.
        save: whether the lattice can be saved beside it.

    Returns:
        Whether the tables are drawn, so that a page can add its own.
    """
    wanted = view_option("twin") == "1"

    def store(chosen: bool) -> None:  # noqa: FBT001 - what st.toggle hands over
        set_view_option("twin", "1" if chosen else "0", "0")

    with st.container(horizontal=True, vertical_alignment="center"):
        bound_to(st.toggle, "Show the numbers as tables", "view.twin", wanted, store)
        if save:
            _save_lattice(scene)
    if not wanted:
        return False
    columns = [f"{t + 1} {word}" for t, word in enumerate(scene.words)]
    if rows:
        st.dataframe(pd.DataFrame([_texts(scene, row) for row in rows], columns=columns))
    for table in tables:
        st.text(table.label)
        frame = pd.DataFrame(table.values.T.numpy(), index=list(scene.tags), columns=columns)
        st.dataframe(frame)
    return True


def _save_lattice(scene: Scene) -> None:
    """A button that saves the lattice as one offline HTML page; built only when it is clicked."""

    def build() -> str:
        from crfviz.views.figures.lattice import lattice_html  # Plotly is slow to load

        return lattice_html(scene.now, scene.words, scene.tags)

    download("Save the lattice (HTML)", build, "lattice.html", "text/html", type="tertiary")


def _texts(scene: Scene, row: Row) -> pd.Series:
    if row.texts is not None:
        texts = list(row.texts)
    else:
        texts = ["–"] * len(scene.words) if row.tags is None else [scene.tags[k] for k in row.tags]
    columns = [f"{t + 1} {word}" for t, word in enumerate(scene.words)]
    name = " ".join(row.columns) or f"{row.label} {row.value}".strip()
    return pd.Series(texts, index=columns, name=name)
