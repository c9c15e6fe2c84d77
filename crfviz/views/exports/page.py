"""One HTML file that stays alive: the chain, the script that draws it, and tables without scripts.

It asks for nothing: its content policy names the hashes of its own script and style, and allows no
request. Where no script runs, the tables are what is there.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from crfviz.views.exports import bundle
from crfviz.views.exports.live import Live, data
from crfviz.views.exports.twins import twins

LARGEST = 250_000  # bytes; a file above has its script packed

# For browsers that know no modules. They cannot run the script, and the tables stay.
_OLD = (
    "document.getElementById('why').textContent="
    "'This browser is too old for the live picture; one of 2023 or newer draws it.';"
)
_WHY = (
    "The live picture is drawn by a script. If this stays, scripts are switched off, the browser "
    "is older than 2023, or the file is not whole. Its numbers:"
)


def live_page(live: Live, pages: Sequence[str], colouring: str = "system") -> str:
    """The file; the arguments are those of `data`.

    Raises:
        CrfvizError: the sentence is too long.
    """
    told = json.dumps(data(live, pages, colouring), ensure_ascii=False, separators=(",", ":"))
    body = (
        f'<main id="still" class="still"><h1>{escape(" ".join(live.now.words))}</h1>'
        f'<p id="why" role="status">{_WHY}</p>{twins(live)}</main>\n'
        f"<script nomodule>{_OLD}</script>\n"
        f'<script type="application/json" id="data">{_inert(told)}</script>\n'
    )
    plain = _document(live, body, bundle.script())
    return plain if len(plain.encode()) <= LARGEST else _document(live, body, None)


def _document(live: Live, body: str, script: str | None) -> str:
    """The whole file; None packs its script."""
    scripts = [bundle.script(), _OLD]
    if script is None:
        code = b64encode(gzip.compress(bundle.script().encode(), mtime=0)).decode()
        body += f'<script type="text/plain" id="code">{code}</script>\n'
        scripts.append(bundle.unpacker())
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {_hash(bundle.style())}",
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
        f"<title>{escape(' '.join(live.now.words))} · crfviz</title>"
        f"<style>{bundle.style()}</style></head><body>\n{body}"
        f'<script type="module">{script or bundle.unpacker()}</script>\n</body></html>\n'
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _inert(text: str) -> str:
    """JSON that ends no script, whatever the words are."""
    return text.replace("<", "\\u003c")
