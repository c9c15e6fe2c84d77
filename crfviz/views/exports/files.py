"""Exports as files: what `crfviz.export_html` writes."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from crfviz.exceptions import CrfvizError
from crfviz.views.exports.live import checked_pages
from crfviz.views.exports.page import live_page
from crfviz.views.exports.subject import What, live_of


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
        with_model: the tagger itself in the file is not built yet.
        pages: some of explore, emissions, transitions, forward-backward, viterbi and marginals, in
            the order of the file; all of them if None. The first one is open.

    Raises:
        CrfvizError: it is not one of these, or the file cannot be written.

    Example:
        >>> from crfviz.chain.potentials import Potentials
        >>> potentials = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
        >>> export_html(potentials, "chain.html")  # doctest: +SKIP
    """
    if with_model:
        raise CrfvizError(
            "a tagger inside the file is not built yet: leave with_model out, and the file holds "
            "the scores of this sentence"
        )
    wanted = checked_pages(pages)
    write(live_page(live_of(what, sentence), wanted), path)


def write(text: str, path: str | PathLike[str]) -> None:
    """Write a text file whole or not at all.

    Raises:
        CrfvizError: it cannot be written there.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise CrfvizError(f"{target.name} cannot be written: {error.strerror}") from error
