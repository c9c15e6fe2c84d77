"""What people bring is small, and takes little memory: bombs of all kinds are refused in time."""

import json
import subprocess
import sys

import pycrfsuite

from tests.support.app_pages import ROOT
from tests.support.brought_bombs import ALONE, ROOM, WITH_CRFSUITE

KEPT = {"shared_matrix", "shared_probabilities", "many_numbers", "long_example"}


def test_small_files_that_expand_are_rejected_before_allocation(tmp_path, subtests):
    path = tmp_path / "small.crfsuite"
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["bias"]], ["O"])
    trainer.train(str(path))
    command = [sys.executable, "-m", "tests.support.brought_bombs", str(path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    read = {name: answer for name, *answer in map(json.loads, result.stdout.splitlines())}
    assert read.keys() == {make.__name__ for make in (*ALONE, *WITH_CRFSUITE)}
    for name, (said, peak) in read.items():
        with subtests.test(name):
            if name in KEPT:
                assert said == "understood"
            else:
                assert said.split(":")[0].endswith(("FormatError", "TooLargeError"))
            assert len(said) < 500
            assert peak < ROOM
