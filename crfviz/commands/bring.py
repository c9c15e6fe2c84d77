"""`python -m crfviz bring`: add the model in one file, or in two related files, to the list.

Assumptions and parts that were left out are printed to standard error.
"""

import argparse
import sys
from pathlib import Path

from crfviz.taggers.brought.parsed_model import Reading
from crfviz.taggers.registry import read_model, store_model
from crfviz.text.schemes import could_be_bio


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `bring`."""
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="scores, a layer and scores, a model")
    add("--name", default="", help="of the model in the list (default: that of the first file)")
    add(
        "--probabilities",
        action=argparse.BooleanOptionalAction,
        help="take logarithms; with --no-probabilities the numbers are scores in nats",
    )
    add("--to-from", action="store_true", help="the rows of the matrices are “to”")
    add("--normalise", action="store_true", help="divide rows of probabilities by their sum")
    add("--time-first", action="store_true", help="batches are (T, B, K) where nothing tells")
    add("--bio", action="store_true", help="the rules of BIO act in decoding")
    add(
        "--boundary-tags",
        choices=("keep", "leave-out"),
        help="tags such as <START> and <STOP> (default: one of each is left out)",
    )


def main(options: argparse.Namespace) -> int:
    """Add the model and return 0.

    Raises:
        CrfvizError: the files cannot be read, or the model cannot be stored.
    """
    reading = Reading(
        probabilities=options.probabilities,
        to_from=options.to_from,
        normalise=options.normalise,
        batch_first=False if options.time_first else None,
        bio=options.bio,
        keep_boundary_tags={"keep": True, "leave-out": False}.get(options.boundary_tags),
    )
    model = read_model(*options.files, reading=reading)
    name = store_model(model, options.name or options.files[0].stem)
    if could_be_bio(model.tags) and model.scheme is None:
        sys.stderr.write("These are BIO tags: with --bio the rules act in decoding.\n")
    for line in (*model.notes, *model.unnormalised, *model.left_out):
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{name}: {model.kind}, {len(model.tags)} tags\n")
    return 0
