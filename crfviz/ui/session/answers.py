"""What a stage is answered: its whole picture, or what changed since a whole one that is there.

What a reader edits the browser has drawn already, by the same recursions: an answer need not say
it again. Each whole picture has a name, and an event says which one its browser has. Changes are
always those since that one, not since the last answer, so that an answer may get lost, or another
overtake it. Whatever else draws a page, or a browser that has no picture or another one, is
answered with the whole.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex

from crfviz.ui.session.kept import of_session
from crfviz.ui.streamlit_compat import is_fragment_run
from crfviz.views.stage.payload import changes

NAME, SINCE, HAS = "whole", "since", "has"  # of a payload, of changes, of an event
WHOLE = "whole"  # the kind of an event that asks for the whole picture
MOST = 2  # pictures of a page, kept with each session

_HEARD = "stages heard"  # by stage the picture that its browser has, in a run that it asked for


@dataclass(frozen=True)
class _Whole:
    name: str
    data: Mapping[str, object]


def hear(stage: str, events: Sequence[Mapping[str, object]]) -> None:
    """Note which picture the browser has that sent these events, oldest first.

    It may ask for the whole one again.
    """
    if events:
        again = any(event.get("kind") == WHOLE for event in events)
        of_session(_HEARD, dict[str, object])[stage] = None if again else events[-1].get(HAS)


def answer(stage: str, data: Mapping[str, object]) -> dict[str, object]:
    """What is to be sent in place of a stage's payload."""
    heard = of_session(_HEARD, dict[str, object]).pop(stage, None)
    wholes = of_session("stages", OrderedDict[str, _Whole])
    known = wholes.get(stage)
    if known is not None and known.name == heard and is_fragment_run():
        return {**changes(data, known.data), SINCE: known.name}
    wholes[stage] = _Whole(token_hex(8), data)
    wholes.move_to_end(stage)
    if len(wholes) > MOST:
        wholes.popitem(last=False)
    return {**data, NAME: wholes[stage].name}
