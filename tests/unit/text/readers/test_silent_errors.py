"""Files that once gave wrong words or tags without a word: now right, refused, or said lost."""

import contextlib
import json
import warnings

import pytest

from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.rows import Wanted

IDA = (["Ida", "Berg", "rows", "."], ["B-PER", "I-PER", "O", "O"])
UNO = (["Uno", "naps", "."], ["B-PER", "O", "O"])
WEBANNO = "#FORMAT=WebAnno TSV 3.3\n"
ROW = "1-1\t0-3\tUno\t{}\t\n1-2\t4-8\tnaps\t{}\t\n\n"


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def table(separator, header, row, between=""):
    rows = [
        separator.join(row(number, word, tag)) + "\n" * (1 + (place == 2) * bool(between))
        for number, (words, tags) in enumerate((IDA, UNO))
        for place, (word, tag) in enumerate(zip(words, tags, strict=True))
    ]
    return f"{header}\n{''.join(rows)}"


def with_texts(*texts, words=(UNO, UNO, IDA, UNO)):
    """Return a table whose column `sentence` repeats the text of the sentence in each row."""
    rows = (
        f'"{text}",{word},{tag}\n'
        for text, sentence in zip(texts, words, strict=True)
        for word, tag in zip(*sentence, strict=True)
    )
    return "sentence,word,tag\n" + "".join(rows)


HA = (["ha", "ha"], ["O", "O"])
READ = {
    "equal texts next to each other and later": (
        with_texts("Uno naps.", "Uno naps.", "Ida Berg rows.", "Uno naps."),
        [UNO, UNO, IDA, UNO],
    ),
    "equal texts of one word repeated": (
        with_texts("ha ha", "ha ha", "Uno naps", words=(HA, HA, UNO)),
        [HA, HA, UNO],
    ),
    "the first word is the number of its sentence": (
        "sentence_id,word,tag\nI,I,O\nI,am,O\nI,I,O\nII,Uno,B-PER\n",
        [(["I", "am", "I"], ["O", "O", "O"]), (["Uno"], ["B-PER"])],
    ),
    "bars between named columns": ("word|tag\nUno|B-PER\nnaps|O\n.|O\n", [UNO]),
    "tuples in cells": (
        f'tokens,tags\n"{tuple(IDA[0])}","{tuple(IDA[1])}"\n"{tuple(UNO[0])}","{tuple(UNO[1])}"\n',
        [IDA, UNO],
    ),
    "a word that opens a bracket": (
        "word\ttag\n[\tO\nUno\tB-PER\n\nnaps\tO\n",
        [(["[", "Uno"], ["O", "B-PER"]), (["naps"], ["O"])],
    ),
    "one empty key beside spans in another": (
        lines({"text": "Uno naps .", "entities": [], "ents": [[0, 3, "PER"]]}),
        [UNO],
    ),
}
REFUSED = {
    "equal texts that differ from their words": (
        with_texts("Uno naps …", "Uno naps …", "Ida Berg rows.", "Uno naps …"),
        "line 5: the words of 'Uno naps …' begin anew, as one sentence or as two; .*sentences=",
    ),
    "a tag of one word beside the text of its sentence": (
        lines(*({"sentence": "Uno naps", "word": w, "tag": t} for w, t in zip(*UNO, strict=True))),
        "line 1: 'tag' is a class of the whole text",
    ),
    "tags that are not one per word of a text": (
        lines({"text": "Ida Berg, rows.", "tags": ["B-PER", "I-PER", "O", "O", "O"]}),
        "nothing shows which key has the tags; found text: .*, tags: ",
    ),
    "spans with unknown keys beside an empty list": (
        lines({"text": "Uno naps .", "entities": [], "items": [{"from": 0, "to": 3, "is": "PER"}]}),
        "nothing shows which key has the tags",
    ),
    "labels that are empty in all objects": (
        lines({"tokens": IDA[0], "labels": []}, {"tokens": UNO[0], "labels": []}),
        "line 2: 'labels' is empty in all objects",
    ),
    "a class beside words": (
        lines({"tokens": IDA[0], "label": "positive"}),
        "'label' is a class of the whole text",
    ),
    "two lists of words": (
        lines({"words": UNO[0], "tokens": ["U", "n", "."], "tags": UNO[1]}),
        "several keys may have the words",
    ),
    "spans in cells": ('text,entities\n"Uno naps .","[(0, 3)]"\n', "a column may have the tags"),
    "texts with a class": ("Ida is happy\tgood\nUno naps\tbad\nIt rains\tbad\n", "has texts, not"),
    "words with the code of their language": (
        "".join(f"en:{word}\t{tag}\n" for word, tag in zip(*IDA, strict=True)),
        "all words in column 1 begin with en:, the code of a language",
    ),
    "a dictionary": ("house\tHaus\ncat\tKatze\ndog\tHund\n", "seems to have words or lemmas"),
    "sentence numbers that begin anew in each document": (
        table(",", "doc,sent,word,tag", lambda n, w, t: (f"d{n}", "0", w, t)),
        "two columns may number the sentences",
    ),
    "a sentence number behind each sentence": (
        table(",", "word,tag,sent", lambda n, w, t: (w, t, str(n) * (w == "."))),
        "the first row is empty in sent",
    ),
    "CoNLL-U without blank lines": (
        "1\tGo\t_\tVERB" + "\t_" * 6 + "\n1\tSit\t_\tVERB" + "\t_" * 6 + "\n",
        "line 2: expected a blank line before the word id '1', which follows '1'",
    ),
    "a row with one column more": (
        "Ida\tB-PER\nrows\tO\tx\n.\tO\n",
        "line 2: expected 2 columns, as in line 1, got 3",
    ),
    "a table in Markdown without outer bars": (
        "word | tag\n--- | ---\nIda | NOUN\n",
        "a table in Markdown",
    ),
    "a table in Markdown": ("| word | tag |\n|---|---|\n| Ida | B-PER |\n", "a table in Markdown"),
    "another mark of words outside": ("Ida\tB-PER\nrows\tOUT\n.\tOUT\n", "or O, got 'OUT'"),
    "two tags behind each word": ("Ida/B-PER/NN rows/O/VB\n", "two tags behind each word"),
    "answers before gold": (
        table("\t", "token\tpred\tgold", lambda _, w, t: (w, t, t)),
        "several columns may have the tags",
    ),
    "layers that both have a value": (
        f"{WEBANNO}#T_SP=a.Lemma|value\n#T_SP=a.NE|value\n\n\n#Text=Uno naps\n"
        "1-1\t0-3\tUno\tuno\tPER\t\n1-2\t4-8\tnaps\tnap\t_\t\n",
        "several layers may have the tags; found 1: 'Lemma value', 2: 'NE value'",
    ),
    "CoNLL-2012 without its words": (
        "#begin document (a); part 000\na 0 0 [WORD] NN (TOP* - - - - (PER) -\n",
        "has .WORD. in place of the words",
    ),
}
SAID = {
    "a span without its text that ends inside a word": (
        lines({"text": "Nora naps", "label": [[0, 2, "PER"], [5, 6, "X"]]}),
        ["B-PER", "O", "B-X", "O"],
        "words were split where a span without its text ends inside of them (2 times, first in",
    ),
    "spans that a reviewer calls wrong": (
        lines(
            {"text": "Uno naps .", "spans": [{"start": 0, "end": 3, "label": "X", "correct": 0}]}
        ).replace(": 0}", ": false}"),
        ["O", "O", "O"],
        "correct: false",
    ),
    "two labels on a span": (
        lines({"text": "Uno naps .", "label": [[0, 3, "PER"], [0, 3, "DOG"]]}),
        UNO[1],
        "second labels on a span were left out",
    ),
    "a word of white space": ("Uno\tB-PER\n\u3000\tO\nnaps\tO\n.\tO\n", UNO[1], "white space"),
    "annotations without a value": (
        f"{WEBANNO}#T_SP=a.NE|value\n\n\n#Text=Uno naps\n{ROW.format('*', '_')}",
        ["B-SPAN", "O"],
        "without a value",
    ),
}


def read(content):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossWarning)
        found = parse_sentences(content, name="file")
    return [(list(each.tokens), list(each.tags)) for each in found], [
        str(w.message) for w in caught
    ]


@pytest.mark.parametrize("case", READ.values(), ids=READ)
def test_files_are_read_as_what_they_are(case):
    content, expected = case
    assert read(content) == (expected, [])


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_files_without_evidence_are_refused_in_one_line(case):
    content, message = case
    with pytest.raises(FormatError, match=message) as refused:
        parse_sentences(content, name="file")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("case", SAID.values(), ids=SAID)
def test_losses_are_said(case):
    content, tags, said = case
    sentences, notes = read(content)
    assert [own for _, own in sentences] == [tags]
    assert len(notes) == 1
    assert said in notes[0]


def test_reading_says_that_predictions_were_read():
    value = {"start": 0, "end": 3, "labels": ["PER"]}
    task = {"data": {"text": "Uno naps ."}, "predictions": [{"result": [{"value": value}]}]}
    assert "; tags in predictions, result; " in parse_sentences(lines(task)).reading


def test_named_spans_with_unknown_keys_are_refused():
    content = lines({"text": "Uno naps .", "items": [{"from": 0, "to": 3, "is": "PER"}]})
    with pytest.raises(FormatError, match="expected the start and end of each span"):
        parse_sentences(content, wanted=Wanted(tags="items"))


def test_gold_of_crf_plus_plus_can_be_named_beside_scores():
    rows = "".join(f"{w}\tNN\t{t}\t{t}/0.9\n" for w, t in zip(*IDA, strict=True))
    with pytest.raises(FormatError, match="probabilities"):
        parse_sentences(rows)
    assert list(parse_sentences(rows, wanted=Wanted(tags=3))[0].tags) == IDA[1]


def test_reading_counts_sentences_without_tags():
    found = parse_sentences(lines({"tokens": IDA[0], "tags": IDA[1]}, {"tokens": UNO[0]}))
    assert found.reading.endswith("2 sentences, 1 without tags")


def test_note_does_not_call_one_of_two_columns_the_only_one():
    rows = "".join(f"{w}\t{t}\t{t}\t0.9\n" for w, t in zip(*IDA, strict=True))
    with pytest.warns(LossWarning, match="column 2 was read$"):
        parse_sentences(rows)


@pytest.mark.parametrize(
    "content",
    [
        "label\tprediction\nUno\tB-PER\tB-PER\nnaps\tO\tO\n",
        "word,tag,sentence\nUno,B-PER\nnaps,O\n",
        "# global.columns = ID FORM NE\n1\tUno\tB-PER\n2\t\tO\n",
        "tokens\ttags\n\"['U\no' 'naps']\"\t['B-PER' 'O']\n",
        "1\tUno\tB-PER\n2\tnaps\tO\n8.5\t.\tO\n\n1\tUno\tB-PER\n",
    ],
)
def test_damaged_files_are_read_or_refused(content):
    with contextlib.suppress(FormatError):
        parse_sentences(content, told=lambda _: None)
