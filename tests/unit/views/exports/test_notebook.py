"""What notebooks draw: the live stage in a frame, and each result by a table of its own."""

import html
import math
import re
from html.parser import HTMLParser

import pytest
import torch

import crfviz
from tests.support.fake_tagger import FakeTagger

HOSTILE = '<script>alert("1")</script>'


def chain(words=("the", HOSTILE), tags=("A", "<b>")):
    generator = torch.Generator().manual_seed(5)
    return crfviz.Potentials(
        torch.randn(len(words), len(tags), generator=generator),
        torch.randn(len(tags), len(tags), generator=generator),
        tags=tags,
        tokens=words,
    )


class Elements(HTMLParser):
    """The names of all elements, and what stands in cells."""

    def __init__(self, text):
        super().__init__()
        self.names, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_data(self, data):
        self.texts.append(data)


RESULTS = [
    lambda chain: chain,
    crfviz.viterbi,
    crfviz.forward_backward,
    lambda chain: crfviz.k_best(chain, 1)[0],
    lambda chain: crfviz.why_not(chain, 1, 0),
]


@pytest.mark.parametrize("make", RESULTS)
def test_result_is_drawn_with_words_escaped(make):
    drawn = Elements(make(chain())._repr_html_())
    assert not set(drawn.names) & {"script", "b", "iframe"}


@pytest.mark.parametrize("make", RESULTS)
def test_large_result_is_shortened_with_a_note(make):
    large = chain(["w"] * 40, [f"T{k}" for k in range(40)])
    text = make(large)._repr_html_()
    assert len(text) < 600_000
    assert "10 more" in text


def test_html_of_paths_shows_tag_names():
    named = chain(["a", "b"], ["N&N", "VB"])
    best = crfviz.viterbi(named)
    assert f"Best path {' '.join(best.names)}: ".replace("&", "&amp;") in best._repr_html_()
    (path,) = crfviz.k_best(named, 1)
    assert f"Path {' '.join(best.names)}: ".replace("&", "&amp;") in path._repr_html_()
    assert "Path 1 0: " in crfviz.Path([1, 0], 0.0, 1.0)._repr_html_()


def test_html_of_results_shows_their_numbers():
    sums, best = crfviz.forward_backward(chain()), crfviz.viterbi(chain())
    drawn = Elements(sums._repr_html_()).texts
    for value in sums.marginals.flatten().tolist():
        assert f"{value:.4f}" in drawn
    assert f"score {best.score:.4f} nats".replace("-", "−") in best._repr_html_()
    lost = chain().with_transition(0, 0, -math.inf)
    assert "−∞" in lost._repr_html_()


def test_show_embeds_the_live_file_in_a_sandboxed_frame():
    drawn = crfviz.show(chain())._repr_html_()
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" ([^<>]*)></iframe>', drawn, re.DOTALL)
    page = html.unescape(frame[1])
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page
    assert "allow-same-origin" not in frame[2]


def test_show_of_a_tagger_requires_a_sentence():
    tagger = FakeTagger(["X", "Y"], {"a": {"X": 1.0}})
    assert repr(crfviz.show(tagger, "a a")) == "crfviz.show: 2 words, 2 tags"
    with pytest.raises(crfviz.CrfvizError, match="needs a sentence"):
        crfviz.show(tagger)
