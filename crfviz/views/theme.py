"""Tag colours, and the few colours with a fixed meaning.

The first eight are the palette of Okabe and Ito (2008), made for the common colour-blindnesses;
larger tag sets use hues between them, which are harder to tell apart. Colours are
mid-tones: the stage mixes them with the page's background for tints and with the page's ink for
text, so that they work in light and dark. They never carry meaning alone.
"""

from collections.abc import Sequence
from itertools import cycle

from crfviz.text.schemes import OUTSIDE, UPOS, split_tag

GREY = "#8C8C8C"
INK = "#7A7F87"  # of lines in charts: seen on white and on black
OF_TEXT = "currentColor"  # of words and numbers in charts: that of the page's text, light or dark

PALETTE = (
    "#0072B2",  # blue
    "#D55E00",  # vermillion
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#E69F00",  # orange
    "#56B4E9",  # sky blue
    GREY,  # instead of black, which is invisible on a dark page
    "#B8A800",  # their yellow, darkened to be visible on white
    "#7B5EA7",
    "#6B8E23",
    "#5F7A8A",
    "#A0522D",
    "#C2185B",
    "#20B2AA",
    "#B5892B",
    "#4B6FD6",
    "#9C6B9E",
)

_LETTERS = {
    "labelFontSize": 14,  # pixels
    "titleFontSize": 14,
    "labelColor": OF_TEXT,
    "titleColor": OF_TEXT,
}
_AXIS = {**_LETTERS, "labelFlush": False}  # Streamlit would move the outer labels off their rows
READABLE = {"axis": _AXIS, "header": _LETTERS, "legend": _LETTERS}  # config of every chart

# Universal POS tags have the same colour in every model; frequent neighbours have distant hues.
UPOS_COLOURS = dict(zip(UPOS, PALETTE, strict=True))

POSITIVE = "#0072B2"  # scores above zero
NEGATIVE = "#D55E00"  # scores below zero
DIFFERS = "#D1264A"  # "differs" and "edited", always with dashes or words beside it


def tag_colours(tags: Sequence[str]) -> list[str]:
    """Return a colour for each tag, as hex strings in the order of `tags`.

    B-X and I-X share their type's colour; O is grey. Tags that are not Universal POS tags take
    what is left of the palette in order, again from its beginning where it is used up.
    """
    known = {OUTSIDE: GREY, **UPOS_COLOURS}
    used = {known[tag] for tag in tags if tag in known}
    free = [colour for colour in PALETTE if colour not in used] or PALETTE
    types = dict.fromkeys(split_tag(tag)[1] for tag in tags if tag not in known)
    by_type = dict(zip(types, cycle(free), strict=False))
    return [known.get(tag) or by_type[split_tag(tag)[1]] for tag in tags]
