"""How many planted gold errors the list of suspects finds, and how early.

    python benchmarks/gold_errors.py --file test.conllu --model upos-en [--share 0.01]

A share of the words, at most one in a sentence, gets the tag that another word of the corpus has,
drawn at random: what a slip of an annotator may look like. Precision at k is the share of planted
words among the first k suspects, with k the number of planted ones; real errors of the gold file
that stand higher count against it. Drawn anew for every seed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from crfviz.corpus.metrics import wilson
from crfviz.corpus.results import run
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--share", type=float, default=0.01, help="of the words to be planted")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tagger, sentences = load_tagger(options.model), read_sentences(options.file)
    measured = [
        measure(tagger, sentences, options.share, random.Random(seed))
        for seed in range(options.seeds)
    ]
    sys.stdout.write(json.dumps({"model": options.model, "runs": measured}, indent=2) + "\n")


def measure(
    tagger: Tagger, sentences: Sequence[Sentence], share: float, generator: random.Random
) -> dict[str, object]:
    """Plant, look for suspects, and count how many of the first ones were planted."""
    spoilt, planted = plant(sentences, share, generator)
    ranked = run(tagger, spoilt).log.suspects
    hits = [
        any((error.sentence, t) in planted for t in range(error.first, error.last + 1))
        for error in ranked
    ]
    k = len(planted)
    rate = wilson(sum(hits[:k]), k)
    return {
        "planted": k,
        "errors": len(ranked),
        "precision_at_k": round(rate.value, 4),
        "interval": [round(rate.low, 4), round(rate.high, 4)],
        "precision_at_50": round(sum(hits[:50]) / 50, 4),
        "precision_of_a_random_order": round(sum(hits) / max(1, len(hits)), 4),
        "planted_among_errors": sum(hits),
    }


def plant(
    sentences: Sequence[Sentence], share: float, generator: random.Random
) -> tuple[list[Sentence], set[tuple[int, int]]]:
    """The sentences with wrong tags, and where they are: sentence and position from 0."""
    every_tag = [tag for sentence in sentences for tag in sentence.tags or ()]
    number = min(len(sentences), round(share * len(every_tag)))
    spoilt, planted = list(sentences), set()
    for index in sorted(generator.sample(range(len(sentences)), number)):
        tags = list(sentences[index].tags or ())
        position = generator.randrange(len(tags))
        right = tags[position]
        while tags[position] == right:
            tags[position] = generator.choice(every_tag)
        spoilt[index] = Sentence(sentences[index].tokens, tuple(tags), sentences[index].text)
        planted.add((index, position))
    return spoilt, planted


if __name__ == "__main__":
    main()
