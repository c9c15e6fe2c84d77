"""Models of every kind of file, on every page, and with many tags."""

import json
from types import SimpleNamespace

import numpy as np
import pycrfsuite
import pytest
import torchcrf
from playwright.sync_api import expect

from crfviz.chain.decoding.analysis import analyse
from tests.browser.test_bring import (
    SENTENCE,
    bring,
    dog,
    expected,
    remove,
    use,
)
from tests.support.accessibility import walk
from tests.support.brought import DOG, as_checkpoint, as_json, as_npz, understand, zipped_tiny
from tests.support.screen import GROUPED, OF_SENTENCE

__all__ = ["dog"]


@pytest.mark.parametrize("group", GROUPED)
def test_brought_model_works_on_every_page(screen, dog, group):
    told = expected(DOG["emissions"], DOG["tokens"])
    screen.open("hmm", model=dog, sentence=SENTENCE)
    for path in walk(screen, [entry.path for entry in GROUPED[group] if entry.path != "hmm"]):
        if path in OF_SENTENCE:
            screen.expect_rows(told)
        screen.rest()
        assert "could not be drawn" not in screen.text()


def test_two_hundred_tags_are_readable(screen):
    rng = np.random.default_rng(1)
    tags = [f"tag{k:03d}" for k in range(200)]
    content = {
        "tags": tags,
        "transitions": rng.normal(size=(200, 200)).tolist(),
        "emissions": (4 * rng.normal(size=(12, 200))).tolist(),
        "tokens": [f"w{t}" for t in range(12)],
    }
    bring(screen, as_json(content))
    screen.wait_for_text("Read so that")
    use(screen, "many")
    name = screen.params()["model"]
    fold = screen.page.get_by_role("button", name="unlikely tags hidden")
    expect(fold).to_be_visible()
    screen.open("transitions", model=name)
    cells = screen.page.locator("[data-cell]:visible")
    last = cells.last
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()

    def check():
        size = float(last.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)"))
        assert size >= 9
        box = last.bounding_box()
        assert box["width"] >= 18
        assert box["height"] >= 14

    screen.eventually(check)
    screen.visit("why", model=name)
    screen.wait_for_text("the limit is 64")
    remove(screen, name)


def crfsuite_files(folder):
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["w=a", "bias"], ["w=b", "bias"]], ["X", "Y"])
    trainer.append([["w=b", "bias"], ["w=a", "bias"]], ["Y", "X"])
    trainer.train(str(folder / "m.crfsuite"))
    line = {"tokens": ["first", "second"], "attributes": [["w=b"], {"w=a": 1.0, "bias": 0.5}]}
    return ("m.crfsuite", (folder / "m.crfsuite").read_bytes()), (
        "attributes.jsonl",
        json.dumps(line).encode(),
    )


def layer_files(_folder):
    emissions = as_npz(emissions=np.zeros((2, 3)), tokens=np.array(["a", "b"]))
    return as_checkpoint(torchcrf.CRF(3).state_dict()), emissions


def folder_files(folder):
    return (zipped_tiny(folder),)


@pytest.mark.parametrize("make", [crfsuite_files, layer_files, folder_files])
def test_every_kind_of_file_becomes_a_listed_model(screen, tmp_path, make):
    files = make(tmp_path)
    found = understand(*files)
    bring(screen, *files)
    screen.wait_for_text(f"{found.kind}: ")
    use(screen, "kind")
    name = screen.params()["model"]
    chain = found.sentences[0]
    words = list(chain.tokens)
    screen.open("", model=name, sentence=" ".join(words))
    shown = SimpleNamespace(words=words, tags=list(found.tags), analysis=analyse(chain))
    screen.expect_lattice(shown)
    remove(screen, name)
