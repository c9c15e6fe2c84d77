"""Live files on disk: `crfviz.export_html`, and `python -m crfviz site` for a folder of them.

    index.html          the page, with everything but the models
    models/NAME.js      one script per model, loaded when it is chosen
    crfviz-site.json    the list of files, so that the site can be written again

The models are scripts because a page opened from a file can load nothing else.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from itertools import chain, count
from os import PathLike
from pathlib import Path

from crfviz.chain.edits import require_no_border
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.files import abbreviate, write_atomically
from crfviz.text.tokenizer import sentence_of
from crfviz.views.contents import ENTRIES, Entry
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, What, checked_pages, data, live_of
from crfviz.views.exports.live_page import WHY, block, document, live_page, still, title
from crfviz.views.formatting import claim_text
from crfviz.views.site.packing import tagger_payload
from crfviz.views.stage.picture import WINDOW

INDEX, LIST, MODELS = "index.html", "crfviz-site.json", "models"
_FILE = re.compile(rf"{MODELS}/[\w-]+\.js", re.ASCII)  # the file of a model
TITLE = "crfviz"
START = "start it with “make run” in the folder of crfviz, or ask who runs it for its address"
UNKNOWN = {"text": "Made with crfviz.", "address": ""}  # the origin of a user's model
Examples = Sequence[Mapping[str, object]]  # of one model, as the browser has them
_UNSAFE = re.compile(r"[^\w-]+", re.ASCII)  # in the name of a file
OF_TAGGER = "Made with crfviz by a tagger that is inside: no link can open it again, so keep this."
WEB = Path(__file__).with_name("web")


def write_site(
    folder: Path, taggers: Sequence[Tagger], tell: Callable[[str], object] = lambda _: None
) -> None:
    """Write the folder, over the files of an earlier site.

    Args:
        folder: an empty or missing folder, or one of an earlier site.
        taggers: at least one, each with an example; the site opens with the first.
        tell: called with a line for each file.

    Raises:
        CrfvizError: the folder has other files, a tagger can only run on a server, has no example
            or a tag called START or END, or the files cannot be written.
    """
    for tagger in taggers:
        require_no_border(tagger.tags)
    files = _files(taggers)
    before = _listed(folder)
    examples = {
        tagger.name: _examples(tagger) for tagger in taggers
    }  # a model may be removed meanwhile
    texts = {files[tagger.name]: _script(tagger, examples[tagger.name]) for tagger in taggers}
    texts[INDEX] = _index(files, examples)  # last, because it lists the others
    with _changing(folder / MODELS):
        (folder / MODELS).mkdir(parents=True, exist_ok=True)
    listing = json.dumps({"files": list(texts)}, indent=2) + "\n"
    write_atomically(folder / LIST, [listing.encode()])
    for name, text in texts.items():
        content = text.encode()
        write_atomically(folder / name, [content])
        tell(f"{name}: {len(content) / 1e3:,.0f} kB")
    for name in sorted(set(before) - texts.keys()):
        with _changing(folder / name):
            (folder / name).unlink(missing_ok=True)


def _files(taggers: Sequence[Tagger]) -> dict[str, str]:
    files: dict[str, str] = {}
    for tagger in taggers:
        if tagger.name in files:
            raise CrfvizError(f"expected each model once, got {abbreviate(tagger.name)} twice")
        plain = _UNSAFE.sub("-", tagger.name).strip("-") or "model"
        numbered = (f"{plain}-{number}" for number in count(2))
        names = (f"{MODELS}/{name}.js" for name in chain([plain], numbered))
        files[tagger.name] = next(name for name in names if name not in files.values())
    return files


def _examples(tagger: Tagger) -> Examples:
    examples = examples_of(tagger)
    if not examples:
        raise CrfvizError(
            f"{abbreviate(tagger.name)} has no example to open with: "
            "put one into its examples.jsonl"
        )
    return examples


def _script(tagger: Tagger, examples: Examples) -> str:
    live = live_of(tagger, str(examples[0]["text"]))
    payload = data(live, list(PAGES))
    if not live.origin.model:
        payload["origin"] = UNKNOWN
    content = {"data": payload, "tagger": tagger_payload(tagger)}
    arguments = [json.dumps(value, ensure_ascii=True) for value in (tagger.name, content)]
    return f"crfvizModel({', '.join(arguments)});\n"


def _index(files: Mapping[str, str], examples: Mapping[str, Examples]) -> str:
    elsewhere = [
        {"id": entry.path, "title": entry.title, "path": entry.path, "elsewhere": _needs(entry)}
        for entry in ENTRIES
        if entry.path not in {page.path for page in PAGES.values()}
    ]
    index = {
        "models": [
            {"name": name, "file": file, "examples": examples[name]} for name, file in files.items()
        ],
        "elsewhere": elsewhere,
        "pages": [*PAGES, *(page["id"] for page in elsewhere)],
        "most": WINDOW,
    }
    body = (
        f'<main id="still" class="still"><h1>{escape(TITLE)}</h1>'
        f'<p id="why" role="status">{WHY}</p></main>\n{block("site", index)}'
    )
    script = bundle.bundled(WEB / "site.js")
    return document(TITLE, body, script, style=style(), allowed=["'self'"])


def _needs(entry: Entry) -> str:
    """Return the text in place of a page that the browser cannot draw."""
    return f"This page asks “{entry.answers}”, and needs the server of crfviz: {START}."


def _listed(folder: Path) -> list[str]:
    """Return the files of the site that is in the folder.

    Raises:
        CrfvizError: the folder has other files.
    """
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return []
        listed = json.loads((folder / LIST).read_text("utf-8"))["files"]
        return [name for name in listed if _is_ours(name)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CrfvizError(
            f"{folder}: expected a new or empty folder, or one that this command wrote "
            f"({LIST} says so); name another one"
        ) from error


def _is_ours(name: object) -> bool:
    """Return whether a path may be a file of a site, so that nothing else is deleted."""
    return isinstance(name, str) and _FILE.fullmatch(name) is not None


@contextmanager
def _changing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CrfvizError(f"{path} cannot be changed: {error.strerror}") from error


def export_html(
    what: What,
    path: str | PathLike[str],
    *,
    sentence: str | Sequence[str] | None = None,
    with_model: bool = False,
    pages: Sequence[str] | None = None,
) -> Path:
    """Write one sentence's chain as a live HTML file without a server, and return its path.

    Args:
        what: potentials, preferably with their words, or a tagger.
        path: of the file; an existing file is overwritten.
        sentence: for a tagger, the sentence as text or as a list of words.
        with_model: whether the file includes the tagger (a few MB) and can tag typed sentences.
        pages: some of explore, emissions, transitions, forward-backward, viterbi and marginals, in
            the order of the file; all of them if None. The first one is open.

    Raises:
        CrfvizError: an argument is invalid, the tagger can only run on a server, or the file cannot
            be written.

    Example:
        >>> from crfviz.chain.potentials import Potentials
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> export_html(potentials, "chain.html")  # doctest: +SKIP
    """
    chosen = checked_pages(pages)
    live = live_of(what, sentence)
    page = _tagging_page(what, live, sentence, chosen) if with_model else live_page(live, chosen)
    write_atomically(Path(path), [page.encode()])
    return Path(path)


def examples_of(tagger: Tagger) -> list[Mapping[str, object]]:
    """Return the examples of a tagger with tags by id."""
    return [
        {
            "text": example.text,
            "claim": claim_text(example.claim),
            "words": example.tokens,
            "gold": None if not gold or len(ids) < len(gold) else ids,
        }
        for example in tagger.examples()
        for gold in [example.gold or ()]
        for ids in [[tagger.tags.index(tag) for tag in gold if tag in tagger.tags]]
    ]


def style() -> str:
    return f"{bundle.style()}\n{bundle.sheets(WEB / 'box.css')}"


def _tagging_page(
    tagger: What, live: Live, sentence: str | Sequence[str] | None, pages: Sequence[str]
) -> str:
    if isinstance(tagger, Potentials):
        raise CrfvizError("potentials have no model to go into the file: leave with_model out")
    payload = data(live, pages)
    if not live.origin.model:
        payload["origin"] = {"text": OF_TAGGER, "address": ""}
    typed = sentence if isinstance(sentence, str) else sentence_of(sentence or (), tagger.split)
    known = {"sentence": typed or "", "examples": examples_of(tagger), "most": WINDOW}
    body = still(live) + block("data", payload) + block("sentences", known)
    body += f'<script type="text/plain" id="tagger">{tagger_payload(tagger)}</script>\n'
    return document(title(live), body, bundle.bundled(WEB / "file.js"), style=style())
