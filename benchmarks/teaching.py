"""What a model gains and loses by being taught: on the taught sentences, and on others.

    python benchmarks/teaching.py --data FOLDER [--out FILE] [--recipe METHOD:RATE:EPOCHS ...]

Sentences drawn from a dev file stand for what an annotator finished; the test file says what became
of the rest. `as trained` keeps the gold tags: text like that of the training, corrected. `AUX as
VERB` renames a tag in both files: an annotator who follows another guideline than the treebank.
Each figure is a mean over draws, with the lowest and the highest. The temperature is either kept or
fitted anew on the shipped excerpt, of which nothing is taught.

FOLDER holds ud-english-ewt and broad-twitter-corpus.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from report import in_markdown

from crfviz.annotations.teaching.gains import Score, gain
from crfviz.annotations.teaching.learning import METHODS, labelled, learn
from crfviz.chain.forward_backward import forward_backward
from crfviz.corpus.metrics import calibration_error
from crfviz.corpus.training.labelled import bucket, collate
from crfviz.corpus.training.neural import constrained_crf, fit_temperature
from crfviz.corpus.training.recipe import Recipe
from crfviz.taggers.neural.network import Network
from crfviz.taggers.neural.tagger import NeuralModel, NeuralTagger, load_model, save_model
from crfviz.taggers.registry import excerpt_for, load_tagger, read_excerpt
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import OUTSIDE, repair
from crfviz.text.sentences import Sentence

OUT = Path(__file__).with_name("teaching.json")
FILES = {
    "upos-en": "ud-english-ewt/{}.conllu",
    "upos-en-contextfree": "ud-english-ewt/{}.conllu",
    "ner-en": "broad-twitter-corpus/{}.conll",
}
GUIDELINES: Mapping[str, Mapping[str, str]] = {"as trained": {}, "AUX as VERB": {"AUX": "VERB"}}
SIZES = (10, 100)  # sentences that are taught
DRAWS = 5
TEST_SENTENCES = 1000  # the first of the test file

Figures = dict[str, float]


@dataclass(frozen=True)
class Setting:
    """One model with its files under one guideline."""

    model: str
    guideline: str
    pool: Sequence[Sentence]  # of the dev file, without the shipped excerpt
    test: Sequence[Sentence]
    excerpt: Sequence[Sentence]


def main() -> None:
    """Teach, print the table, write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--recipe", nargs="*", default=[], help="other numbers than those in use")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [
        row_of(setting, method, size, recipe)
        for model in FILES
        for setting in settings(model, options.data)
        for method, recipe in _recipes(options.recipe)
        for size in SIZES
    ]
    report = {"draws": DRAWS, "test_sentences": TEST_SENTENCES, "rows": rows}
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    sys.stdout.write(table(report) + "\n")


def _recipes(wanted: Sequence[str]) -> list[tuple[str, Recipe]]:
    parts = [text.split(":") for text in wanted]
    others = [
        (name, replace(METHODS[name], learning_rate=float(rate), epochs=int(epochs)))
        for name, rate, epochs in parts
    ]
    return others or list(METHODS.items())


def settings(model: str, data: Path) -> Iterator[Setting]:
    """The model under every guideline that changes one of its tags, and under its own."""
    tagger = load_tagger(model)
    for guideline, names in GUIDELINES.items():
        if names.keys() <= set(tagger.tags):
            pool, test = (_read(tagger, data / FILES[model].format(p)) for p in ("dev", "test"))
            path = excerpt_for(tagger.tags)
            shipped = read_excerpt(path) if path else ()
            known = {sentence.tokens for sentence in shipped}
            yield Setting(
                model=model,
                guideline=guideline,
                pool=_renamed([s for s in pool if s.tokens not in known], names),
                test=_renamed(test[:TEST_SENTENCES], names),
                excerpt=_renamed(shipped, names),
            )


def _read(tagger: Tagger, path: Path) -> list[Sentence]:
    if tagger.scheme is None:
        return [sentence for sentence in read_sentences(path) if sentence.tokens]
    types = {tag[2:]: tag[2:] for tag in tagger.tags if tag != OUTSIDE}
    read = read_sentences(path, fold_handles=True, types=types)
    return [replace(s, tags=tuple(repair(s.tags or ()))) for s in read if s.tokens]


def _renamed(sentences: Sequence[Sentence], names: Mapping[str, str]) -> list[Sentence]:
    return [replace(s, tags=tuple(names.get(tag, tag) for tag in s.tags or ())) for s in sentences]


def row_of(setting: Setting, method: str, size: int, recipe: Recipe) -> dict[str, Any]:
    """The figures of all draws."""
    drawn = [measure(setting, method, size, replace(recipe, seed=seed)) for seed in range(DRAWS)]
    sys.stderr.write(f"{setting.model}, {setting.guideline}, {method}, {size}\n")
    return {
        "model": setting.model,
        "guideline": setting.guideline,
        "method": method,
        "learning_rate": recipe.learning_rate,
        "epochs": recipe.epochs,
        "sentences": size,
        **{name: _spread([figures[name] for figures in drawn]) for name in drawn[0]},
    }


def _spread(values: Sequence[float]) -> list[float]:
    """Mean, lowest and highest."""
    return [round(value, 5) for value in (statistics.mean(values), min(values), max(values))]


def measure(setting: Setting, method: str, size: int, recipe: Recipe) -> Figures:
    """One draw: shares of words right (BIO: entity F1) and calibration errors, in [0, 1]."""
    taught = random.Random(recipe.seed).sample(list(setting.pool), size)
    before = load_tagger(setting.model)
    stored = load_model(before.folder)
    network = learn(stored, taught, method, recipe, lambda *_: None)
    anew = replace(stored.config, temperature=_temperature(network, stored, setting.excerpt))
    with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as fitted:
        save_model(Path(kept), NeuralModel(stored.config, stored.vocabulary, network))
        save_model(Path(fitted), NeuralModel(anew, stored.vocabulary, network))
        after, other = NeuralTagger(Path(kept)), NeuralTagger(Path(fitted))
    on_taught = gain("taught", taught, before, after)
    on_test = gain("test", setting.test, before, after)
    return {
        "taught_before": _share(on_taught.before),
        "taught_after": _share(on_taught.after),
        "test_before": _share(on_test.before),
        "test_after": _share(on_test.after),
        "test_change": _share(on_test.after) - _share(on_test.before),
        "ece_before": _calibration_error(before, setting.test),
        "ece_kept": _calibration_error(after, setting.test),
        "ece_fitted": _calibration_error(other, setting.test),
    }


def _share(score: Score) -> float:
    return (score.entity_f1 or score.words).value


def _temperature(network: Network, stored: NeuralModel, sentences: Sequence[Sentence]) -> float:
    """As `train` fits it on dev."""
    tags = stored.config.tags
    batches = []
    with torch.no_grad():
        for group in bucket(labelled(sentences, tags), Recipe()):
            batch = collate(group, stored.vocabulary)
            batches.append((network.emissions(batch.inputs), batch.tags, batch.inputs.mask))
    return fit_temperature(constrained_crf(network.crf, tags), batches)[0]


def _calibration_error(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    """Of the likeliest tag of each word."""
    probability, right = [], []
    chains = tagger.potentials_batch([sentence.tokens for sentence in sentences])
    for chain, sentence in zip(chains, sentences, strict=True):
        largest, guess = forward_backward(chain).marginals.max(dim=1)
        probability.append(largest)
        gold = torch.tensor([tagger.tags.index(tag) for tag in sentence.tags or ()])
        right.append(guess == gold)
    return calibration_error(torch.cat(probability), torch.cat(right))


def table(report: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    numbers = ("sentences", "taught, %", "test, %", "change on test, points")
    return in_markdown(
        ["model", "guideline", "method"],
        [*numbers, "ECE before, kept, fitted, %"],
        map(_cells, report["rows"]),
    )


def _cells(row: Mapping[str, Any]) -> list[str]:
    taught, test = (
        f"{100 * row[f'{where}_before'][0]:.1f} → {100 * row[f'{where}_after'][0]:.1f}"
        for where in ("taught", "test")
    )
    change, low, high = (f"{100 * value:+.2f}" for value in row["test_change"])
    errors = (f"{100 * row[name][0]:.2f}" for name in ("ece_before", "ece_kept", "ece_fitted"))
    about = [f"`{row['model']}`", row["guideline"], row["method"], str(row["sentences"])]
    return [*about, taught, test, f"{change} ({low} to {high})", ", ".join(errors)]


if __name__ == "__main__":
    main()
