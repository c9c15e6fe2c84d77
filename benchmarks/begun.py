"""What begun sentences teach: one or two words are marked, the rest is free, guessed, or both.

    python benchmarks/begun.py EWT/train.conllu EWT/dev.conllu UNER/dev.iob2 UNER/test.iob2
    python benchmarks/begun.py --shipped EWT/test.conllu UNER/test.iob2

A CRF over word features learns from 30, 100 or 300 whole sentences and 300 begun ones. Two words of
each are marked, at random or where the model is wrong. Three seeds; 500 test sentences.

With --shipped, upos-en and ner-en go on learning from the begun sentences alone, all weights, as
"Teach" lets them. Their sentences are of the test files, which they were not trained on: 500 are
tested, the begun ones are drawn from the others.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from crfviz.annotations.labelling import propose
from crfviz.annotations.marking import mark_entity, set_tag
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.teaching.partly import begun
from crfviz.annotations.teaching.teach import METHODS, WHOLE_TAGGER, learn
from crfviz.chain.decoding.viterbi import best_paths
from crfviz.corpus.metrics import accuracy, entity_f1
from crfviz.corpus.training.feature_crf import fit_sentences
from crfviz.corpus.training.labelled import order_tags
from crfviz.corpus.training.recipe import Recipe
from crfviz.taggers.neural.tagger import NeuralModel, NeuralTagger, load_model, save_model
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import is_bio, spans
from crfviz.text.sentences import Sentence, joined

OUT = Path(__file__).with_suffix(".json")
BASES, BEGUN, TESTED, SEEDS = (30, 100, 300), 300, 500, 3
WAYS = ("nothing more", "marks", "marks and sure guesses", "marks and all guesses")
PLACES = ("at random", "where wrong")
FEATURES = "features"
SHIPPED = {"upos-en": "words right", "ner-en": "entity F1"}

Fit = Callable[[Sequence[Sentence]], Tagger]  # from sentences that teach to a tagger


def main() -> None:
    """Measure the CRF over features or the shipped networks; keep the rows of the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shipped", action="store_true", help="measure upos-en and ner-en")
    parser.add_argument("files", nargs="+", type=Path, help="as above, in this order")
    arguments = parser.parse_args()
    wanted = 2 if arguments.shipped else 4
    if len(arguments.files) != wanted:
        parser.error(f"expected {wanted} files, got {len(arguments.files)}")
    torch.set_num_threads(1)
    corpora = [[s for s in read_sentences(path) if s.tokens] for path in arguments.files]
    if arguments.shipped:
        for model, corpus in zip(SHIPPED, corpora, strict=True):
            measure_shipped(model, corpus)
    else:
        measure_features("entity F1", *corpora[2:])
        measure_features("words right", *corpora[:2])


def measure_features(metric: str, learnt: list[Sentence], tested: list[Sentence]) -> None:
    """Train a CRF over word features on whole and begun sentences, by base and seed."""
    tags = order_tags([tag for sentence in learnt for tag in sentence.tags or ()])
    for base in BASES:
        found = []
        for seed in range(SEEDS):
            dice = random.Random(seed)
            drawn = dice.sample(learnt, base + BEGUN)
            whole = drawn[:base]

            def fit(more: Sequence[Sentence], whole: list[Sentence] = whole) -> Tagger:
                return PerceptronTagger(Path(), fit_sentences([*whole, *more], tags))

            found.append(measure(fit([]), fit, drawn[base:], tested[:TESTED], tags, dice))
        write_rows(FEATURES, metric, base, found)


def measure_shipped(model: str, corpus: list[Sentence]) -> None:
    """Teach a shipped network more, by seed."""
    shipped = load_tagger(model)
    stored = load_model(shipped.folder)
    shuffled = random.Random(0).sample(corpus, len(corpus))
    tested, others = shuffled[:TESTED], shuffled[TESTED:]

    found = []
    for seed in range(SEEDS):
        recipe = replace(METHODS[WHOLE_TAGGER], seed=seed)

        def fit(more: Sequence[Sentence], recipe: Recipe = recipe) -> Tagger:
            network = learn(stored, more, WHOLE_TAGGER, recipe, lambda _done, _of: None)
            with tempfile.TemporaryDirectory() as folder:
                save_model(Path(folder), NeuralModel(stored.config, stored.vocabulary, network))
                return NeuralTagger(Path(folder))

        dice = random.Random(seed)
        drawn = dice.sample(others, BEGUN)
        found.append(measure(shipped, fit, drawn, tested, shipped.tags, dice))
    write_rows(model, SHIPPED[model], None, found)


def measure(
    first: Tagger,
    fit: Fit,
    half: Sequence[Sentence],
    tested: Sequence[Sentence],
    tags: Sequence[str],
    dice: random.Random,
) -> dict[str, dict[str, float]]:
    """Return the score of every way, by where words are marked.

    Args:
        first: the tagger before, which guesses.
        fit: trains a tagger on sentences with marks, guesses or both.
        half: the sentences in which words are marked.
        tested: with their gold tags.
        tags: of the corpus.
        dice: draws the marked words.
    """
    gold = [list(sentence.tags or ()) for sentence in tested]

    def score(tagger: Tagger) -> float:
        paths = best_paths(tagger.potentials_batch([sentence.tokens for sentence in tested]))
        guess = [[tagger.tags[tag] for tag in path] for path in paths]
        return 100 * (
            entity_f1(gold, guess) if is_bio(tags) else accuracy(gold, guess).tokens.value
        )

    alone, found = score(first), {}
    for place in PLACES:
        pairs = [marked(first, s, dice, wrong=place == "where wrong") for s in half]
        more = {
            "marks": begun(pairs, tags, None),
            "marks and sure guesses": begun(pairs, tags, first),
            "marks and all guesses": [Sentence(item.tokens, said.final) for item, said in pairs],
        }
        scores = {way: score(fit(rest)) for way, rest in more.items()}
        found[place] = {"nothing more": alone, **scores}
    return found


def write_rows(
    model: str,
    metric: str,
    base: int | None,
    found: Sequence[dict[str, dict[str, float]]],
) -> None:
    """Replace the rows of a model, metric and base by the means over the seeds."""
    key = {"model": model, "metric": metric, "base": base}
    rows = json.loads(OUT.read_text()) if OUT.exists() else []
    rows = [row for row in rows if any(row[name] != value for name, value in key.items())]
    for place in PLACES:
        means = {way: sum(f[place][way] for f in found) / len(found) for way in WAYS}
        rows.append({**key, "marked": place, **means})
    OUT.write_text(json.dumps(rows, indent=1) + "\n")


def marked(
    tagger: Tagger, sentence: Sentence, dice: random.Random, *, wrong: bool
) -> tuple[Item, Annotation]:
    """A sentence with two words marked, of entities whole ones."""
    gold, chain = sentence.tags or (), tagger.potentials(sentence.tokens)
    guess = propose(chain, {}).tags
    words = [t for t in range(len(gold)) if guess[t] != gold[t]] if wrong else []
    words = words or list(range(len(gold)))
    pins: dict[int, str] = {}
    for t in dice.sample(words, min(2, len(words))):
        inside = next((span for span in spans(gold) if span.start <= t < span.end), None)
        if not tagger.scheme:
            pins = set_tag(pins, t, t, gold[t])
        elif inside is None:
            pins = mark_entity(pins, t, t, "")
        else:
            pins = mark_entity(pins, inside.start, inside.end - 1, inside.type)
    text, offsets = joined(sentence.tokens)
    return Item(text, offsets), Annotation(0, "x", offsets, guess, propose(chain, pins).tags, pins)


def printed() -> str:
    """The table of the last run."""
    lines = [
        f"| model | metric | whole | marked | {' | '.join(WAYS)} |",
        "|---|---|---:|---|---:|---:|---:|---:|",
    ]
    for row in json.loads(OUT.read_text()):
        cells = " | ".join(f"{row[way]:.1f}" for way in WAYS)
        name = row["model"] if row["model"] == FEATURES else f"`{row['model']}`"
        whole = "as shipped" if row["base"] is None else row["base"]
        what = f"{name} | {row['metric']}, % | {whole} | {row['marked']}"
        lines.append(f"| {what} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
