"""A scene as a static picture: tags, lattice, tables with a column per word, matrices.

An SVG without scripts, fonts or links, on white, for thumbnails and paper. Colour is never the only
sign: tags are written, the best path is a thick line. Letters: `T` words, `K` tags.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from unicodedata import category, combining, east_asian_width

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.text.direction import runs_right_to_left
from crfviz.views.formatting import format_probability, score
from crfviz.views.stage.picture import Grid, Row
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.theme import tag_colours

NONE: Mapping[str, Tensor] = MappingProxyType({})
MARGINALS = "marginals"  # a part that can be hidden, besides those of the stage
ROWS = ("greedy", "left_to_right", "viterbi", "max_marginal", "gold")
_LABEL, _COLUMN, _ROW, _HEAD, _CELL = 110, 76, 26, 30, 56  # pixels
_LETTER = 7  # pixels, approximate width of a letter
_NARROW = frozenset(" fijlrt.,:;'")  # letters
_GAP = 14  # between two parts
_LEAST = 0.01  # tags with a smaller marginal at every word are left out
_RADIUS = (3.0, 7.0)  # pixels: radius of a node, and the part that grows with its marginal
_INK, _LINE = "#14171c", "#b9bec6"


def still(
    analysis: Analysis,
    *,
    hidden: Collection[str] = (),
    gold: Sequence[int] | None = None,
    rows: Sequence[Row] = (),
    grids: Sequence[Grid] = (),
    matrices: Mapping[str, Tensor] = NONE,
    direction: str = "",
) -> str:
    """Return the picture as SVG.

    Args:
        analysis: the chain to draw.
        hidden: names of rows and grids, "path", "lattice" and `MARGINALS`; hidden rows and grids
            leave an empty place.
        gold: T tag ids, if known.
        rows: further rows, below those of the decoders.
        grids: tables below the lattice.
        matrices: (K, K) or (T-1, K, K) numbers by title, below everything else.
        direction: the direction of the columns, "ltr" or "rtl"; by default that of the sentence.
    """
    place = _Columns(len(analysis.words), runs_right_to_left(analysis.words, direction))
    every = [*decoder_rows(analysis, which=ROWS, gold=gold), *rows]
    parts = [_words(analysis, place), *_rows(analysis, every, hidden, place)]
    if "lattice" not in hidden:
        parts.append(_lattice(analysis, hidden, place))
    width = _LABEL + _COLUMN * len(analysis.words)
    parts += [_grid(analysis, grid, place, empty=grid.name in hidden) for grid in grids]
    parts += [_matrix(analysis, name, numbers) for name, numbers in matrices.items()]
    captions = [*(grid.label for grid in grids), *matrices]
    width = max([width, *(_LABEL + _LETTER * len(text) for text in captions)])
    if matrices:
        width = max(width, _LABEL + _CELL * (len(_shown(analysis)) + 1))
    drawn, y = [], 0
    for height, content in parts:
        drawn.append(f'<g transform="translate(0 {y})">{content}</g>')
        y += height
    words = escape(" ".join(analysis.words), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" '
        f'height="{y}" role="img" aria-label="{words}" font-family="sans-serif" font-size="14" '
        f'fill="{_INK}"><rect width="{width}" height="{y}" fill="#ffffff"/>{"".join(drawn)}</svg>'
    )


Part = tuple[int, str]  # height in pixels, and SVG


@dataclass(frozen=True)
class _Columns:
    """The places of the words' columns, with the names of rows before the first word."""

    count: int
    rtl: bool

    @property
    def left(self) -> int:
        return 0 if self.rtl else _LABEL

    def x(self, t: int) -> int:
        column = self.count - 1 - t if self.rtl else t
        return self.left + column * _COLUMN + _COLUMN // 2

    def name(self, y: float, text: str, *, room: float = 0) -> str:
        """Return the name of a row, beside the first word's column."""
        if self.rtl:
            return _text(self.count * _COLUMN + 10, y, text, anchor="start", room=room)
        return _text(_LABEL - 10, y, text, anchor="end", room=room)


def _words(analysis: Analysis, place: _Columns) -> Part:
    texts = (
        _text(place.x(t), _HEAD - 10, word, bold=True, room=_COLUMN - 6)
        for t, word in enumerate(analysis.words)
    )
    return _HEAD, "".join(texts)


def _rows(
    analysis: Analysis, rows: Sequence[Row], hidden: Collection[str], place: _Columns
) -> Iterator[Part]:
    colours = tag_colours(analysis.tags)
    for row in rows:
        value = "" if row.id in hidden else row.value
        label = f"{row.label} {value}".strip()
        drawn = [place.name(_ROW - 9, label, room=_LABEL - 14)]
        for t in range(len(analysis.words)):
            seen = row.tags is not None and row.id not in hidden
            k = row.tags[t] if row.tags is not None and seen else None
            fill = "#ffffff" if k is None else colours[k]
            drawn.append(
                f'<rect x="{place.x(t) - _COLUMN // 2 + 2}" y="2" width="{_COLUMN - 4}" '
                f'height="{_ROW - 4}" rx="4" fill="{fill}" fill-opacity="0.18" stroke="{_LINE}"/>'
            )
            if k is not None:
                drawn.append(_text(place.x(t), _ROW - 9, analysis.tags[k], room=_COLUMN - 8))
        yield _ROW, "".join(drawn)


def _lattice(analysis: Analysis, hidden: Collection[str], place: _Columns) -> Part:
    shown, colours = _shown(analysis), tag_colours(analysis.tags)
    y = {k: _GAP + _ROW * row + _ROW / 2 for row, k in enumerate(shown)}
    shares = analysis.forward_backward.marginals.tolist()
    drawn = [
        f'<path d="M{place.left} {y[k]}h{_COLUMN * len(shares)}" stroke="#e3e6ea"/>'
        + place.name(y[k] + 5, analysis.tags[k])
        for k in shown
    ]
    path = None if analysis.viterbi is None or "path" in hidden else analysis.viterbi.path
    if path is not None:
        points = " ".join(f"{place.x(t)},{y[k]:g}" for t, k in enumerate(path))
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{_INK}" stroke-width="4"/>')
    for t, column in enumerate(shares):
        x = place.x(t)
        for k in shown:
            share = 0.0 if MARGINALS in hidden else column[k]
            radius = _RADIUS[0] + _RADIUS[1] * share
            drawn.append(
                f'<circle cx="{x}" cy="{y[k]:g}" r="{radius:.1f}" fill="{colours[k]}" '
                f'stroke="{_INK}"/>'
            )
            if share >= _LEAST:
                text = format_probability(share)
                beside = x - radius - 2 if place.rtl else x + radius + 2
                drawn.append(_number(beside, y[k] - 5, text, "end" if place.rtl else "start"))
    return _GAP + _ROW * len(shown), "".join(drawn)


def _grid(analysis: Analysis, grid: Grid, place: _Columns, *, empty: bool) -> Part:
    """Return a table with a column per word, for the drawn tags; an empty one can be filled in."""
    shown, tags = _shown(analysis), analysis.tags
    top = _GAP + _ROW
    drawn = [_text(place.left, top - 8, grid.label, anchor="start")]
    for row, k in enumerate(shown):
        y = top + _ROW * row
        drawn.append(place.name(y + _ROW - 9, tags[k]))
        for t, value in enumerate(grid.values[:, k].tolist()):
            drawn.append(
                f'<rect x="{place.x(t) - _COLUMN // 2}" y="{y}" width="{_COLUMN}" '
                f'height="{_ROW}" fill="none" stroke="{_LINE}"/>'
            )
            if not empty:
                text = _number_of(grid, value)
                drawn.append(_text(place.x(t), y + _ROW - 9, text, room=_COLUMN - 8))
    return top + _ROW * len(shown) + 1, "".join(drawn)


def _number_of(grid: Grid, value: float) -> str:
    chances = grid.kind == "probability" and not math.isnan(value)
    return format_probability(value, grid.digits) if chances else score(value, grid.digits)


def _matrix(analysis: Analysis, name: str, numbers: Tensor) -> Part:
    shown, tags = _shown(analysis), analysis.tags
    table = (numbers if numbers.dim() == 2 else numbers[0]).tolist() if numbers.numel() else []
    top = _GAP + 2 * _ROW
    drawn = [
        _text(_LABEL, _GAP + _ROW - 8, name, anchor="start"),
        _text(_LABEL - 10, top - 8, "from ↓  to →", anchor="end"),
    ]
    for column, k in enumerate(shown):
        x = _LABEL + _CELL * column + _CELL / 2
        drawn.append(_text(x, top - 8, tags[k], bold=True, room=_CELL - 4))
    for place, j in enumerate(shown if table else ()):
        y = top + _ROW * place + _ROW - 9
        drawn.append(_text(_LABEL - 10, y, tags[j], anchor="end", bold=True))
        for column, k in enumerate(shown):
            x = _LABEL + _CELL * column + _CELL / 2
            drawn.append(_text(x, y, score(table[j][k], 1)))
    return top + _ROW * len(shown), "".join(drawn)


def _shown(analysis: Analysis) -> list[int]:
    """Return the tags with mass or on a path; at least two where there are as many."""
    shares = analysis.forward_backward.marginals
    largest = shares.amax(dim=0).nan_to_num(0.0).tolist()
    on_paths = {k for path in analysis.paths.values() if path is not None for k in path}
    rows = [k for k, share in enumerate(largest) if share >= _LEAST or k in on_paths]
    return rows if len(rows) > 1 else list(range(len(largest)))


def _number(x: float, y: float, text: str, anchor: str) -> str:
    halo = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"'
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="12" {halo}>{escape(text)}</text>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    bold: bool = False,
    room: float = 0,
) -> str:
    squeezed = (
        f' textLength="{room:g}" lengthAdjust="spacingAndGlyphs"' if _too_long(text, room) else ""
    )
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{700 if bold else 400}"'
        f"{squeezed}>{escape(text)}</text>"
    )


def _too_long(text: str, room: float) -> bool:
    return bool(room) and sum(map(_width, text)) > room


def _width(letter: str) -> int:
    if combining(letter) or category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 14 if east_asian_width(letter) in "WF" else 4 if letter in _NARROW else 8
