"""`python -m crfviz lexicon`: write which words a model was trained on into its folder.

`train` writes the same file, lexicon.json, by itself. With it, errors can be told apart by words
that training had with this tag, with other tags only, or never.
"""

import argparse
from pathlib import Path

from crfviz.corpus.training.labelled import Sources, keep_training_words
from crfviz.taggers.storage import CONFIG_FILE, read_json_object
from crfviz.text.cleaning import parse_types


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lexicon`."""
    add = parser.add_argument
    add("folder", type=Path, help="of the model")
    add("--train", nargs="+", type=Path, required=True, metavar="FILE", help="it learnt from these")
    add("--fold-handles", action="store_true", help="as for `train`")
    add("--map", nargs="+", default=[], metavar="OLD=NEW", help="as for `train`")


def main(args: argparse.Namespace) -> int:
    """Write the file; 0 when it is written.

    Raises:
        CrfvizError: the folder is no model, or a file cannot be read.
    """
    read_json_object(args.folder / CONFIG_FILE)
    types = parse_types(args.map) if args.map else None
    keep_training_words(Sources(tuple(args.train), (), args.fold_handles, types), args.folder)
    return 0
