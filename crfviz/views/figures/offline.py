"""Offline HTML pages: nothing in them loads or sends anything."""

import html
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

QUIET = {"showSendToCloud": False, "displaylogo": False}  # no button of Plotly's leads to a company
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def figure_html(figure: go.Figure, *, name: str, library: bool, toolbar: bool = False) -> str:
    """Return a figure as part of a page.

    Args:
        figure: to be drawn.
        name: of its own in the page; Plotly would draw one by lot, and no page be like another.
        library: whether Plotly's code of 4.8 MB goes in with it; once a page.
        toolbar: whether the buttons that zoom and save a picture are shown.
    """
    config: dict[str, Any] = QUIET if toolbar else {**QUIET, "displayModeBar": False}
    text: str = pio.to_html(
        figure, config=config, include_plotlyjs=library, full_html=False, div_id=f"figure-{name}"
    )
    return text


def page_html(title: str, body: str, style: str = "") -> str:
    """Return a page whose content policy allows no request.

    Args:
        title: plain text.
        body: HTML.
        style: CSS.
    """
    head = (
        "<meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(title)}</title><style>{style}</style>"
    )
    return f"<!DOCTYPE html>\n<html lang='en'><head>{head}</head><body>\n{body}\n</body></html>\n"
