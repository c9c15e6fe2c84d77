"""One HTML file: the chain, the script that draws it, and tables for readers without scripts.

It asks for nothing: its content policy names the hashes of its own script and style, and allows no
request. Where no script runs, the tables are what is there.
"""

import json
import zlib
from base64 import b64encode, b85encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from crfviz.views.exports import bundle
from crfviz.views.exports.live import Live, data
from crfviz.views.exports.static_tables import static_tables

LARGEST = 250_000  # bytes; a file above has its script packed
RAW = -15  # the `wbits` of zlib's raw deflate format, with the largest window

# For browsers that know no modules. They cannot run the script, and the tables stay.
_OLD = (
    "document.getElementById('why').textContent="
    "'This browser is too old for the live picture; one of 2023 or newer draws it.';"
)
WHY = (
    "The live picture is drawn by a script. If this stays, scripts are switched off, the browser "
    "is older than 2023, or the file is not whole."
)


def live_page(live: Live, pages: Sequence[str], colouring: str = "system") -> str:
    """Return the HTML file; the arguments are those of `data`.

    Raises:
        CrfvizError: the sentence is too long.
    """
    body = still(live) + block("data", data(live, pages, colouring))
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
        body: HTML; an element with the id "why" says what is to be said to an old browser.
        script: runs at the end.
        style: of its sheet; that of a live file if None.
        allowed: further sources of scripts in its content policy.
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
    """Return the page's title: its words."""
    return f"{' '.join(live.in_sight.words)} · crfviz"


def still(live: Live) -> str:
    """Return the HTML that is shown until the script runs."""
    words = escape(" ".join(live.in_sight.words))
    why = f'<p id="why" role="status">{WHY} Its numbers:</p>'
    return f'<main id="still" class="still"><h1>{words}</h1>{why}{static_tables(live)}</main>\n'


def block(name: str, value: object) -> str:
    """Return a script element with data as JSON, by its id; no text in it ends the element."""
    told = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{told}</script>\n'


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
