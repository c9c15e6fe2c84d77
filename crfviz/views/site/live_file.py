"""`crfviz.export_html`: a live file, with the scores of one sentence or with the tagger itself."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.tokenizer import sentence_of
from crfviz.views.exports import bundle
from crfviz.views.exports.files import write
from crfviz.views.exports.live import MAX_WORDS, Live, checked_pages, data
from crfviz.views.exports.page import block, document, live_page, still, title
from crfviz.views.exports.subject import What, live_of
from crfviz.views.phrases import claim_text
from crfviz.views.site.packing import tagger_payload

OF_TAGGER = "Made with crfviz by a tagger that is inside: no link can open it again, so keep this."
WEB = Path(__file__).with_name("web")


def export_html(
    what: What,
    path: str | PathLike[str],
    *,
    sentence: str | Sequence[str] | None = None,
    with_model: bool = False,
    pages: Sequence[str] | None = None,
) -> None:
    """Write one sentence's chain as a live HTML file, which needs no server and no network.

    Args:
        what: potentials, best with their words, or a tagger.
        path: of the file; what stands there is written over.
        sentence: for a tagger its sentence, as typed or as words; at most 120 words.
        with_model: the file holds the tagger, too, and tags what is typed into it; a few MB.
        pages: some of explore, emissions, transitions, forward-backward, viterbi and marginals, in
            the order of the file; all of them if None. The first one is open.

    Raises:
        CrfvizError: it is not one of these, the tagger can only run on a server, or the file cannot
            be written.

    Example:
        >>> from crfviz.chain.potentials import Potentials
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> export_html(potentials, "chain.html")  # doctest: +SKIP
    """
    wanted = checked_pages(pages)
    live = live_of(what, sentence)
    if with_model:
        write(_tagging_page(what, live, sentence, wanted), path)
    else:
        write(live_page(live, wanted), path)


def examples_of(tagger: Tagger) -> list[Mapping[str, object]]:
    """The examples of a tagger for the browser, which has tags by their ids."""
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
    """The style sheets of a page with a box for sentences."""
    return f"{bundle.style()}\n{bundle.sheets(WEB / 'box.css')}"


def _tagging_page(
    tagger: What, live: Live, sentence: str | Sequence[str] | None, pages: Sequence[str]
) -> str:
    """The live file with a box for other sentences."""
    if isinstance(tagger, Potentials):
        raise CrfvizError("potentials have no model to go into the file: leave with_model out")
    told = data(live, pages)
    if not live.origin.model:
        told["origin"] = {"text": OF_TAGGER, "address": ""}
    typed = sentence if isinstance(sentence, str) else sentence_of(sentence or (), tagger.split)
    known = {"sentence": typed or "", "examples": examples_of(tagger), "most": MAX_WORDS}
    body = still(live) + block("data", told) + block("sentences", known)
    body += f'<script type="text/plain" id="tagger">{tagger_payload(tagger)}</script>\n'
    return document(title(live), body, bundle.bundled(WEB / "file.js"), style=style())
