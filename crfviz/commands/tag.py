"""`python -m crfviz tag`: print the tags that each decoder gives to a sentence, below its words.

A text of several sentences is tagged sentence by sentence; --whole prevents that.

--json prints one object per line instead: text, words, tags of the best path, their probabilities,
and their places in the text.

All decoders use the potentials of the app: for a BIO tagger with the rules of BIO. `p(Viterbi tag)`
is the marginal of the tag above it.

--file tags a whole file with the best path. CoNLL-U, iob2, CoNLL columns (also with words only,
with --format columns) and JSONL keep their format and all other content. Each letter of FASTA
becomes a line of CoNLL columns. A sentence of any other format, plain text included, becomes a line
of JSONL. Texts are split by the model's tokenizer. --marginals adds the probability of each tag: to
the last column of CoNLL-U, in a column before the tags, or as "marginals" in JSONL. The file is
never held as a whole, so it may have any size.
"""

import argparse
import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from crfviz.chain.decoding.analysis import greedy, likeliest
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.engine.compiled import without_kernels
from crfviz.chain.forward_backward import forward_backward
from crfviz.commands.name_checks import require_folder
from crfviz.commands.reading_options import add_reading_arguments, say_reading, wanted_of
from crfviz.commands.sharded_work import add_work_arguments, open_source, sharded_results
from crfviz.corpus.shards.model_reference import model_reference
from crfviz.corpus.shards.tagging_job import Tagging
from crfviz.exceptions import CrfvizError, EmptySentenceError, FormatError
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.tagger import Tagger, splitter_of
from crfviz.text.files import write_atomically
from crfviz.text.formats import READ_FORMATS
from crfviz.text.readers.reading import Choice
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.splitting import ENGLISH

DEFAULT_MODEL = "upos-en-contextfree"
GAP = "  "  # between columns
OF_FILES = (
    "out",
    "format",
    "marginals",
    "workers",
    "scheduler",
)  # options that need --file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `tag`."""
    add = parser.add_argument
    add("text", nargs="*", help="the sentence (default: standard input, one sentence a line)")
    add("--json", action="store_true", help="print words, tags, probabilities and places as JSON")
    add("--whole", action="store_true", help="tag a text of several sentences as one")
    add("--model", default=DEFAULT_MODEL, metavar="NAME", help="default: %(default)s")
    add("--file", type=Path, metavar="FILE", help="sentences to tag, instead; - is standard input")
    add("--format", choices=READ_FORMATS, help="of the file (default: told from its content)")
    add_reading_arguments(parser)
    add("--out", type=Path, metavar="FILE", help="of the tagged file (default: standard output)")
    add("--marginals", action="store_true", help="the probability of each tag of each word, too")
    add_work_arguments(parser)


def main(options: argparse.Namespace) -> int:
    """Tag the sentences and return 0.

    Raises:
        CrfvizError: there is no such model, or nothing to tag; the message says which.
    """
    if options.file is not None:
        return _tag_file(options)
    if given := [name for name in OF_FILES if getattr(options, name)]:
        raise CrfvizError(f"--{given[0]}: expected --file with it, the sentences to tag")
    tagger = load_tagger(options.model)
    printed = False
    with without_kernels() if options.text else nullcontext():
        texts: Iterable[str] = [" ".join(options.text)] if options.text else _lines()
        if not options.whole:
            texts = (sentence for text in texts for sentence in _sentences(tagger, text))
        for text in texts:
            if words := tagger.split(text):
                sys.stdout.write(_line(tagger, text, words, as_json=options.json))
                printed = True
    if not printed:
        raise EmptySentenceError("expected a sentence with at least one word, got none")
    return 0


def _line(tagger: Tagger, text: str, words: Sequence[str], *, as_json: bool) -> str:
    if as_json:
        return json.dumps(asdict(tagger.tag(text.rstrip("\r\n"))), ensure_ascii=False) + "\n"
    return tagged(tagger, words, shutil.get_terminal_size().columns) + "\n\n"


def _sentences(tagger: Tagger, text: str) -> list[str]:
    """Return the sentences of a text; print a note if there are several."""
    sentences = split_sentences(text, getattr(tagger, "tokenizer", ENGLISH))
    if len(sentences) < 2:
        return [text]
    sys.stderr.write(f"{len(sentences)} sentences, each by itself; --whole tags them as one\n")
    return sentences


def _lines() -> Iterator[str]:
    """Yield the lines of standard input as they arrive."""
    try:
        yield from sys.stdin
    except UnicodeDecodeError as error:
        raise FormatError(f"expected UTF-8 text on standard input, got {error}") from error


def _tag_file(options: argparse.Namespace) -> int:
    if options.text or options.json:
        what = "a sentence" if options.text else "--json"
        raise CrfvizError(f"expected {what} or --file, got both")
    require_folder(options.out)
    tagger = load_tagger(options.model)  # report a missing model now, not in the first shard
    apart = "" if options.whole else getattr(tagger, "tokenizer", ENGLISH)
    split = splitter_of(tagger)
    choice = Choice(options.format, wanted_of(options), split=split, apart=apart)
    with open_source(options.file, choice, tagged=False) as source:
        say_reading(source.name, source.reading)
        model = model_reference(options.model)
        job = Tagging(source.name, source.file_format, model, marginals=options.marginals)
        outputs = [] if options.out is None else [options.out]
        with sharded_results(options, source, job, outputs) as contents:
            if options.out is not None:
                write_atomically(options.out, contents)
                return 0
            for content in contents:
                sys.stdout.buffer.write(content)
                sys.stdout.buffer.flush()
    return 0


def tagged(tagger: Tagger, words: Sequence[str], width: int) -> str:
    """Return aligned rows for one sentence and its log p, in blocks of at most `width` characters.

    Args:
        tagger: computes the potentials to decode.
        words: the words of the sentence, at least one.
        width: characters of the terminal; a block with a single word may be wider.
    """
    potentials = tagger.potentials(words)
    best, tables = viterbi(potentials), forward_backward(potentials)
    marginals = [row[tag] for row, tag in zip(tables.marginals.tolist(), best.path, strict=True)]
    named = {
        "independent": greedy(potentials, "independent"),
        "greedy": greedy(potentials, "left_to_right"),
        "Viterbi": best.path,
        "max-marginal": likeliest(tables.marginals),
    }
    rows = {
        "": [printable(word) for word in words],
        **{title: [tagger.tags[tag] for tag in path] for title, path in named.items()},
        "p(Viterbi tag)": [f"{marginal:.3f}" for marginal in marginals],
    }
    log_p = best.score - tables.log_partition
    last = (
        f"log p = {log_p:.3f} (score {best.score:.3f} less log Z {tables.log_partition:.3f}), "
        f"p = {best.probability:.3g}"
    )
    if not tagger.probabilistic:
        last += "\nThis model has scores, not probabilities: p is what a CRF with them would say."
    return "\n".join([*_aligned(rows, width), last])


def printable(word: str) -> str:
    r"""Return the word with control characters escaped, for terminals.

    >>> print(printable("a\x1b[31m"))
    a\x1b[31m
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in word)


def _aligned(rows: dict[str, list[str]], width: int) -> list[str]:
    """Return the lines of the table, in blocks of columns that fit, an empty line after each."""
    columns = list(zip(*rows.values(), strict=True))
    widths = [max(map(_cells, column)) for column in columns]
    titles = max(map(len, rows))
    lines: list[str] = []
    start = 0
    while start < len(columns):
        end, used = start + 1, titles + len(GAP) + widths[start]
        while end < len(columns) and used + len(GAP) + widths[end] <= width:
            used += len(GAP) + widths[end]
            end += 1
        for title, cells in rows.items():
            padded = [_padded(cells[column], widths[column]) for column in range(start, end)]
            lines.append(GAP.join([title.ljust(titles), *padded]).rstrip())
        lines.append("")
        start = end
    return lines


def _cells(text: str) -> int:
    """Return the width on a terminal: two cells for East Asian characters, none for accents."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _cells(text))
