"""The end of a page's script before its last line.

`st.stop` ends the whole run, without sidebar and bar. It also drops the request of a click that
came during the run, so the click would be lost.
"""

from typing import NoReturn


class PageEnd(BaseException):
    """Raised by `end_page`."""


def end_page() -> NoReturn:
    """End the script of the page; what surrounds the page is still drawn."""
    raise PageEnd
