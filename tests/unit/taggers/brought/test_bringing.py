import pytest

from crfviz import bring, list_taggers, load_tagger
from crfviz.exceptions import FormatError
from tests.support.brought import DOG, as_json, as_npz


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    return tmp_path


def written(folder, file):
    path = folder / file[0]
    path.write_bytes(file[1])
    return path


def test_files_become_a_model_of_the_list(folder):
    tagger = bring(written(folder, as_json()))
    assert tagger.name == "scores"
    assert "scores" in list_taggers()
    assert bring(str(written(folder, as_json())), name="upos-en").name == "upos-en-2"
    assert load_tagger("upos-en-2").potentials(DOG["tokens"]).num_tokens == 3


def test_what_cannot_be_read_is_said_and_nothing_is_kept(folder):
    with pytest.raises(FormatError, match=r"nothing\.json: cannot be read \(No such file"):
        bring(folder / "nothing.json")
    with pytest.raises(FormatError, match="got none"):
        bring()
    with pytest.raises(FormatError, match="there are no transitions"):
        bring(written(folder, as_npz(emissions=[[1.0]])))
    big = folder / "big.json"
    big.write_bytes(b" " * 20_000_002)
    with pytest.raises(FormatError, match="20,000,001 bytes"):
        bring(big)
    assert not (folder / "own").exists()
