"""The automaton of a rule, as a small graph and as a table."""

import base64
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crfviz.chain.patterns import Automaton

MAX_NAMED = 3  # tags on an arrow; more are counted
_LETTER, _RADIUS, _LOOP = (
    8,
    15,
    28,
)  # pixels: width of a letter, radius of a state, height of a loop
_BEND, _TALLEST = 12, 64  # pixels: rise of an arrow by state passed, and its maximum
_ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9)  # positions of a label along its arrow


_Label = tuple[float, float, str]  # centre, baseline and text
_Box = tuple[float, float, float, float]  # left, top, right, bottom


class _Arrow(NamedTuple):
    path: str
    head: tuple[float, float, float, float]  # its tip, and its direction
    text: str
    spots: Sequence[tuple[float, float]]  # places of its label: centre and baseline, the best first
    curve: tuple[float, float, float, float] = (0, 0, 0, 0)  # x of both ends, their y, the rise


def moves(rule: Automaton) -> list[tuple[int, str, int]]:
    """Return state before, tags and state after, of every pair of states with a tag between."""
    return [
        (before, _named(rule.tags, row == after), after)
        for before, row in enumerate(rule.next)
        for after in dict.fromkeys(row[row >= 0].tolist())
    ]


def move_frame(rule: Automaton) -> pd.DataFrame:
    """Return the moves as a table, and which states may end a sentence."""
    ends = ["yes" if rule.accepting[after] else "no" for _, _, after in moves(rule)]
    frame = pd.DataFrame(moves(rule), columns=["state", "tags", "next state"])
    return frame.assign(**{"may end there": ends})


def alternative(rule: Automaton) -> str:
    """Return the text alternative of the graph: its states and moves."""
    ends = ", ".join(map(str, np.flatnonzero(rule.accepting))) or "none"
    steps = "; ".join(f"{before} to {after}: {tags}" for before, tags, after in moves(rule))
    return f"Automaton with {rule.num_states} states. Start: 0. May end in: {ends}. Moves: {steps}."


@lru_cache(maxsize=16)
def automaton_html(rule: Automaton) -> str:
    """Return the graph in the colour of the text around it, with a text alternative.

    The SVG is a mask over that colour, because Streamlit's HTML allows no inline SVG.
    """
    every = moves(rule)
    room = 24 + _LETTER * max((len(tags) for _, tags, _ in every), default=0)  # of a label
    xs = [max(44, room // 2) + max(90, room + 2 * _RADIUS) * s for s in range(rule.num_states)]
    up = max((_rise(b, a) for b, _, a in every if a >= b), default=0) + 16
    down = max((_rise(b, a) + 8 for b, _, a in every if a < b), default=4)
    y, width, height = up + _RADIUS, xs[-1] + max(30, room // 2), up + down + 2 * _RADIUS
    arrows = [_arrow(xs, y, *move) for move in every]
    labels = _labels(arrows, xs, y)
    lines = [_line(f"M2 {y} H{xs[0] - _RADIUS}"), *(_line(arrow.path) for arrow in arrows)]
    holes = [f'<path d="M{x0} {y0} H{x1} V{y1} H{x0}"/>' for x0, y0, x1, y1 in map(_box, labels)]
    drawn = [
        f'<mask id="labels"><path d="M0 0 H{width} V{height} H0" fill="white"/>{"".join(holes)}'
        f'</mask><g mask="url(#labels)">{"".join(lines)}</g>',
        *(_state(xs[s], y, s, ends=bool(ends)) for s, ends in enumerate(rule.accepting)),
        _head(xs[0] - _RADIUS, y, 1, 0),
        *(_head(*arrow.head) for arrow in arrows),
        *(_text(*label) for label in labels),
    ]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="13">{"".join(drawn)}</svg>'
    )
    data = base64.b64encode(svg.encode()).decode()
    return (
        '<div class="crfviz-automaton" tabindex="0"><div role="img" '
        f'aria-label="{escape(alternative(rule), quote=True)}" style="width: {width / 16}rem; '
        f"height: {height / 16}rem; background: currentColor; "
        f"mask: url('data:image/svg+xml;base64,{data}') 0 0 / 100% 100%\">"
        "</div></div>"
    )


def _named(tags: Sequence[str], used: np.ndarray) -> str:
    """Return a short text for some tags: their names, the others' names, or their number."""
    names = [tag for tag, of in zip(tags, used, strict=True) if of]
    others = [tag for tag, of in zip(tags, used, strict=True) if not of]
    if not others:
        return "any tag"
    if len(names) <= MAX_NAMED:
        return ", ".join(names)
    return f"not {', '.join(others)}" if len(others) <= MAX_NAMED else f"{len(names)} tags"


def _rise(before: int, after: int) -> int:
    return _LOOP if before == after else min(_TALLEST, _BEND * (abs(after - before) - 1) + 10)


def _state(x: int, y: int, number: int, *, ends: bool) -> str:
    radii = [_RADIUS, _RADIUS - 4] if ends else [_RADIUS]
    rings = [f'<circle cx="{x}" cy="{y}" r="{r}" fill="none" stroke="black"/>' for r in radii]
    return "".join([*rings, _text(x, y + 5, str(number))])


def _arrow(xs: Sequence[int], y: int, before: int, tags: str, after: int) -> _Arrow:
    a, b, rise = xs[before], xs[after], _rise(before, after)
    if before == after:
        path = f"M{a - 8} {y - 13} C{a - 22} {y - 35} {a + 22} {y - 35} {a + 8} {y - 13}"
        return _Arrow(path, (a + 8, y - 13, -0.35, 1), tags, [(a, y - rise - 6)])
    if after == before + 1:
        path = f"M{a + _RADIUS} {y} H{b - _RADIUS}"
        return _Arrow(path, (b - _RADIUS, y, 1, 0), tags, [((a + b) / 2, y - 6)])
    way = 1 if after > before else -1  # forward above the states, back below
    a, b, side, rise = a + way * 8, b - way * 8, y - way * 13, -way * rise
    path = f"M{a} {side} Q{(a + b) / 2} {side + 2 * rise} {b} {side}"
    spots = [(a + u * (b - a), side + 4 * rise * u * (1 - u) + 5) for u in _ALONG]
    return _Arrow(path, (b, side, way * 0.7, way * 0.7), tags, spots, (a, b, side, rise))


def _labels(arrows: Sequence[_Arrow], xs: Sequence[int], y: int) -> list[_Label]:
    """Return a label for each arrow, placed to cover no state or label, and few lines."""
    curves = np.array([arrow.curve for arrow in arrows if arrow.curve[3]]).reshape(-1, 4)
    taken: list[_Box] = [(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS) for x in xs]
    labels = []
    for arrow in sorted(arrows, key=lambda each: abs(each.curve[1] - each.curve[0])):
        spots = [(x, baseline, arrow.text) for x, baseline in arrow.spots]
        costs = [(_overlaps(taken, _box(spot)), _crossings(curves, _box(spot))) for spot in spots]
        labels.append(spots[costs.index(min(costs))])
        taken.append(_box(labels[-1]))
    return labels


def _box(label: _Label) -> _Box:
    x, baseline, text = label
    half = _LETTER * len(text) / 2 + 2
    return x - half, baseline - 11, x + half, baseline + 4


def _overlaps(taken: Sequence[_Box], box: _Box) -> int:
    left, top, right, bottom = np.array(taken).T
    apart = (left >= box[2]) | (right <= box[0]) | (top >= box[3]) | (bottom <= box[1])
    return int((~apart).sum())


def _crossings(curves: NDArray[np.float64], box: _Box) -> int:
    start, end, side, rise = curves.T
    left = np.maximum(np.minimum(start, end), box[0])
    right = np.minimum(np.maximum(start, end), box[2])
    xs = np.stack([left, np.clip((start + end) / 2, left, right), right])
    u = (xs - start) / (end - start)
    ys = side + 4 * rise * u * (1 - u)
    return int(((left < right) & (ys.min(0) <= box[3]) & (ys.max(0) >= box[1])).sum())


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="black" stroke-opacity="0.65"/>'


def _head(x: float, y: float, dx: float, dy: float) -> str:
    """Return an arrow head at a point, in a direction."""
    sides = [f"{x - 8 * dx - s * dy:.1f} {y - 8 * dy + s * dx:.1f}" for s in (4, -4)]
    return f'<path d="M{x} {y} L{sides[0]} L{sides[1]} Z"/>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle">{escape(text)}</text>'
