"""The shipped models: what is in their folders, and what they do with sentences they never saw."""

import json
import re
from operator import eq
from pathlib import Path

import pytest
import torch

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.viterbi import best_paths
from crfviz.taggers.registry import SHIPPED, load_tagger
from crfviz.text.formats import read_sentences
from crfviz.text.schemes import spans
from tests.support.close import assert_close
from tests.support.paths import EXCERPT

NAMES = ("ner-en", "upos-en", "upos-en-contextfree")
SMALL = ("upos-en-hmm", "upos-en-perceptron", "upos-en-perceptron-greedy")
MAX_BYTES = dict.fromkeys(SMALL, 2_000_000) | {
    "upos-en": 5_000_000,
    "upos-en-contextfree": 4_000_000,
    "ner-en": 6_000_000,
}
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
TWEETS = [
    ["@user", "is", "in", "London", "with", "@other", "!", "#fun", "http://t.co/x"],
    ["RT", "@", "someone", ":", "I-", "B-PER", "Obama"],
    ["New", "York", "Times", "Square", "Garden"] * 6,
]


@pytest.fixture(scope="module", params=NAMES)
def tagger(request):
    return load_tagger(request.param)


def words_of_excerpt():
    return [sentence.tokens for sentence in read_sentences(EXCERPT)]


@pytest.mark.parametrize("name", [*NAMES, *SMALL])
def test_model_folder_is_complete_and_small(name):
    files = {path.name: path.stat().st_size for path in (SHIPPED / name).iterdir()}
    third = "vocabulary.json" if name in NAMES else "training.json"
    assert {"config.json", "model.safetensors", third} <= files.keys()
    assert {"examples.jsonl", "evaluation.json", "README.md"} <= files.keys()
    assert {Path(file).suffix for file in files} == {".json", ".jsonl", ".md", ".safetensors"}
    assert sum(files.values()) <= MAX_BYTES[name]


@pytest.mark.parametrize("name", [*NAMES, "upos-en-hmm"])
def test_vocabulary_contains_no_handle_or_address(name):
    words = json.loads((SHIPPED / name / "vocabulary.json").read_text(encoding="utf-8"))["words"]
    suspects = [
        w.lower() for w in words if re.search(r"@\w|://|^www\.|\w\.(com|org|net|edu|gov)\b", w)
    ]
    assert suspects == ["@user"]


@pytest.mark.parametrize("name", [*NAMES, *SMALL])
def test_model_card_has_licence_command_limits_and_data(name):
    card = (SHIPPED / name / "README.md").read_text(encoding="utf-8")
    for part in ("CC BY-SA 4.0", "python -m crfviz train", "## Limits", "## Data", "figures:"):
        assert part in card


def test_sentence_scores_the_same_alone_and_in_a_batch(tagger):
    sentences = [*words_of_excerpt(), *TWEETS]
    for chain in tagger.potentials_batch(sentences):
        alone = tagger.potentials(chain.tokens)
        assert_close(chain.emissions, alone.emissions, atol=1e-4, rtol=0)


def test_scores_are_finite_float64_on_the_cpu(tagger):
    chain = tagger.potentials(["Any", "words"], constrained=False)
    for scores in (chain.emissions, chain.transitions, chain.start, chain.end):
        assert scores.dtype == torch.float64
        assert scores.device.type == "cpu"
        assert torch.isfinite(scores).all()


@pytest.mark.parametrize(
    ("name", "tokens", "sentences"),
    [
        ("upos-en-perceptron", 0.946, 0.645),
        ("upos-en-perceptron-greedy", 0.946, 0.63),
        ("upos-en-hmm", 0.92, 0.52),
    ],
)
def test_measured_figures_reach_their_minimum(name, tokens, sentences):
    records = json.loads((SHIPPED / name / "evaluation.json").read_text(encoding="utf-8"))
    record = records["ud-english-ewt/test.conllu"]
    decoder = "left_to_right" if name.endswith("greedy") else "viterbi"
    assert record[decoder]["token_accuracy"] >= tokens
    assert record[decoder]["sentence_accuracy"] >= sentences


@pytest.mark.parametrize("name", SMALL[1:])
def test_perceptron_is_trained_within_two_minutes(name):
    record = json.loads((SHIPPED / name / "training.json").read_text(encoding="utf-8"))
    assert record["seconds"] <= 120


def names(tagger, sentences):
    """The tags of Viterbi's paths, a list a sentence."""
    paths = best_paths(tagger.potentials_batch(sentences))
    return [[tagger.tags[k] for k in path] for path in paths]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("upos-en", 0.94),
        ("upos-en-contextfree", 0.92),
        ("upos-en-hmm", 0.9),
        ("upos-en-perceptron", 0.93),
        ("upos-en-perceptron-greedy", 0.93),
    ],
)
def test_part_of_speech_taggers_reach_their_accuracy(name, least):
    tagger, gold = load_tagger(name), read_sentences(EXCERPT)
    assert (tagger.tags, tagger.scheme) == (tuple(UPOS.split()), None)
    found = [tag for tags in names(tagger, [s.tokens for s in gold]) for tag in tags]
    wanted = [tag for sentence in gold for tag in sentence.tags]
    assert sum(map(eq, found, wanted)) / len(wanted) >= least


def test_entity_tagger_obeys_bio():
    tagger = load_tagger("ner-en")
    assert tagger.tags == ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")
    assert tagger.scheme == "BIO"
    for tags in names(tagger, [*words_of_excerpt(), *TWEETS]):
        assert illegal_positions(tags) == []


def test_entity_tagger_finds_famous_names():
    tagger = load_tagger("ner-en")
    for text, entities in {
        "Barack Obama was born in Hawaii .": {"Barack Obama": "PER", "Hawaii": "LOC"},
        "I flew from New York to London .": {"New York": "LOC"},
        "Apple opened a new store in Berlin .": {"Apple": "ORG", "Berlin": "LOC"},
        "Microsoft is based in Seattle .": {"Microsoft": "ORG"},
        "Lionel Messi plays in Miami .": {"Lionel Messi": "PER"},
    }.items():
        words = text.split()
        (tags,) = names(tagger, [words])
        found = {" ".join(words[s.start : s.end]): s.type for s in spans(tags)}
        assert entities.items() <= found.items()


def test_context_free_tagger_ignores_neighbours():
    tagger = load_tagger("upos-en-contextfree")
    one, other = (tagger.potentials([w, "run", "."]).emissions[1] for w in ("The", "We"))
    assert_close(one, other, atol=1e-5, rtol=0)
