"""What people bring is small, and takes little memory: bombs of all kinds are refused in time."""

import json
import subprocess
import sys

import pycrfsuite
import pytest

from crfviz.exceptions import FormatError
from crfviz.text import archives
from tests.support.app_pages import ROOT
from tests.support.brought_bombs import ALONE, ROOM, WITH_CRFSUITE

KEPT = {"shared_matrix", "shared_probabilities", "many_numbers", "long_example"}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """What the program says of each file: the answer, and the MB at its peak."""
    path = tmp_path_factory.mktemp("bombs") / "small.crfsuite"
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["bias"]], ["O"])
    trainer.train(str(path))
    command = [sys.executable, "-m", "tests.support.brought_bombs", str(path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return {name: (said, peak) for name, said, peak in map(json.loads, result.stdout.splitlines())}


@pytest.mark.parametrize("name", [make.__name__ for make in (*ALONE, *WITH_CRFSUITE)])
def test_a_small_file_that_asks_for_much_is_refused_before_it_has_it(read, name):
    said, peak = read[name]
    assert (
        said == "understood"
        if name in KEPT
        else said.split(":")[0].endswith(("FormatError", "TooLargeError"))
    ), said
    assert len(said) < 500
    assert peak < ROOM


def test_an_archive_of_very_many_files_is_refused_before_a_list_of_them_is_made(monkeypatch):
    monkeypatch.setattr(archives.zipfile, "ZipFile", None)
    entries = b"PK\x01\x02" * 1000
    with pytest.raises(FormatError, match="holds 1,000 files, more than 10"):
        archives.Archive(entries, most_members=10, most_unpacked=1)
