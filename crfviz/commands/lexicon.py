"""`python -m crfviz lexicon`: write which words a model was trained on into its folder.

`train` writes the same file, lexicon.json, by itself. With it, errors can be told apart by words
that training had with this tag, with other tags only, or never.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

from crfviz.commands.name_checks import mapped_types
from crfviz.commands.reading_options import add_reading_arguments, say_reading, wanted_of
from crfviz.corpus.training.labelled import Sources, files_of, write_training_lexicon
from crfviz.taggers.storage import CONFIG_FILE, read_json_object, read_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `lexicon`."""
    add = parser.add_argument
    add("folder", type=Path, help="of the model")
    add("--train", nargs="+", type=Path, required=True, metavar="FILE", help="it learnt from these")
    add_reading_arguments(parser)
    add("--fold-handles", action="store_true", help="as for `train`")
    add("--map", nargs="+", default=[], metavar="OLD=NEW", help="as for `train`")


def main(args: argparse.Namespace) -> int:
    """Write the file and return 0.

    Raises:
        CrfvizError: the folder has no model, or a file cannot be read or has tags that the model
            lacks.
    """
    config = args.folder / CONFIG_FILE
    tags = read_names(config, read_json_object(config), "tags", least=1)
    sources = Sources(tuple(args.train), (), args.fold_handles, wanted=wanted_of(args))
    for file in files_of(sources):
        for _ in file.read(partial(say_reading, file.path)):
            pass
    types = mapped_types(args.map, files_of(sources))
    write_training_lexicon(replace(sources, types=types), args.folder, tags)
    return 0
