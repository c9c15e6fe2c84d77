"""Training of a network with its CRF: from tagged files to a model folder.

After every epoch the averaged weights tag the dev files, and a checkpoint is written, from which
the run can be resumed. The epoch with the best dev score is exported. The score is token accuracy
for plain tags and entity F1 for BIO, averaged over the dev files.

The model is exported with a temperature, fitted on dev, that calibrates the token marginals: all
scores are divided by it, which changes no path.

Source:
    Guo et al. (2017), section 4.2, for the temperature; here all potentials of the chain are
    divided.
"""

import copy
import hashlib
import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NoReturn

import torch
from torch import Tensor
from tqdm import tqdm

from crfviz.chain.constraints import scheme_automaton
from crfviz.chain.crf import CRF
from crfviz.chain.engine.compiled import long_work
from crfviz.corpus.metrics import accuracy, calibration_error, entity_f1
from crfviz.corpus.training.labelled import (
    Corpus,
    Labelled,
    Sources,
    bucket,
    collate,
    read_corpus,
    write_training_lexicon,
)
from crfviz.corpus.training.optimisation import Run, read_checkpoint, write_checkpoint
from crfviz.corpus.training.recipe import Recipe
from crfviz.corpus.training.vectors import Projected
from crfviz.exceptions import ModelError
from crfviz.taggers.neural.network import Network
from crfviz.taggers.neural.tagger import Config, NeuralModel, choose_device, save_model
from crfviz.taggers.storage import HISTORY_FILE, write_json
from crfviz.text.schemes import is_bio, scheme_of

CHECKPOINT_FILE = "checkpoint.safetensors"
SENTENCES_AT_ONCE = 64
CANDIDATES = tuple(round(0.8 + 0.05 * step, 2) for step in range(35))  # temperatures, 0.8 to 2.5


@long_work()
def train_neural(recipe: Recipe, sources: Sources, folder: Path, out: Path) -> NeuralModel:
    """Train a tagger, or resume from the checkpoint in `folder`, and write the folder `out`.

    Raises:
        ModelError: the checkpoint belongs to a run with another recipe or other sentences.
    """
    corpus = read_corpus(sources, recipe)
    run = Run(recipe, corpus, choose_device())
    fingerprint = _fingerprint(recipe, corpus)
    best, history = _restore(run, folder / CHECKPOINT_FILE, fingerprint)
    total = run.num_steps * recipe.epochs
    with tqdm(total=total, initial=run.num_steps * run.finished, unit="batch", disable=None) as bar:
        for _ in range(run.finished, recipe.epochs):
            loss = run.train_epoch(lambda loss: _show(bar, loss, history))
            history.append({"loss": loss, "dev": dev_score(run.average, corpus, run.device)})
            if history[-1]["dev"] >= max(row["dev"] for row in history):
                best = {n: p.detach().cpu().clone() for n, p in run.average.named_parameters()}
            write_checkpoint(
                folder / CHECKPOINT_FILE, run.checkpoint(fingerprint, list(history), best)
            )
    stored = _export(run, best, history, out)
    write_training_lexicon(sources, out)
    return stored


def constrained_crf(crf: CRF, tags: Sequence[str]) -> CRF:
    """Return a CRF with -inf at steps that BIO forbids; for plain tags the same CRF."""
    if not is_bio(tags):
        return crf
    rules = scheme_automaton(tuple(tags)).product
    other = copy.deepcopy(crf)
    with torch.no_grad():
        device = crf.transitions.device
        other.transitions.masked_fill_(~rules.transitions.to(device), -torch.inf)
        other.start_transitions.masked_fill_(~rules.start.to(device), -torch.inf)
    return other


def dev_score(network: Network, corpus: Corpus, device: torch.device) -> float:
    """Return Viterbi's token accuracy, or the entity F1 of constrained Viterbi: in [0, 1].

    With several dev files, it is the mean of their scores, so small files count as much as large.
    """
    scores = [_file_score(network, corpus, sentences, device) for sentences in corpus.dev]
    return sum(scores) / len(scores)


def _file_score(
    network: Network, corpus: Corpus, sentences: Sequence[Labelled], device: torch.device
) -> float:
    crf = constrained_crf(network.crf, corpus.tags)
    gold: list[list[str]] = []
    guess: list[list[str]] = []
    ordered = sorted(sentences, key=lambda sentence: len(sentence.tokens))
    with torch.no_grad():
        for start in range(0, len(ordered), SENTENCES_AT_ONCE):
            group = ordered[start : start + SENTENCES_AT_ONCE]
            inputs = collate(group, corpus.vocabulary).inputs.to(device)
            paths = crf.decode(network.emissions(inputs), inputs.mask)
            guess += [[corpus.tags[tag] for tag in path] for path in paths]
            gold += [[corpus.tags[tag] for tag in sentence.tags or ()] for sentence in group]
    if is_bio(corpus.tags):
        return entity_f1(gold, guess)
    return accuracy(gold, guess).tokens.value


def scaled(crf: CRF, temperature: float) -> CRF:
    """Return a copy of the CRF with its weights divided by the temperature."""
    other = copy.deepcopy(crf)
    with torch.no_grad():
        for weights in other.parameters():
            weights.div_(temperature)
    return other


@torch.no_grad()
def fit_temperature(
    crf: CRF, batches: Sequence[tuple[Tensor, Tensor, Tensor]]
) -> tuple[float, float]:
    """Return the temperature with the least calibration error, and that error.

    If no temperature is better than 1, it is 1.

    Args:
        crf: the trained CRF.
        batches: emissions (B, T, K), tags (B, T) and mask (B, T) of the dev sentences.
    """
    errors = {1.0: _error(crf, batches, 1.0)}
    for temperature in CANDIDATES:
        errors[temperature] = _error(crf, batches, temperature)
    best = min(errors, key=lambda t: (errors[t], abs(t - 1.0)))
    return best, errors[best]


def _error(crf: CRF, batches: Sequence[tuple[Tensor, Tensor, Tensor]], temperature: float) -> float:
    colder = scaled(crf, temperature)
    probability, correct = [], []
    for emissions, tags, mask in batches:
        largest, guess = colder.marginals(emissions / temperature, mask).max(dim=-1)
        probability.append(largest[mask])
        correct.append((guess == tags)[mask])
    return calibration_error(torch.cat(probability).cpu(), torch.cat(correct).cpu())


def _show(bar: "tqdm[NoReturn]", loss: float, history: Sequence[dict[str, float]]) -> None:
    dev = f"{100 * history[-1]['dev']:.2f}" if history else "-"
    bar.set_postfix({"epoch": len(history) + 1, "loss": f"{loss:.3f}", "dev": dev}, refresh=False)
    bar.update()


def _restore(
    run: Run, path: Path, fingerprint: str
) -> tuple[dict[str, Tensor], list[dict[str, float]]]:
    checkpoint = read_checkpoint(path)
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
    """Write the best averaged weights with a fitted temperature."""
    network, corpus = run.average, run.corpus
    network.load_state_dict(best)
    if isinstance(network.words, Projected):
        network.words = network.words.table()
    batches = []
    with torch.no_grad():
        for group in bucket(list(chain.from_iterable(corpus.dev)), run.recipe):
            batch = collate(group, corpus.vocabulary).to(run.device)
            batches.append((network.emissions(batch.inputs), batch.tags, batch.inputs.mask))
    temperature, error = fit_temperature(constrained_crf(network.crf, corpus.tags), batches)
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
    write_json(out / HISTORY_FILE, record)
    return stored


def _fingerprint(recipe: Recipe, corpus: Corpus) -> str:
    digest = hashlib.sha256(recipe.as_json().encode())
    for sentence in chain(corpus.train, *corpus.dev):
        digest.update(repr(sentence).encode())
    return digest.hexdigest()
