"""URLs without a page: the redirect, and the message that names similar pages.

Views were pages once: their old paths lead to the views.

This module does not use Streamlit.
"""

from difflib import get_close_matches
from urllib.parse import parse_qsl, urlencode

from crfviz.ui.words import quote
from crfviz.views.contents import ENTRIES, FORMER, PAGES, VIEW, at_path, page_of, view_in

MISSING = "missing"  # in the query of the home page: the requested path
LONGEST_PATH = 60  # characters
_SIMILAR = 0.6  # ratio of `difflib`; 1 means equal


def _slug(title: str) -> str:
    return title.lower().replace("–", "-").replace(" ", "-")


_BY_NAME = {name: entry for entry in ENTRIES for name in (entry.path, _slug(entry.title))} | {
    name: at_path(name) for name in FORMER
}


def page_instead(path: str, query: str) -> str | None:
    """Return the URL to redirect to, relative to `path`, or None if the path has a page.

    The name of a view leads to the view, and a title of a page written as a path to that page, such
    as `explore` to the home page. Everything else leads to the home page, with the path in the
    query as `missing`.

    Args:
        path: the path of the URL below that of the app, without leading slashes.
        query: the encoded query string, without the question mark.

    >>> page_instead("explore", "k=0.5")
    './?k=0.5'
    >>> page_instead("naive", "k=0.5")
    './forward-backward?k=0.5&view=naive'
    >>> page_instead("vitrebi", "")
    './?missing=vitrebi'
    """
    name = path.rstrip("/")
    if any(name == page.path for page in PAGES):
        return None
    entry = _BY_NAME.get(name.lower())
    params = [item for item in parse_qsl(query, keep_blank_values=True) if item[0] != MISSING]
    if entry is None:
        params.append((MISSING, name[:LONGEST_PATH]))
    elif view := view_in(entry.path):
        params = [item for item in params if item[0] != VIEW] + [(VIEW, view)]
    root = "../" * path.count("/") or "./"
    address = f"{root}{page_of(entry.path).path if entry else ''}"
    return f"{address}?{urlencode(params)}" if params else address


def no_such_page(path: str) -> str:
    """Return the message for a path without a page; it names up to three similar pages.

    >>> no_such_page("vitrebi")
    'There is no page “vitrebi”. Did you mean Viterbi?'
    """
    names = get_close_matches(path.lower(), [name for name in _BY_NAME if name], cutoff=_SIMILAR)
    titles = list(dict.fromkeys(_BY_NAME[name].title for name in names))
    near = f"Did you mean {' or '.join(titles)}?" if titles else "All pages are listed on the left."
    return f"There is no page {quote(path)}. {near}"
