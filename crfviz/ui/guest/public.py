"""The public functions for use in any Streamlit app; Streamlit is imported only by their calls."""

from collections.abc import Sequence

from crfviz.chain.potentials import Potentials, Tag
from crfviz.ui.guest.records import Labelled, Shown


def st_lattice(
    potentials: Potentials,
    *,
    view: str = "explore",
    gold: Sequence[Tag] | None = None,
    at: tuple[int, Tag] | None = None,
    editable: bool = True,
    height: int | None = None,
    key: str | None = None,
) -> Shown:
    """Draw the live stage in a Streamlit app, and return its state.

    The browser draws an edit at once and then runs the app once. Edits, selection and step stay
    under the same `key` while words and tags are the same, also with other scores. Invalid
    arguments show a message in place of the stage.

    Args:
        potentials: the scores, preferably with tags and tokens. Of more than 120 words a window is
            drawn, with the numbers of the whole sentence.
        view: one of "explore", "emissions", "transitions", "forward-backward", "viterbi",
            "marginals" and "why".
        gold: T gold tags, drawn as a row.
        at: the position and tag that "why" explains before a click; by default the most
            probable tag off the best path.
        editable: whether scores can be changed.
        height: pixels; a taller element scrolls. None fits the height to the element.
        key: identity in the app. Without a key, changed potentials reset the state, and equal
            potentials may be drawn only once.

    Returns:
        The state. `st.session_state[key]` holds it too; before the call it may be set to another
        `Shown` or to a dictionary with some of "edits", "selected" and "step".


    """
    from crfviz.ui.guest import lattice

    asked = lattice.Request(potentials, view, gold, at, editable=editable)
    return lattice.show(asked, height=height, key=key)


def st_labeller(
    tokens: Sequence[str],
    tags: Sequence[str],
    *,
    proposed: Sequence[str] | None = None,
    potentials: Potentials | None = None,
    key: str | None = None,
) -> Labelled:
    """Draw a sentence to be tagged by keys in a Streamlit app, and return its tags.

    With potentials, a correction also corrects its neighbours: the best path that has the reader's
    tags is shown. Invalid arguments show a message in place of the element. Keys work while the
    element has the focus.

    Args:
        tokens: T words, which cannot be split or joined.
        tags: the tags that keys set; for BIO tags keys mark whole entities.
        proposed: T tags to begin with; by default the best path of the potentials, else none.
        potentials: the scores of these words and tags; None for no scores.
        key: identity in the app. Under it the reader's tags stay while words, tags and proposed
            tags are the same, also with other scores. In a form each key waits for the submit
            button.

    Returns:
        The state. `st.session_state[key]` holds it too; before the call it may be set to another
        `Labelled` or to a dictionary with some of "tags" and "done".


    """
    from crfviz.ui.guest import labeller

    return labeller.show(labeller.Request(tokens, tags, proposed, potentials), key=key)
