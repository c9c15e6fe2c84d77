"""Further files of each kind: what programs write, and what only looks like it."""

import gzip
import json
import warnings
import zipfile

import pandas as pd
import pyarrow as pa
import pytest
import spacy
from pyarrow import parquet
from spacy.tokens import DocBin

from crfviz import read_sentences
from crfviz.annotations.files.importing import read_items
from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.spelling import in_scheme, scheme_like

OSLO = ["Anna", "lives", "in", "New", "York", "."]
TAGS = ["B-PER", "O", "O", "B-LOC", "I-LOC", "O"]
TEXT = "Anna lives in New York ."
SPANS = [[0, 4, "PER"], [14, 22, "LOC"]]


def rows(separator, *columns):
    return "".join(separator.join(row) + "\n" for row in zip(*columns, strict=True))


OTHERS = ["NNP", "VBZ", "IN", "NNP", "NNP", "."]
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.NamedEntity|identifier|value\n\n\n"
    f"#Text={TEXT}\n"
    "1-1\t0-4\tAnna\t_\tPER\n1-2\t5-10\tlives\t_\t_\n1-3\t11-13\tin\t_\t_\n"
    "1-4\t14-17\tNew\t_[1]\tLOC[1]\n1-5\t18-22\tYork\t_[1]\tLOC[1]\n1-6\t23-24\t.\t_\t_\n"
)
CONLL_2012 = "#begin document (a); part 000\n" + rows(
    "   ",
    ["a"] * 6,
    ["0"] * 6,
    [str(n) for n in range(6)],
    OSLO,
    OTHERS,
    *[["-"] * 6 for _ in range(5)],
    ["(PER)", "*", "*", "(LOC*", "*)", "*"],
    ["-"] * 6,
)
RESULT = [
    {"value": {"start": 0, "end": 4, "text": "Anna", "labels": ["PER"]}, "type": "labels"},
    {"value": {"start": 14, "end": 22, "text": "New York", "labels": ["LOC"]}, "type": "labels"},
]
SPACY_2 = [
    {
        "id": 0,
        "paragraphs": [
            {
                "sentences": [
                    {"tokens": [{"orth": w, "ner": t} for w, t in zip(OSLO, TAGS, strict=True)]}
                ]
            }
        ],
    }
]
SAME = {
    "TAB": rows("\t", OSLO, OTHERS, TAGS),
    "blanks": rows(" ", OSLO, OTHERS, TAGS),
    "several blanks": rows("   ", OSLO, TAGS),
    "numbered": rows("\t", [str(n) for n in range(1, 7)], OSLO, TAGS),
    "header": "word\tpos\tner\n" + rows("\t", OSLO, OTHERS, TAGS),
    "header in another order": "ner word\n" + rows(" ", TAGS, OSLO),
    "global columns": "# global.columns = ID FORM NER\n"
    + rows("\t", [str(n) for n in range(1, 7)], OSLO, TAGS),
    "document": "-DOCSTART-\tO\n\n" + rows("\t", OSLO, TAGS),
    "brackets": rows(" ", OSLO, ["(PER*)", "*", "*", "(LOC*", "*)", "*"]),
    "WebAnno": WEBANNO,
    "CoNLL-2012": CONLL_2012,
    "CSV": "sentence_id,word,pos,tag\n" + rows(",", ["1"] * 6, OSLO, OTHERS, TAGS),
    "semicolons": "Sentence #;Word;POS;Tag\n"
    + rows(";", ["Sentence: 1", "", "", "", "", ""], OSLO, OTHERS, TAGS),
    "pairs": rows(",", OSLO, TAGS),
    "tags before words": rows("\t", TAGS, OSLO),
    "tags before words, blanks": rows(" ", TAGS, OSLO),
    "IO": rows("\t", OSLO, [tag[2:] or "O" for tag in TAGS]),
    "IO, blanks": rows(" ", OSLO, [tag[2:] or "O" for tag in TAGS]),
    "GermEval": "#\thttp://example.org [2010-01-01]\n"
    + rows("\t", [str(n) for n in range(1, 7)], OSLO, TAGS, ["O"] * 6),
    "tags behind a sentence": f"{' '.join(OSLO)}\t{' '.join(TAGS)}\n",
    "CSV without a header": rows(",", OSLO, OTHERS, TAGS),
    "word|POS|entity": " ".join(f"{a}|{b}|{c}" for a, b, c in zip(OSLO, OTHERS, TAGS, strict=True)),
    "comments with TAB": "# id 1\tdomain=en\n" + rows(" ", OSLO, ["_"] * 6, TAGS),
    "Label Studio, CSV": pd.DataFrame(
        {"text": [TEXT], "id": [1], "label": [json.dumps([each["value"] for each in RESULT])]}
    ).to_csv(index=False),
    "Label Studio, TSV": pd.DataFrame(
        {"text": [TEXT], "id": [1], "label": [json.dumps([each["value"] for each in RESULT])]}
    ).to_csv(index=False, sep="\t"),
    "Argilla": json.dumps({"text": TEXT, "annotation": [[c, a, b] for a, b, c in SPANS]}),
    "CLUENER": json.dumps(
        {"text": TEXT, "label": {c: {TEXT[a:b]: [[a, b - 1]]} for a, b, c in SPANS}}
    ),
    "Dataturks": json.dumps(
        {
            "content": TEXT,
            "annotation": [
                {"label": [c], "points": [{"start": a, "end": b - 1, "text": TEXT[a:b]}]}
                for a, b, c in SPANS
            ],
        }
    ),
    "tags of a text in a cell": f"text,labels\n{' '.join(OSLO)},{' '.join(TAGS)}\n",
    "lists in cells": f'tokens,tags\n"{OSLO}","{TAGS}"\n',
    "words and labels": json.dumps({"words": OSLO, "labels": TAGS}),
    "data": json.dumps({"version": 1, "data": [{"tokens": OSLO, "ner_tags": TAGS}]}),
    "indented": json.dumps([{"tokens": OSLO, "pos_tags": OTHERS, "ner_tags": TAGS}], indent=1),
    "rows of a list": json.dumps([list(map(list, zip(OSLO, OTHERS, TAGS, strict=True)))]),
    "doccano 1": json.dumps({"text": TEXT, "labels": SPANS}),
    "doccano 2": json.dumps({"id": 1, "data": TEXT, "label": SPANS}),
    "Label Studio, old": json.dumps(
        [{"data": {"text": TEXT}, "completions": [{"result": RESULT}]}]
    ),
    "Label Studio": json.dumps([{"data": {"body": TEXT}, "annotations": [{"result": RESULT}]}]),
    "spaCy 2": json.dumps(SPACY_2),
    "spaCy 3": json.dumps([{"text": TEXT, "annotations": {"entities": SPANS}}]),
    "ner-annotator": json.dumps({"classes": ["PER"], "annotations": [[TEXT, {"entities": SPANS}]]}),
    "lines of pairs": json.dumps([TEXT, {"entities": SPANS}]) + "\n",
    "entity groups": json.dumps(
        {"text": TEXT, "entities": [{"start": a, "end": b, "entity_group": c} for a, b, c in SPANS]}
    ),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_same_sentence_is_read_from_every_format(text, tmp_path):
    path = tmp_path / "file"
    for content in (text.encode(), text.replace("\n", "\r\n").encode(), text.encode("utf-16")):
        path.write_bytes(content)
        (sentence,) = read_sentences(path)
        assert (list(sentence.tokens), list(sentence.tags)) == (OSLO, TAGS)
        (item,) = read_items(content, "file").items
        assert (list(item.tokens), list(item.gold)) == (OSLO, TAGS)
    path.write_bytes(gzip.compress(text.encode()))
    assert list(read_sentences(path)[0].tags) == TAGS
    assert list(read_items(path.read_bytes(), "file").items[0].gold) == TAGS


def test_parquet_class_names_are_read_in_both_shapes(tmp_path):
    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    path = tmp_path / "a.parquet"
    label = {"names": names, "_type": "ClassLabel"}
    for feature in (
        {"feature": label, "_type": "Sequence"},
        {"feature": label, "_type": "List"},
        [label],
    ):
        table = pa.table({"tokens": [OSLO], "ner_tags": [[names.index(tag) for tag in TAGS]]})
        info = json.dumps({"info": {"features": {"ner_tags": feature}}})
        parquet.write_table(table.replace_schema_metadata({"huggingface": info}), path)
        assert list(read_sentences(path)[0].tags) == TAGS
    parquet.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(FormatError, match="class numbers without their names"):
        read_sentences(path)


def test_docbin_reads_entities_or_else_parts_of_speech(tmp_path):
    nlp = spacy.blank("en")
    doc = nlp(TEXT)
    doc.ents = [doc.char_span(*span[:2], label=span[2]) for span in SPANS]
    path = tmp_path / "a.spacy"
    DocBin(docs=[doc]).to_disk(path)
    assert list(read_sentences(path)[0].tags) == TAGS
    plain = nlp("It rains")
    for token, tag in zip(plain, ["PRON", "VERB"], strict=True):
        token.pos_ = tag
    DocBin(attrs=["POS"], docs=[plain]).to_disk(path)
    assert read_sentences(path)[0].tags == ("PRON", "VERB")


def test_brat_is_read_from_file_pairs_and_archives(tmp_path):
    text, marks = (
        f"{TEXT}\nIt rains .\n",
        "T1\tPER 0 4\tAnna\nT2\tLOC 14 22\tNew York\n#1\tNote T1\tx\n",
    )
    (tmp_path / "a.txt").write_text(text, "utf-8")
    (tmp_path / "a.ann").write_text(marks, "utf-8")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x/a.txt", text)
        archive.writestr("x/a.ann", marks)
    for name in ("a.txt", "a.ann", "a.zip"):
        first, second = read_sentences(tmp_path / name)
        assert (list(first.tags), set(second.tags)) == (TAGS, {"O"})


def said(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossWarning)
        sentences = read_sentences(path, **options)
    return sentences, [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (b"Zo\xeb\tB-PER\n", 1, "read as Windows-1252"),
        (b'{"text": "a b", "label": [[0, 1, "X"], [0, 1, "X"], [0, 3, "Y"]]}', 2, "overlapping"),
        (b'{"text": "a b", "label": [[1, 2, "X"]]}', 2, "without a word"),
        (b"#\ta b\n1\ta\tB-X\tO\n2\tb\tO\tB-X\n", 2, "nested"),
        (b"TOKEN\tNE-LIT\tMISC\na\tB-X\t_\nb\tO\tNoSpace\n", 2, "column 2 was read"),
        (b"1\ta\t_\t_\tNN\t_\t0\troot\t_\t_\n", 1, "XPOS has tags"),
        (
            b'{"text": "a b", "spans": [{"start": 0, "end": 1, "label": "X", "text": "b"}]}',
            2,
            "quote",
        ),
        (b'[{"tokens": ["a"], "tags": ["X"]}, null]', 1, "empty entries"),
        (b"a O O\nb B-X B-X\nc O B-X\n", 3, "tagger's answers"),
        (
            b'{"text": "a", "spans": []}\n{"text": "b", "spans": [], "answer": "ignore"}',
            1,
            "ignore",
        ),
    ],
)
def test_losses_are_reported_in_one_message(content, words, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    sentences, messages = said(path)
    assert sum(len(each.tokens) for each in sentences) == words
    assert len(messages) == 1
    assert message in messages[0]
    assert str(path) in messages[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Anna lives in Oslo .\nDogs run .\n", "plain text without tags"),
        ("Dogs run .\nCats run .\n", "plain text without tags"),
        ("Plan A\nPlan B\n", "plain text without tags"),
        ("wear U-boots\n", "plain text without tags"),
        ("AC/DC TCP/IP\n", "plain text without tags"),
        ("<html><body>a</body></html>", "seems to be HTML"),
        ("U00:%x[0,0]\nB\n", "template of CRF"),
        ("T1\tPER 0 4\tAnna\n", "brat's annotations without their text"),
        ('{"name": "x", "version": "1"}', "expected a sentence such as"),
        ('{"tokens": ["a"], "ner_tags": [3]}', "class numbers without their names"),
        ('{"text": "a", "label": [[0, 1, 3]]}', "class numbers without their names"),
        ('{"text": "a", "label": "good"}', "class of the whole text"),
        ('{"text": "a", "label": [[0, 9, "X"]]}', "inside of 1 characters"),
        ('{"document": "a", "tokens": [{"text": "a", "entityLabel": "X"}]}', "entities alone"),
        ('{"text": "a", "label": {"x": 1}}', "expected spans such as"),
        ('{"text": "a", "label": [["a", 0, 1]]}', "expected the type of a span"),
        ("a b\tO O\nc d e\tO B-X\n", "line 2: expected 3 tags"),
        ("a\0 \0X\0", "has NUL characters"),
        ("date,price\n2024-01-01,3\n2024-01-02,4\n", "a table without texts or tagged words"),
        (
            "EU NNP B-ORG\nok UH\nso RB O\n",
            "line 2: expected 3 columns",
        ),
        ('{"tokens": [{"start": 0, "end": 1}], "spans": []}', 'a "text" of each word'),
        (r"{\rtf1 Anna}", "document in RTF"),
        ("%PDF-1.7", "got a PDF; save it as plain text"),
        ("word\tpos\tner\na\tX\n", "line 2: expected word TAB tag .CoNLL columns., got 2"),
        ("a\tB-X\n", "expected a column from 1 to 2"),
    ],
)
def test_file_without_a_corpus_is_rejected_in_one_line(content, message, tmp_path):
    path = tmp_path / "file"
    path.write_text(content, "utf-8")
    column = 7 if message.startswith("expected a column") else None
    with pytest.raises(FormatError, match=message) as refused:
        read_sentences(path, column=column)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_hash_in_a_row_is_a_word_and_elsewhere_a_comment():
    text = "# sent_id 3\n# X O\n#NYC X B-LOC\nrains X O\n"
    (sentence,) = parse_sentences(text)
    assert sentence.tokens == ("#", "#NYC", "rains")


@pytest.mark.parametrize(
    ("column", "tags"),
    [("pos", OTHERS), (2, OTHERS), ("2", OTHERS), (-2, OTHERS), (-1, TAGS), ("ner", TAGS)],
)
def test_column_is_selected_by_name_or_number(column, tags, tmp_path):
    path = tmp_path / "file"
    path.write_text("word\tpos\tner\n" + rows("\t", OSLO, OTHERS, TAGS), "utf-8")
    assert list(read_sentences(path, column=column)[0].tags) == tags


def test_plain_text_is_detected_as_text_and_tables_are_not():
    for text in ("Dogs run .\nCats run .\n", "AC/DC plays\n", "wear U-boots\n", "Plan A\nPlan B\n"):
        assert read_items(text.encode(), "file").format == "text"
    for text in SAME.values():
        assert read_items(text.encode(), "file").format != "text"


def test_spans_counted_in_code_units_are_moved_to_their_words(tmp_path):
    path = tmp_path / "file.json"
    span = {"start": 3, "end": 7, "text": "Anna", "labels": ["PER"]}
    task = {"data": {"text": "😀 Anna runs"}, "annotations": [{"result": [{"value": span}]}]}
    path.write_text(json.dumps([task]), "utf-8")
    (sentence,) = read_sentences(path)
    assert sentence.tags == ("O", "B-PER", "O")


def test_gold_in_io_is_scored_by_a_tagger_with_io_tags():
    sentences = parse_sentences("Anna\tPER\nBerg\tPER\nruns\tO\nOslo\tLOC\n", told=[].append)
    assert sentences[0].tags == ("B-PER", "I-PER", "O", "B-LOC")
    (plain,) = in_scheme(sentences, scheme_like(["O", "PER", "LOC"]))
    assert plain.tags == ("PER", "PER", "O", "LOC")
    assert in_scheme(sentences, scheme_like(["NOUN", "VERB"])) == sentences


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_texts_of_a_table_are_sentences_without_tags(separator, tmp_path):
    path = tmp_path / "file"
    table = [["id", "text"], ["1", "Anna ran home ."], ["2", "Ben sat ."]]
    path.write_text("".join(separator.join(row) + "\n" for row in table), "utf-8")
    expected = [("Anna", "ran", "home", "."), ("Ben", "sat", ".")]
    assert [each.tokens for each in read_sentences(path)] == expected
    assert [item.tokens for item in read_items(path.read_bytes(), "file").items] == expected


def test_lower_case_tags_of_the_brown_corpus_are_read():
    text = "The/at Fulton/np-tl County/nn-tl said/vbd ./.\nIt/pps is/bez ./.\n"
    first, _ = parse_sentences(text)
    assert first.tags == ("at", "np-tl", "nn-tl", "vbd", ".")


@pytest.mark.parametrize("word", ["Data", "Text", "Sentence", "Word"])
@pytest.mark.parametrize("separator", ["\t", " ", ","])
def test_file_that_begins_with_the_name_of_a_column_is_no_table(word, separator):
    text = f"{word}{separator}NOUN\n2{separator}NUM\n3{separator}NUM\n"
    (sentence,) = parse_sentences(text)
    assert sentence.tokens == (word, "2", "3")
    assert sentence.tags == ("NOUN", "NUM", "NUM")


def test_comma_in_a_word_is_kept_without_quotes():
    (sentence,) = parse_sentences("Anna,B-PER\n,,O\n10,000,O\n")
    assert sentence.tokens == ("Anna", ",", "10,000")
    (sentence,) = parse_sentences('"Anna","B-PER"\n",","O"\n"10,000","O"\n')
    assert sentence.tokens == ("Anna", ",", "10,000")


def test_last_column_without_known_tags_is_a_question():
    text = "runs\tVBZ\tB-VP\tagent\nhome\tNN\tB-NP\tgoal\n"
    with pytest.raises(FormatError, match="found 1: 'runs', 2: 'VBZ', 3: 'B-VP', 4: 'agent'; name"):
        parse_sentences(text)
    (sentence,) = parse_sentences(text, column=4)
    assert sentence.tags == ("agent", "goal")


def test_type_equal_to_its_words_is_kept():
    (sentence,) = parse_sentences('{"text": "LOC runs", "label": [[0, 3, "LOC"]]}\n')
    assert sentence.tags == ("B-LOC", "O")


def test_sentences_with_commas_are_no_table():
    text = "Anna, come home\nBen, sit down\nIda, sing 3 songs\n"
    assert read_items(text.encode(), "file").format == "text"
