"""Practise: carry out α, β or Viterbi on the lattice, one graded question at a time."""

from crfviz.ui.panels.practise import choose, practise
from crfviz.ui.shell.frame import header

left, right = header("Practise", "content", "content")
practise(choose(left, right))
