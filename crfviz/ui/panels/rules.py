"""The page Rules, and the rule box that it shares with the page Model errors.

A valid rule is stored in the page option `RULE`. An invalid one is stored as a draft: the box keeps
it, with an error message, and the last valid rule stays active. The link has both.
"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from crfviz.chain.edits import Edits
from crfviz.chain.patterns import Automaton, automaton
from crfviz.chain.questions.rules import Match
from crfviz.exceptions import CrfvizError
from crfviz.text.schemes import is_bio
from crfviz.ui import cached
from crfviz.ui.fragments import redraw
from crfviz.ui.scene import MAX_COPIES, Scene, active_rule, exceeded_limit
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.page_options import choice_option
from crfviz.ui.session.scenario_state import scenario, set_view_option, view_option
from crfviz.ui.session.session_store import draft, set_draft
from crfviz.ui.stage import Drawn, draw, show_stage, steps_done, table_twin, take_scene
from crfviz.ui.state.scenario import MAX_DRAFT, RULE, RULE_DRAFT
from crfviz.ui.words import clean, plain
from crfviz.views.figures.automaton import automaton_html, move_frame
from crfviz.views.formatting import short
from crfviz.views.stage.picture import MAX_DRAWN_COPIES, Matrix, Picture, Subject
from crfviz.views.stage.walks import product_walk, rule_walk
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.rules import (
    Example,
    copies_legend,
    decoded_by_browser,
    rule_grids,
    rule_note,
    rule_probability,
    rule_rows,
)

SHOWS = {"lattice": "lattice", "states": "by state", "marginals": "marginals"}
SYNTAX = (
    "A regular expression over tags. `A B`: one after the other. `.`: any tag. `[A B]`: one of. "
    "`[^ A B]`: none of. `A|B`, `( )`, `A*`, `A+`, `A?`, `A{2}`, `A{1,3}`: as usual."
)
REMOVE = "It stays in force on all pages. Click to remove it."
COUNTS, PATH_ALONE = "Rule", "Rule (path only)"  # labels of the chip, as the next line
NOT_COUNTED, NOT_SHOWN, UNUSED = "Rule (not counted)", "Rule (not shown)", "Rule not in use"
# paths of the pages that only add the best path under the rule
PATH_SHOWN = ("", "emissions", "transitions", "viterbi", "hmm", "learn")
GIVEN = dict.fromkeys(
    ("marginals", "paths", "risk", "what-if", "why"), "Here only paths that match it count."
) | {  # tooltips by path of a page
    "entities": "Here the entities’ probabilities are given it.",
    "compare": "Here only paths that match it count, where it fits the tags of both sides.",
}
AUTOMATON, PRODUCT, SUM = 2, 3, 4  # steps of `rule_walk` that reveal each
PRICE = "The score of the best path minus that of the best path that matches."
BY_STATE = (
    "Each tag has a row for each state that it leads to. Every path of rows matches the rule."
)


def rule_box(tags: Sequence[str], known: Sequence[Example] = ()) -> str:
    """Draw the rule box and its error; return the active rule.

    Without a rule in the link, the first of the `known` rules is active; empty without any.
    """
    default = known[0].rule if known else ""
    kept, drafted = active_rule(tags), _draft()
    typed = drafted or view_option(RULE, default)
    about = next((f" · {each.about}" for each in known if each.rule == typed), "")
    label = plain(f"Rule{about}")
    bound_to(st.text_input, label, "rule", typed, _type, label_visibility="collapsed")
    problem = _problem(typed, tags) if typed else None
    if problem is not None:
        cut = len(typed) > MAX_DRAFT
        beginning = f" A reload keeps the first {MAX_DRAFT:,} characters." if cut else ""
        rest = f" Still in force: {kept.pattern}" if drafted and kept else ""
        st.warning(plain(f"The rule cannot be used. {problem}.{beginning}{rest}"))
    elif drafted:  # rejected under other tags, but valid under these
        rule = " ".join(drafted.split())
        st.button("Use this rule", on_click=set_rule, args=(rule,), help="It is not in force yet.")
    return kept.pattern if kept else default


def rule_chip(path: str) -> None:
    """Draw the active rule with a button to remove it.

    The label tells whether the page applies the rule, the tooltip how.
    """
    rule = view_option(RULE)
    if not rule:
        return
    tagger = cached.known_tagger(scenario().model)
    used = None if tagger is None else active_rule(tagger.tags)
    name, effect = (UNUSED, "") if used is None else _effect(path, used)
    st.button(
        plain(f"{name}: {rule}"),
        on_click=_remove,
        icon=":material/close:",
        help=plain(" ".join(filter(None, [rule, "·", effect, REMOVE]))),
        key="no_rule",
    )


def _effect(path: str, rule: Automaton) -> tuple[str, str]:
    """Return the chip's label and tooltip: how the page at a path uses the active rule."""
    if path == "rules":
        return COUNTS, ""
    if path in PATH_SHOWN:
        return PATH_ALONE, "Adds its best path; Z is of all paths."
    if path not in GIVEN:
        return NOT_SHOWN, "This page shows nothing of it."
    if path == "entities" and not is_bio(rule.tags):  # the page draws an example of another model
        return UNUSED, ""
    if len(rule.copies) > MAX_COPIES:
        return NOT_COUNTED, f"Not counted: {len(rule.copies)} tag copies, over {MAX_COPIES}."
    # Marginals draws a window of the whole sentence, which has a word limit
    if path == "marginals" and (most := exceeded_limit(scenario(), rule)):
        return NOT_COUNTED, f"Counted in up to {most:,} words only."
    return COUNTS, GIVEN[path]


def set_rule(rule: str) -> None:
    """Activate a rule and drop the draft; an empty rule deactivates."""
    set_view_option(RULE_DRAFT, "")
    set_view_option(RULE, rule)
    redraw()


def _remove() -> None:
    set_view_option(RULE, "")
    redraw()


def _type(typed: str | None) -> None:
    text = clean(typed or "")
    rule = " ".join(text.split())
    if rule and _problem(rule, cached.tagger(scenario().model).tags) is not None:
        set_draft(RULE_DRAFT, text)
        set_view_option(RULE_DRAFT, text[:MAX_DRAFT])
        redraw()
    else:
        set_rule(rule)


def _draft() -> str:
    """Return the rejected rule: as typed in this session, else the beginning that the link has."""
    linked, typed = view_option(RULE_DRAFT), draft(RULE_DRAFT)
    return typed if typed[:MAX_DRAFT] == linked else linked


def _problem(rule: str, tags: Sequence[str]) -> str | None:
    try:
        automaton(rule, tuple(tags))
    except CrfvizError as error:
        return _sentence(str(error))
    return None


def _sentence(message: str) -> str:
    return message[0].upper() + message[1:]


def choices(known: Sequence[Example], rule: str) -> None:
    """Draw a button for each example rule, and what the chosen one says."""
    with st.container(key="choices", horizontal=True, gap="small"):
        about = next((each.about for each in known if each.rule == rule), "Examples")
        st.caption(plain(about), help=SYNTAX)
        for each in known:
            label, about = plain(each.name), plain(each.about)
            st.button(label, on_click=set_rule, args=(each.rule,), help=about, type="tertiary")


def figures_panel(scene: Scene, rule: Automaton, found: Match | str, *, asked: bool) -> None:
    """Draw the rule's probability, price and automaton, each once the walk has reached its step.

    While a question is `asked`, the numbers are hidden.
    """
    share, price, graph = st.columns([1.4, 1.4, 4])
    probability, cost, exact = ("0", "∞ nats", "0") if scene.now.viterbi else ("–", "–", "")
    if not isinstance(found, str):
        probability, cost = rule_probability(found), f"{short(found.cost)} nats"
        exact = repr(found.probability)
    done = SUM if _is_by_state(rule) else steps_done(scene, rule_walk())
    if asked or done < SUM:
        probability, exact = "…", ""
    share.metric("P(rule)", probability, help=exact or None)
    price.metric("Price", "…" if asked or done < PRODUCT else cost, help=PRICE)
    if done >= AUTOMATON:
        graph.html(automaton_html(rule))


def show_rule(scene: Scene, rule: Automaton, found: Match | str) -> bool:
    """Draw the chain with and without the rule, and the tables of both.

    Returns:
        Whether a question waits for its answer.
    """
    if isinstance(found, str):
        way = "Choose another rule" if scene.now.viterbi else "Undo an edit or drop a pin"
        st.warning(plain(f"{_sentence(found)}. {way}."))
        rows = decoder_rows(scene.now, which=["viterbi"])
        show_stage(scene, Picture(["strips", "lattice"], rows), key="rules", asks=False)
        take_scene(scene)
        return False
    grids = rule_grids(scene.now, found)
    tables = Picture(
        ["strips", *(grid.name for grid in grids)],
        rule_rows(scene.now, found, rule),
        grids,
        compact=True,
        note=rule_note(scene.now, found),
        legend="frames: the best path · red dashes: differs from Viterbi",
        rule=decoded_by_browser(rule, scene.now.potentials),
        walk=rule_walk(),
    )
    lattice = Picture(
        ["strips", "lattice"],
        tables.rows,
        side=Matrix(),
        contrast="rule",
        note=tables.note,
        legend="thick: Viterbi path · red dashes: best path under the rule",
        rule=tables.rule,
        walk=tables.walk,
    )
    show, by_state = choice_option("rules", SHOWS, "lattice"), _is_by_state(rule)
    if show == "states" and not by_state:
        st.info(
            f"By state this rule has {len(rule.copies)} copies of tags, too many to draw. Choose a "
            f"rule with at most {MAX_DRAWN_COPIES}."
        )
    if by_state:
        drawn = Drawn(scene, tables)
        _show_states(scene, rule, replace(lattice, legend=copies_legend(rule, found.path)))
    else:
        drawn = show_stage(scene, tables if show == "marginals" else lattice, key="rules")
    if table_twin(drawn, picture=tables):
        st.text("The automaton")
        st.dataframe(move_frame(rule), hide_index=True)
    return drawn.withheld


def _is_by_state(rule: Automaton) -> bool:
    """Return whether the page draws the product with the automaton, a row per copy of a tag."""
    wanted = choice_option("rules", SHOWS, "lattice") == "states"
    return wanted and len(rule.copies) <= MAX_DRAWN_COPIES


def _show_states(scene: Scene, rule: Automaton, picture: Picture) -> None:
    """Draw the lattice with a row for each copy of a tag; dragging a score changes all copies."""
    now, edits = scene.scenario, scene.scenario.edits
    trained = cached.ruled(
        replace(now, edits=Edits(constrained=edits.constrained), pins={}), rule.pattern
    ).copies
    subject = Subject(
        trained=trained,
        now=cached.ruled(now, rule.pattern).copies if scene.edited else trained,
        edits=edits,
        pins=now.pins,
        rule=rule,
        probabilistic=scene.tagger.probabilistic,
        step=now.step,
    )
    rows = decoder_rows(subject.now, which=["viterbi"])
    walk = product_walk(possible=subject.now.viterbi is not None)
    draw(
        subject,
        replace(picture, rows=rows, note=BY_STATE, rule=None, walk=walk),
        key="rules.states",
    )
