"""The live file in a frame that reaches nothing outside of it."""

from html import escape

from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.page import live_page

HEIGHT = 640  # pixels


def framed(live: Live) -> str:
    """HTML of the frame, with the whole file in it."""
    page = escape(live_page(live, list(PAGES)))
    return (
        f'<iframe srcdoc="{page}" title="crfviz" '
        'sandbox="allow-scripts allow-downloads allow-modals allow-popups" '
        f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
    )
