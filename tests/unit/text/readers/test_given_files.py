"""Small files as other programs write them: read as what `expected.json` says is in each."""

import json
import warnings

import pytest

from crfviz import read_sentences
from crfviz.exceptions import FormatError
from crfviz.text.readers.losses import LossWarning
from crfviz.text.schemes import entity_scheme, spans
from tests.support.paths import ROOT

FILES = ROOT / "tests" / "fixtures" / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text("utf-8"))


def read(path, **options):
    """The sentences of a file, and what was said to be lost."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sentences = read_sentences(path, **options)
    assert {each.category for each in caught} <= {LossWarning}
    return sentences, [str(each.message) for each in caught]


def entities(sentence, scheme):
    """Type and words of each entity, by the spans of the scheme."""
    return [
        [span.type, " ".join(sentence.tokens[span.start : span.end])]
        for span in spans(sentence.tags, scheme)
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_reading_a_file_gives_the_expected_sentences_or_error(name):
    expected = EXPECTED[name]
    if expected.get("refuse"):
        with pytest.raises(FormatError) as refused:
            read_sentences(FILES / name)
        assert "\n" not in str(refused.value)
        return
    sentences, said = read(FILES / name)
    scheme = entity_scheme({tag for each in sentences for tag in each.tags}) or "BIO"
    found = [
        [
            list(each.tokens),
            None if tags else entities(each, scheme),
            list(each.tags) if tags else None,
        ]
        for each, (_, _, tags) in zip(sentences, expected["sentences"], strict=True)
    ]
    assert found == expected["sentences"]
    assert bool(said) is bool(expected.get("note"))
