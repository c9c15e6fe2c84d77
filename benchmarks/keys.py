"""Keys per sentence at the desk, by a person who makes no mistakes: without and with memory.

The person labels the first sentences of a corpus that have entities, with tags of their own. Each
wrong entity costs the way to its word (arrows, Home or End), Shift and arrows for further words,
and a letter; Enter accepts. A CRF is trained after every ten sentences in both ways.

    python benchmarks/keys.py TEST.iob2 --sentences 30
"""

import argparse
import json
import sys
from pathlib import Path

from crfviz.annotations import labelling
from crfviz.annotations.labelling import Desk
from crfviz.annotations.memory import Memory
from crfviz.annotations.records import Annotation, Item
from crfviz.corpus.tables.label_errors import one_thread
from crfviz.corpus.training.feature_crf import fit_sentences
from crfviz.taggers.blank import BlankTagger, bio_tags
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import repair, spans, types_of
from crfviz.text.sentences import Sentence, joined

TEN = 10


def keys_of(desk: Desk, gold: tuple[str, ...]) -> tuple[int, Annotation]:
    """Return the number of keys until a sentence has its gold tags, and the finished annotation."""
    said = labelling.begin(desk)
    proposal = desk.propose(said.offsets, said.pins)
    cursor, keys = (proposal.doubtful or (0,))[0], 0
    while said.final != gold:
        wanted, there = spans(gold), spans(said.final)
        missing = [span for span in wanted if span not in there]
        false = [span for span in there if span not in wanted]
        span = missing[0] if missing else false[0]
        last = len(gold) - 1
        starts = (abs(cursor - span.start), 1 + span.start, 1 + last - span.start)
        exact = [each for each in there if each.start <= span.start < each.end]
        same = bool(exact) and (exact[0].start, exact[0].end) == (span.start, span.end)
        width = span.end - span.start
        extend = 0 if same or not missing else max(width - 1, int(bool(exact)))
        keys += min(starts) + extend + 1
        what = span.type if missing else ""
        said = labelling.correct(desk, said, span.start, span.end - 1, what)
        cursor = span.end - 1 if missing else span.start
    return keys + 1, labelling.accept(said)


def walk(sentences: list[Sentence], *, remembers: bool) -> list[int]:
    """Return the keys of each sentence."""
    tags = bio_tags(sorted({*types_of([tag for each in sentences for tag in each.tags or ()])}))
    tagger: BlankTagger | PerceptronTagger = BlankTagger(tags)
    memory, found = Memory(), []
    for number, sentence in enumerate(sentences):
        text, places = joined(sentence.tokens)
        item = Item(text, places, position=number, id=number + 1)
        hints = memory.hints(item) if remembers else ()
        gold = tuple(sentence.tags or ())
        keys, said = keys_of(Desk(item, "anna", tagger, "", hints=hints), gold)
        found.append(keys)
        memory.learn([(item, said)])
        if (number + 1) % TEN == 0:
            tagger = PerceptronTagger(Path(), fit_sentences(sentences[: number + 1], tags))
    return found


@one_thread()
def main() -> None:
    """Print the mean number of keys in both ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sentences", type=int, default=30)
    options = parser.parse_args()
    read = (Sentence(s.tokens, tuple(repair(s.tags or ()))) for s in read_sentences(options.file))
    named = [each for each in read if spans(each.tags or ())][: options.sentences]
    ways = {name: walk(named, remembers=name == "with") for name in ("without", "with")}
    means = {name: sum(keys) / len(keys) for name, keys in ways.items()}
    sys.stdout.write(f"{json.dumps({'mean': means, **ways})}\n")


if __name__ == "__main__":
    main()
