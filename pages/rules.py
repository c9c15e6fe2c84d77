"""Rules over the tags: how probable one is, what it costs, and the chain under it."""

import streamlit as st

from crfviz.chain.patterns import automaton
from crfviz.ui import cached
from crfviz.ui.panels.rules import choices, figures_panel, rule_box, show_rule
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.views.strips.rules import examples

_, box = header("Rules", 1, 4)
current = scene()
known = examples(current.tags)
with box:
    rule = automaton(rule_box(current.tags, known), current.tags)
choices(known)
found = cached.matched(current.scenario, rule.pattern)
place = st.container()
asked = show_rule(current, rule, found)
with place:
    figures_panel(current, rule, found, asked=asked)
