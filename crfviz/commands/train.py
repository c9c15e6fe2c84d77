"""`python -m crfviz train`: from tagged files to a model folder.

`--family crf` (the default) trains a network with a CRF, `perceptron` an averaged perceptron, `hmm`
a hidden Markov model by counting; the last two take seconds.

For a CRF: after every epoch the averaged weights tag the dev files, and the state goes to a
checkpoint. The same command goes on from there. The epoch that did best on dev is the one that is
written, with a temperature fitted on dev; see `calibration`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import torch
from torch import Tensor
from tqdm import tqdm

from crfviz.commands.lexicon import keep_training_words
from crfviz.corpus.training.batches import bucket, collate
from crfviz.corpus.training.calibration import fit_temperature
from crfviz.corpus.training.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from crfviz.corpus.training.hmm import HmmRecipe, train_hmm
from crfviz.corpus.training.judging import constrained_crf, dev_score
from crfviz.corpus.training.labelled import Sources, read_corpus
from crfviz.corpus.training.optimisation import Corpus, Run
from crfviz.corpus.training.perceptron import PerceptronRecipe, train_perceptron
from crfviz.corpus.training.recipe import RECIPES, Recipe
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.taggers.neural.network import Network
from crfviz.taggers.neural.storage import Config, NeuralModel, save_model
from crfviz.taggers.neural.tagger import choose_device
from crfviz.taggers.perceptron.storage import UPDATES
from crfviz.taggers.tagger import CRF, HMM, PERCEPTRON
from crfviz.text.cleaning import parse_types
from crfviz.text.schemes import scheme_of

CHECKPOINT_FILE = "checkpoint.safetensors"
HISTORY_FILE = "training.json"
AUXILIARY = 0.5  # weight of the XPOS loss: its finer tags help, but the CRF is what counts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `train`."""
    add = parser.add_argument
    add("--family", choices=(CRF, PERCEPTRON, HMM), default=CRF, help="default: %(default)s")
    add("--architecture", choices=sorted(RECIPES), default="bilstm", help="of a CRF: which recipe")
    add("--updates", choices=UPDATES, default=UPDATES[0], help="of a perceptron: how it decodes")
    add("--train", nargs="+", type=Path, required=True, metavar="FILE", help="files to learn from")
    add("--dev", nargs="+", type=Path, required=True, metavar="FILE", help="files to be judged on")
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
    add("--fold-handles", action="store_true", help="join @ and the word after it to @user")
    add("--map", nargs="+", default=[], metavar="OLD=NEW", help="entity types to rename and keep")
    add("--checkpoint", type=Path, metavar="FOLDER", help="default: runs/NAME-SEED")
    add("--fresh", action="store_true", help="start over, even where a checkpoint is")


def main(args: argparse.Namespace) -> int:
    """Train as the options say; 0 when the model is written.

    Raises:
        CrfvizError: a file, an option or a checkpoint is of no use; the message says why.
    """
    if args.family != CRF:
        return _train_other(args)
    recipe = replace(RECIPES[args.architecture], seed=args.seed)
    if args.epochs is not None:
        recipe = replace(recipe, epochs=args.epochs)
    if args.aux_xpos is not None:
        recipe = replace(recipe, auxiliary=AUXILIARY)
    if recipe.epochs < 1 or not 0 <= recipe.seed < 2**31:
        raise CrfvizError("--epochs must be at least 1, and --seed 0 to 2147483647")
    sources = replace(
        _sources(args), xpos=args.aux_xpos == [], only_xpos=tuple(args.aux_xpos or ())
    )
    folder = args.checkpoint or Path("runs") / f"{args.out.name}-{args.seed}"
    torch.set_num_threads(1)  # more threads sum in another order: other weights, and little faster
    if args.fresh:
        (folder / CHECKPOINT_FILE).unlink(missing_ok=True)
    train(recipe, sources, folder, args.out)
    return 0


def _sources(args: argparse.Namespace) -> Sources:
    return Sources(
        train=tuple(args.train),
        dev=tuple(args.dev),
        fold_handles=args.fold_handles,
        types=parse_types(args.map) if args.map else None,
    )


def _train_other(args: argparse.Namespace) -> int:
    """Train a perceptron or an HMM."""
    if args.aux_xpos is not None:
        raise CrfvizError("--aux-xpos is for the family crf alone")
    if args.family == HMM:
        train_hmm(HmmRecipe(), _sources(args), args.out)
        keep_training_words(_sources(args), args.out)
        return 0
    recipe = PerceptronRecipe(updates=args.updates, seed=args.seed)
    if args.epochs is not None:
        recipe = replace(recipe, epochs=args.epochs)
    if recipe.epochs < 1 or recipe.seed < 0:
        raise CrfvizError("--epochs must be at least 1, and --seed at least 0")
    train_perceptron(recipe, _sources(args), args.out)
    keep_training_words(_sources(args), args.out)
    return 0


def train(recipe: Recipe, sources: Sources, folder: Path, out: Path) -> NeuralModel:
    """Train a tagger, or go on with it, and write it.

    Args:
        recipe: every number of the run.
        sources: the files.
        folder: of the checkpoint; what is in it must come from the same recipe and sentences.
        out: the model folder to write.

    Raises:
        FormatError: a file cannot be read.
        ModelError: the checkpoint in the folder is of another run.
    """
    corpus = read_corpus(sources, recipe)
    run = Run(recipe, corpus, choose_device())
    fingerprint = _fingerprint(recipe, corpus)
    best, history = _restore(run, folder / CHECKPOINT_FILE, fingerprint)
    total = run.num_steps * recipe.epochs
    with tqdm(total=total, initial=run.num_steps * run.finished, unit="batch") as bar:
        for _ in range(run.finished, recipe.epochs):
            loss = run.train_epoch(lambda loss: _show(bar, loss, history))
            history.append({"loss": loss, "dev": dev_score(run.average, corpus, run.device)})
            if history[-1]["dev"] >= max(row["dev"] for row in history):
                best = {n: p.detach().cpu().clone() for n, p in run.average.named_parameters()}
            write_checkpoint(
                folder / CHECKPOINT_FILE, run.checkpoint(fingerprint, list(history), best)
            )
    stored = _export(run, best, history, out)
    keep_training_words(sources, out)
    return stored


def _show(bar: tqdm[NoReturn], loss: float, history: Sequence[dict[str, float]]) -> None:
    """One step further on the progress bar, which works out the time left."""
    dev = f"{100 * history[-1]['dev']:.2f}" if history else "-"
    bar.set_postfix({"epoch": len(history) + 1, "loss": f"{loss:.3f}", "dev": dev}, refresh=False)
    bar.update()


def _restore(
    run: Run, path: Path, fingerprint: str
) -> tuple[dict[str, Tensor], list[dict[str, float]]]:
    checkpoint: Checkpoint | None = read_checkpoint(path)
    if checkpoint is None:
        return {}, []
    if checkpoint.fingerprint != fingerprint:
        raise ModelError(
            f"{path} belongs to a run with another recipe or other sentences; "
            "start over with --fresh, or name another folder with --checkpoint"
        )
    run.restore(checkpoint)
    return checkpoint.part("best"), list(checkpoint.history)


def _export(
    run: Run, best: dict[str, Tensor], history: list[dict[str, float]], out: Path
) -> NeuralModel:
    """Write the best averaged weights with the temperature that suits them."""
    network, corpus = run.average, run.corpus
    network.load_state_dict(best)
    temperature, error = fit_temperature(
        constrained_crf(network.crf, corpus.tags), _dev_batches(network, run)
    )
    config = Config(
        architecture=run.recipe.architecture,
        tags=corpus.tags,
        scheme=scheme_of(corpus.tags),
        temperature=temperature,
        sizes=run.recipe.sizes,
    )
    stored = NeuralModel(config, corpus.vocabulary, network)
    save_model(out, stored)
    record = {
        "recipe": json.loads(run.recipe.as_json()),
        "epochs": history,
        "best_epoch": 1 + max(range(len(history)), key=lambda e: (history[e]["dev"], e)),
        "temperature": temperature,
        "dev_calibration_error": error,
    }
    (out / HISTORY_FILE).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return stored


def _dev_batches(network: Network, run: Run) -> list[tuple[Tensor, Tensor, Tensor]]:
    batches = []
    with torch.no_grad():
        for group in bucket(run.corpus.dev, run.recipe):
            batch = collate(group, run.corpus.vocabulary).to(run.device)
            batches.append((network.emissions(batch.inputs), batch.tags, batch.inputs.mask))
    return batches


def _fingerprint(recipe: Recipe, corpus: Corpus) -> str:
    """Equal for equal recipes and sentences."""
    digest = hashlib.sha256(recipe.as_json().encode())
    for sentence in (*corpus.train, *corpus.dev):
        digest.update(repr(sentence).encode())
    return digest.hexdigest()
