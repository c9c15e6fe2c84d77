"""`python -m crfviz convert IN OUT`: convert tagged sentences from one format to another.

The format of IN is detected from its content, that of OUT from its name or --to. docs/files.md
lists what each format holds. How IN was read, and losses, are printed to standard error.
"""

import argparse
import sys
import warnings
from pathlib import Path

from crfviz.commands.name_checks import require_folder
from crfviz.commands.reading_options import (
    add_reading_arguments,
    in_flags,
    say_reading,
    wanted_of,
)
from crfviz.exceptions import FormatError
from crfviz.text.files import write_atomically
from crfviz.text.formats import READ_FORMATS, read_sentences
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.spelling import TARGETS
from crfviz.text.writing import SUFFIXES, WRITERS, written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `convert`."""
    add = parser.add_argument
    add("file", type=Path, metavar="IN", help="tagged sentences")
    add("out", type=Path, metavar="OUT", help="the file to write")
    add("--to", choices=WRITERS, help="format of OUT (default: told from its name)")
    add("--format", choices=READ_FORMATS, help="format of IN (default: told from its content)")
    add_reading_arguments(parser)
    add("--scheme", type=str.upper, choices=TARGETS, help="of the entities (default: as they are)")


def main(options: argparse.Namespace) -> int:
    """Convert the file and return 0.

    Raises:
        FormatError: IN cannot be read, or OUT cannot hold it; the message says why.
    """
    require_folder(options.out)
    name = options.to or SUFFIXES.get(options.out.suffix.lower())
    if name is None:
        raise FormatError(
            f"{options.out}: expected a name that ends in {', '.join(SUFFIXES)}, or --to FORMAT"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossWarning)
        named = vars(wanted_of(options))
        sentences = read_sentences(options.file, options.format, **named)
    say_reading(options.file, sentences.reading)
    for warning in caught:
        sys.stderr.write(f"{in_flags(str(warning.message), options)}\n")
    write_atomically(options.out, [written(sentences, name, options.scheme)])
    sys.stderr.write(f"{options.out}: {len(sentences):,} sentences ({name})\n")
    return 0
