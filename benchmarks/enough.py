"""Does the interval of `learning_curve` hold what fifty more sentences bring?

Draws random parts of a corpus, extends each by fifty sentences, and measures the true gain on the
test file. Prints a line for each part, and the share of intervals that hold the gain.

    python benchmarks/enough.py TRAIN TEST --parts 30 --sentences 150
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.corpus.metrics import entity_f1
from crfviz.corpus.tables.label_errors import one_thread
from crfviz.corpus.tables.learning_curve import MAX_STEPS, MORE, learning_curve
from crfviz.corpus.training.feature_crf import fit_feature_crf, partly_tagged
from crfviz.corpus.training.labelled import order_tags
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence


def true_score(part: Sequence[Sentence], test: Sequence[Sentence]) -> float:
    """Return F1 on the test sentences of a model that learnt from a part."""
    tags = order_tags([tag for each in part for tag in each.tags or ()])
    model = fit_feature_crf([partly_tagged(s, tags) for s in part], tags, max_steps=MAX_STEPS)
    tagger = PerceptronTagger(Path(), model)
    paths = best_paths(tagger.potentials_batch([each.tokens for each in test]))
    return entity_f1(
        [each.tags or () for each in test], [[tags[k] for k in path] for path in paths]
    )


@one_thread()
def main() -> None:
    """Measure the parts from `--first` on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--parts", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sentences", type=int, default=150)
    options = parser.parse_args()
    train, test = read_sentences(options.train), read_sentences(options.test)
    held = 0
    for number in range(options.first, options.first + options.parts):
        drawn = Random(number).sample(train, options.sentences + MORE)
        part = drawn[: options.sentences]
        started = time.process_time()
        curve = learning_curve(part)
        seconds = time.process_time() - started
        gain = true_score(drawn, test) - true_score(part, test)
        low, high = curve.next.interval
        held += low <= gain <= high
        row = {"part": number, "true": gain, "cpu": seconds, **curve.as_fields()}
        sys.stdout.write(f"{json.dumps(row)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{held} of {options.parts} intervals hold the true gain\n")


if __name__ == "__main__":
    main()
