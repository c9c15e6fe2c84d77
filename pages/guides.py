"""Guides: the documentation of the app and its library, inside the app."""

from crfviz.ui.panels.guides import GUIDES, show_guide
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.shell.frame import header

(choice,) = header("Guides", "content")
show_guide(bound_tabs("Guide", "guide", GUIDES, "pages", at=choice))
