"""Homework: compare a student's table with the right one, or replay the trace of a program."""

from crfviz.chain.homework.programs import ALPHA
from crfviz.ui.panels.homework import ordered, show_checked, show_trace, table_box
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.views.frames.homework import KIND_NAMES

(choice,) = header("Homework", "content")
current = scene()
if show_trace():
    end_page()
kind = bound_tabs("Table of", "kind", KIND_NAMES, ALPHA, at=choice)
table = table_box(current, kind)
if table is not None:
    show_checked(current, kind, ordered(current, kind, table))
