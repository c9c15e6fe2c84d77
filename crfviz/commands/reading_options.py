"""Options of commands that read tagged files: --words, --tags and --sentences."""

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from crfviz.text.readers.losses import KEYWORD, LossWarning, worded
from crfviz.text.readers.rows import Wanted


def add_reading_arguments(parser: argparse.ArgumentParser, *, tags: bool = True) -> None:
    """Declare the options that name the columns or keys of a file.

    Where `--tags` lists tags, `tags=False` leaves `--column` for the column of the tags.
    """
    add = parser.add_argument
    add("--words", metavar="COLUMN", help="of the words: a name, a number from 1, or a key of JSON")
    flags = ("--tags", "--column") if tags else ("--column",)
    add(*flags, metavar="COLUMN", dest="tag_column", help="of the tags, likewise")
    parser.set_defaults(tag_flag=flags[0])
    add(
        "--sentences",
        metavar="COLUMN",
        help="that numbers the sentences; blank: blank lines, restart: an index begins anew",
    )


def wanted_of(options: argparse.Namespace) -> Wanted:
    return Wanted(options.words, options.tag_column, options.sentences)


def in_flags(message: str, options: argparse.Namespace) -> str:
    """Return a message of a reader with flags in place of the keywords of the library."""
    tags = getattr(options, "tag_flag", "--tags")

    def say(action: str) -> str:
        return KEYWORD.sub(
            lambda each: f"{tags if each[1] == 'tags' else f'--{each[1]}'} {each[2]}".rstrip(),
            action,
        )

    return worded(message, say)


@contextmanager
def losses_in_flags(options: argparse.Namespace) -> Iterator[None]:
    """Print each `LossWarning` as `in_flags` words it, without the place in our code."""
    usual = warnings.formatwarning

    def format_loss(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        if issubclass(category, LossWarning):
            return f"{in_flags(str(message), options)}\n"
        return usual(message, category, filename, lineno, line)

    warnings.formatwarning = format_loss
    try:
        yield
    finally:
        warnings.formatwarning = usual


def say_reading(name: object, reading: str) -> None:
    """Print how a file was read to standard error."""
    sys.stderr.write(f"{name}: {reading}\n")
