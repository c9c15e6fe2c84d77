"""Learning a perceptron against one in plain Python dictionaries."""

import json
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from crfviz.__main__ import main
from crfviz.chain.decoding.viterbi import first_best_path
from crfviz.corpus.training.perceptron import (
    Known,
    Learner,
    Numbered,
    decode_greedily,
)
from crfviz.taggers.registry import load_tagger

K = 3
START, END = "start", "end"


def sentences(seed, n=25):
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        T = int(generator.integers(1, 5))
        rows = [sorted(generator.choice(6, size=2, replace=False).tolist()) for _ in range(T)]
        tags = [int(tag) for tag in generator.integers(0, K, size=T)]
        words = generator.integers(0, 5, size=T)  # 4 stands for unknown words
        found.append(Numbered(np.array(rows), words, tags))
    return found


class Plain:
    """The perceptron as its definition says: features by name, the average a mean of copies."""

    def __init__(self, updates):
        self.updates = updates
        self.weights = defaultdict(float)
        self.total = defaultdict(float)
        self.seen = 0

    def features(self, sentence, path):
        """Features of each decision, END last."""
        outside = [START, *path]
        for t, tag in enumerate(path):
            own = [("f", int(row), tag) for row in sentence.features[t] if row < 6]
            steps = [("t", outside[t], tag)]
            if t > 0 and sentence.words[t] < 4:
                steps.append(("w", int(sentence.words[t]), outside[t], tag))
            yield own, steps
        yield [], [("t", path[-1], END)]

    def score(self, sentence, path):
        return sum(self.weights[f] for own, s in self.features(sentence, path) for f in own + s)

    def decode(self, sentence):
        T = len(sentence.tags)
        if self.updates == "viterbi":
            paths = product(range(K), repeat=T)
            lowest = {path: [-k for k in reversed(path)] for path in paths}  # who wins a tie
            return max(lowest, key=lambda path: (self.score(sentence, path), lowest[path]))
        path = ()
        for t in range(T):
            path = max(((*path, k) for k in range(K)), key=lambda p: self.decision(sentence, p, t))
        return path

    def decision(self, sentence, path, t):
        own, steps = list(self.features(sentence, path))[t]
        return sum(self.weights[f] for f in own + steps)

    def see(self, sentence):
        path = self.decode(sentence)
        self.seen += 1
        if list(path) != sentence.tags:
            self.learn(sentence, path)
        for name, weight in self.weights.items():
            self.total[name] += weight

    def learn(self, sentence, path):
        if self.updates == "viterbi":
            self.move(self.features(sentence, sentence.tags), 1)
            self.move(self.features(sentence, path), -1)
            return
        for t, (good, bad) in enumerate(zip(sentence.tags, path, strict=True)):
            if good != bad:
                self.move([list(self.features(sentence, (*path[:t], good)))[t]], 1)
                self.move([list(self.features(sentence, path))[t]], -1)

    def move(self, decisions, change):
        for own, steps in decisions:
            for name in own + steps:
                self.weights[name] += change


def averaged(learner):
    nothing = np.zeros(0, dtype=np.float32)
    return learner.average(Known(tuple("abc"), "viterbi", nothing, nothing))


@pytest.mark.parametrize("updates", ["viterbi", "greedy"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_weights_equal_a_plain_perceptron(updates, seed):
    learner, plain = Learner(K, 6, 4, updates), Plain(updates)
    for sentence in sentences(seed):
        learner.see(sentence)
        plain.see(sentence)
    model = averaged(learner)
    mean = defaultdict(float, {name: total / plain.seen for name, total in plain.total.items()})
    for row, k in product(range(6), range(K)):
        assert model.emissions[row, k] == pytest.approx(mean[("f", row, k)], abs=1e-4)
    for w, j, k in product(range(4), range(K), range(K)):
        expected = mean[("w", w, j, k)]
        assert model.word_transitions[w, j, k] == pytest.approx(expected, abs=1e-4)
    for j, k in product(range(K), repeat=2):
        assert model.transitions[j, k] == pytest.approx(mean[("t", j, k)], abs=1e-4)
    for k in range(K):
        assert model.start[k] == pytest.approx(mean[("t", START, k)], abs=1e-4)
        assert model.end[k] == pytest.approx(mean[("t", k, END)], abs=1e-4)
    assert not model.emissions[-1].any()
    assert not model.word_transitions[-1].any()


@pytest.mark.parametrize("seed", range(5))
def test_decoding_equals_enumeration(seed):
    generator = np.random.default_rng(seed)
    e, steps, start, end = (generator.normal(size=s) for s in ((4, K), (3, K, K), K, K))

    def score(path):
        inside = sum(steps[t - 1][path[t - 1], path[t]] for t in range(1, 4))
        return start[path[0]] + end[path[-1]] + sum(e[range(4), path]) + inside

    paths = [list(path) for path in product(range(K), repeat=4)]
    assert first_best_path(e, steps, start, end) == max(paths, key=score)
    greedy = decode_greedily(e, steps, start, end)
    assert greedy[0] == int(np.argmax(start + e[0]))
    assert greedy[3] == int(np.argmax(steps[2][greedy[2]] + e[3] + end))


def test_correct_sentence_changes_no_weight():
    learner = Learner(K, 6, 4, "viterbi")
    sentence = Numbered(np.array([[0, 1]]), np.array([0]), [0])
    assert learner.see(sentence) == 0
    assert not learner.emissions.table.any()


TRAIN = (
    "The\tDET\ndog\tNOUN\nruns\tVERB\n\nA\tDET\ncat\tNOUN\nsleeps\tVERB\n\nDogs\tNOUN\nrun\tVERB\n"
)


@pytest.mark.parametrize("updates", ["viterbi", "greedy"])
def test_train_command_writes_a_trained_perceptron(tmp_path, updates):
    file = tmp_path / "train.conll"
    file.write_text(TRAIN, encoding="utf-8")
    out = tmp_path / "mine"
    command = ["train", "--family", "perceptron", "--updates", updates, "--epochs", "5"]
    assert main([*command, "--train", str(file), "--dev", str(file), "--out", str(out)]) == 0
    record = json.loads((out / "training.json").read_text())
    assert record["epochs"][-1]["dev"] == 1.0
    assert record["recipe"]["updates"] == updates
    assert load_tagger(out).tags == ("DET", "NOUN", "VERB")


def test_same_seed_gives_the_same_weights(tmp_path):
    file = tmp_path / "train.conll"
    file.write_text(TRAIN, encoding="utf-8")
    files = []
    for name in ("one", "other"):
        command = ["train", "--family", "perceptron", "--epochs", "2", "--train", str(file)]
        assert main([*command, "--dev", str(file), "--out", str(tmp_path / name)]) == 0
        files.append((tmp_path / name / "model.safetensors").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--family", "perceptron", "--epochs", "0"], "--epochs must be at least 1"),
        (["--family", "hmm", "--aux-xpos"], "--aux-xpos is for networks alone"),
    ],
)
def test_incompatible_options_are_rejected(tmp_path, capsys, more, message):
    file = tmp_path / "train.conll"
    file.write_text(TRAIN, encoding="utf-8")
    command = ["train", "--train", str(file), "--dev", str(file), "--out", str(tmp_path / "x")]
    assert main([*command, *more]) == 2
    assert message in capsys.readouterr().err


def test_dev_tag_missing_in_training_is_named(tmp_path, capsys):
    train, dev = tmp_path / "train.conll", tmp_path / "dev.conll"
    train.write_text(TRAIN, encoding="utf-8")
    dev.write_text("Oh\tINTJ\n", encoding="utf-8")
    command = ["train", "--family", "perceptron", "--train", str(train), "--dev", str(dev)]
    assert main([*command, "--out", str(tmp_path / "x")]) == 2
    assert "tag 'INTJ' is in the dev files but not in the train files" in capsys.readouterr().err


@pytest.mark.parametrize("family", ["perceptron", "hmm"])
def test_entity_perceptron_keeps_the_bio_rules(tmp_path, family):
    file = tmp_path / "train.conll"
    rows = "Ada\tB-PER\nLovelace\tI-PER\nsleeps\tO\n\nParis\tB-LOC\nsleeps\tO\n"
    file.write_text(rows, encoding="utf-8")
    out = tmp_path / "mine"
    command = ["train", "--family", family, "--train", str(file), "--dev", str(file)]
    assert main([*command, "--out", str(out)]) == 0
    tagger = load_tagger(out)
    bound, free = (tagger.potentials(["x", "y", "z"], constrained=c) for c in (True, False))
    inside, outside = (tagger.tags.index(tag) for tag in ("I-PER", "O"))
    assert tagger.scheme == "BIO"
    assert bound.start[inside] == -np.inf
    assert (bound.transitions[..., outside, inside] == -np.inf).all()
    assert free.start[inside].item() > -np.inf
