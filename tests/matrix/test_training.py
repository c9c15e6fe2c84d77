import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from crfviz.chain.crf import CRF
from crfviz.commands import train as training
from crfviz.corpus.training import neural
from crfviz.corpus.training.labelled import (
    NO_TAG,
    Labelled,
    Sources,
    bucket,
    collate,
    order_tags,
    read_corpus,
)
from crfviz.corpus.training.neural import constrained_crf, fit_temperature, scaled
from crfviz.corpus.training.optimisation import (
    AdamW,
    Checkpoint,
    Run,
    TrainingNoise,
    lowered,
    read_checkpoint,
    write_checkpoint,
)
from crfviz.corpus.training.recipe import RECIPES, Recipe
from crfviz.exceptions import CrfvizError, FormatError, ModelError
from crfviz.taggers.neural.network import UNKNOWN, Sizes, build_vocabulary
from crfviz.taggers.neural.tagger import NeuralTagger
from tests.support.paths import ROOT

WORDS = {"DET": ["the", "a", "this"], "NOUN": ["dog", "cat", "tree"], "VERB": ["sees", "eats"]}
PATTERNS = [("DET", "NOUN", "VERB"), ("NOUN", "VERB", "DET", "NOUN"), ("VERB", "DET", "NOUN")]


def conllu(num_sentences):
    """A little grammar as CoNLL-U: columns word, UPOS and, as XPOS, the tag in lower case."""
    sentences = []
    for number in range(num_sentences):
        pattern = PATTERNS[number % len(PATTERNS)]
        rows = []
        for index, tag in enumerate(pattern, start=1):
            word = WORDS[tag][(number + index) % len(WORDS[tag])]
            rows.append(f"{index}\t{word}\t_\t{tag}\t{tag.lower()}\t_\t_\t_\t_\t_\n")
        sentences.append("".join(rows))
    return "\n".join(sentences) + "\n"


@pytest.fixture
def files(tmp_path):
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    train.write_text(conllu(60))
    dev.write_text(conllu(9))
    return train, dev


def options(files, tmp_path, *more, out="model"):
    parser = argparse.ArgumentParser()
    training.add_arguments(parser)
    train, dev = files
    paths = ["--train", str(train), "--dev", str(dev), "--out", str(tmp_path / out)]
    checkpoint = ["--checkpoint", str(tmp_path / f"{out}-run")]
    return parser.parse_args([*paths, *checkpoint, "--architecture", "contextfree", *more])


def weights(tmp_path, out="model"):
    return load_file(tmp_path / out / "model.safetensors")


def assert_equal_weights(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


class Killed(BaseException):
    """Stands for the signal that ends a run."""


def kill_after(monkeypatch, epochs):
    """Let the run die after its checkpoint of this many epochs was written."""
    write = neural.write_checkpoint

    def write_and_die(path, checkpoint):
        write(path, checkpoint)
        if checkpoint.epoch == epochs:
            raise Killed

    monkeypatch.setattr(neural, "write_checkpoint", write_and_die)


@pytest.mark.parametrize("architecture", sorted(RECIPES))
def test_training_writes_a_tagger_with_decreasing_loss(files, tmp_path, architecture):
    args = options(files, tmp_path, "--epochs", "4", "--architecture", architecture, "--aux-xpos")
    assert training.main(args) == 0
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    assert len(record["epochs"]) == 4
    assert record["epochs"][-1]["loss"] < record["epochs"][0]["loss"]
    tagger = NeuralTagger(tmp_path / "model")
    assert tagger.tags == ("DET", "NOUN", "VERB")
    assert not any("auxiliary" in name for name in weights(tmp_path))


def test_killed_run_resumes_to_the_same_weights(files, tmp_path, monkeypatch):
    training.main(options(files, tmp_path, "--epochs", "3", "--aux-xpos"))
    with monkeypatch.context() as patch:
        kill_after(patch, epochs=1)
        with pytest.raises(Killed):
            training.main(options(files, tmp_path, "--epochs", "3", "--aux-xpos", out="again"))
    assert not (tmp_path / "again").exists()
    training.main(options(files, tmp_path, "--epochs", "3", "--aux-xpos", out="again"))
    assert_equal_weights(weights(tmp_path), weights(tmp_path, "again"))
    first, second = (
        json.loads((tmp_path / out / "training.json").read_text()) for out in ("model", "again")
    )
    assert first == second


def test_finished_run_rewrites_its_model_without_training(files, tmp_path, monkeypatch):
    training.main(options(files, tmp_path, "--epochs", "2"))
    before = weights(tmp_path)
    (tmp_path / "model" / "model.safetensors").unlink()
    monkeypatch.setattr(Run, "train_epoch", lambda *_: pytest.fail("trained again"))
    training.main(options(files, tmp_path, "--epochs", "2"))
    assert_equal_weights(before, weights(tmp_path))


def test_checkpoint_of_another_recipe_is_rejected(files, tmp_path):
    training.main(options(files, tmp_path, "--epochs", "1"))
    with pytest.raises(ModelError, match="another recipe or other sentences; start over with --fr"):
        training.main(options(files, tmp_path, "--epochs", "2"))
    assert training.main(options(files, tmp_path, "--epochs", "2", "--fresh")) == 0


def test_checkpoint_of_other_sentences_is_rejected(files, tmp_path):
    training.main(options(files, tmp_path, "--epochs", "1"))
    files[0].write_text(conllu(61))
    with pytest.raises(ModelError, match="another recipe or other sentences"):
        training.main(options(files, tmp_path, "--epochs", "1"))


def test_weights_depend_only_on_the_seed(files, tmp_path):
    training.main(options(files, tmp_path, "--epochs", "1", "--seed", "1"))
    training.main(options(files, tmp_path, "--epochs", "1", "--seed", "1", out="same"))
    training.main(options(files, tmp_path, "--epochs", "1", "--seed", "2", out="other"))
    assert_equal_weights(weights(tmp_path), weights(tmp_path, "same"))
    assert not torch.equal(
        weights(tmp_path)["output.weight"], weights(tmp_path, "other")["output.weight"]
    )


def test_training_does_not_use_the_global_generator(files, tmp_path):
    torch.manual_seed(3)
    training.main(options(files, tmp_path, "--epochs", "1"))
    after = weights(tmp_path)
    torch.manual_seed(4)
    training.main(options(files, tmp_path, "--epochs", "1", "--fresh"))
    assert_equal_weights(after, weights(tmp_path))


def test_run_killed_as_a_process_resumes(files, tmp_path):
    code = (
        "import argparse, sys; from crfviz.commands import train as t;"
        "p = argparse.ArgumentParser(); t.add_arguments(p); t.main(p.parse_args())"
    )
    train, dev = files
    train.write_text(conllu(300))

    def command(out):
        paths = ["--train", train, "--dev", dev, "--out", tmp_path / out]
        more = ["--checkpoint", tmp_path / f"{out}-run", "--architecture", "contextfree"]
        return [sys.executable, "-c", code, *paths, *more, "--epochs", "4"]

    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    subprocess.run(command("straight"), env=environment, check=True, capture_output=True)
    with subprocess.Popen(command("killed"), env=environment, stderr=subprocess.DEVNULL) as process:
        checkpoint = tmp_path / "killed-run" / neural.CHECKPOINT_FILE
        while not checkpoint.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    subprocess.run(command("killed"), env=environment, check=True, capture_output=True)
    assert_equal_weights(weights(tmp_path, "straight"), weights(tmp_path, "killed"))


def test_training_maps_entities_and_folds_handles(tmp_path):
    train = tmp_path / "train.conll"
    train.write_text("Bob\tB-person\n@\tB-person\nann\tI-person\nat\tO\nIt\tB-product\n\n" * 4)
    sources = Sources((train,), (train,), fold_handles=True, types={"person": "PER"})
    corpus = read_corpus(sources, Recipe(min_words=1))
    assert corpus.tags == ("O", "B-PER", "I-PER")
    assert corpus.train[0].tokens == ("Bob", "@user", "at", "It")
    assert corpus.train[0].tags == (1, 0, 0, 0)
    assert not any("ann" in word for word in corpus.vocabulary.words)


def test_dev_score_is_the_mean_over_the_dev_files(tmp_path):
    """Without weights each word gets the first tag: right in one file, wrong in the other."""
    outside, mixed = tmp_path / "outside.conllu", tmp_path / "mixed.conllu"
    outside.write_text("1\tso\t_\tA\t_\t_\t_\t_\t_\t_\n\n" * 9)
    mixed.write_text("1\tso\t_\tB\t_\t_\t_\t_\t_\t_\n\n")
    corpus = read_corpus(Sources((outside, mixed), (outside, mixed)), Recipe(min_words=1))
    run = Run(Recipe(), corpus, torch.device("cpu"))
    for parameter in run.average.parameters():
        parameter.zero_()
    assert neural.dev_score(run.average, corpus, run.device) == 0.5


def test_xpos_is_joined_by_the_words_of_a_sentence(tmp_path):
    train, xpos = tmp_path / "train.conll", tmp_path / "xpos.conllu"
    train.write_text("Bob\tB-PER\nran\tO\n\nAnn\tB-PER\n\n")
    row = "{}\t{}\t_\tX\t{}\t_\t_\t_\t_\t_\n"
    first = row.format(1, "Bob", "NNP") + row.format(2, "ran", "VBD")
    xpos.write_text(f"{first}\n{row.format(1, 'Go', 'VB')}\n")
    sources = Sources((train,), (train,), only_xpos=(xpos,))
    corpus = read_corpus(sources, Recipe(min_words=1))
    assert corpus.auxiliary_tags == ("NNP", "VB", "VBD")
    assert [(s.tokens, s.tags, s.auxiliary) for s in corpus.train] == [
        (("Bob", "ran"), (1, 0), (0, 2)),
        (("Ann",), (1,), None),
        (("Go",), None, (1,)),
    ]


def test_given_share_of_sentences_is_lower_cased():
    sentences = [Labelled(("Bob", "RAN"), (1, 0))] * 400
    shown = lowered(sentences, 0.25, torch.Generator().manual_seed(1))
    words = [sentence.tokens for sentence in shown]
    assert set(words) == {("Bob", "RAN"), ("bob", "ran")}
    assert 70 <= words.count(("bob", "ran")) <= 130
    assert {sentence.tags for sentence in shown} == {(1, 0)}


def test_without_lower_casing_no_random_number_is_drawn():
    dice = torch.Generator().manual_seed(1)
    sentences = [Labelled(("Bob",), (1,))]
    assert lowered(sentences, 0.0, dice) is sentences
    assert torch.equal(dice.get_state(), torch.Generator().manual_seed(1).get_state())


@pytest.mark.parametrize("share", ["-0.1", "1.1", "nan"])
def test_lower_case_option_must_be_between_0_and_1(files, tmp_path, share):
    with pytest.raises(CrfvizError, match="--lower-case must be 0 to 1"):
        training.main(options(files, tmp_path, f"--lower-case={share}"))


def test_bio_training_writes_a_bio_tagger(tmp_path):
    train = tmp_path / "train.conll"
    train.write_text("Bob\tB-person\nKay\tI-person\nsings\tO\n\nIn\tO\nRome\tB-place\n\n" * 6)
    args = options((train, train), tmp_path, "--epochs", "1", "--map", "person=PER", "place=LOC")
    training.main(args)
    tagger = NeuralTagger(tmp_path / "model")
    assert tagger.scheme == "BIO"
    assert tagger.tags == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--map", "person"], "types as OLD=NEW, such as person=PER, got 'person'"),
        (["--epochs", "0"], "--epochs must be at least 1"),
        (["--seed", "-1"], "--seed 0 to"),
    ],
)
def test_invalid_option_is_named_in_the_error(files, tmp_path, more, message):
    with pytest.raises(CrfvizError, match=message):
        training.main(options(files, tmp_path, *more))


def test_files_without_tags_are_rejected(files):
    train, dev = files
    train.write_text("1\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n")
    with pytest.raises(FormatError, match="sentence 1 has no tags to learn from"):
        read_corpus(Sources((train,), (dev,)), Recipe())


def test_files_without_sentences_are_rejected(tmp_path, files):
    empty = tmp_path / "empty.conllu"
    empty.write_text("\n")
    with pytest.raises(FormatError, match=r"no tagged sentence in .*empty\.conllu"):
        read_corpus(Sources((empty,), (files[1],)), Recipe())


def test_dev_tag_missing_in_training_is_named(tmp_path, files):
    dev = tmp_path / "other.conllu"
    dev.write_text("1\tdog\t_\tNUM\t_\t_\t_\t_\t_\t_\n")
    with pytest.raises(FormatError, match="tag 'NUM' is in the dev files but not in the train"):
        read_corpus(Sources((files[0],), (dev,)), Recipe())


def test_tag_order_puts_outside_first():
    assert order_tags(["I-B", "B-A", "O"]) == ("O", "B-A", "I-A", "B-B", "I-B")
    assert order_tags(["X", "ADJ", "X"]) == ("ADJ", "X")


def sentences(*lengths):
    return [Labelled(("w",) * length, (0,) * length) for length in lengths]


def test_every_sentence_is_in_one_batch():
    lengths = [1, 7, 3, 3, 9, 2, 2, 2]
    recipe = Recipe(batch_sentences=3, batch_words=12)
    groups = bucket(sentences(*lengths), recipe, torch.Generator().manual_seed(0))
    assert sorted(len(s.tokens) for group in groups for s in group) == sorted(lengths)
    for group in groups:
        assert len(group) <= 3
        assert len(group) * max(len(s.tokens) for s in group) <= 12


def test_sentence_longer_than_a_batch_has_its_own_batch():
    assert [len(group) for group in bucket(sentences(50, 1), Recipe(batch_words=10))] == [1, 1]


def test_batches_pad_tags():
    vocabulary = build_vocabulary([["a"]], min_words=1, min_characters=1)
    rows = [Labelled(("a",), (2,), (1,)), Labelled(("a", "b"), (1, 2), (0, 1))]
    batch = collate(rows, vocabulary)
    assert batch.tags.tolist() == [[2, NO_TAG], [1, 2]]
    assert batch.auxiliary.tolist() == [[1, NO_TAG], [0, 1]]
    assert batch.tagged.tolist() == [True, True]


def test_noise_drops_whole_columns_and_keeps_the_mean():
    recipe = replace(Recipe(), drop_inputs=0.4)
    noise = TrainingNoise(recipe, torch.tensor([0.0, 0.0, 1.0]), torch.Generator().manual_seed(0))
    dropped = noise.drop(torch.ones(200, 3, 100), "inputs")
    assert torch.equal(dropped[:, 0], dropped[:, 2])
    spread = (0.4 / 0.6 / 20_000) ** 0.5  # of the mean of 20,000 independent columns
    assert dropped.mean().item() == pytest.approx(1.0, abs=5 * spread)
    assert noise.words(torch.tensor([[0, 2, 1]])).tolist() == [[0, UNKNOWN, 1]]


def test_overconfident_crf_is_calibrated_by_its_temperature():
    torch.manual_seed(0)  # transitions begin at random
    crf = CRF(2)
    generator = torch.Generator().manual_seed(0)
    honest = torch.randn(200, 8, 2, generator=generator)
    mask = torch.ones(200, 8, dtype=torch.bool)
    chance = torch.rand(200, 8, generator=generator)
    tags = (chance < scaled(crf, 1.0).marginals(honest, mask)[..., 1]).long()
    loud = scaled(crf, 0.5)  # says everything twice as loudly
    temperature, error = fit_temperature(loud, [(2 * honest, tags, mask)])
    assert temperature == pytest.approx(2.0, abs=0.3)
    assert error < 0.03


def test_constraints_apply_only_to_bio_taggers():
    crf = CRF(3)
    assert constrained_crf(crf, ("A", "B", "C")) is crf
    other = constrained_crf(crf, ("O", "B-X", "I-X"))
    assert torch.isneginf(other.transitions).nonzero().tolist() == [[0, 2]]
    assert torch.isneginf(other.start_transitions).tolist() == [False, False, True]
    assert torch.isfinite(crf.transitions).all()


def test_optimiser_steps_equal_torch_bit_for_bit():
    recipe, dice = RECIPES["bilstm"], torch.Generator().manual_seed(0)
    shapes = {"seen": (5, 3), "rare": (4,), "frozen": (2,)}
    ours = {name: torch.randn(shape, generator=dice) for name, shape in shapes.items()}
    theirs = {name: value.clone() for name, value in ours.items()}
    adamw = AdamW(recipe, ours)
    peer = torch.optim.AdamW(
        theirs.values(),
        betas=(recipe.momentum, recipe.second_momentum),
        weight_decay=recipe.weight_decay,
        fused=True,
    )
    for step in range(6):
        for name in ("seen", "rare") if step % 3 else ("seen",):
            ours[name].grad = torch.randn(shapes[name], generator=dice)
            theirs[name].grad = ours[name].grad.clone()
        rate = peer.param_groups[0]["lr"] = 0.01 * (1 + step)
        adamw.step(rate)
        peer.step()
        for value in (*ours.values(), *theirs.values()):
            value.grad = None
    assert_equal_weights(ours, theirs)


def test_checkpoint_is_read_back(tmp_path):
    path = tmp_path / "run" / "checkpoint.safetensors"
    assert read_checkpoint(path) is None
    tensors = {"weights.a": torch.ones(2), "best.a": torch.zeros(2)}
    write_checkpoint(path, Checkpoint("print", 2, [{"loss": 1.0, "dev": 0.5}], tensors))
    found = read_checkpoint(path)
    assert (found.fingerprint, found.epoch, found.history) == (
        "print",
        2,
        [{"loss": 1.0, "dev": 0.5}],
    )
    assert torch.equal(found.part("weights")["a"], torch.ones(2))
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_malformed_checkpoint_is_named_in_the_error(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="is no training checkpoint"):
        read_checkpoint(path)


def test_token_size_is_the_sum_of_its_parts():
    assert Sizes(word=10, filters=3, widths=(2, 3), shape=2).token == 18
