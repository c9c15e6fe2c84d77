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


def test_equal_folders_have_the_same_version(tagger):
    shipped = version_of(FakeTagger(["X"], {}, folder=SHIPPED / NAME))
    assert version_of(tagger) == shipped
    assert len(shipped) == DIGITS


def test_version_depends_on_files_except_descriptions(tagger):
    versions = {}
    for name in [*DESCRIPTIONS, "model.safetensors", "config.json", "new"]:
        before = version_of(tagger)
        with (tagger.folder / name).open("ab") as file:
            file.write(b" ")
        versions[name] = version_of(tagger) != before
    assert {name for name, changed in versions.items() if not changed} == DESCRIPTIONS
