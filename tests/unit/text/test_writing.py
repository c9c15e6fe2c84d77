"""Conversion between formats: there and back gives the same entities."""

import json
import random
import warnings
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz import read_sentences
from crfviz.__main__ import main
from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.spelling import TARGETS, convert_tags, scheme_of_file
from crfviz.text.schemes import Span, spans, tags_of
from crfviz.text.sentences import Sentence, joined
from crfviz.text.writing import ENTITIES_ONLY, WRITERS, written
from tests.support.rare_names import NAMES, seed_of_commit

WORDS = st.sampled_from(
    ["Anna", "Oslo", "lives", ",", "don't", "AHU7-Ctrl", "12.5", "日本", "#NYC"]
)


@st.composite
def sentences(draw):
    """A sentence with entities in BIO, with or without its text."""
    words = tuple(draw(st.lists(WORDS, min_size=2, max_size=8)))
    marks, at = [], 0
    while at < len(words):
        end = at + draw(st.integers(1, 3))
        if draw(st.booleans()) and end <= len(words):
            marks.append(Span(draw(st.sampled_from(["PER", "LOC"])), at, end))
        at = end
    text = joined(words)[0] if draw(st.booleans()) else None
    return Sentence(words, tuple(tags_of(marks, len(words))), text)


def entities(sentence):
    """Type and letters of each entity, without blanks: some formats split words anew."""
    ends = [0, *accumulate(map(len, sentence.tokens))]
    return [(span.type, ends[span.start], ends[span.end]) for span in spans(sentence.tags)]


@pytest.mark.parametrize("first", WRITERS)
@given(
    st.sampled_from(list(WRITERS)),
    st.lists(sentences(), min_size=1, max_size=3),
    st.sampled_from([*TARGETS, None]),
)
def test_entities_survive_conversion_between_every_pair_of_formats(
    first, second, given_sentences, scheme
):
    if not any(set(each.tags) - {"O"} for each in given_sentences):
        given_sentences = [Sentence(("Anna", "ran"), ("B-PER", "O"))]  # else no tag tells a column
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*read as the words, holds only")  # Anna Anna Anna
        once = parse_sentences(written(given_sentences, first, scheme), scheme="BIO")
        twice = parse_sentences(written(once, second, scheme), scheme="BIO")
    expected = [entities(each) for each in given_sentences]
    assert [entities(each) for each in once] == expected
    assert [entities(each) for each in twice] == expected


def test_parts_of_speech_survive_formats_that_can_hold_them():
    given_sentences = [Sentence(("Dogs", "run"), ("NOUN", "VERB"))] * 2
    for name in WRITERS:
        if name in ("doccano", "labelstudio", "prodigy"):
            with pytest.raises(
                FormatError, match=f"{name} with spans holds entities such as B-PER"
            ):
                written(given_sentences, name)
        else:
            read = parse_sentences(written(given_sentences, name))
            assert [(each.tokens, each.tags) for each in read] == [
                (each.tokens, each.tags) for each in given_sentences
            ]


NUMBER_SIGNS = [
    Sentence(("He", "is", "#", "1"), ("A", ",", "a=b", "A")),
    Sentence(("He", "is", "#", "1"), ("A", "A", ",", "a=b")),
]
TYPES_WITH_BLANKS = [
    Sentence(("Well", ",", "look", "#", "1"), ("B-geo loc", "I-geo loc", "O", "B-geo loc", "O"))
]


@pytest.mark.parametrize("name", ["conllu", "columns", "blanks", "conll2003", "jsonl"])
def test_number_sign_is_read_back_as_a_word(name):
    assert parse_sentences(written(NUMBER_SIGNS, name)) == NUMBER_SIGNS


def test_tags_with_blanks_are_read_back_from_columns():
    assert parse_sentences(written(TYPES_WITH_BLANKS, "columns")) == TYPES_WITH_BLANKS
    for name in ("blanks", "conll2003"):
        with pytest.raises(FormatError, match="cannot hold 'Well' with the tag 'B-geo loc'"):
            written(TYPES_WITH_BLANKS, name)


@pytest.mark.parametrize("name", ["docbin", "doccano", "jsonl", "prodigy"])
@pytest.mark.parametrize("tags", [("B-X", "E-X", "U-Y"), ("B-X", "B", "O"), ("B-X", "I-X", "0")])
def test_tags_of_no_scheme_are_refused_and_not_written_as_outside(name, tags):
    sentence = Sentence(("a", "b", "c"), tags)
    with pytest.raises(FormatError, match=f"got '{tags[1] if tags[1] == 'B' else tags[2]}'"):
        written([sentence], name, "BIO")


@pytest.mark.parametrize("name", ["conllu", "columns", "blanks", "conll2003"])
def test_rows_that_no_reader_takes_are_refused(name):
    with pytest.raises(FormatError, match="cannot hold 'a' with the tag"):
        written([Sentence(("a", "b"), ("-", "B-X"))], name)


def test_comment_names_columns_only_where_they_are_unclear():
    usual = [Sentence(("Anna", "ran"), ("B-PER", "O"))]
    assert written(usual, "columns") == b"Anna\tB-PER\nran\tO\n\n"
    assert written(NUMBER_SIGNS, "blanks").startswith(b"# global.columns = FORM TAG\nHe A\n")


def test_word_that_columns_would_change_is_refused():
    typeless = [Sentence(("Anna", "ran"), ("NOUN", "B-"))] * 2  # which columns read as O
    with pytest.raises(FormatError, match="columns cannot hold 'ran' with the tag 'B-'"):
        written(typeless, "columns")


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("name", [name for name in WRITERS if name not in ENTITIES_ONLY])
def test_rare_words_and_tags_are_read_back_or_refused(name, number):
    dice = random.Random(seed_of_commit() + number)
    tags = dice.sample(NAMES, 4)
    lengths = [dice.randint(1, 7) for _ in range(dice.choice([1, 3, 10]))]
    given_sentences = [
        Sentence(tuple(dice.choices(NAMES, k=length)), tuple(dice.choices(tags, k=length)))
        for length in lengths
    ]
    told = []
    try:
        lossless = parse_sentences(written(given_sentences, "jsonl"), told=told.append)
    except FormatError:  # refused: entity tags beside a tag that no scheme has
        return
    assert [each.tokens for each in lossless] == [each.tokens for each in given_sentences]
    try:
        content = written(given_sentences, name)
    except FormatError:
        refuses = name in ("conllu", "columns", "blanks", "conll2003")
        assert refuses, name
        return
    own = scheme_of_file({tag for each in given_sentences for tag in each.tags})
    kept = [
        convert_tags(each.tags, own, "BIO") if name == "docbin" and own else each.tags
        for each in lossless  # a DocBin has spans, which are read back as BIO
    ]
    read = parse_sentences(content, told=told.append)
    assert [(each.tokens, tuple(each.tags)) for each in read] == [
        (each.tokens, tuple(tags)) for each, tags in zip(lossless, kept, strict=True)
    ]


def test_label_studio_export_has_the_shape_of_predictions():
    (task,) = json.loads(written([Sentence(("Anna", "ran"), ("B-PER", "O"))], "labelstudio"))
    assert task["data"] == {"text": "Anna ran"}
    (result,) = task["predictions"][0]["result"]
    assert result["value"] == {"start": 0, "end": 4, "text": "Anna", "labels": ["PER"]}
    assert (result["from_name"], result["to_name"], result["type"]) == ("label", "text", "labels")


def test_blank_columns_reject_a_word_with_a_blank():
    with pytest.raises(FormatError, match="columns with blanks cannot hold 'New York'"):
        written([Sentence(("New York",), ("B-LOC",))], "blanks")


def test_convert_command_infers_the_format_from_the_file_name(tmp_path, capsys):
    source = tmp_path / "in.txt"
    source.write_text("Anna I-PER\nin O\nOslo I-LOC\nBergen B-LOC\n", "utf-8")
    for name in ("out.jsonl", "out.conll", "out.spacy", "out.parquet", "out.json"):
        out = tmp_path / name
        assert main(["convert", str(source), str(out)]) == 0
        assert read_sentences(out)[0].tags == ("B-PER", "O", "B-LOC", "B-LOC")
    assert main(["convert", str(source), str(tmp_path / "out.bio"), "--scheme", "bilou"]) == 0
    assert "Oslo U-LOC" in (tmp_path / "out.bio").read_text("utf-8")
    assert "1 sentences (blanks)" in capsys.readouterr().err
    assert main(["convert", str(source), str(tmp_path / "out.xyz")]) == 2
    assert "expected a name that ends in .conllu" in capsys.readouterr().err
