"""The version of a model: another one for other weights, the same for what is told of them."""

import shutil

import pytest

from crfviz.taggers.folder import DIGITS, version_of
from crfviz.taggers.registry import SHIPPED
from tests.support.fake_tagger import FakeTagger

NAME = "upos-en-contextfree"
DESCRIPTIONS = {"README.md", "evaluation.json", "lexicon.json"}


@pytest.fixture
def tagger(tmp_path):
    folder = tmp_path / "another name"
    shutil.copytree(SHIPPED / NAME, folder)
    return FakeTagger(["X"], {}, folder=folder)


def test_it_goes_by_what_the_folder_holds(tagger):
    shipped = version_of(FakeTagger(["X"], {}, folder=SHIPPED / NAME))
    assert version_of(tagger) == shipped
    assert len(shipped) == DIGITS


def test_weights_config_and_new_files_change_the_version_and_descriptions_do_not(tagger):
    versions = {}
    for name in [*DESCRIPTIONS, "model.safetensors", "config.json", "new"]:
        before = version_of(tagger)
        with (tagger.folder / name).open("ab") as file:
            file.write(b" ")
        versions[name] = version_of(tagger) != before
    assert {name for name, changed in versions.items() if not changed} == DESCRIPTIONS
