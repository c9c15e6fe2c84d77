"""The version of a model: another one for other weights, the same for what is told of them."""

import shutil

import pytest

from crfviz.taggers.folder import DIGITS, version_of
from crfviz.taggers.registry import SHIPPED
from tests.support.fake_tagger import FakeTagger

NAME = "upos-en-contextfree"


@pytest.fixture
def tagger(tmp_path):
    folder = tmp_path / "another name"
    shutil.copytree(SHIPPED / NAME, folder)
    return FakeTagger(["X"], {}, folder=folder)


def test_it_goes_by_what_the_folder_holds(tagger):
    shipped = version_of(FakeTagger(["X"], {}, folder=SHIPPED / NAME))
    assert version_of(tagger) == shipped
    assert len(shipped) == DIGITS


@pytest.mark.parametrize("name", ["README.md", "evaluation.json", "lexicon.json"])
def test_what_tells_of_a_model_may_be_written_later(tagger, name):
    before = version_of(tagger)
    (tagger.folder / name).write_text("anew")
    assert version_of(tagger) == before


@pytest.mark.parametrize("change", ["model.safetensors", "config.json", "new"])
def test_anything_else_makes_another(tagger, change):
    before = version_of(tagger)
    with (tagger.folder / change).open("ab") as file:
        file.write(b" ")
    assert version_of(tagger) != before
