import math
from pathlib import Path

import pytest

from crfviz.exceptions import ModelError
from crfviz.taggers.registry import SHIPPED, list_taggers, load_tagger
from crfviz.taggers.storage import tensor_shapes
from crfviz.taggers.user_models import (
    disk_bytes,
    folder_bytes,
    free_name,
    new_model,
    own_models,
    remove_model,
    user_models,
)
from tests.support.tiny_tagger import save_tiny


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    return tmp_path / "own"


def keep(name, *, fails=False):
    with new_model(name) as folder:
        save_tiny(folder)
        if fails:
            raise RuntimeError("the disk is full")


def test_user_models_folder_is_the_variable_or_the_data_directory(monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", "/some/where")
    assert user_models() == Path("/some/where")
    monkeypatch.delenv("CRFVIZ_USER_MODELS")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert user_models() == Path("/home/ada/.local/share/crfviz/models")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert user_models() == Path("/data/crfviz/models")


def test_without_a_home_the_error_names_the_variable_and_shipped_models_remain(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("CRFVIZ_USER_MODELS")
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(ModelError, match="set CRFVIZ_USER_MODELS to a folder"):
        user_models()
    assert "upos-en" in list_taggers()
    assert own_models() == []


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("my model", "my-model"),
        ("Modèle n° 1.npz", "Modele-n-1-npz"),
        ("../../etc/passwd", "etc-passwd"),
        ("..\\..\\x\x00", "x"),
        (".hidden", "hidden"),
        ("x" * 5000, "x" * 40),
        ("upos-en", "upos-en-2"),
        ("UPOS-en", "UPOS-en-3"),
        ("textbook", "textbook-2"),
    ],
)
def test_free_name_is_safe_and_unused(wanted, name):
    taken = ["upos-en", *(["upos-en-2"] if wanted == "UPOS-en" else [])]
    assert free_name(wanted, taken) == name


@pytest.mark.parametrize("wanted", ["", "  ", "../..", "\x00", "日本"])
def test_name_without_a_letter_or_digit_is_rejected(wanted):
    with pytest.raises(ModelError, match="needs a name with a letter or digit"):
        free_name(wanted, ())


def test_new_model_is_listed_after_the_block(own):
    with new_model("mine") as folder:
        save_tiny(folder)
        assert "mine" not in list_taggers()
        assert not any(name.startswith(".") for name in list_taggers())
    assert "mine" in list_taggers()
    assert load_tagger("mine").folder == own / "mine"
    assert own_models() == ["mine"]
    assert (own / "mine").stat().st_mode & 0o777 == 0o755


def test_failed_write_leaves_no_files(own):
    with pytest.raises(RuntimeError, match="the disk is full"):
        keep("mine", fails=True)
    assert list(own.iterdir()) == []


def test_existing_model_is_never_overwritten(own):
    keep("mine")
    (own / "mine" / "README.md").write_text("# mine", encoding="utf-8")
    with pytest.raises(ModelError, match="is taken, or no safe name"):
        keep("mine")
    assert load_tagger("mine").card() == "# mine"
    assert own_models() == ["mine"]


@pytest.mark.parametrize("name", ["../x", "a/b", ".x", "", "textbook", "a b"])
def test_unsafe_name_is_rejected(own, name):
    with pytest.raises(ModelError), new_model(name):
        pytest.fail("never reached")
    assert not own.exists()


def test_unwritable_folder_is_reported(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="no model can be written there"):
        keep("mine")
    assert own_models() == []


def test_model_can_be_removed(own):
    keep("mine")
    keep("other")
    remove_model("mine")
    assert own_models() == ["other"]
    assert sorted(path.name for path in own.iterdir()) == [".removed", "other"]
    assert "mine" not in list_taggers()


@pytest.mark.usefixtures("own")
def test_name_of_a_removed_model_is_not_reused():
    keep("mine")
    assert free_name("mine", ()) == "mine-2"
    remove_model("mine")
    assert free_name("Mine", ()) == "Mine-2"
    with pytest.raises(ModelError, match="is taken"):
        keep("mine")


def test_concurrent_writes_of_one_name_do_not_mix(own):
    with pytest.raises(ModelError, match="cannot be written"), new_model("mine"):
        save_tiny(own / "mine")  # somebody else was faster
    assert own_models() == ["mine"]


@pytest.mark.usefixtures("own")
def test_too_many_models_are_rejected(monkeypatch):
    monkeypatch.setattr("crfviz.taggers.user_models.MAX_MODELS", 1)
    keep("mine")
    with pytest.raises(ModelError, match="There are 1 models of this kind already"):
        keep("other")


@pytest.mark.parametrize("name", ["upos-en", "../own/mine", ".", "", "nothing"])
def test_only_uploaded_models_can_be_removed(own, name):
    keep("mine")
    with pytest.raises(ModelError, match="was brought"):
        remove_model(name)
    assert own_models() == ["mine"]
    assert own.is_dir()


def test_user_model_cannot_replace_a_shipped_one(own):
    save_tiny(own / "upos-en")
    assert len(load_tagger("upos-en").tags) == 17


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("what", ["disk", "memory"])
def test_total_size_is_limited_and_the_error_names_the_largest(monkeypatch, what):
    for name in ("small", "large"):
        keep(name)
    sizes = {"small": 100, "large": 800}
    other = "folder_bytes" if what == "disk" else "disk_bytes"
    monkeypatch.setattr(f"crfviz.taggers.user_models.{other}", lambda _: 0)
    measured = "disk_bytes" if what == "disk" else "folder_bytes"
    monkeypatch.setattr(
        f"crfviz.taggers.user_models.{measured}", lambda folder: sizes.get(folder.name, 200)
    )
    monkeypatch.setattr("crfviz.taggers.user_models.MAX_BYTES", 1100)
    keep("fits")
    with pytest.raises(
        ModelError, match=rf"of {what}, .* the largest are large .*, fits .*, small"
    ):
        keep("more")
    assert own_models() == ["fits", "large", "small"]


def test_model_memory_is_estimated_from_its_headers(tmp_path):
    folder = save_tiny(tmp_path / "tiny")
    assert disk_bytes(folder) == sum(path.stat().st_size for path in folder.iterdir())
    numbers = sum(
        math.prod(shape) for shape in tensor_shapes(folder / "model.safetensors").values()
    )
    assert 4 * numbers < folder_bytes(folder) < 4 * numbers + 20_000
    assert folder_bytes(SHIPPED / "upos-en-perceptron") > 4 * 17 * 17 * 1000
    assert disk_bytes(tmp_path / "nothing") == 0
