"""Train a tagger on annotated sentences, of a list or a store, and save it as a new model."""

import argparse
import json
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
import torchcrf

from crfviz.__main__ import main
from crfviz.annotations.agreement import annotators_agreement
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.store import open_store
from crfviz.annotations.teaching.teach import (
    CRF_ONLY,
    METHODS,
    WHOLE_TAGGER,
    Lesson,
    labelled,
    learn,
    teach,
)
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.potentials import Potentials
from crfviz.commands import teach as teach_command
from crfviz.corpus.training.labelled import Corpus
from crfviz.corpus.training.optimisation import Run
from crfviz.taggers.lexicon import read_lexicon
from crfviz.taggers.neural.tagger import load_model
from crfviz.taggers.registry import EXCERPTS, list_taggers, load_tagger
from crfviz.text.formats import render_sentences
from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.tiny_tagger import save_tiny

SENTENCES = [
    Sentence(("He", "runs", "to", "Paris"), ("NOUN", "VERB", "X", "NOUN")),
    Sentence(("Run", "!"), ("VERB", "X")),
    Sentence(("dogs", "run"), ("NOUN", "VERB")),
]
OFFSETS = ((0, 2), (3, 7))
SAID = {  # final tags of "He runs" and "He Runs" by annotator
    "anna": [("NOUN", "VERB"), ("NOUN", "VERB")],
    "ben": [("NOUN", "NOUN"), ("NOUN", "VERB")],
}


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def tiny(tmp_path):
    return save_tiny(tmp_path / "tiny")


def quiet(*_):
    pass


def everything_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def path_probability(tagger, sentence):
    chain = tagger.potentials(sentence.tokens)
    return oracle.probability(chain, [tagger.tags.index(tag) for tag in sentence.tags])


@pytest.mark.parametrize("method", METHODS)
def test_taught_model_is_loaded_by_name_and_prefers_the_taught_tags(own, tiny, method):
    lesson = Lesson(str(tiny), method, name="Mine, all mine", held_out=0)
    taught = teach(lesson, SENTENCES, quiet)
    assert taught.name == "Mine-all-mine"
    assert taught.name in list_taggers()
    before, after = load_tagger(tiny), load_tagger(taught.name)
    old, new = (
        [path_probability(tagger, sentence) for sentence in SENTENCES] for tagger in (before, after)
    )
    assert torch.tensor(new).log().sum() > torch.tensor(old).log().sum()
    assert own.joinpath(taught.name).is_dir()


CORRECTED = Sentence(
    ("They", "book", "flights", "and", "book", "hotels", "."),
    ("PRON", "VERB", "NOUN", "CCONJ", "VERB", "NOUN", "PUNCT"),
)


@pytest.mark.parametrize(
    ("more", "righted"), [({}, 0), ({"learning_rate": 5e-3}, 1)], ids=["as it is", "in big steps"]
)
def test_teaching_corrects_a_shipped_model(more, righted):
    before = load_tagger("upos-en-contextfree")
    path = [before.tags.index(tag) for tag in CORRECTED.tags]
    assert viterbi(before.potentials(CORRECTED.tokens)).path != path
    lesson = Lesson("upos-en-contextfree", held_out=0, **more)
    taught = teach(lesson, [CORRECTED], quiet)
    old, new = (
        _log_probability(tagger.potentials(CORRECTED.tokens), path)
        for tagger in (before, load_tagger(taught.name))
    )
    assert new > old + 0.1
    assert taught.gains[0].after.log_likelihood == pytest.approx(new / len(path))
    assert taught.gains[0].righted >= righted
    assert [gain.name for gain in taught.gains] == ["taught", EXCERPTS["excerpts/ewt-dev.conllu"]]


def _log_probability(chain, path):
    """log p(path) by pytorch-crf, which shares no code with ours."""
    peer = torchcrf.CRF(chain.num_tags, batch_first=True).double()
    peer.load_state_dict(
        {
            "start_transitions": chain.start,
            "end_transitions": chain.end,
            "transitions": chain.transitions,
        }
    )
    mask = torch.ones(1, len(path), dtype=torch.bool)
    return peer(chain.emissions[None], torch.tensor([path]), mask).item()


def test_teaching_the_crf_keeps_the_emissions(tiny):
    taught = teach(Lesson(str(tiny), CRF_ONLY, held_out=0), SENTENCES, quiet)
    before, after = (
        tagger.potentials(SENTENCES[0].tokens)
        for tagger in (load_tagger(tiny), load_tagger(taught.name))
    )
    assert torch.equal(before.emissions, after.emissions)
    assert not torch.equal(before.transitions, after.transitions)


def test_first_crf_step_moves_towards_observed_counts(tiny):
    stored, sentence = load_model(tiny), SENTENCES[0]
    recipe = replace(METHODS[CRF_ONLY], epochs=1)
    network = learn(stored, [sentence], CRF_ONLY, recipe, quiet)
    moved = network.crf.transitions - stored.network.crf.transitions
    emissions = stored.network.emissions(stored.vocabulary.encode([sentence.tokens]))[0]
    crf = stored.network.crf
    chain = Potentials(emissions, crf.transitions, crf.start_transitions, crf.end_transitions)
    missing = torch.zeros(3, 3)
    for (_, (one, other)), mass in oracle.edge_marginals(chain).items():
        missing[one, other] -= mass
    ids = [stored.config.tags.index(tag) for tag in sentence.tags]
    for one, other in pairwise(ids):
        missing[one, other] += 1
    assert torch.equal(moved.sign(), missing.sign())


def test_teaching_leaves_unused_word_vectors_unchanged(tiny):
    stored, sentences = load_model(tiny), [*SENTENCES, Sentence(("Nobody", "!"), ("NOUN", "X"))]
    recipe = replace(METHODS[WHOLE_TAGGER], epochs=2)
    network = learn(stored, sentences, WHOLE_TAGGER, recipe, quiet)
    moved = (network.words.weight != stored.network.words.weight).any(1)
    assert moved[stored.vocabulary.word_ids["run"]]
    assert not moved[stored.vocabulary.word_ids["@user"]]
    recipe = replace(recipe, sizes=stored.config.sizes)
    tags, words = stored.config.tags, stored.vocabulary
    whole = Run(recipe, Corpus(labelled(sentences, tags), (), tags, (), words), torch.device("cpu"))
    for each in (whole.network, whole.average):
        each.load_state_dict(stored.network.state_dict())
    for _ in range(recipe.epochs):
        whole.train_epoch(quiet)
    for name, weights in whole.average.state_dict().items():
        torch.testing.assert_close(network.state_dict()[name], weights)


def test_repeated_teaching_gives_the_same_weights(own, tiny):
    folders = [own / teach(Lesson(str(tiny)), SENTENCES, quiet).name for _ in range(2)]
    one, other = (everything_of(folder)["model.safetensors"] for folder in folders)
    assert folders[1].name == "tiny-taught-2"
    assert one == other


def test_teaching_never_overwrites_a_model(tiny, monkeypatch):
    monkeypatch.setenv("CRFVIZ_MODELS", str(tiny.parent))
    before = everything_of(tiny)
    taught = teach(Lesson("tiny", name="tiny"), SENTENCES, quiet)
    assert taught.name == "tiny-2"
    assert everything_of(tiny) == before
    assert teach(Lesson("tiny", name="upos-en"), SENTENCES, quiet).name == "upos-en-2"


@pytest.mark.parametrize("moment", ["learning", "measuring", "saving"])
def test_cancelled_teaching_leaves_no_files(own, tiny, moment):
    def cancel(_, message):
        if moment in message:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teach(Lesson(str(tiny)), SENTENCES, cancel)
    assert not own.exists() or not list(own.iterdir())


def test_model_card_describes_the_teaching(own, tiny):
    (tiny / "README.md").write_text("# tiny\n\nMade of dice.\n\n## Licence\n\nNone.\n")
    taught = teach(Lesson(str(tiny), held_out=0.34), SENTENCES, quiet)
    card = load_tagger(taught.name).card()
    assert card.startswith("# tiny-taught\n\n`tiny` after it has learnt from 2 annotated sentences")
    assert "| held out (1) |" in card
    assert "## The card of tiny\n\nMade of dice.\n\n### Licence\n\nNone.\n" in card
    record = json.loads((own / taught.name / "teaching.json").read_text())
    assert record["num_sentences"] == 2
    assert record["recipe"]["epochs"] == METHODS[WHOLE_TAGGER].epochs


def test_figures_of_the_old_card_are_removed():
    taught = teach(Lesson("upos-en-contextfree", CRF_ONLY, held_out=0), [CORRECTED], quiet)
    card = load_tagger(taught.name).card()
    assert "CC BY-SA 4.0" in card
    assert "Greedy and" not in card
    assert "evaluate --card" not in card


def test_examples_are_kept_if_their_claims_hold():
    taught = teach(Lesson("upos-en-contextfree", CRF_ONLY, held_out=0), [CORRECTED], quiet)
    kept = load_tagger(taught.name).examples()
    assert kept
    assert set(kept) <= set(load_tagger("upos-en-contextfree").examples())


def test_taught_words_are_added_to_the_lexicon():
    sentence = Sentence(("Zxqq", "book"), ("NOUN", "X"))
    taught = teach(Lesson("upos-en-contextfree", CRF_ONLY, held_out=0), [sentence], quiet)
    before = read_lexicon(load_tagger("upos-en-contextfree").folder)
    after = read_lexicon(load_tagger(taught.name).folder)
    assert before.tags_of("zxqq") == frozenset()
    assert after.tags_of("zxqq") == {"NOUN"}
    assert after.tags_of("book") == before.tags_of("book") | {"X"}
    assert after.tags_of("the") == before.tags_of("the")
    assert after.longest == before.longest


def test_entities_beginning_with_i_are_taught_as_bio(tmp_path):
    folder = save_tiny(tmp_path / "ner", tags=("O", "B-PER", "I-PER"), scheme="BIO")
    sentence = Sentence(("He", "sees", "dogs"), ("I-PER", "I-PER", "O"))
    taught = teach(Lesson(str(folder), held_out=0), [sentence], quiet)
    assert taught.gains[0].after.entity_f1 is not None
    assert taught.gains[0].after.log_likelihood > taught.gains[0].before.log_likelihood


@pytest.mark.parametrize("terminal", [True, False])
def test_teach_command_prints_the_gain(terminal, own, tiny, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    file = tmp_path / "done.jsonl"
    file.write_text(render_sentences(SENTENCES, "jsonl"), encoding="utf-8")
    parser = argparse.ArgumentParser()
    teach_command.add_arguments(parser)
    options = parser.parse_args([str(file), "--model", str(tiny), "--held-out", "0"])
    assert teach_command.main(options) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"tiny-taught: {own / 'tiny-taught'}")
    assert "| taught (3) | 8 | before |" in printed.out
    assert "3 sentences\n" in printed.err  # how the file was read
    assert ("100 %  saving tiny-taught" in printed.err) == terminal


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 'annotations.db'}") as opened:
        opened.add("notes", [Item("He runs", OFFSETS), Item("He Runs", OFFSETS)])
        for name, tags in SAID.items():
            for item, final in zip(opened.items("notes"), tags, strict=True):
                said = Annotation(item.id, name, OFFSETS, ("X", "X"), final, state="done")
                opened.save(said)
        yield opened


def test_disagreements_refer_to_stored_sentences(store):
    found = annotators_agreement(store.annotations("notes"), "anna", "ben")
    (one,) = found.disagreements
    assert store.item(one.item.id).text == "He runs"
    assert (one.word, one.tags) == ("runs", ("VERB", "NOUN"))
    assert (found.sentences, found.words, found.observed) == (2, 4, 0.75)


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("file_format", ["jsonl", "conllu", "columns"])
def test_exported_annotations_can_be_taught(tmp_path, monkeypatch, capsys, file_format):
    """`teach` reads what `annotations export` writes."""
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path / 'annotations.db'}")
    file, tiny = str(tmp_path / "done"), str(save_tiny(tmp_path / "tiny"))
    export = ["--annotator", "anna", "--state", "done", "--format", file_format, "--out", file]
    assert main(["annotations", "export", *export]) == 0
    assert main(["teach", file, "--model", tiny, "--held-out", "0", "--json-lines"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])["result"]
    assert (result["num_sentences"], result["gains"][0]["num_words"]) == (2, 4)
