"""The pictures of pages: a scene on the stage, its numbers as tables, and the downloads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.decoding.viterbi import margin
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import Match
from crfviz.ui import cached
from crfviz.ui.fragments import redraw
from crfviz.ui.live_room.broadcast import add_picture
from crfviz.ui.quiz_panel import ask_about
from crfviz.ui.scene import Scene, active_rule, example_of
from crfviz.ui.session.bound_widgets import bound_flag
from crfviz.ui.session.components import mount_stage, sent_events
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.scenario_state import NO_LETTERS, scenario, view_option
from crfviz.ui.session.stage_events import handle_events
from crfviz.ui.state.scenario import ON_RISK, covered
from crfviz.ui.widgets import download, narrowed
from crfviz.ui.words import plain
from crfviz.views.explanation import edit_list
from crfviz.views.exports.live import KEPT, PAGES, Live, origin_of
from crfviz.views.exports.live_page import live_page
from crfviz.views.exports.python_file import script
from crfviz.views.exports.tikz import tikz_of
from crfviz.views.formatting import claim_text
from crfviz.views.quiz.question import Ask
from crfviz.views.stage.picture import Grid, Matrix, Picture, Row, Subject
from crfviz.views.stage.walks import Walk
from crfviz.views.strips import pictures
from crfviz.views.strips.rules import with_rule

# Page options: the text in lattice nodes after the last column, the cell in the side panel and its
# display, which tags are folded, and the text direction.
NODES, CHOSEN, PANEL, FOLDED, DIRECTION = "nodes", "chosen", "panel", "folded", "direction"
TIKZ = {"transitions": "transitions", "forward-backward": "sweeps"}  # other pages: the lattice
GIVEN_AWAY = {"viterbi", "path", "note"}  # parts that the point of an example mentions
GIVEN = "Only paths that match the rule count."


@dataclass(frozen=True, eq=False)
class Drawn:
    """A picture of a scene as it is on the stage."""

    scene: Scene
    picture: Picture
    withheld: bool = False  # whether a question about it is unanswered


def with_ghost(scene: Scene, make: Callable[[Analysis], Grid]) -> Grid:
    return pictures.with_ghost(scene.now, scene.trained if scene.edited else None, make)


def show_stage(
    scene: Scene,
    picture: Picture,
    *,
    key: str,
    other: Scene | None = None,
    asks: bool = True,
    take_over: Callable[[], None] | None = None,
) -> Drawn:
    """Draw a scene on the stage, and return what was drawn.

    Each stage of a page needs a key of its own.

    Args:
        scene: the sentence and its numbers.
        picture: the parts to draw, such as rows and tables.
        key: the stage's name; some stages have quiz questions.
        other: a scene with the same words and tags, whose values are drawn as ghosts instead of
            the trained ones.
        asks: whether the stage draws the quiz question.
        take_over: loads the scene into the session if it differs; called before events about its
            words are applied.
    """
    now, picture = scene.scenario, _with_rule(scene, picture)
    rule = active_rule(scene.tags) if key == "rules" else None
    first = Ask("cost", rule=rule.pattern) if rule else None
    done = picture.walk.at(now.step, len(scene.words))
    asked = ask_about(scene.now, scene.trained, key, first, done) if asks else None
    withheld = asked.withheld([row.id for row in picture.rows]) if asked else []
    if withheld and isinstance(picture.side, Matrix):  # its ruler would reveal the flips
        picture = replace(picture, side=replace(picture.side, ruler=None))
    drawn = Drawn(scene, picture, bool(withheld))
    unedited = None if now.edits.constrained or other is not None else _unconstrained(scene)
    if scene.edited and picture.title is None:
        legend = " · ".join(filter(None, [picture.legend, pictures.GHOSTS]))
        picture = replace(picture, legend=legend)
    with_p = scene.tagger.probabilistic
    subject = Subject(
        trained=scene.trained if other is None else other.now,
        now=scene.now,
        edits=now.edits if other is None else Edits(),
        pins=now.pins,
        unedited=unedited,
        constrained=now.edits.constrained if scene.tagger.scheme else None,
        probabilistic=with_p,
        margin=None if with_p or scene.rule else margin(scene.now.sentence.potentials),
        step=now.step,
        nodes=view_option(NODES),
        covered=covered(now.view),
        withheld=withheld,
        chosen=scene.place(CHOSEN),
        panel=view_option(PANEL),
        folding=view_option(FOLDED),
    )
    draw(
        subject, picture, key=key, sentence=now.sentence if take_over else None, take_over=take_over
    )
    return drawn


def _with_rule(scene: Scene, picture: Picture) -> Picture:
    if scene.rule is not None:  # the browser knows the scores, but cannot apply the rule
        note = f"{GIVEN} {picture.note}".strip()
        return replace(picture, note=note, changeable=False)
    rule = active_rule(scene.tags)
    if rule is None:
        return picture
    match = cached.matched(scene.scenario, rule.pattern, windowed=scene.windowed)
    if isinstance(match, Match):
        match = replace(match, path=match.path[scene.first : scene.first + len(scene.words)])
    return with_rule(picture, rule, match, scene.now.sentence.potentials)


def draw(
    subject: Subject,
    picture: Picture,
    *,
    key: str,
    sentence: str | None = None,
    take_over: Callable[[], None] | None = None,
) -> None:
    """Draw any chain on a stage; its events change the scenario.

    Args:
        subject: the chain to draw.
        picture: the parts to draw, such as rows and tables.
        key: the stage's name.
        sentence: the sentence that positions in events refer to; by default the scenario's.
        take_over: as in `show_stage`.
    """
    name = f"stage.{key}"

    def on_events() -> None:
        handle_events(name, sent_events(name), take_over)
        redraw()

    data = mount_stage(
        replace(subject, direction=view_option(DIRECTION)),
        picture,
        key=name,
        on_events=on_events,
        sentence=scenario().sentence if sentence is None else sentence,
        letters=not flag_option(NO_LETTERS),
    )
    add_picture(data)


def table_twin(
    drawn: Drawn,
    *,
    picture: Picture | None = None,
    rows: Sequence[Row] = (),
    grids: Sequence[Grid] = (),
    page: str = "explore",
    code: str = "",
    keep: bool = False,
) -> bool:
    """Draw the tables of the picture above on request, to read, copy and download.

    The tables have the rows and grids of `picture`, by default of the drawn one, and the further
    ones given. Beside the switch are the point of an example, unless it is hidden, and the download
    menu, whose HTML file opens at `page`, or with `keep` at this picture as it is. `code` is added
    to the Python file.

    Returns:
        Whether the tables are drawn, so that a page can add its own.
    """
    scene, withheld = drawn.scene, drawn.withheld
    picture = picture or drawn.picture
    live = _live(scene, page, code, picture if keep else None)
    hidden = walking(scene, picture.walk) or withheld
    off = covered(scene.scenario.view)
    rows = [row for row in [*picture.rows, *rows] if row.id not in off]
    grids = [*picture.grids, *grids]
    example = None if hidden or GIVEN_AWAY.intersection(off) else example_of(scene.scenario)
    with st.container(key="twin", horizontal=True, vertical_alignment="center"):
        if example and example.claim:
            st.caption(plain(claim_text(example.claim)))
        has_tables = bound_flag(st.toggle, "Show tables", "twin")
        table = None if hidden else partial(_csv, scene, rows, grids)
        download_menu(live, table=table, page=page, disabled=withheld)
    if not has_tables:
        return False
    if hidden:
        st.caption(f"The tables come with the {'answer' if withheld else 'last step'}.")
        return False
    columns = list(scene.numbered().values())
    if rows:
        texts = pd.DataFrame([_texts(scene, row) for row in rows], columns=columns)
        st.dataframe(texts, column_config=narrowed(texts))
    with st.expander("The same numbers in Python"):
        st.code(script(live()), language="python")
    for grid in grids:
        st.text(grid.label)
        frame = pd.DataFrame(grid.values.T.numpy(), index=list(scene.tags), columns=columns)
        st.dataframe(frame, column_config=narrowed(frame))
    return True


def take_scene(
    scene: Scene,
    page: str = "explore",
    *,
    of: str = "",
    has_picture: bool = True,
    disabled: bool = False,
) -> None:
    """Draw the menu of downloads of a scene; see `download_menu`."""
    live = _live(scene, page)
    download_menu(live, of=of, page=page, has_picture=has_picture, disabled=disabled)


def download_menu(
    make: Callable[[], Live],
    *,
    table: Callable[[], str] | None = None,
    of: str = "",
    page: str = "explore",
    has_picture: bool = True,
    disabled: bool = False,
) -> None:
    """Draw the menu of downloads: the figure, its numbers, and code.

    Args:
        make: creates the inputs of the files; called in another thread after a click, like `table`.
        table: creates the numbers as CSV, if the page has any.
        of: names the scene on pages that have two.
        page: selects the picture in LaTeX.
        has_picture: whether the page has a picture, which the browser saves without the server.
        disabled: whether downloads are disabled now.
    """
    named = f"Download {of} as" if of else "Download as"

    def offer(kind: str, content: Callable[[], str | bytes], name: str, mime: str) -> None:
        download(f"{named} {kind}", content, name, mime, type="tertiary", disabled=disabled)

    drawing = TIKZ.get(page, "lattice")
    with (
        st.popover(f"Download {of}".strip(), type="tertiary", disabled=disabled),
        st.container(key=f"downloads.{of}"),
    ):
        st.caption("Figure")
        if has_picture and not of:
            st.html(
                "".join(
                    f'<button type="button" class="crfviz-save" data-save="{kind.lower()}">'
                    f"{named} {kind}</button>"
                    for kind in ("SVG", "PNG", "PDF")
                )
            )
        offer("LaTeX", lambda: tikz_of(make(), drawing), "crfviz.tex", "application/x-tex")
        offer("HTML", lambda: live_page(make(), list(PAGES)), "crfviz.html", "text/html")
        if table is not None:
            st.caption("Numbers")
            offer("CSV", table, "crfviz.csv", "text/csv")
        st.caption("Code")
        offer("Python", lambda: script(make()), "crfviz_example.py", "text/x-python")


def _csv(scene: Scene, rows: Sequence[Row], grids: Sequence[Grid]) -> str:
    """Return rows and grids as one table with a column per word; edits are a row of their own."""
    columns = list(scene.numbered().values())
    tables = {"tags": pd.DataFrame([_texts(scene, row) for row in rows], columns=columns)}
    for grid in grids:
        tables[grid.name] = pd.DataFrame(grid.values.T.numpy(), list(scene.tags), columns)
    if listed := edit_list(scene.scenario.edits, scene.now.sentence.words):
        tables["edits"] = pd.DataFrame(None, [listed], columns)
    return pd.concat(tables, names=["table", "row"]).to_csv()


def walking(scene: Scene, walk: Walk) -> bool:
    """Return whether steps of a walk are left, so that the result must stay hidden."""
    return steps_done(scene, walk) < walk.steps(len(scene.words))


def steps_done(scene: Scene, walk: Walk) -> int:
    return walk.at(scene.scenario.step, len(scene.words))


def show_steps(scene: Scene, walk: Walk, *, key: str) -> int:
    """Draw the buttons of a walk without a stage; return the number of steps done."""
    show_stage(
        scene, Picture([], walk=walk, title="", changeable=False), key=f"steps.{key}", asks=False
    )
    return steps_done(scene, walk)


def _live(
    scene: Scene, page: str, code: str = "", kept: Picture | None = None
) -> Callable[[], Live]:
    """Return a function that creates the inputs of the downloads of this screen, in any thread.

    It does not load the model, which may be deleted before the download.
    """
    now, rule = scene.scenario, active_rule(scene.tags)  # other threads have no session
    constrained = now.edits.constrained
    view = {name: text for name, text in now.view.items() if name in ON_RISK} if kept else {}
    origin = origin_of(scene.tagger, now.sentence, constrained=constrained)
    trained = scene.trained.sentence.potentials if constrained else _unconstrained(scene)
    return lambda: Live(
        trained,
        edits=now.edits,
        pins=now.pins,
        gold=None if scene.windowed else scene.gold,
        origin=replace(origin, view=view),
        probabilistic=scene.tagger.probabilistic,
        of_probabilities=scene.of_probabilities,
        rule=rule,
        opens=KEPT if kept else page,
        step=max(0, now.step) if now.step else None,
        covered=covered(now.view),
        direction=now.view.get(DIRECTION, ""),
        code=code,
        kept=kept,
    )


def _unconstrained(scene: Scene) -> Potentials:
    scores = cached.all_potentials if scene.windowed else cached.potentials
    return scores(scene.scenario.model, scene.scenario.sentence, constrained=False)


def _texts(scene: Scene, row: Row) -> pd.Series:
    texts = row.names(scene.tags) or ["–"] * len(scene.words)
    columns = list(scene.numbered().values())
    name = " ".join(row.columns) or f"{row.label} {row.value}".strip()
    return pd.Series(texts, index=columns, name=name)
