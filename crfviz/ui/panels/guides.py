"""The page Guides: the user documents in `docs/`."""

import re
from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from crfviz.ui.words import plain

DOCS = Path(__file__).resolve().parents[3] / "docs"
GUIDES = {
    "pages": "Pages and keys",
    "lectures": "Lectures",
    "annotations": "Annotate",
    "files": "Files",
    "bring-your-own": "Bring your own",
    "library": "Library",
    "streamlit": "Streamlit",
    "exports": "Exports",
    "models": "Models",
}
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\(([\w-]+\.png)\)")
_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?![a-z]+:|#)([^)#]*)(#[^)]*)?\)")


def show_guide(name: str) -> None:
    """Draw one of `GUIDES` with its pictures; its links open the other guides.

    If this installation lacks the document, a message is shown.
    """
    path = DOCS / f"{name}.md"
    if not path.is_file():
        st.info(plain(f"The guide {path.name} is not part of this installation."))
        return
    parts = _IMAGE.split(_read(path))
    for text, alt, picture in zip(parts[::3], [*parts[1::3], ""], [*parts[2::3], ""], strict=True):
        st.markdown(text)
        if picture and (DOCS / picture).is_file():
            content = b64encode((DOCS / picture).read_bytes()).decode()
            source = f"data:image/png;base64,{content}"
            st.html(f'<img class="crfviz-still" src="{source}" alt="{escape(alt)}">')


@cache
def _read(path: Path) -> str:
    """Return the text of a guide without its title, with links that work in the app."""
    text = path.read_text(encoding="utf-8")
    return _LINK.sub(_in_app, text.partition("\n")[2])


def _in_app(link: re.Match[str]) -> str:
    """Return a Markdown link that opens a guide in the app; for other files only the link text."""
    words, target, part = link[1], link[2], link[3] or ""
    name = target.removesuffix(".md")
    return f"[{words}](guides?v.guide={name}{part})" if name in GUIDES else words
