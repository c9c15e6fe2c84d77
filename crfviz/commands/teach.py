"""`python -m crfviz teach`: train on finished sentences, and save the result as a new model.

The files hold tagged sentences, in any format that `evaluate` reads; `-` is standard input. The new
model is listed with the uploaded models and can be chosen at once.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields

import torch

from crfviz.annotations.teaching.gains import gains_table
from crfviz.annotations.teaching.teach import METHODS, WHAT, Lesson, teach
from crfviz.commands.reading_options import add_reading_arguments, say_reading, wanted_of
from crfviz.text.files import decoded
from crfviz.text.formats import parse_sentences, read_sentences
from crfviz.text.sentences import Sentence

DEFAULTS = {field.name: field.default for field in fields(Lesson)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `teach`."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="tagged sentences to learn from")
    add_reading_arguments(parser)
    add("--model", required=True, help="name or folder of the model to teach; it stays as it is")
    what = "; ".join(f"{method}: {WHAT[method]}" for method in METHODS)
    add("--method", choices=METHODS, default=DEFAULTS["method"], help=f"{what} (%(default)s)")
    add("--name", default="", help="of the new model (default: that of the model with -taught)")
    add(
        "--held-out",
        type=float,
        default=DEFAULTS["held_out"],
        metavar="SHARE",
        help="of the sentences, to measure on instead of learning (default: %(default)s)",
    )
    add("--epochs", type=int, help="passes over the sentences (default: those of the method)")
    add("--learning-rate", type=float, help="of the first step (default: that of the method)")
    add("--seed", type=int, default=0, help="what is held out, order and noise (default: 0)")
    add("--json-lines", action="store_true", help="progress and result as JSON, for programs")


def main(options: argparse.Namespace) -> int:
    """Train and save the model, and return 0.

    Raises:
        CrfvizError: an option, a file or the model is invalid; the message says why.
    """
    lesson = Lesson(**{name: getattr(options, name) for name in DEFAULTS})
    sentences = [s for name in options.files for s in _read(name, options) if s.tokens]
    torch.set_num_threads(1)  # for the same weights on every machine, and a free core for the app
    with stop_when_asked():
        taught = teach(lesson, sentences, announce if options.json_lines else show_progress)
    if options.json_lines:
        write_json_line(result=asdict(taught))
    else:
        sys.stdout.write(f"{taught.name}: {taught.folder}\n\n{gains_table(taught.gains)}\n")
    return 0


def _read(name: str, options: argparse.Namespace) -> list[Sentence]:
    wanted = wanted_of(options)
    if name != "-":
        read = read_sentences(name, **vars(wanted))
    else:
        name = "standard input"
        text = decoded(sys.stdin.buffer.read(), name=name)
        read = parse_sentences(text, name=name, wanted=wanted)
    if not options.json_lines:
        say_reading(name, read.reading)
    return list(read)


def announce(share: float, message: str) -> None:
    """Write the progress, a share from 0 to 1 and a message, as a line of JSON."""
    write_json_line(progress=share, message=message)


def write_json_line(**values: object) -> None:
    sys.stdout.write(f"{json.dumps(values)}\n")
    sys.stdout.flush()


def show_progress(share: float, message: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{100 * share:3.0f} %  {message:60}" + ("\n" if share == 1 else ""))


@contextmanager
def stop_when_asked() -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C, so that temporary files are removed."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
