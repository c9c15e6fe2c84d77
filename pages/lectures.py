"""The lectures there are: play one, open the speaker's window, see what is wrong with a file."""

from crfviz.ui.lectures.overview import show_lectures
from crfviz.ui.shell.frame import header

header("Lectures")
show_lectures()
