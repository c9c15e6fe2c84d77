"""Model folders as .zip, as `train` writes them, and folders of given scores."""

import io
import json
import shutil
import zipfile

import numpy as np
import pytest

from crfviz.exceptions import FormatError, ModelError, UnknownObservationError
from crfviz.taggers.brought.tagger import ImportedTagger
from crfviz.taggers.examples import holds
from crfviz.taggers.registry import SHIPPED, list_taggers, load_tagger
from crfviz.taggers.storage import read_arrays, write_arrays
from crfviz.taggers.user_models import new_model
from crfviz.text import archives
from tests.support.brought import (
    DOG,
    FALLS,
    TAGS,
    TRANSITIONS,
    as_json,
    as_zip,
    understand,
    zipped_tiny,
)
from tests.support.tiny_tagger import save_tiny


@pytest.mark.parametrize("prefix", ["", "mine/", "a/b/"])
def test_trained_folder_is_read_at_any_depth_of_the_zip(tmp_path, prefix):
    found = understand(zipped_tiny(tmp_path, prefix))
    assert (found.kind, found.family) == ("Model folder as .zip", "crf")
    assert found.tags == ("NOUN", "VERB", "X")
    (tmp_path / "copy").mkdir()
    found.write(tmp_path / "copy")
    for path in (tmp_path / "tiny").iterdir():
        assert (tmp_path / "copy" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["upos-en-perceptron", "upos-en-hmm", "ner-en"])
def test_folder_of_every_family_is_read(name):
    members = {path.name: path.read_bytes() for path in (SHIPPED / name).iterdir()}
    found = understand(as_zip(members))
    shipped = load_tagger(name)
    assert (found.tags, found.family, found.scheme) == (
        shipped.tags,
        shipped.family,
        shipped.scheme,
    )
    assert found.sentences[0].tokens == shipped.examples()[0].tokens


def test_zip_members_outside_the_folder_are_not_written(tmp_path):
    _, content = zipped_tiny(tmp_path)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    evil = {"../evil.txt": b"x", "/etc/evil": b"x", "mine/../../config.jsonx": b"x"}
    found = understand(as_zip({**members, **evil}))
    inside = tmp_path / "inside"
    inside.mkdir()
    found.write(inside)
    assert sorted(path.name for path in inside.iterdir()) == [
        "config.json",
        "model.safetensors",
        "vocabulary.json",
    ]
    assert not list(tmp_path.rglob("evil*"))


def test_symbolic_link_in_a_zip_becomes_a_text_file(tmp_path):
    _, content = zipped_tiny(tmp_path, "")
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        link = zipfile.ZipInfo("README.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    inside = tmp_path / "inside"
    inside.mkdir()
    understand(("model.zip", file.getvalue())).write(inside)
    assert not (inside / "README.md").is_symlink()
    assert (inside / "README.md").read_text() == "/etc/passwd"


def without(tmp_path, name):
    folder = save_tiny(tmp_path / "tiny")
    return as_zip({p.name: p.read_bytes() for p in folder.iterdir() if p.name != name})


def test_folder_errors_omit_the_temporary_path(tmp_path):
    with pytest.raises(FormatError, match=r"^vocabulary\.json: the file is missing"):
        understand(without(tmp_path, "vocabulary.json"))
    with pytest.raises(FormatError, match=r"no \.npz, \.pt or model folder"):
        understand(without(tmp_path, "config.json"))


def test_unusable_archives_are_rejected(tmp_path):
    _, content = zipped_tiny(tmp_path)
    with pytest.raises(FormatError, match=r"must hold one model folder.* got 2"):
        understand(as_zip({"a/config.json": b"{}", "b/config.json": b"{}"}))
    with pytest.raises(FormatError, match="unpacks to 70,000,002 bytes"):
        understand(as_zip({"config.json": b"{}", "model.safetensors": bytes(70_000_000)}))
    with pytest.raises(FormatError, match="damaged or cut off"):
        understand(("model.zip", content[: len(content) // 2]))
    middle = content.index(b"PK\x03\x04", 4)
    broken = content[: middle - 40] + bytes(20) + content[middle - 20 :]
    with pytest.raises(FormatError, match="archive is damaged"):
        understand(("model.zip", broken))


def test_archive_with_too_many_files_is_rejected_before_listing(monkeypatch):
    monkeypatch.setattr(archives.zipfile, "ZipFile", None)
    entries = b"PK\x01\x02" * 1000
    with pytest.raises(FormatError, match="holds 1,000 files, more than 10"):
        archives.Archive(entries, most_members=10, most_unpacked=1)


@pytest.fixture
def given(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    steps = np.arange(18.0).reshape(2, 3, 3).tolist()
    sentences = [{**DOG, "transitions": steps}, {**FALLS, "gold": ["NOUN", "VERB"]}]
    found = understand(as_json(sentences=sentences, start=[0, "-inf", 1]))
    with new_model("mine") as folder:
        found.write(folder)
    return load_tagger("mine")


def test_written_scores_are_read_back_unchanged(given):
    assert "mine" in list_taggers()
    assert (given.name, given.tags, given.device) == ("mine", tuple(TAGS), "cpu")
    dog = given.potentials(DOG["tokens"])
    assert dog.emissions.tolist() == DOG["emissions"]
    assert dog.transitions.shape == (2, 3, 3)
    falls = given.potentials(FALLS["tokens"])
    assert falls.transitions.tolist() == TRANSITIONS
    assert falls.start.tolist() == [0, float("-inf"), 1]
    assert falls.tags == tuple(TAGS)
    assert given.potentials_batch([DOG["tokens"], FALLS["tokens"]])[1].tokens == falls.tokens


def test_examples_are_the_sentences_with_true_claims(given):
    first, second = given.examples()
    assert (first.text, first.claim) == ("The dog barks", "sentence 1: “The dog barks”")
    assert second.gold == ("NOUN", "VERB")
    assert holds(first, given.potentials(first.tokens))
    assert given.split(first.text) == list(first.tokens)
    assert "Potentials as JSON. Scores of given sentences" in given.card()


def test_prefix_of_a_sentence_has_scores_and_other_text_has_none(given):
    begun = given.potentials(["The", "dog"])
    assert begun.transitions.shape == (1, 3, 3)
    assert begun.tokens == ("The", "dog")
    assert given.reads("The dog")
    assert not given.reads("A dog")
    assert not given.reads(" ")
    with pytest.raises(
        UnknownObservationError, match=r"only \(2 of them\); “A dog” is none.*“The dog barks”"
    ):
        given.potentials(["A", "dog"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": "oracle"}, "'scores' must be one of crf, perceptron, hmm, got 'oracle'"),
        ({"scheme": "IO"}, "'scheme' must be null or"),
        ({"sentences": []}, "'sentences' must be a list with a sentence in it"),
        ({"sentences": [7]}, "sentence 1: must be an object"),
        ({"sentences": [{"tokens": [""]}]}, "tokens and gold must be lists of non-empty"),
        ({"sentences": [{"tokens": []}]}, "tokens and gold must be lists of non-empty"),
        ({"sentences": [{"tokens": ["a"]}]}, r"'emissions' must be float64 \(1, 3\) .* \(5, 3\)"),
        (
            {"sentences": [{"tokens": ["a"] * 3}, {"tokens": ["b"] * 2}]},
            r"'transitions' must be float64 \(3, 3\) or \(2, 3, 3\) .* got float64 \(3, 3, 3\)",
        ),
        ({"tags": ["A", "B"]}, r"'emissions' must be float64 \(5, 2\)"),
    ],
)
def test_damaged_folder_error_names_the_file_and_field(given, tmp_path, change, message):
    folder = tmp_path / "copy"
    shutil.copytree(given.folder, folder)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError, match=message):
        ImportedTagger(folder)


def changed(given, **arrays):
    path = given.folder / "model.safetensors"
    kept = {name: array for name, array in arrays.items() if array is not None}
    others = {name: a for name, a in read_arrays(path).items() if name not in arrays}
    write_arrays(path, {**others, **kept})
    return load_tagger("mine")


def test_missing_tensor_is_named_in_the_error(given):
    with pytest.raises(ModelError, match=r"tensor 'end' must be float64 .* got none"):
        changed(given, end=None)


def test_invalid_scores_are_reported_when_requested(given):
    tagger = changed(given, emissions=np.array([[0.0] * 3] * 3 + [[np.nan] * 3] * 2))
    tagger.potentials(DOG["tokens"])
    with pytest.raises(ModelError, match=r"sentence 2: emissions\[0, 0\] .* got nan"):
        tagger.potentials(FALLS["tokens"])


def test_shared_and_own_scores_in_any_mixture_are_read_back(tmp_path):
    rng = np.random.default_rng(4)
    sentences = []
    for number, length in enumerate([1, 3, 2, 1, 4, 3]):
        own = {"start": rng.normal(size=2).tolist()} if number % 2 else {}
        shape = (length - 1, 2, 2) if number % 3 else (2, 2)
        own["transitions"] = rng.normal(size=shape).tolist()
        sentences.append({"emissions": rng.normal(size=(length, 2)).tolist(), **own})
    found = understand(as_json({"sentences": sentences, "end": [1, 2]}))
    found.write(tmp_path)
    tagger = ImportedTagger(tmp_path)
    for chain in found.sentences:
        again = tagger.potentials(chain.tokens)
        for name in ("emissions", "transitions", "start", "end"):
            assert getattr(again, name).tolist() == getattr(chain, name).tolist()
            assert getattr(again, name).shape == getattr(chain, name).shape


def test_example_is_cut_to_the_length_of_a_link(tmp_path):
    tokens = ["x" * 900] * 16
    emissions = [[0.0]] * 16
    file = as_json({"tokens": tokens, "emissions": emissions, "transitions": [[0.0]]})
    understand(file).write(tmp_path)
    tagger = ImportedTagger(tmp_path)
    (example,) = tagger.examples()
    assert example.tokens == tuple(tokens[:15])
    assert len(example.claim) < 120
    assert tagger.reads(example.text)


def test_gold_tags_of_the_wrong_length_are_reported(given, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(given.folder, folder)
    path = folder / "config.json"
    content = json.loads(path.read_text())
    content["sentences"][1]["gold"] = ["NOUN", "X"]
    path.write_text(json.dumps(content))
    with pytest.raises(ModelError, match="sentence 2: gold must be 2 of the tags"):
        ImportedTagger(folder)
