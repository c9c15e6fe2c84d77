"""What begun sentences teach: one or two words are marked, the rest is free, guessed, or both.

    python benchmarks/begun.py EWT/train.conllu EWT/dev.conllu UNER/dev.iob2 UNER/test.iob2

A CRF over word features learns from 30, 100 or 300 whole sentences and 300 begun ones. Two words of
each are marked, at random or where the model is wrong. Three seeds; 500 test sentences.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch

from crfviz.annotations.marking import mark_entity, set_tag
from crfviz.annotations.propagation import propose
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.teaching.partly import begun
from crfviz.chain.decoding.viterbi import best_paths
from crfviz.corpus.metrics import accuracy, entity_f1
from crfviz.corpus.training.feature_crf import fit_sentences
from crfviz.corpus.training.labelled import order_tags
from crfviz.taggers.perceptron import Perceptron, PerceptronTagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import is_bio, spans
from crfviz.text.sentences import Sentence, joined

OUT = Path(__file__).with_suffix(".json")
BASES, BEGUN, TESTED, SEEDS = (30, 100, 300), 300, 500, 3
WAYS = ("nothing more", "marks", "marks and sure guesses", "marks and all guesses")


def main() -> None:
    """Measure both corpora and write the means over the seeds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs=4, type=Path)
    files = parser.parse_args().files
    torch.set_num_threads(1)
    rows = []
    for name, train, test in (("entity F1", *files[2:]), ("words right", *files[:2])):
        learnt, tested = ([s for s in read_sentences(path) if s.tokens] for path in (train, test))
        for base in BASES:
            found = [measure(learnt, tested[:TESTED], base, seed) for seed in range(SEEDS)]
            for place in found[0]:
                means = {way: sum(f[place][way] for f in found) / SEEDS for way in WAYS}
                rows.append({"metric": name, "base": base, "marked": place, **means})
                OUT.write_text(json.dumps(rows, indent=1) + "\n")


def measure(
    learnt: Sequence[Sentence], tested: Sequence[Sentence], base: int, seed: int
) -> dict[str, dict[str, float]]:
    """Return the score of every way, by where words are marked."""
    tags = order_tags([tag for sentence in learnt for tag in sentence.tags or ()])
    dice = random.Random(seed)
    drawn = dice.sample(list(learnt), base + BEGUN)
    whole = drawn[:base]

    def score(model: Perceptron) -> float:
        chains = PerceptronTagger(Path(), model).potentials_batch([s.tokens for s in tested])
        guess = [[tags[tag] for tag in path] for path in best_paths(chains)]
        gold = [list(s.tags or ()) for s in tested]
        return 100 * (
            entity_f1(gold, guess) if is_bio(tags) else accuracy(gold, guess).tokens.value
        )

    first = fit_sentences(whole, tags)
    tagger, alone = PerceptronTagger(Path(), first), score(first)
    found = {}
    for place in ("at random", "where wrong"):
        pairs = [marked(tagger, s, dice, wrong=place == "where wrong") for s in drawn[base:]]
        more = {
            "marks": begun(pairs, tags, None),
            "marks and sure guesses": begun(pairs, tags, tagger),
            "marks and all guesses": [Sentence(item.tokens, said.final) for item, said in pairs],
        }
        scores = {way: score(fit_sentences([*whole, *rest], tags)) for way, rest in more.items()}
        found[place] = {"nothing more": alone, **scores}
    return found


def marked(
    tagger: PerceptronTagger, sentence: Sentence, dice: random.Random, *, wrong: bool
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
        f"| metric | whole | marked | {' | '.join(WAYS)} |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for row in json.loads(OUT.read_text()):
        cells = " | ".join(f"{row[way]:.1f}" for way in WAYS)
        lines.append(f"| {row['metric']}, % | {row['base']} | {row['marked']} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
