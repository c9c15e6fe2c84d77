"""The HTML of a live file: the chain, its script, and tables for readers without scripts.

Its content policy allows no request, only the hashes of its own script and style. Without scripts
the page shows the tables. Letters: `T` tokens, `K` tags.
"""

import json
import zlib
from base64 import b64encode, b85encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape

from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import END, START, weight_matrix
from crfviz.text.direction import LTR, RTL, runs_right_to_left
from crfviz.views.explanation import edit_list
from crfviz.views.exports import bundle
from crfviz.views.exports.live import Live, data
from crfviz.views.formatting import columns, format_probability, score
from crfviz.views.strips.decoders import USUAL_ROWS, decoder_rows

LARGEST = 260_000  # bytes; larger files have a packed script
RAW = -15  # the `wbits` of zlib's raw deflate format, with the largest window

# For browsers without modules: they cannot run the script, so the tables stay.
_OLD = (
    "document.getElementById('why').textContent="
    "'This browser is too old for the live picture; one of 2023 or newer draws it.';"
)
WHY = (
    "The live picture is drawn by a script. If this stays, scripts are switched off, the browser "
    "is older than 2023, or the file is not whole."
)

MAX_CELLS = 4000  # of all tables of numbers, to keep files of large chains small
LIKELY = 0.01  # smallest marginal in the list of likely tags


def live_page(live: Live, pages: Sequence[str]) -> str:
    """Return the HTML file; the arguments are those of `data`.

    Raises:
        CrfvizError: the sentence is too long.
    """
    body = still(live) + block("data", data(live, pages))
    plain = document(title(live), body, bundle.script())
    if len(plain.encode()) <= LARGEST:
        return plain
    packer = zlib.compressobj(9, zlib.DEFLATED, RAW, 9)
    packed = packer.compress(bundle.script().encode()) + packer.flush()
    code = b85encode(packed, pad=True).decode().replace("<", ",")
    body += f'<script type="text/plain" id="code" data-bytes="{len(packed)}">{code}</script>\n'
    return document(title(live), body, bundle.unpacker(), allowed=[_hash(bundle.script())])


def document(
    title: str,
    body: str,
    script: str,
    *,
    style: str | None = None,
    allowed: Sequence[str] = (),
) -> str:
    """Return a page that requests nothing.

    Args:
        title: plain text.
        body: HTML; an element with the id "why" has the message for old browsers.
        script: code that runs at the end.
        style: the style sheet; that of a live file if None.
        allowed: further script sources in the content policy.
    """
    sheet = bundle.style() if style is None else style
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join([_hash(script), *allowed, _hash(_OLD)])}",
            f"style-src {_hash(sheet)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="generator" content="crfviz">'
        f"<title>{escape(title)}</title>"
        f"<style>{sheet}</style></head><body>\n{body}"
        f"<script nomodule>{_OLD}</script>\n"
        f'<script type="module">{script}</script>\n</body></html>\n'
    )


def title(live: Live) -> str:
    return f"{' '.join(live.in_sight.words)} · crfviz"


def still(live: Live) -> str:
    """Return the HTML that is shown until the script runs."""
    words = escape(" ".join(live.in_sight.words))
    why = f'<p id="why" role="status">{WHY} Its numbers:</p>'
    return f'<main id="still" class="still"><h1>{words}</h1>{why}{static_tables(live)}</main>\n'


def block(name: str, value: object) -> str:
    """Return a script element with data as JSON, by its id; no text in it ends the element."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{content}</script>\n'


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def static_tables(live: Live) -> str:
    """Return the tables of the chain that the file opens with, as HTML.

    Tables that are too large for the file are left out; a line names them.
    """
    now = live.in_sight
    edits = edit_list(live.edits, live.now.words)
    parts = [
        _summary(now),
        f"<p>{escape(edits)}</p>" if edits else "",
        _decoders(live),
        _likely(now),
    ]
    if now.whole is not None:
        parts.insert(0, f"<p>The first {len(now.words)} of {len(live.now.words):,} words.</p>")
    left_out, cells = [], 0
    for name, values, digits in _tables(now):
        cells += values.numel()
        if cells > MAX_CELLS:
            left_out.append(name)
            continue
        rows = [
            [tag, *(score(value, digits) for value in row)]
            for tag, row in zip(now.tags, values.T.tolist(), strict=True)
        ]
        parts.append(_table(name, ["", *columns(now.words)], rows, _direction(live)))
    matrix = _transitions(now)
    if matrix is None:
        left_out.append("transitions")
    parts.append(matrix or "")
    if left_out:
        parts.append(f"<p>Too large for this file without its script: {', '.join(left_out)}.</p>")
    return "".join(parts)


def _summary(now: Analysis) -> str:
    z = score(now.forward_backward.log_partition, 4)
    if now.viterbi is None:
        return f"<p>No tag sequence is allowed: log Z = {z}.</p>"
    best = now.viterbi
    return (
        f"<p>Best path: score {score(best.score, 4)} nats, log Z {z}, "
        f"probability {format_probability(best.probability, 4)}.</p>"
    )


def _decoders(live: Live) -> str:
    now = live.in_sight
    gold = live.gold and live.gold[: len(now.words)]
    rows = [
        [row.label, *(row.names(now.tags) or ["–"] * len(now.words))]
        for row in decoder_rows(now, which=USUAL_ROWS, gold=gold)
    ]
    return _table("What each decoder chooses", ["", *columns(now.words)], rows, _direction(live))


def _direction(live: Live) -> str:
    return RTL if runs_right_to_left(live.now.words, live.direction) else LTR


def _likely(now: Analysis) -> str:
    """Return the likely tags of each word, by marginal."""
    rows = []
    for name, row in zip(columns(now.words), now.forward_backward.marginals.tolist(), strict=True):
        # mypy: lambda with a default
        ranked = sorted(range(len(row)), key=lambda k, row=row: -row[k])  # type: ignore[misc]
        best = [f"{now.tags[k]} {row[k]:.3f}" for k in ranked[:5] if row[k] >= LIKELY]
        rows.append([name, ", ".join(best)])
    return _table("The likely tags of each word, by marginal", ["word", "tags"], rows)


def _tables(now: Analysis) -> Iterable[tuple[str, Tensor, int]]:
    sweeps = now.forward_backward
    yield "marginals", sweeps.marginals, 4
    yield "emissions (nats)", now.potentials.emissions, 3
    yield "α (nats)", sweeps.log_alpha, 3
    yield "β (nats)", sweeps.log_beta, 3
    yield "best(t, k) (nats)", now.best, 3


def _transitions(now: Analysis) -> str | None:
    chain = now.potentials
    if not chain.homogeneous or len(now.tags) ** 2 > MAX_CELLS // 2:
        return None
    matrix = weight_matrix(chain).tolist()
    rows = [
        [name, *(score(value, 3) for value in row)]
        for name, row in zip([START, *now.tags], matrix, strict=True)
    ]
    return _table("transitions, from the row to the column (nats)", ["", *now.tags, END], rows)


def _table(
    title: str, head: Sequence[str], rows: Iterable[Sequence[str]], direction: str = LTR
) -> str:
    """Return an HTML table with escaped texts; optional end tags are left out."""
    way = f' dir="{direction}"' if direction != LTR else ""
    header = "".join(f"<th>{escape(cell)}" for cell in head)
    body = "".join(
        f"<tr><th>{escape(row[0])}" + "".join(f"<td>{escape(cell)}" for cell in row[1:])
        for row in rows
    )
    return (
        f'<h2>{escape(title)}</h2><div class="scroll"{way}><table><tr>{header}{body}</table></div>'
    )
