"""Rules over the tags: the probability and the cost of a rule, and the chain under it."""

import streamlit as st

from crfviz.chain.patterns import automaton
from crfviz.ui import cached
from crfviz.ui.panels.rules import SHOWS, choices, figures_panel, rule_box, show_rule
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.views.strips.rules import examples

box, show = header("Rules", 300, "content")
current = scene()
known = examples(current.tags)
with box:
    rule = automaton(rule_box(current.tags, known), current.tags)
bound_tabs("Show", "rules", SHOWS, "lattice", at=show)
found = cached.matched(current.scenario, rule.pattern)
place, tries = st.container(key="figures-rule").columns([3, 1])
with tries:
    choices(known, rule.pattern)
asked = show_rule(current, rule, found)
with place:
    figures_panel(current, rule, found, asked=asked)
