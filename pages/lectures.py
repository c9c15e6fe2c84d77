"""Lectures: edit a draft, play a lecture, open its speaker view, and see problems of its file."""

from crfviz.ui.lectures.overview import show_lectures
from crfviz.ui.shell.frame import header

header("Lectures")
show_lectures()
