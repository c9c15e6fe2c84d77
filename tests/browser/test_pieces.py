"""The page Words and pieces in a browser."""

import pytest
from playwright.sync_api import expect

import crfviz
from tests.support.screen import tagger

SENTENCE = "My old bed got tossed in a dumpster ."
PATH = {"model": "upos-en", "sentence": SENTENCE}


@pytest.mark.rotating
def test_later_pieces_have_no_tag_in_the_first_piece_reading(screen):
    screen.visit("pieces", **PATH)
    read = crfviz.pieces(tagger("upos-en").potentials(SENTENCE.split()))
    names = read.all.potentials.tag_names

    def drawn():
        shown = screen.read()
        assert shown.words == list(read.all.potentials.tokens)
        assert shown.rows["all"] == [names[k] for k in read.all.path]
        for name, path in (("first", read.first.path), ("pytorch_crf", read.pytorch_crf.tags)):
            cells = [names[path[word]] for word in read.places]
            assert shown.rows[name] == [
                tag if t in read.starts else "–" for t, tag in enumerate(cells)
            ]

    screen.eventually(drawn)
    right = [read.first.path[word] for word in read.places]
    differing = {
        "pytorch_crf": zip(read.first.path, read.pytorch_crf.tags, strict=True),
        "holes": zip(right, read.holes.path, strict=True),
        "all": zip(right, read.all.path, strict=True),
        "first": (),
        "word": (),
    }
    for name, pairs in differing.items():
        dashed = screen.page.locator(f".tag[data-row={name}][data-differs]")
        expect(dashed).to_have_count(sum(a != b for a, b in pairs))
