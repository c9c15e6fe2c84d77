"""The states of the elements, which their functions return and the app's session holds."""

from dataclasses import dataclass, field

from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials

VIEWS = (
    "explore",
    "emissions",
    "transitions",
    "forward-backward",
    "viterbi",
    "marginals",
    "why",
)


@dataclass(frozen=True, eq=False)
class Shown:
    """The state of a stage: what `st_lattice` returns and `st.session_state[key]` holds."""

    potentials: Potentials  # with the reader's edits
    edits: Edits = field(default_factory=Edits)
    selected: tuple[int, str] | None = None  # position from 0 and tag name of the last click
    step: int = 0  # number of steps done of the view's walk


@dataclass(frozen=True, eq=False)
class Labelled:
    """The state of a labeller: what `st_labeller` returns and `st.session_state[key]` holds."""

    tags: tuple[str, ...]  # T tags; empty strings for untagged words
    done: bool = False  # whether the reader accepted the sentence
