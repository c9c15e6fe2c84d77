"""How many planted gold errors the list of suspects finds, and how early.

    python benchmarks/gold_errors.py --file test.conllu --model upos-en [--share 0.01]

A share of the words, at most one in a sentence, gets the tag that another word of the corpus has,
drawn at random: what a slip of an annotator may look like. Precision at k is the share of planted
words among the first k suspects, with k the number of planted ones; real errors of the gold file
that stand higher count against it. Drawn anew for every seed.

Where the tags are BIO, a share of the entities is spoilt instead: half get another type, half are
left out; the suspected entities are ranked.
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
from crfviz.corpus.run.tagging import run
from crfviz.taggers.registry import load_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import Span, spans, tags_of
from crfviz.text.sentences import Sentence


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--share", type=float, default=0.01, help="of the words to be planted")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--fold-handles", action="store_true", help="as for `evaluate`")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tagger = load_tagger(options.model)
    sentences = read_sentences(options.file, fold_handles=options.fold_handles)
    by_entity = tagger.scheme is not None
    measured = [
        (measure_entities if by_entity else measure)(
            tagger, sentences, options.share, random.Random(seed)
        )
        for seed in range(options.seeds)
    ]
    sys.stdout.write(json.dumps({"model": options.model, "runs": measured}, indent=2) + "\n")


def measure(
    tagger: Tagger, sentences: Sequence[Sentence], share: float, generator: random.Random
) -> dict[str, object]:
    """Plant, look for suspects, and count how many of the first ones were planted."""
    spoilt, planted = plant(sentences, share, generator)
    ranked = run(tagger, spoilt).log.suspects
    return _precision(
        [
            any((error.sentence, t) in planted for t in range(error.first, error.last + 1))
            for error in ranked
        ],
        len(planted),
    )


def measure_entities(
    tagger: Tagger, sentences: Sequence[Sentence], share: float, generator: random.Random
) -> dict[str, object]:
    """The same for entities; a spoilt one that is on both lists, as gold and as predicted, is one.

    The first of its two rows counts, the second is left out.
    """
    spoilt, planted = plant_entities(sentences, share, generator)
    hits, hit_already = [], set()
    for suspect in run(tagger, spoilt).log.entity_suspects:
        places = {(suspect.sentence, t) for t in range(suspect.span.start, suspect.span.end)}
        hit = places & planted.keys()
        if not hit or not {planted[place] for place in hit} <= hit_already:
            hits.append(bool(hit))
        hit_already |= {planted[place] for place in hit}
    return _precision(hits, len(set(planted.values())))


def _precision(hits: Sequence[bool], k: int) -> dict[str, object]:
    rate = wilson(sum(hits[:k]), k)
    return {
        "planted": k,
        "errors": len(hits),
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


def plant_entities(
    sentences: Sequence[Sentence], share: float, generator: random.Random
) -> tuple[list[Sentence], dict[tuple[int, int], int]]:
    """The sentences with spoilt entities; by sentence and position of a word, its entity."""
    every = [(i, span) for i, s in enumerate(sentences) for span in spans(s.tags or ())]
    types = sorted({span.type for _, span in every})
    spoilt, planted = list(sentences), {}
    for number, (i, span) in enumerate(generator.sample(every, round(share * len(every)))):
        others = [kind for kind in types if kind != span.type]
        new = generator.choice(others) if number % 2 and others else None
        entities = [s for s in spans(spoilt[i].tags or ()) if s != span]
        entities += [Span(new, span.start, span.end)] if new else []
        tags = tuple(tags_of(entities, len(sentences[i].tokens)))
        spoilt[i] = Sentence(sentences[i].tokens, tags, sentences[i].text)
        planted |= {(i, t): number for t in range(span.start, span.end)}
    return spoilt, planted


if __name__ == "__main__":
    main()
