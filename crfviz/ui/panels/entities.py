"""The page Entities: the chosen entity, the effect of the BIO rules, an example model.

The entity is the page option `v.entity=first last TYPE`, with positions from 0. If the model has no
BIO tags, the page draws an example of another model that has them.
"""

import re
from dataclasses import replace
from functools import partial
from urllib.parse import unquote

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import Edits
from crfviz.chain.questions.entities import ConstraintEffect, entity_types
from crfviz.text.schemes import begin, inside, is_bio, is_inside
from crfviz.ui import cached
from crfviz.ui.scene import Scene, scene_of
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.scenario_state import change, load_state, scenario
from crfviz.ui.session.session_store import get_value, set_value
from crfviz.ui.state.scenario import Scenario, with_sentence
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain, quote
from crfviz.views.formatting import format_probability
from crfviz.views.stage.entity import Span, path_entities
from crfviz.views.strips.decoders import constraint_note, effect_of_rules

ENTITY_OPTION = "entity"
_BEFORE = "entities.before"  # session key: the scenario that an example replaced
RULES = "BIO-legal tags only"
NO_RULES = (
    "BIO rules are off in this model: its scores are used as uploaded. The figures here show what "
    "the rules would change. To use them, upload the model with “BIO rules” switched on."
)

_WRITTEN = re.compile(r"(\d{1,4}) (\d{1,4}) (\S.*)", re.ASCII)


def has_entities(scene: Scene) -> bool:
    """Return whether the tags are BIO tags, even if the rules of BIO do not act in decoding."""
    return is_bio(scene.tags)


def chosen_entity(scene: Scene) -> Span:
    """Return the chosen entity, by default `first_entity`.

    For an invalid choice, a message is shown and the default is returned. The scene must have BIO
    tags and an allowed path.
    """
    requested = scene.scenario.view.get(ENTITY_OPTION)
    if not requested:
        return first_entity(scene)
    problem = _problem(scene, requested)
    if problem is None:
        return _read(requested)
    st.warning(plain(f"{problem} The first entity is shown instead."))
    return first_entity(scene)


def first_entity(scene: Scene) -> Span:
    """Return the entity of the error that was opened, else the first one on the best path.

    The gold entity at the error comes before the predicted one. Without any entity, return a
    one-word entity at the most probable B tag.
    """
    best = scene.now.viterbi
    on_path = path_entities([scene.tags[k] for k in best.path]) if best else []
    if opened := scene.place("at"):
        of_gold = path_entities([scene.tags[k] for k in scene.gold]) if scene.gold else []
        for label, first, last in [*of_gold, *on_path]:
            if first <= opened[0] <= last:
                return label, first, last
    if on_path:
        return on_path[0]
    labels = entity_types(scene.now.potentials)
    ids = [scene.tags.index(begin(label)) for label in labels]
    begins = scene.now.forward_backward.marginals[:, ids]  # (T, types)
    position, kind = divmod(int(begins.argmax()), len(labels))
    return labels[kind], position, position


def _read(text: str) -> Span:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return "", 0, 0
    return unquote(match[3]), int(match[1]), int(match[2])


def _problem(scene: Scene, text: str) -> str | None:
    """Return why the text of the page option is no entity of the scene; None if it is valid."""
    label, first, last = _read(text)
    types = entity_types(scene.now.potentials)
    count = len(scene.words)
    if not label:
        return f"Ignored the entity {quote(text)} in the address: expected “1 3 {types[0]}”."
    if label not in types:
        return f"{scene.model} has no entity type {quote(label)}: it knows {', '.join(types)}."
    if not first <= last < count:
        return (
            f"Words {first + 1} to {last + 1} are no span of this sentence: it has the words 1 to "
            f"{count}, and the first cannot come after the last."
        )
    if last > first and inside(label) not in scene.tags:
        return f"{scene.model} has no tag {inside(label)}: such entities have one word."
    return None


def constraint_panel(
    scene: Scene, head: DeltaGenerator
) -> tuple[Analysis, ConstraintEffect | None]:
    """Draw the switch for the BIO rules into `head`, and figures of their effect here.

    Returns:
        The chain without the rules, but with edits and pins; and the effect of the rules, None if
        no path is allowed.
    """
    now = scene.scenario
    free = cached.edited(replace(now, edits=replace(now.edits, constrained=False)))
    effect = effect_of_rules(free)
    if scene.tagger.scheme is None:
        head.toggle(RULES, value=False, disabled=True, help=NO_RULES, key="no-rules")
    else:
        bound_to(
            st.toggle,
            RULES,
            "constrained",
            now.edits.constrained,
            partial(_switch_rules, scene),
            help="Forbids I-X where no B-X or I-X stands before it. The entity below is computed "
            "with this switch as it stands.",
            at=head,
        )
    if effect is not None:
        row = st.container(key="figures-rules").columns([2, 1.5, 4], vertical_alignment="center")
        mass, changed, words = row
        mass.metric(
            "Illegal mass 1 − Z_legal / Z",
            _mass(effect.mass),
            help=f"{effect.mass!r}, of the chain without the rules",
        )
        count = "–" if effect.constrained is None else str(len(effect.changed))
        changed.metric("Words changed", count)
        words.markdown(plain(constraint_note(effect, free)))
    return free, effect


def _switch_rules(scene: Scene, on: bool) -> None:  # noqa: FBT001 - the value of a toggle
    take_over(scene)
    change(edits=replace(scenario().edits, constrained=on))


def trained_free(scene: Scene) -> Analysis | None:
    """Return the trained chain without the rules; None without edits."""
    if not scene.edited:
        return None
    return cached.edited(replace(scene.scenario, edits=Edits(constrained=False), pins={}))


def _mass(mass: float) -> str:
    if 0.0 < mass < 1e-4:
        return f"{mass:.3e}"
    return "> 0.99999" if 0.999995 <= mass < 1.0 else format_probability(mass, 5)


def scene_with_entities(own: Scene) -> Scene | None:
    """Return the scene, or the first example of a BIO model if the scene's model has no entities.

    The example does not change model and sentence in the bar. If the reader chooses an entity or
    switches the rules, the example is loaded into the session. A button beside the note goes back.

    Returns:
        The scene; None, with a message, if no model has BIO tags.

    """
    before: Scenario | None = get_value(_BEFORE)
    if has_entities(own):
        if before is not None and own.model != before.model:
            _note(f"The example on this page selected {own.model}.", before.model)
        return own
    set_value(_BEFORE, None)
    known = ((name, cached.known_tagger(name)) for name in cached.ready_models())
    name = next((name for name, tagger in known if tagger and tagger.scheme), None)
    if name is None:
        st.info(plain(f"{_why_none(own)} No other model has BIO tags."))
        return None
    example = scene_of(Scenario(name, cached.first_sentence(name)))
    _note(f"{_why_none(own)} This is {name} on its first example.", own.model, example)
    return example


def take_over(scene: Scene) -> None:
    """Load the scene of an example into the session, and remember the previous scenario.

    Does nothing if the scene has the session's model.
    """
    before, after = scenario(), scene.scenario
    if after.model != before.model:
        view = with_sentence(before, after.sentence).view
        load_state(replace(after, view=view))
        set_value(_BEFORE, before)


def _why_none(scene: Scene) -> str:
    if any(map(is_inside, scene.tags)):
        return (
            f"The tags of {scene.model} are not BIO tags: they are not O, B-… and I-… alone, with "
            "a B-… that begins an entity."
        )
    return f"{scene.model} tags single words and has no entities."


def _note(text: str, model: str, example: Scene | None = None) -> None:
    """Show which model the page uses, with a button that returns to the reader's model."""
    with st.container(horizontal=True, vertical_alignment="center", key="lent"):
        st.caption(plain(text), width="content")
        if example is not None:
            label = plain(f"Use {example.model}")
            st.button(label, on_click=take_over, args=(example,), key="open_bio", type="tertiary")
        label = plain(f"Back to {model}")
        st.button(label, on_click=_go_back, key="back_from_example", type="tertiary")


def _go_back() -> None:
    before: Scenario | None = get_value(_BEFORE)
    if before is not None:
        load_state(before)
    set_value(_BEFORE, None)
    request_page("")
