"""Options of commands that read tagged files: --words, --tags and --sentences."""

import argparse
import sys

from crfviz.text.readers.rows import Wanted


def add_reading_arguments(parser: argparse.ArgumentParser, *, tags: bool = True) -> None:
    """Declare the options that name the columns or keys of a file.

    Where `--tags` lists tags, `tags=False` leaves `--column` for the column of the tags.
    """
    add = parser.add_argument
    add("--words", metavar="COLUMN", help="of the words: a name, a number from 1, or a key of JSON")
    flags = ("--tags", "--column") if tags else ("--column",)
    add(*flags, metavar="COLUMN", dest="tag_column", help="of the tags, likewise")
    add(
        "--sentences",
        metavar="COLUMN",
        help="that numbers the sentences; blank: blank lines, restart: an index begins anew",
    )


def wanted_of(options: argparse.Namespace) -> Wanted:
    return Wanted(options.words, options.tag_column, options.sentences)


def say_reading(name: object, reading: str) -> None:
    """Print how a file was read to standard error."""
    sys.stderr.write(f"{name}: {reading}\n")
