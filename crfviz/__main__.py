"""The command line: `python -m crfviz COMMAND`.

Each command is a module with `add_arguments(parser)` and `main(options) -> int`, imported when it
is asked for, in `crfviz.commands`. Errors that a person can act on go to standard error, with exit
code 2.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from crfviz.exceptions import CrfvizError

COMMANDS = {  # name: module, what it does
    "train": ("crfviz.commands.train", "train a tagger on tagged files"),
    "evaluate": ("crfviz.commands.evaluate", "measure a tagger on a tagged file"),
    "compile": ("crfviz.commands.compile", "compile the fast loops, once per machine"),
    "convert": ("crfviz.commands.convert", "write tagged sentences in another format"),
    "lexicon": ("crfviz.commands.lexicon", "note the words of the training in a model folder"),
    "tag": ("crfviz.commands.tag", "tag sentences by every decoder"),
    "bring": ("crfviz.commands.bring", "add a model of another program to the list"),
    "annotations": ("crfviz.commands.annotations", "export, import or count annotations"),
    "settings": ("crfviz.commands.settings", "print all settings and what they mean"),
    "site": ("crfviz.commands.site", "write the explorer as a folder that needs no server"),
    "worksheet": ("crfviz.commands.worksheet", "write homework with numbers for each student"),
    "teach": ("crfviz.commands.teach", "let a tagger learn from finished sentences"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 2 for bad input, or 1 if the output pipe was closed.

    Args:
        arguments: without the name of the program; None takes them from the command line.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    name = _parser().parse_args(given[:1]).command
    module = import_module(COMMANDS[name][0])
    options = argparse.ArgumentParser(prog=f"crfviz {name}", description=module.__doc__)
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    module.add_arguments(options)
    parsed = options.parse_args(given[1:])
    reading = import_module("crfviz.commands.reading_options")
    try:
        with reading.losses_in_flags(parsed):
            code = int(module.main(parsed))
        sys.stdout.flush()
        return code
    except CrfvizError as error:
        print(f"crfviz: {reading.in_flags(str(error), parsed)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read the output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {name:12} {what}" for name, (_, what) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="crfviz",
        description="Linear-chain CRFs you can see.",
        epilog=f"commands:\n{commands}\n\n`crfviz COMMAND --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = import_module("crfviz").__version__
    parser.add_argument("--version", action="version", version=f"crfviz {version}")
    parser.add_argument(
        "command", choices=COMMANDS, metavar="COMMAND", help="what to do, see below"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
