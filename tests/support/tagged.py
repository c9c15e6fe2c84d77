"""Two small taggers that make mistakes, tagged sentences, and the expected Viterbi tags."""

from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger

POS = FakeTagger(
    ["NOUN", "VERB", "ADP"],
    {"run": {"NOUN": 1.0, "VERB": 0.2}, "Dogs": {"NOUN": 0.7}, "to": {"ADP": 2.0, "VERB": 0.3}},
    {("NOUN", "NOUN"): 0.6, ("NOUN", "VERB"): -0.3, ("ADP", "VERB"): 0.2, ("VERB", "ADP"): 1.1},
)
POS_SENTENCES = [
    Sentence(("Dogs", "run"), ("NOUN", "VERB")),
    Sentence(("Dogs", "run", "to", "Dogs"), ("NOUN", "VERB", "ADP", "NOUN")),
    Sentence(("run", "to", "to", "run", "run"), ("VERB", "ADP", "ADP", "NOUN", "VERB")),
    Sentence(("to",), ("VERB",)),
    Sentence(("run", "run"), ("NOUN", "NOUN")),
]
NER = FakeTagger(
    ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"],
    {
        "Ann": {"B-PER": 2.0, "B-LOC": 0.5},
        "Lee": {"I-PER": 1.2, "B-LOC": 1.0, "B-PER": 0.85},
        "Rome": {"B-LOC": 1.4, "I-PER": 0.9},
        "runs": {"O": 2.0},
    },
    scheme="BIO",
)
NER_SENTENCES = [
    Sentence(("Ann", "Lee", "runs"), ("B-PER", "I-PER", "O")),
    Sentence(("Lee", "runs", "Rome"), ("B-PER", "O", "B-LOC")),
    Sentence(("Ann", "Rome"), ("B-PER", "B-LOC")),
    Sentence(("Rome", "runs", "Lee", "Lee"), ("B-LOC", "O", "O", "B-PER")),
    Sentence(("Lee", "runs"), ("I-PER", "O")),  # no path may begin with I-PER
]


def viterbi_tags(tagger, sentences):
    """Return the tags of the best path of each sentence, by enumeration."""
    best = [oracle.allowed(tagger.potentials(sentence.tokens))[0][0] for sentence in sentences]
    return [[tagger.tags[k] for k in path] for path in best]
