"""`python -m crfviz site OUT`: write the explorer as a folder for a web server or a shared drive.

It needs neither Python nor a network: open its index.html, or serve it with
`python -m http.server --directory OUT`. Pages that need the server show a message.
"""

import argparse
import sys
from pathlib import Path

from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.taggers.textbook import TEXTBOOK
from crfviz.views.site.folder import INDEX, write_site

MODELS = (
    "upos-en-contextfree",
    "upos-en",
)  # the default models, written along with the textbook chains


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `site`."""
    add = parser.add_argument
    add("out", type=Path, metavar="OUT", help="a new or empty folder, or one of an earlier site")
    add(
        "--model",
        action="append",
        metavar="NAME",
        help="a model of the list or a folder, as often as there are models; the site opens with "
        f"the first (default: {', '.join(MODELS)} and the chains of the textbook)",
    )


def main(options: argparse.Namespace) -> int:
    """Write the folder and return 0.

    Raises:
        CrfvizError: there is no such model, a model can only run on a server, or the folder has
            other files or cannot be written.
    """
    textbook = [name for name in list_taggers() if name.startswith(f"{TEXTBOOK}/")]
    names = options.model or [*MODELS, *textbook]
    taggers = [load_tagger(name) for name in names]
    write_site(options.out, taggers, _show)
    page = options.out / INDEX
    sys.stdout.write(f"{page}: open it, or `python -m http.server --directory {options.out}`\n")
    return 0


def _show(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{line}\n")
