import numpy as np
import pytest

from crfviz import bring, list_taggers, load_tagger
from crfviz.__main__ import main
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import Reading
from crfviz.taggers.registry import read_model
from tests.support.brought import DOG, as_json, as_npz


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    return tmp_path


def written(folder, file):
    path = folder / file[0]
    path.write_bytes(file[1])
    return path


def test_brought_files_become_a_listed_model(folder):
    tagger = bring(written(folder, as_json()))
    assert tagger.name == "scores"
    assert "scores" in list_taggers()
    assert bring(str(written(folder, as_json())), name="upos-en").name == "upos-en-2"
    assert load_tagger("upos-en-2").potentials(DOG["tokens"]).num_tokens == 3


def test_unreadable_file_is_reported_and_nothing_is_stored(folder):
    with pytest.raises(FormatError, match=r"nothing\.json: cannot be read \(No such file"):
        bring(folder / "nothing.json")
    with pytest.raises(FormatError, match="got none"):
        bring()
    with pytest.raises(FormatError, match="there are no transitions"):
        bring(written(folder, as_npz(emissions=[[1.0]], start=[0.0])))
    big = folder / "big.json"
    big.write_bytes(b" " * 20_000_002)
    with pytest.raises(FormatError, match="20,000,001 bytes"):
        bring(big)
    assert not (folder / "own").exists()


def test_assumptions_and_omissions_are_warnings(folder):
    file = written(folder, as_npz(emissions=np.zeros((2, 3, 4)), transitions=np.zeros((4, 4))))
    with pytest.warns(UserWarning, match=r"^The emissions \(2, 3, 4\) are taken as \(B, T, K\)"):
        bring(file)
    bring(file, reading=Reading(batch_first=True))
    with pytest.warns(UserWarning, match=r"^1 of 2 sentences are left out:\nsentence 2: "):
        bring(written(folder, as_json(sentences=[DOG, {"emissions": [[1]]}])))


NEVER = -10000.0
PADDED = {  # its last tag is padding
    "transitions": np.array([[1.0, 0.5, NEVER], [0.0, 2.0, NEVER], [NEVER, NEVER, NEVER]]),
    "emissions": np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]]),
}


def test_boundary_tags_are_kept_by_default_and_removed_on_request(folder):
    path = written(folder, as_npz(**PADDED))
    kept = read_model(path)
    assert kept.boundary_tags == ("2",)
    assert kept.tags == ("0", "1", "2")
    assert "2 kept as tags of words, which a path can pass." in kept.notes
    model = read_model(path, reading=Reading(keep_boundary_tags=False))
    assert (model.boundary_tags, model.tags) == (("2",), ("0", "1"))
    (chain,) = model.sentences
    assert chain.emissions.tolist() == [[1, 0], [0, 1]]
    assert chain.transitions.tolist() == [[1, 0.5], [0, 2]]
    assert chain.start.tolist() == chain.end.tolist() == [0, 0]


def test_states_of_a_left_to_right_model_with_start_scores_are_kept(folder):
    steps = np.array([[-np.inf, 0.0, -1.0], [-np.inf, -np.inf, 0.0], [-np.inf] * 3])
    left_to_right = {"transitions": steps, "emissions": np.zeros((2, 3)), "start": np.zeros(3)}
    model = read_model(written(folder, as_npz(**left_to_right)))
    assert (model.boundary_tags, model.tags) == (("0", "2"), ("0", "1", "2"))
    steps = np.stack([steps, steps])  # one a step: none of them leads to the first word
    path = written(folder, as_npz(transitions=steps, emissions=np.zeros((3, 3))))
    with pytest.raises(FormatError, match="each step has its own matrix"):
        read_model(path, reading=Reading(keep_boundary_tags=False))


def test_bring_command_keeps_or_removes_boundary_tags(folder, capsys):
    path = str(written(folder, as_npz(**PADDED)))
    assert main(["bring", path, "--name", "kept"]) == 0
    assert "2 kept as tags of words" in capsys.readouterr().err
    assert main(["bring", path, "--name", "less", "--boundary-tags", "leave-out"]) == 0
    assert load_tagger("less").tags == ("0", "1")


def test_bring_command_errors_name_its_options(folder, capsys):
    turned = as_npz(
        emissions=np.zeros((2, 2)),
        transitions=np.array([[1.0, 2.0], [NEVER, NEVER]]),
        tags=np.array(["A", "<START>"]),
    )
    assert main(["bring", str(written(folder, turned)), "--boundary-tags", "leave-out"]) == 2
    assert "(to_from=True, --to-from)" in capsys.readouterr().err
    path = str(written(folder, as_json(tags=["O", "B-PER", "I-PER"])))
    assert main(["bring", path]) == 0
    assert "with --bio the rules act in decoding" in capsys.readouterr().err
    assert main(["bring", path, "--bio"]) == 0
    assert "--bio" not in capsys.readouterr().err
