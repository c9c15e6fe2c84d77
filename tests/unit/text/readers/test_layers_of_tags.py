"""Files with several places of tags: DocBin, brat and WebAnno."""

import io
import warnings
import zipfile

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from crfviz import read_sentences
from crfviz.exceptions import FormatError
from crfviz.text.fields import fields_in
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.rows import Wanted

WORDS = ["Ida", "Berg", "rows", "to", "Oslo", "."]
ENTS = ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
POS = ["PROPN", "PROPN", "VERB", "ADP", "PROPN", "PUNCT"]
FINE = ["NNP", "NNP", "VBZ", "TO", "NNP", "."]
GROUP = [(0, 1, "FIRST"), (1, 2, "LAST"), (3, 5, "PLACE")]
GROUPED = ["B-FIRST", "B-LAST", "O", "B-PLACE", "I-PLACE", "O"]


def docbin(*, ents=None, pos=None, tag=None, groups=()):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, WORDS, ents=ents, pos=pos, tags=tag)
    for name, spans in groups:
        doc.spans[name] = [Span(doc, *span) for span in spans]
    file = DocBin(attrs=["ENT_IOB", "ENT_TYPE", "POS", "TAG", "SPACY"], store_user_data=True)
    file.add(doc)
    return file.to_bytes()


ALL = docbin(ents=ENTS, pos=POS, tag=FINE, groups=[("sc", GROUP)])
LAYERS = {None: ENTS, "ents": ENTS, "pos": POS, "tag": FINE, "spans.sc": GROUPED, "sc": GROUPED}


def read(content, tags=None, told=lambda _: None, name="file"):
    return parse_sentences(content, name=name, wanted=Wanted(tags=tags), told=told)


@pytest.mark.parametrize("layer", LAYERS)
def test_each_layer_of_a_docbin_can_be_named(layer):
    sentences = read(ALL, layer)
    assert list(sentences[0].tags) == LAYERS[layer]
    shown = {None: "ents", "sc": "spans.sc"}.get(layer, layer)
    assert f"tags in {shown};" in sentences.reading


def test_file_is_read_with_the_named_layer(tmp_path):
    path = tmp_path / "a.spacy"
    path.write_bytes(ALL)
    assert list(read_sentences(path, tags="pos")[0].tags) == POS


def test_layers_with_labels_are_offered_with_some_of_them():
    assert fields_in(ALL) == (
        {
            "ents": "LOC, PER",
            "pos": "ADP, PROPN, PUNCT",
            "tag": "., NNP, TO",
            "spans.sc": "FIRST, LAST, PLACE",
        },
        True,
    )


def test_one_layer_leaves_no_choice():
    content = docbin(pos=POS)
    assert not fields_in(content).values
    assert list(read(content)[0].tags) == POS
    assert "tags in pos;" in read(content).reading


def test_entities_that_are_all_o_do_not_hide_the_parts_of_speech():
    content = docbin(ents=["O"] * 6, pos=POS)
    assert list(read(content)[0].tags) == POS
    assert list(read(content, "ents")[0].tags) == ["O"] * 6


def test_only_group_of_spans_is_read_and_several_are_a_question():
    alone = docbin(groups=[("sc", GROUP)])
    assert list(read(alone)[0].tags) == GROUPED
    two = docbin(groups=[("a", GROUP[:1]), ("b", GROUP[1:])])
    with pytest.raises(FormatError, match="several groups of spans may have the tags; found spans"):
        read(two)
    assert list(read(two, "a")[0].tags) == ["B-FIRST", *["O"] * 5]


def test_groups_that_are_not_read_are_said():
    notes = []
    read(ALL, told=notes.append)
    assert notes == ["file: groups of spans (spans.sc) were left out; ents were read"]
    notes.clear()
    read(ALL, "sc", notes.append)
    assert notes == []


def test_overlapping_spans_of_a_group_are_said_to_be_lost():
    notes = []
    content = docbin(groups=[("sc", [(0, 2, "PER"), (1, 2, "LAST")])])
    assert list(read(content, told=notes.append)[0].tags) == ["B-PER", "I-PER", *["O"] * 4]
    assert any("overlapping spans" in each for each in notes)


def test_word_without_a_tag_in_the_layer_is_an_error():
    with pytest.raises(FormatError, match="document 1: expected a tag in 'pos' for 'rows'"):
        read(docbin(pos=["PROPN", "PROPN", "", "ADP", "PROPN", "PUNCT"]))


TEXT = "The University of Oslo grew.\nIda left.\n"
MARKS = "T1\tORG 4 22\tUniversity of Oslo\nT2\tLOC 18 22\tOslo\nT3\tPER 29 32\tIda\n"
OUTER = [["O", "B-ORG", "I-ORG", "I-ORG", "O", "O"], ["B-PER", "O", "O"]]
INNER = [["O", "O", "O", "B-LOC", "O", "O"], ["B-PER", "O", "O"]]


def brat(*pairs):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, (text, marks) in enumerate(pairs):
            archive.writestr(f"{number}.txt", text)
            archive.writestr(f"{number}.ann", marks)
    return file.getvalue()


OF_BRAT = {
    None: OUTER,
    "outer": OUTER,
    "inner": INNER,
    "LOC": [INNER[0], ["O"] * 3],
    "PER": [["O"] * 6, OUTER[1]],
}


@pytest.mark.parametrize("layer", OF_BRAT)
def test_types_and_nested_entities_of_brat_can_be_named(layer, tmp_path):
    sentences = read(brat((TEXT, MARKS)), layer)
    assert [list(each.tags) for each in sentences] == OF_BRAT[layer]
    assert f"tags in {layer};" in sentences.reading if layer else "entities" in sentences.reading
    (tmp_path / "a.txt").write_text(TEXT, "utf-8")
    (tmp_path / "a.ann").write_text(MARKS, "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)  # of nested entities
        assert list(read_sentences(tmp_path / "a.ann", tags=layer)) == list(sentences)


def test_type_of_another_document_is_no_error():
    two = brat((TEXT, MARKS), ("Uno naps.", "T1\tDOG 0 3\tUno\n"))
    assert list(read(two, "DOG")[-1].tags) == ["B-DOG", "O", "O"]
    assert "DOG" in fields_in(two).values


def test_types_of_brat_are_offered_and_nested_ones():
    assert fields_in(brat((TEXT, MARKS))) == (
        {
            "outer": "the longer of nested entities",
            "inner": "the shorter ones",
            "LOC": "Oslo",
            "ORG": "University of Oslo",
            "PER": "Ida",
        },
        True,
    )
    assert not fields_in(brat((TEXT, "T3\tPER 29 32\tIda\n"))).values


def test_type_named_inner_is_the_type():
    marks = MARKS.replace("PER", "inner")
    assert [list(s.tags) for s in read(brat((TEXT, marks)), "inner")] == [
        ["O"] * 6,
        ["B-inner", "O", "O"],
    ]


WEBANNO = (
    "#FORMAT=WebAnno TSV 3.2\n#T_SP=de.NamedEntity|identifier|value\n"
    "#T_SP=de.POS|PosValue\n\n\n#Text=Ida rows\n"
    "1-1\t0-3\tIda\tQ1\tPER\tPROPN\n1-2\t4-8\trows\t_\t_\tVERB\n"
)


def test_features_of_webanno_are_offered_by_number():
    fields, alone = fields_in(WEBANNO.encode())
    assert (fields, alone) == (
        {"1": "NamedEntity identifier", "2": "NamedEntity value", "3": "POS PosValue"},
        True,
    )
    sentences = read(WEBANNO.encode(), "3")
    assert list(sentences[0].tags) == ["PROPN", "VERB"]
    assert "tags in 3;" in sentences.reading


@pytest.mark.parametrize("layer", ["nope", "PRO"])
@pytest.mark.parametrize("content", [ALL, brat((TEXT, MARKS))], ids=["docbin", "brat"])
def test_layer_that_the_file_lacks_is_refused_with_those_it_has(layer, content):
    with pytest.raises(FormatError, match=rf"^mine: .*{layer}.*found .*name the keys") as refused:
        read(content, layer, name="mine")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("part", ["words", "sentences"])
@pytest.mark.parametrize(
    ("content", "name"), [(ALL, "docbin"), (brat((TEXT, MARKS)), "brat"), (b">a\nACGT\n", "fasta")]
)
def test_column_of_a_format_without_columns_is_refused(part, content, name, tmp_path):
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"mine: {name} leaves no choice of the {part}"):
        read_sentences(path, **{part: "2"})
