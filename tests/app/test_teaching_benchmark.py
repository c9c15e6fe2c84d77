"""What benchmarks/teaching.py measures, on a tagger that is made in no time."""

import importlib.util
import sys
from dataclasses import replace

import pytest

from crfviz.annotations.teaching.learning import METHODS
from crfviz.text.sentences import Sentence
from tests.support.paths import ROOT
from tests.support.tiny_tagger import save_tiny

PATH = ROOT / "benchmarks" / "teaching.py"
SENTENCES = [
    Sentence(("He", "runs", "to", "Paris"), ("NOUN", "VERB", "X", "NOUN")),
    Sentence(("Run", "!"), ("VERB", "X")),
    Sentence(("dogs", "run"), ("NOUN", "VERB")),
    Sentence(("@bob", "sees", "2", "dogs"), ("NOUN", "VERB", "X", "NOUN")),
]


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("teaching_benchmark", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["teaching_benchmark"] = module  # where its dataclasses look up their annotations
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PATH.parent)  # as for a program of this folder
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def setting(benchmark, tmp_path):
    folder = str(save_tiny(tmp_path / "tiny"))
    return benchmark.Setting(folder, "as trained", SENTENCES, SENTENCES[2:], SENTENCES[:2])


def test_much_teaching_gets_every_word_right(benchmark, setting):
    recipe = replace(METHODS["tagger"], learning_rate=0.02, epochs=100, drop_outputs=0.0)
    found = benchmark.measure(setting, "tagger", len(SENTENCES), recipe)
    assert found["taught_before"] < 1.0
    assert found["taught_after"] == found["test_after"] == 1.0
    assert found["test_change"] == pytest.approx(1.0 - found["test_before"])
    assert all(0 <= found[name] <= 1 for name in ("ece_before", "ece_kept", "ece_fitted"))


def test_a_row_spreads_over_the_draws(benchmark, setting):
    row = benchmark.row_of(setting, "crf", 2, METHODS["crf"])
    for name in ("taught_after", "test_change", "ece_fitted"):
        mean, low, high = row[name]
        assert low <= mean <= high
    written = benchmark.table({"rows": [row]})
    assert f"| `{setting.model}` | as trained | crf | 2 |" in written


def test_another_guideline_renames_tags(benchmark):
    renamed = benchmark._renamed([Sentence(("is", "a"), ("AUX", "DET"))], {"AUX": "VERB"})
    assert renamed == [Sentence(("is", "a"), ("VERB", "DET"))]
