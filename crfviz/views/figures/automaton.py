"""The automaton of a rule, as a small graph and as a table."""

import base64
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd

from crfviz.chain.patterns import Automaton

MAX_NAMED = 3  # tags on an arrow; more are counted
_LETTER, _RADIUS, _LOOP = 7, 15, 28  # pixels of a letter, about, of a state, and of a loop over it
_BEND, _TALLEST = 17, 95  # pixels that an arrow rises by state passed, and at most


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
    """Return the graph in words."""
    ends = ", ".join(map(str, np.flatnonzero(rule.accepting))) or "none"
    steps = "; ".join(f"{before} to {after}: {tags}" for before, tags, after in moves(rule))
    return f"Automaton with {rule.num_states} states. Start: 0. May end in: {ends}. Moves: {steps}."


def automaton_html(rule: Automaton) -> str:
    """Return the graph in the colour of the text around it, with a text alternative.

    The SVG is a mask over that colour: Streamlit's HTML may not hold one of its own.
    """
    every = moves(rule)
    room = 24 + _LETTER * max((len(tags) for _, tags, _ in every), default=0)  # of a label
    xs = [max(44, room // 2) + max(90, room + 2 * _RADIUS) * s for s in range(rule.num_states)]
    up = max((_rise(b, a) for b, _, a in every if a >= b), default=0) + 16
    down = max((_rise(b, a) + 24 for b, _, a in every if a < b), default=4)
    y, width, height = up + _RADIUS, xs[-1] + max(30, room // 2), up + down + 2 * _RADIUS
    drawn = [_state(xs[s], y, s, bool(ends)) for s, ends in enumerate(rule.accepting)]
    drawn += [_line(f"M2 {y} H{xs[0] - _RADIUS}"), _head(xs[0] - _RADIUS, y, 1, 0)]
    drawn += [_arrow(xs, y, *move) for move in every]
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
    """Return some tags in few words: their names, those left out, or how many."""
    names = [tag for tag, of in zip(tags, used, strict=True) if of]
    others = [tag for tag, of in zip(tags, used, strict=True) if not of]
    if not others:
        return "any tag"
    if len(names) <= MAX_NAMED:
        return ", ".join(names)
    return f"not {', '.join(others)}" if len(others) <= MAX_NAMED else f"{len(names)} tags"


def _rise(before: int, after: int) -> int:
    return _LOOP if before == after else min(_TALLEST, _BEND * (abs(after - before) - 1) + 10)


def _state(x: int, y: int, number: int, ends: bool) -> str:  # noqa: FBT001
    radii = [_RADIUS, _RADIUS - 4] if ends else [_RADIUS]
    rings = [f'<circle cx="{x}" cy="{y}" r="{r}" fill="none" stroke="black"/>' for r in radii]
    return "".join([*rings, _text(x, y + 5, str(number))])


def _arrow(xs: Sequence[int], y: int, before: int, tags: str, after: int) -> str:
    a, b, rise = xs[before], xs[after], _rise(before, after)
    if before == after:
        loop = _line(f"M{a - 8} {y - 13} C{a - 22} {y - 35} {a + 22} {y - 35} {a + 8} {y - 13}")
        return loop + _head(a + 8, y - 13, -0.35, 1) + _text(a, y - rise - 4, tags)
    if after == before + 1:
        line = _line(f"M{a + _RADIUS} {y} H{b - _RADIUS}")
        return line + _head(b - _RADIUS, y, 1, 0) + _text((a + b) / 2, y - 6, tags)
    way = 1 if after > before else -1  # forward above the states, back below
    top, side = y - way * (13 + 2 * rise), way * 13
    line = _line(f"M{a + way * 8} {y - side} Q{(a + b) / 2} {top} {b - way * 8} {y - side}")
    label = y - way * (13 + rise) + (-5 if way == 1 else 14)
    return (
        line + _head(b - way * 8, y - side, way * 0.7, way * 0.7) + _text((a + b) / 2, label, tags)
    )


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="black" stroke-opacity="0.65"/>'


def _head(x: float, y: float, dx: float, dy: float) -> str:
    """Return the head of an arrow that comes to a point in a direction."""
    sides = [f"{x - 8 * dx - s * dy:.1f} {y - 8 * dy + s * dx:.1f}" for s in (4, -4)]
    return f'<path d="M{x} {y} L{sides[0]} L{sides[1]} Z"/>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle">{escape(text)}</text>'
