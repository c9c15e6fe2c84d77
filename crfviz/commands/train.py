"""`python -m crfviz train`: from tagged files to a model folder.

`--family crf` (the default) trains a network with a CRF, with `--architecture features` a CRF over
the features of the perceptron; `perceptron` an averaged perceptron, `hmm` a hidden Markov model by
counting. All but the networks take seconds, and need no dev files: without them a perceptron and a
CRF over features are cross-validated.

For a network: after every epoch the averaged weights tag the dev files, and the state goes to a
checkpoint. The same command goes on from there. The epoch that did best on dev is the one that is
written, with a temperature fitted on dev. The dev files also calibrate sets: calibration.json.
"""

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from crfviz.commands.name_checks import mapped_types
from crfviz.commands.reading_options import add_reading_arguments, say_reading, wanted_of
from crfviz.corpus.tables.card import forget_evaluations
from crfviz.corpus.tables.coverage import (
    all_calibrations,
    judge,
    label_of,
    write_calibrations,
)
from crfviz.corpus.training.feature_crf import train_feature_crf
from crfviz.corpus.training.hmm import HmmRecipe, train_hmm
from crfviz.corpus.training.labelled import UNSURE, Sources, files_of, tagged_sentences
from crfviz.corpus.training.neural import CHECKPOINT_FILE, train_neural
from crfviz.corpus.training.perceptron import PerceptronRecipe, train_perceptron
from crfviz.corpus.training.recipe import RECIPES
from crfviz.exceptions import CrfvizError
from crfviz.taggers.folder import CARD_FILE, version_at
from crfviz.taggers.perceptron import UPDATES
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.storage import write_tokenizer
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON
from crfviz.text.formats import SentenceFile
from crfviz.text.name_lists import parse_names
from crfviz.text.readers.rows import Wanted
from crfviz.text.splitting import CHARACTERS, ENGLISH, SURE, splitter, told_by

FEATURES = "features"  # architecture: a CRF over the features of the perceptron
WORD_SIZE = 58  # with --vectors: the size that each fixed vector is projected to
AUXILIARY = 0.5  # weight of the XPOS loss beside that of the CRF, the actual objective


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `train`."""
    add = parser.add_argument
    add("--family", choices=(CRF, PERCEPTRON, HMM), default=CRF, help="default: %(default)s")
    kinds = (*sorted(RECIPES), FEATURES)
    add("--architecture", choices=kinds, default="bilstm", help="of a CRF: which recipe")
    add("--updates", choices=UPDATES, default=UPDATES[0], help="of a perceptron: how it decodes")
    add("--train", nargs="+", type=Path, required=True, metavar="FILE", help="files to learn from")
    add(
        "--dev",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="files to be judged on: the mean of their scores",
    )
    add_reading_arguments(parser, tags=False)
    add(
        "--tags",
        metavar="A,B,C",
        help="all tags there are (default: those of the training files); a tag with a comma in "
        "double quotes, as in CSV; one name is a column, as with --column",
    )
    add("--out", type=Path, required=True, metavar="FOLDER", help="where the model is written")
    add("--seed", type=int, default=0, help="start values, order and noise (default: 0)")
    add("--epochs", type=int, help="passes over the training files (default: the recipe's)")
    add(
        "--aux-xpos",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="of a CRF: learn XPOS too, of the training files or of these; not kept in the model",
    )
    add(
        "--lower-case",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="of a network: share of the sentences that an epoch shows in lower case (default: 0)",
    )
    add("--vectors", type=Path, metavar="FOLDER", help="of an encoder: its word vectors, fixed")
    add(
        "--tokenizer",
        metavar="NAME",
        help="of typed texts: spacy:CODE, characters or blanks "
        "(default: told from the training files)",
    )
    add("--fold-handles", action="store_true", help="join @ and the word after it to @user")
    add(
        "--map",
        nargs="+",
        default=[],
        metavar="OLD=NEW",
        help="entity types to rename and keep; with ? as NEW a network learns nothing from them",
    )
    add("--checkpoint", type=Path, metavar="FOLDER", help="default: runs/NAME-SEED")
    add("--fresh", action="store_true", help="start over, even where a checkpoint is")


def main(args: argparse.Namespace) -> int:
    """Train and write the model, and return 0.

    If the folder already has a model, the text of its card stays. If the weights change, the
    evaluations of the previous model are removed.

    Raises:
        CrfvizError: a file, an option or a checkpoint is invalid; the message says why.
    """
    before = version_at(args.out) if args.out.exists() else None
    for path in (*args.train, *args.dev):
        for _ in SentenceFile(path, wanted=_wanted(args)).read(partial(say_reading, path)):
            pass
    if args.tokenizer:
        splitter(args.tokenizer)
    _train(args)
    write_tokenizer(args.out, args.tokenizer or _told_tokenizer(args))
    if before is not None and version_at(args.out) != before:
        _tell_of_the_card(args.out)
    if args.dev:
        _calibrate(args)
    return 0


def _calibrate(args: argparse.Namespace) -> None:
    """Write the thresholds of calibrated sets, from the dev files, into the model folder."""
    sentences = [each for path in args.dev for each in tagged_sentences(_sources(args), (path,))]
    found = all_calibrations(list(judge(load_tagger(str(args.out)), sentences)))
    write_calibrations(args.out, ", ".join(map(label_of, args.dev)), found, {})


def _wanted(args: argparse.Namespace) -> Wanted:
    names = [] if args.tags is None else parse_names(args.tags)
    return replace(wanted_of(args), tags=args.tag_column or (names[0] if len(names) == 1 else None))


def _told_tokenizer(args: argparse.Namespace) -> str:
    """Return the tokenizer that fits the words of the training files best; print how well."""
    wanted = _wanted(args)
    files = (
        SentenceFile(path, fold_handles=args.fold_handles, wanted=wanted) for path in args.train
    )
    name, share, shares = told_by(sentence for file in files for sentence in file)
    tried = (other for other in (ENGLISH, CHARACTERS) if other in shares and other != name)
    others = ", ".join(f"{other} {shares[other]:.1%}" for other in tried)
    sys.stderr.write(
        f"typed texts are split as in {name}: {share:.1%} of the words of the training files"
        f"{f' ({others})' if others else ''}\n"
    )
    if share < SURE:
        sys.stderr.write(
            f"warning: {name} is the best of those tried and gives less than {SURE:.0%} of "
            "the words; --tokenizer NAME names another, and words with two blanks between all of "
            "them are never split\n"
        )
    return name


def _tell_of_the_card(folder: Path) -> None:
    """Remove the figures of the previous model from the folder; report this and the old card."""
    lines = []
    if forget_evaluations(folder):
        lines.append("its figures are removed (`evaluate --card` writes new ones)")
    if (folder / CARD_FILE).is_file():
        lines.append(f"{CARD_FILE} still describes it: update its text")
    if lines:
        sys.stderr.write(f"{folder}: another model was replaced; {', and '.join(lines)}\n")


def _train(args: argparse.Namespace) -> None:
    if args.family != CRF or args.architecture == FEATURES:
        _train_other(args)
        return
    if not args.dev:
        raise CrfvizError("a network needs --dev: it says which epoch is the best")
    recipe = replace(RECIPES[args.architecture], seed=args.seed)
    if args.epochs is not None:
        recipe = replace(recipe, epochs=args.epochs)
    if args.aux_xpos is not None:
        recipe = replace(recipe, auxiliary=AUXILIARY)
    if not 0 <= args.lower_case <= 1:
        raise CrfvizError("--lower-case must be 0 to 1")
    recipe = replace(recipe, lower_case=args.lower_case)
    if recipe.epochs < 1 or not 0 <= recipe.seed < 2**31:
        raise CrfvizError("--epochs must be at least 1, and --seed 0 to 2147483647")
    if args.vectors is not None:
        recipe = replace(recipe, sizes=replace(recipe.sizes, word=WORD_SIZE))
    sources = replace(
        _sources(args),
        xpos=args.aux_xpos == [],
        only_xpos=tuple(args.aux_xpos or ()),
        vectors=args.vectors,
    )
    folder = args.checkpoint or Path("runs") / f"{args.out.name}-{args.seed}"
    # More threads would sum in another order, with other weights, and gain little speed.
    torch.set_num_threads(1)
    if args.fresh:
        (folder / CHECKPOINT_FILE).unlink(missing_ok=True)
    train_neural(recipe, sources, folder, args.out)


def _sources(args: argparse.Namespace) -> Sources:
    sources = Sources(
        tuple(args.train),
        tuple(args.dev),
        args.fold_handles,
        tokenizer=args.tokenizer or ENGLISH,
        wanted=_wanted(args),
    )
    types = mapped_types(args.map, files_of(sources))
    tags = () if args.tags is None else tuple(parse_names(args.tags))
    tags = tags if len(tags) > 1 else ()
    return replace(sources, types=types, tags=tags)


def _train_other(args: argparse.Namespace) -> None:
    if args.aux_xpos is not None:
        raise CrfvizError("--aux-xpos is for networks alone")
    sources = _sources(args)
    if UNSURE in (sources.types or {}).values():
        raise CrfvizError(
            f"--map OLD={UNSURE} is for networks alone: types that --map leaves out become O"
        )
    if args.family == CRF:
        train_feature_crf(sources, args.out)
        return
    if args.family == HMM:
        train_hmm(HmmRecipe(), sources, args.out)
        return
    recipe = PerceptronRecipe(updates=args.updates, seed=args.seed)
    if args.epochs is not None:
        recipe = replace(recipe, epochs=args.epochs)
    if recipe.epochs < 1 or recipe.seed < 0:
        raise CrfvizError("--epochs must be at least 1, and --seed at least 0")
    train_perceptron(recipe, sources, args.out)
