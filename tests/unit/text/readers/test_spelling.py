"""Spellings and schemes of entity tags, against conversions by seqeval's and spaCy's own rules."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from spacy.training import biluo_to_iob, iob_to_biluo

from crfviz.corpus.answer_scores import score_answers
from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.spelling import TARGETS, convert_tags
from crfviz.text.schemes import Span, tags_of

TYPES = ("PER", "LOC")


@st.composite
def entities(draw):
    """Tags in BIO of one sentence with at least one word."""
    tags, at = [], 0
    for _ in range(draw(st.integers(1, 5))):
        at += draw(st.integers(0, 2))
        end = at + draw(st.integers(1, 3))
        tags.append(Span(draw(st.sampled_from(TYPES)), at, end))
        at = end
    return tags_of(tags, at + draw(st.integers(0, 2)))


def written(tags, separator="\t"):
    return "".join(f"w{number}{separator}{tag}\n" for number, tag in enumerate(tags)) + "\n"


@given(entities())
def test_bilou_conversion_equals_spacy(tags):
    assert convert_tags(tags, "BIO", "BILOU") == iob_to_biluo(tags)
    assert convert_tags(iob_to_biluo(tags), "BILOU", "BIO") == biluo_to_iob(iob_to_biluo(tags))


@given(entities())
def test_entities_after_bioes_conversion_equal_seqeval(tags):
    converted = convert_tags(tags, "BIO", "BIOES")
    assert get_entities(converted) == get_entities(tags)


@given(st.lists(entities(), min_size=1, max_size=4))
def test_iob1_and_bmes_keep_their_entities(sentences):
    for scheme, target in (("IOB1", "BIO"), ("BIOES", "BIOES"), ("BILOU", "BILOU")):
        text = "".join(written(convert_tags(tags, "BIO", scheme)) for tags in sentences)
        expected = [tuple(convert_tags(tags, "BIO", target)) for tags in sentences]
        assert [sentence.tags for sentence in parse_sentences(text)] == expected
        back = [list(sentence.tags) for sentence in parse_sentences(text, scheme="BIO")]
        assert back == sentences


@pytest.mark.parametrize(
    ("tags", "read"),
    [
        (["B_PER", "I_PER", "O"], ["B-PER", "I-PER", "O"]),
        (["PER-B", "PER-I", "O"], ["B-PER", "I-PER", "O"]),
        (["b-per", "i-per", "o"], ["B-per", "I-per", "O"]),
        (["B-PER", "M-PER", "E-PER", "S-LOC"], ["B-PER", "I-PER", "E-PER", "S-LOC"]),
        (["B-PER", "M-PER", "E-PER", "W-LOC"], ["B-PER", "I-PER", "E-PER", "S-LOC"]),
        (["I-PER", "I-PER", "B-PER", "O", "I-LOC"], ["B-PER", "I-PER", "B-PER", "O", "B-LOC"]),
        (["B-PER", "O", "I-LOC"], ["B-PER", "O", "I-LOC"]),  # BIO with an error: kept
        (["NN", "X_1", "Y_2"], ["NN", "X_1", "Y_2"]),  # of no scheme
        (["-LRB-", "NNP", "-RRB-"], ["-LRB-", "NNP", "-RRB-"]),
        (["B-PER", "i-PER", "O"], ["B-PER", "I-PER", "O"]),
        (["PER:B", "PER:I", "O"], ["B-PER", "I-PER", "O"]),
        (["b:per", "i:per", "o"], ["B-per", "I-per", "O"]),
        (["B:PER", "M:PER", "E:PER", "S:LOC"], ["B-PER", "I-PER", "E-PER", "S-LOC"]),
        (["BPER", "IPER", "BLOC", "O"], ["B-PER", "I-PER", "B-LOC", "O"]),
        (["S:subj", "S:obj", "S:subj"], ["S:subj", "S:obj", "S:subj"]),  # nothing begins
        (["INTJ", "SYM", "O"], ["INTJ", "SYM", "O"]),  # of no type both B and I
        (["B-C++", "I-C++", "B-f(x)", "O"], ["B-C++", "I-C++", "B-f(x)", "O"]),
    ],
)
def test_unusual_tag_spellings_are_normalised(tags, read):
    (sentence,) = parse_sentences(written(tags))
    assert list(sentence.tags) == read


WORDS = ["Nora", "Quist", "lives", "in", "Oslo", "."]
BIO_TAGS = ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
SPELLINGS = (
    "{}:{}",
    "{}/{}",
    "{}|{}",
    "{}~{}",
    "{}\u2013{}",
    "<{}-{}>",
    "[{}-{}]",
    "({}:{})",
)


def respelled(spelling, *, outside="O"):
    return [outside if tag == "O" else spelling.format(tag[0], tag[2:]) for tag in BIO_TAGS]


def in_formats(tags):
    """Return the same sentence in each format with a tag for each word."""
    pairs = list(zip(WORDS, tags, strict=True))
    return {
        "TAB": "".join(f"{word}\t{tag}\n" for word, tag in pairs),
        "blank": "".join(f"{word} {tag}\n" for word, tag in pairs) + "\n",
        "four columns": "".join(f"{word} NN I-NP {tag}\n" for word, tag in pairs) + "\n",
        "tag, word": "".join(f"{tag}\t{word}\n" for word, tag in pairs),
        "CSV": "sent_id,word,tag\n" + "".join(f"1,{word},{tag}\n" for word, tag in pairs),
        "lists": json.dumps({"tokens": WORDS, "ner_tags": tags}),
        "objects": json.dumps({"tokens": [{"text": w, "tag": tag} for w, tag in pairs]}),
        "lines": f"{' '.join(WORDS)}\t{' '.join(tags)}\n",
    }


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_other_marks_of_prefixes_are_read_in_each_format(spelling):
    for name, text in in_formats(respelled(spelling)).items():
        (sentence,) = sentences = parse_sentences(text)
        assert (list(sentence.tokens), list(sentence.tags)) == (WORDS, BIO_TAGS), name
        assert "; BIO; " in sentences.reading, name


@pytest.mark.parametrize("format_name", ["TAB", "blank", "CSV", "lists", "objects", "lines"])
def test_brackets_around_all_tags_are_read_in_each_format(format_name):
    notes = []
    text = in_formats(respelled("<{}-{}>", outside="<O>"))[format_name]
    (sentence,) = parse_sentences(text, told=notes.append)
    assert list(sentence.tags) == BIO_TAGS
    assert any("tags such as <B-LOC> were read as B-LOC" in note for note in notes)


def test_slash_inside_tags_behind_a_slash_is_refused():
    line = " ".join(f"{w}/{tag}" for w, tag in zip(WORDS, respelled("{}/{}"), strict=True))
    with pytest.raises(FormatError, match="or a / in its tags, got 'Nora/B/PER'"):
        parse_sentences(line)
    line = " ".join(f"{w}/{tag}" for w, tag in zip(WORDS, respelled("<{}-{}>"), strict=True))
    assert list(parse_sentences(line)[0].tags) == BIO_TAGS
    assert parse_sentences("hepatitis/B/NN has/VBZ")[0].tokens == ("hepatitis/B", "has")


@pytest.mark.parametrize("spelling", [*SPELLINGS, "{}({})", "{}{}"])
def test_answers_with_other_marks_are_scored_as_entities(spelling):
    scores = score_answers([BIO_TAGS], [respelled(spelling)], mode="strict")
    assert (scores.f1, scores.accuracy, scores.scheme) == (1.0, 1.0, ("BIO", "BIO"))
    assert any("The answers: tags such as" in note for note in scores.notes)


@pytest.mark.parametrize("spelling", [*SPELLINGS, "{}{}"])
def test_answers_with_other_marks_beside_gold_are_scored_as_entities(spelling, tmp_path):
    rows = zip(WORDS, BIO_TAGS, respelled(spelling), strict=True)
    path = tmp_path / "both.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    assert score_answers(path, mode="strict").f1 == 1.0


def test_iob1_marker_in_a_later_sentence_leaves_earlier_tags_unchanged():
    text = written(["O", "O"]) + written(["I-PER"]) + written(["I-LOC", "B-LOC"])
    assert [s.tags for s in parse_sentences(text)] == [("O", "O"), ("B-PER",), ("B-LOC", "B-LOC")]
    text += written(["O", "B-PER"])  # in IOB1 no B- stands here
    assert parse_sentences(text)[1].tags == ("I-PER",)


@pytest.mark.parametrize("scheme", TARGETS)
def test_scheme_for_parts_of_speech_is_rejected(scheme):
    with pytest.raises(FormatError, match=f"expected entity tags to convert to {scheme}"):
        parse_sentences(written(["NOUN", "VERB"]), scheme=scheme)
    with pytest.raises(FormatError, match="expected one of the schemes"):
        parse_sentences(written(["O", "B-PER"]), scheme="BMES")
