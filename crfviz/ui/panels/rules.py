"""The box of the rule, which the pages Rules and Model errors share.

A rule that can be read is a page option and in the link. What cannot is a draft: the box keeps it
beside its message, and the last rule that could be read stays in force.
"""

from collections.abc import Sequence

import streamlit as st

from crfviz.chain.patterns import automaton
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.fragments import redraw
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.current import scenario, set_view_option, view_option
from crfviz.ui.session.kept import draft, set_draft
from crfviz.ui.state.scenario import RULE
from crfviz.ui.words import plain

SYNTAX = (
    "A regular expression over tags: `A B` one after the other · `.` any tag · `[A B]` one of · "
    "`[^ A B]` none of · `A|B` · `( )` · `A*` `A+` `A?` `A{2}` `A{1,3}`"
)


def chosen_rule(tags: Sequence[str]) -> str | None:
    """Return the rule in force; None where there is none, or it cannot be read with these tags."""
    rule = view_option(RULE)
    return rule if rule and _problem(rule, tags) is None else None


def rule_box(tags: Sequence[str]) -> None:
    """Draw the box, and what is wrong with the rule in it."""
    typed = draft(RULE) or view_option(RULE)
    placeholder = f"Such as  [^ {tags[0]}]* {tags[0]} .*"
    bound_to(
        st.text_input, "Rule", "rule", typed, _type, placeholder=placeholder, help=plain(SYNTAX)
    )
    problem = _problem(typed, tags) if typed else None
    if problem is not None:
        kept = view_option(RULE) if draft(RULE) else ""
        rest = f" Still in force: {kept}" if kept else ""
        st.warning(plain(f"The rule cannot be used. {problem}.{rest}"))


def set_rule(rule: str) -> None:
    """Put a rule in force; empty for none."""
    set_draft(RULE, "")
    set_view_option(RULE, rule)
    redraw()


def _type(typed: str | None) -> None:
    rule = " ".join((typed or "").split())
    if rule and _problem(rule, cached.tagger(scenario().model).tags) is not None:
        set_draft(RULE, typed or "")
    else:
        set_rule(rule)


def _problem(rule: str, tags: Sequence[str]) -> str | None:
    try:
        automaton(rule, tuple(tags))
    except CrfvizError as error:
        message = str(error)
        return message[0].upper() + message[1:]
    return None
