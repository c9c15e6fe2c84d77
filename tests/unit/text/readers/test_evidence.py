"""A file is read with evidence for words, tags, ends and spans, or it is a question."""

import json
import warnings

import pytest

import crfviz
from crfviz.annotations.files.importing import read_items
from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.losses import LossWarning

IDA = (["Ida", "Berg", "rows", "to", "Oslo", "."], ["B-PER", "I-PER", "O", "O", "B-LOC", "O"])
UNO = (["Uno", "naps", "."], ["B-PER", "O", "O"])
BOTH = [IDA, UNO]
SPANS = [[[0, 8, "PER"], [17, 21, "LOC"]], [[0, 3, "PER"]]]
TEXTS = ["Ida Berg rows to Oslo.", "Uno naps."]


def table(separator, *columns, header="", between=""):
    """Rows of both sentences; a column is a function of sentence, place, word and tag."""
    lines = [header] * bool(header)
    for number, (words, tags) in enumerate(BOTH):
        for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
            lines.append(separator.join(column(number, place, word, tag) for column in columns))
        lines += [between] if between is not None else []
    return "\n".join(lines) + "\n"


def word(_number, _place, word, _tag):
    return word


def tag(_number, _place, _word, tag):
    return tag


def number(number, _place, _word, _tag):
    return str(number)


def index(_number, place, _word, _tag):
    return str(place)


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def spans(rows, key="spans", **more):
    return lines(
        {"text": text, key: [dict(zip(("start", "end", "label"), s, strict=True)) for s in each]}
        | more
        for text, each in zip(TEXTS, rows, strict=True)
    )


def moved(start, end, *, quote=True):
    """Spans with other offsets, and the words that they have."""
    return lines(
        {
            "text": text,
            "entities": [
                {"start": start(text, a), "end": end(text, b), "label": kind}
                | ({"text": text[a:b]} if quote else {})
                for a, b, kind in each
            ],
        }
        for text, each in zip(["É " + text for text in TEXTS], SHIFTED, strict=True)
    )


SHIFTED = [[[a + 2, b + 2, kind] for a, b, kind in each] for each in SPANS]
BYTES = lambda text, at: len(text[:at].encode())  # noqa: E731
LAST = lambda _, at: at - 1  # noqa: E731
SAME = lambda _, at: at  # noqa: E731
READ = {
    "blank lines": table("\t", word, tag),
    "a number in each row": table("\t", number, word, tag, between=None),
    "a number in each row, blanks": table(" ", number, word, tag, between=None),
    "an index that begins anew": table("\t", index, word, tag, between=None),
    "a named number": table(",", number, word, tag, header="sent_id,word,tag", between=None),
    "other names": table("\t", word, tag, header="Wort\tEtikett"),
    "quoted cells": table(
        ",", lambda *a: f'"{word(*a)}"', lambda *a: f'"{tag(*a)}"', header='"word","tag"'
    ),
    "CR alone": table("\t", word, tag).replace("\n", "\r"),
    "pairs of lists": json.dumps([list(each) for each in BOTH]),
    "tags of token objects": lines(
        {"tokens": [{"form": w, "ner": t} for w, t in zip(*each, strict=True)]} for each in BOTH
    ),
    "text and tags": lines({"text": " ".join(w), "tags": t} for w, t in BOTH),
    "text and a string of tags": lines({"text": " ".join(w), "tags": " ".join(t)} for w, t in BOTH),
    "ents": spans(SPANS, "ents"),
    "PubAnnotation": lines(
        {"text": t, "denotations": [{"span": {"begin": a, "end": b}, "obj": k} for a, b, k in s]}
        for t, s in zip(TEXTS, SPANS, strict=True)
    ),
    "Prodigy, words alone": lines(
        {"tokens": words, "spans": s}
        for (words, _), s in zip(
            BOTH,
            [
                [
                    {"token_start": 0, "token_end": 1, "label": "PER"},
                    {"token_start": 4, "token_end": 4, "label": "LOC"},
                ],
                [{"token_start": 0, "token_end": 0, "label": "PER"}],
            ],
            strict=True,
        )
    ),
    "words, ends included": lines(
        {"tokens": words, "ner": s}
        for (words, _), s in zip(
            BOTH, [[[0, 1, "PER"], [4, 4, "LOC"]], [[0, 0, "PER"]]], strict=True
        )
    ),
    "NumPy": "tokens,ner_tags\n"
    + "".join(
        '"[' + "\n ".join(map(repr, w)) + ']","[' + " ".join(map(repr, t)) + ']"\n' for w, t in BOTH
    ),
    "tags with commas": "text,labels\n"
    + "".join(f'{" ".join(w)},"{", ".join(t)}"\n' for w, t in BOTH),
    "tags of token objects in a list": json.dumps(
        [[{"word": w, "bio": t} for w, t in zip(*each, strict=True)] for each in BOTH]
    ),
    "words, ends included, and a sentence without spans": lines(
        [
            {"tokens": IDA[0], "ner": [[0, 1, "PER"], [4, 4, "LOC"]]},
            {"tokens": UNO[0], "ner": [[0, 0, "PER"]]},
        ]
    ),
    "texts in cells named as words": "words,labels\n"
    + "".join(f"{' '.join(w)},{' '.join(t)}\n" for w, t in BOTH),
    "words and tags below other names": "source\ttarget\n"
    + "".join(f"{' '.join(w)}\t{' '.join(t)}\n" for w, t in BOTH),
    "a table with semicolons first": ";id;words;labels\n"
    + "".join(f";{n};{w!r};{t!r}\n" for n, (w, t) in enumerate(BOTH)),
    "IOE2": table("\t", word, tag)
    .replace("B-PER\nBerg\tI-PER", "I-PER\nBerg\tE-PER")
    .replace("B-", "E-"),
}


@pytest.mark.parametrize("content", READ.values(), ids=READ)
def test_file_with_evidence_is_read(content, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content.encode())
    read = crfviz.read_sentences(path)
    assert [(list(each.tokens), list(each.tags)) for each in read] == BOTH
    assert read.reading.endswith("; BIO; 2 sentences")
    assert "\n" not in read.reading


@pytest.mark.parametrize(
    ("content", "unit"),
    [
        (moved(SAME, SAME), "characters"),
        (moved(BYTES, BYTES), "bytes"),
        (moved(SAME, LAST), "characters, ends included"),
        (moved(SAME, SAME, quote=False), "characters"),
    ],
)
def test_words_beside_spans_show_what_they_count(content, unit):
    read = parse_sentences(content)
    assert [each.tags for each in read] == [("O", *tags) for _, tags in BOTH]
    assert f"; spans count {unit}; " in read.reading


def numbered(rows, *, first, included, words=True):
    """Spans as numbers of words from `first`, with their words."""
    return lines(
        {"tokens" if words else "text": tokens if words else " ".join(tokens)}
        | {
            "entities": [
                {"start": a + first, "end": b + first - included, "type": kind}
                | {"text": " ".join(tokens[a:b])}
                for a, b, kind in each
            ]
        }
        for (tokens, _), each in zip(BOTH, rows, strict=True)
    )


OF_WORDS = [[[0, 2, "PER"], [4, 5, "LOC"]], [[0, 1, "PER"]]]


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("included", [True, False])
@pytest.mark.parametrize("first", [0, 1])
def test_words_beside_spans_of_word_numbers_show_where_they_begin(first, included, words):
    read = parse_sentences(numbered(OF_WORDS, first=first, included=included, words=words))
    assert [list(each.tags) for each in read] == [tags for _, tags in BOTH]
    unit = f"words{' from 1' * first}{', ends included' * included}"
    assert f"; spans count {unit}; " in read.reading


def test_first_word_shows_that_numbers_begin_at_0(tmp_path):
    path = tmp_path / "file"
    rows = [{"tokens": IDA[0], "ner": [[0, 1, "PER"], [4, 4, "LOC"]]}]
    path.write_text(lines([*rows, {"tokens": UNO[0], "ner": [[1, 1, "ACT"]]}]), "utf-8")
    assert list(crfviz.read_sentences(path)[1].tags) == ["O", "B-ACT", "O"]


ASKED = {
    "no blank lines": (table("\t", word, tag, between=None), "nothing shows what ends a sentence"),
    "numbers that return": (
        "id,word,tag\n".replace("id", "sent_id") + "0,a,O\n1,b,O\n0,c,B-X\n",
        "line 4: the sentence number '0' returns",
    ),
    "an index against blank lines": (
        table("\t", index, word, tag).replace("\n\n", "\n", 1) + "0\ta\tO\n",
        "blank lines and a numbering that begins anew disagree",
    ),
    "quotes of both kinds": ('word,tag\n",O\n"""",O\na,B-X\n', "quotation marks are words in"),
    "bytes without quotes": (moved(BYTES, BYTES, quote=False), "seem to count bytes"),
    "ends without quotes": (moved(SAME, LAST, quote=False), "count characters, ends included"),
    "words, ends unknown": (
        lines([{"tokens": IDA[0], "entities": [{"start": 0, "end": 2, "type": "PER"}]}]),
        "may include their end or not",
    ),
    "words from 0 or 1": (
        lines([{"tokens": IDA[0], "entities": [{"start": 1, "end": 2, "type": "PER"}]}]),
        "may count words or words, ends included or words from 1, ends included, such as",
    ),
    "words from 0 or 1, the last one": (
        lines([{"tokens": IDA[0], "entities": [[5, 6, "PER"]]}]),
        "may count words or words from 1, ends included, such as",
    ),
    "word numbers of a text": (
        lines([{"text": TEXTS[0], "entities": [[1, 2, "PER"]]}]),
        "seem to count .*words from 1, ends included",
    ),
    "word numbers of Prodigy from 1": (
        lines([{"tokens": IDA[0], "spans": [{"token_start": 5, "token_end": 6, "label": "LOC"}]}]),
        "expected word numbers below 6 in the spans, got ",
    ),
    "unknown key": (
        lines([{"text": TEXTS[0], "items": [{"text": "Ida", "tag": "PER"}]}]),
        "nothing shows which key has the tags; found text: 'Ida Berg rows to Oslo.', items: ",
    ),
    "unknown tags": (lines([{"tokens": IDA[0], "y": IDA[1]}]), "found tokens: "),
    "two keys with spans": (
        lines([{"text": "a b", "spans": [[0, 1, "X"]], "entities": [[2, 3, "X"]]}]),
        "several keys may have the tags",
    ),
    "no offsets": (
        lines([{"text": "a", "entities": [{"text": "a", "label": "X"}]}]),
        "expected the start and end",
    ),
    "two labels": (
        lines([{"text": "a", "spans": [{"start": 0, "end": 1, "labels": ["X", "Y"]}]}]),
        "expected one label on a span",
    ),
    "two answers": (
        lines([{"text": "a", "spans": [], "answer": ["accept", "reject"]}]),
        "expected one answer",
    ),
    "words joined without a comma": (
        "tokens,tags\n\"['a' 'b', 'c']\",\"['O', 'O']\"\n",
        "expected a comma between words",
    ),
    "tags in token objects": (
        lines([{"tokens": [{"text": "Ida", "mark": "B-PER"}, {"text": "a", "mark": "O"}]}]),
        "found tokens: .*tokens.mark: 'B-PER'",
    ),
    "tags in an object": (lines([{"tokens": IDA[0], "meta": {"y": IDA[1]}}]), "found tokens: "),
    "spans beside an empty list": (
        lines([{"text": TEXTS[0], "entities": [], "found": [{"start": 0, "end": 3, "tag": "X"}]}]),
        "nothing shows which key has the tags",
    ),
    "spans beside O": (
        lines([{"tokens": ["a", "b"], "tags": ["O", "O"], "entities": [{"start": 0, "end": 1}]}]),
        "several keys may have the tags",
    ),
    "tags and an empty list": (
        lines([{"tokens": ["a", "b"], "ner": t} for t in (["B-X", "O"], [])]),
        "line 1: 'ner' has tags, but it is empty in .*line 2",
    ),
    "word numbers beside a text": (
        lines([{"text": TEXTS[0], "tokens": IDA[0], "entities": [[0, 2, "PER"]]}]),
        "they seem to count .* words",
    ),
    "two lists of sentences": (
        json.dumps({key: [{"tokens": ["a"], "tags": ["O"]}] for key in ("train", "test")}),
        "several keys have sentences; found train: ",
    ),
    "numbers of documents and sentences": (
        table("\t", lambda *_: "0", number, index, word, tag, header="a\tb\tc\tword\ttag")
        .replace("\n\n", "\n")
        .replace("\n0\t1", "\n1\t0"),
        "name them with",
    ),
    "blank lines around documents": (
        f"-DOCSTART-\tO\n\n{table(chr(9), word, tag, between=None)}",
        "nothing shows what ends a sentence",
    ),
    "many words without an end": ("a\tO\nb\tB-X\n" * 21, "nothing shows what ends a sentence"),
    "lemmas before words": (
        "the\tThe\tDT\ndog\tdogs\tNNS\nrun\trun\tVBP\n",
        "column 1 seems to have lemmas",
    ),
    "attributes without places": (
        table("\t", tag, lambda *a: f"word={word(*a)}"),
        "has attributes, not words",
    ),
    "layers after ids": (
        "# global.columns = ID FORM UPOS NER:OUTER NER:INNER\n"
        "1\tIda\tPROPN\tB-PER\tO\n2\truns\tVERB\tO\tO\n3\tin\tADP\tO\tB-X\n",
        "several columns may have the tags",
    ),
    "rejected rows": (
        "sent_id,word,tag,status\n0,a,O,done\n1,b,B-X,rejected\n",
        "line 3: is answered “rejected”",
    ),
    "CR in a line": ("a\tO\nb\rc\tB-X\n", "line 2: has a CR inside of the line"),
    "sentences without names": (
        "0\ta b c\tO O B-X\tflight\n1\ta b\tO O\tfare\n",
        "a sentence a row without names of its columns",
    ),
}


@pytest.mark.parametrize(("content", "message"), ASKED.values(), ids=ASKED)
def test_file_without_evidence_is_a_question_in_one_line(content, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content.encode())
    with pytest.raises(FormatError, match=message) as asked:
        crfviz.read_sentences(path)
    assert "\n" not in str(asked.value)
    assert str(asked.value).startswith(str(path))


def test_named_columns_and_keys_answer_the_question(tmp_path):
    path = tmp_path / "file"

    def read(content, **named):
        path.write_text(content, "utf-8")
        return [(list(s.tokens), list(s.tags)) for s in crfviz.read_sentences(path, **named)]

    plain = table("\t", word, tag, number, between=None)
    assert read(plain, words=1, tags=2, sentences=3) == BOTH
    assert read(plain, words=-3, tags="2", sentences="3") == BOTH
    whole = [(IDA[0] + UNO[0], IDA[1] + UNO[1])]
    assert read(plain, tags=2, sentences="blank") == whole
    indexed = table("\t", word, tag, index, between=None)
    assert read(indexed, tags=2, sentences="restart") == BOTH
    named = table(",", tag, word, number, header="a,b,c", between=None)
    assert read(named.replace("a,b,c", "label,word,c"), sentences="c") == BOTH
    assert read(lines({"x": w, "y": t} for w, t in BOTH), words="x", tags="y") == BOTH
    inner = json.dumps({"all": [{"x": w, "y": t} for w, t in BOTH]})
    assert read(inner, words="x", tags="y", sentences="all") == BOTH
    assert read(spans(SPANS, "found"), tags="found") == BOTH
    with pytest.raises(FormatError, match="expected a column from 1 to 3, got '7'"):
        read(plain, words=7)
    with pytest.raises(FormatError, match="no tags in 'z'; found x: "):
        read(lines([{"x": ["a"], "y": ["O"]}]), words="x", tags="z")


def test_rejected_spans_and_records_are_left_out_with_a_note():
    rows = [[[*SPANS[0][0]], [*SPANS[0][1]]], SPANS[1]]
    content = spans(rows).replace('"label": "LOC"', '"label": "LOC", "answer": "reject"')
    content += lines([{"text": "b", "spans": [], "status": "Discarded"}])
    with pytest.warns(LossWarning) as said:
        first, second = parse_sentences(content)
    assert first.tags == ("B-PER", "I-PER", "O", "O", "O", "O")
    assert second.tags == tuple(UNO[1])
    assert [str(each.message) for each in said] == [
        "text: spans answered “reject” were left out (in line 1)",
        "text: sentences answered “Discarded” were left out (in line 3)",
    ]


@pytest.mark.parametrize(
    "mark",
    [
        {"is_deleted": True},
        {"accepted": False},
        {"annotation_status": "Discarded"},
        {"meta": {"review": "reject"}},
        {"was_skipped": True},
    ],
    ids=lambda mark: next(iter(mark)),
)
def test_verdicts_under_other_keys_leave_a_record_out(mark):
    rows = [{"tokens": w, "tags": t} for w, t in BOTH]
    said = []
    (read,) = parse_sentences(lines([rows[0], rows[1] | mark]), told=said.append)
    assert read.tags == tuple(IDA[1])
    assert "were left out (in line 2)" in said[0]


def test_verdict_in_a_cell_leaves_its_row_out():
    content = "text,labels,answer\na b,O B-X,accept\nc d,B-X O,reject\n"
    said = []
    (read,) = parse_sentences(content, told=said.append)
    assert (read.tokens, len(said)) == (("a", "b"), 1)


def conllu(upos, misc):
    rows = [
        [str(n), w, "_", upos, "_", "_", "0", "_", "_", misc.format(t)]
        for n, (w, t) in enumerate(zip(*IDA, strict=True), start=1)
    ]
    return "".join("\t".join(row) + "\n" for row in rows)


@pytest.mark.parametrize("misc", ["NER={}", "SpaceAfter=No|Tag={}", "my_key={}"])
def test_entities_in_misc_are_read_or_said_to_be_left_out(misc):
    key = misc.rpartition("|")[2].removesuffix("={}")
    said = []
    (read,) = parse_sentences(conllu("X", misc), told=said.append)
    assert read.tags == ("X",) * 6
    assert said == [f"text: entities in MISC ({key}) were left out; tags={key} reads them"]
    for upos, named in (("X", key), ("X", f"misc:{key.lower()}"), ("_", None)):
        (read,) = parse_sentences(conllu(upos, misc), column=named, told=said.append)
        assert list(read.tags) == IDA[1]
    assert said[1:] == [f"text: the column UPOS is empty; the entities in MISC ({key}) were read"]


def test_brackets_in_misc_are_said_to_be_left_out():
    said = []
    parse_sentences(conllu("X", "Entity=(person-1)"), told=said.append)
    assert said == ["text: entities in MISC (Entity) were left out"]


@pytest.mark.parametrize("key", ["words", "tags"])
@pytest.mark.parametrize(
    "row",
    [
        {"tokens": IDA[0], "tags": IDA[1]},
        {"text": TEXTS[0], "entities": []},
        {"text": TEXTS[0]},
        {"tokens": IDA[0], "spans": []},
    ],
    ids=["tags", "text", "text alone", "spans"],
)
def test_named_key_that_no_object_has_is_refused(key, row, tmp_path):
    path = tmp_path / "file"
    path.write_text(lines([row, row]), "utf-8")
    with pytest.raises(FormatError, match=r"line 1: .*found (tokens|text): ") as refused:
        crfviz.read_sentences(path, **{key: "nope"})
    assert "\n" not in str(refused.value)


def test_keys_of_token_objects_can_be_named(tmp_path):
    path = tmp_path / "file"
    rows = [{"tokens": [{"text": w, "m": t} for w, t in zip(*e, strict=True)]} for e in BOTH]
    path.write_text(lines(rows), "utf-8")
    for named in ("m", "tokens.m"):
        read = crfviz.read_sentences(path, tags=named)
        assert [list(each.tags) for each in read] == [IDA[1], UNO[1]]
    assert "tags in tokens.m;" in read.reading


@pytest.mark.parametrize(("encoding", "width"), [("utf-16", 1), ("cp1252", 0)])
def test_brat_text_in_another_encoding_is_read(encoding, width, tmp_path):
    tmp_path.joinpath("a.txt").write_text("É Ida\nrows\n", encoding)
    tmp_path.joinpath("a.ann").write_text(f"T1\tPER {2 + width} {5 + width}\tIda\n", "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)
        read = crfviz.read_sentences(tmp_path / "a.ann")
    assert [each.tags for each in read] == [("O", "B-PER"), ("O",)]


def test_ioe1_marks_the_end_only_before_an_entity_of_its_type():
    (sentence,) = parse_sentences(
        "a\tI-X\nb\tE-X\nc\tI-X\nd\tO\ne\tI-Y\n", told=lambda _: None, scheme="BIOES"
    )
    assert sentence.tags == ("B-X", "E-X", "S-X", "O", "S-Y")


@pytest.mark.parametrize("tag", ["B", "ADJD", "ILLAT"])
def test_answers_beside_gold_of_an_unlisted_set_are_not_read_as_gold(tag):
    gold = [tag, "O" if tag == "B" else "NOMIN", *["O" if tag == "B" else "VERBUM"] * 4]
    answers = [tag, *gold[2:], gold[1]]
    rows = zip(IDA[0], gold, answers, strict=True)
    said = []
    (read,) = parse_sentences("".join("\t".join(row) + "\n" for row in rows), told=said.append)
    assert list(read.tags) == gold
    assert "tagger's answers" in said[0]


def test_note_about_lower_case_appears_only_with_such_a_tag():
    said = []
    parse_sentences("a\tB_X\nb\tO\n", told=said.append)
    assert said == ["text: tags such as B_X were read as B-X"]
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_sentences("a\tB-X\nb\tI-X\nc\tO\n\nd\tI-Y\n", told=said.append)
    assert said == []


def commented(comment, upos):
    rows = "".join(
        f"{n}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n"
        for n, (word, tag) in enumerate(zip(IDA[0], upos, strict=True), start=1)
    )
    return f"# sent_id = S-1\n# text = Ida Berg rows to Oslo .\n{comment}\n{rows}\n"


WITH_ENTITIES = {
    "spans": '# entities = [[0, 8, "PER"], [17, 21, "LOC"]]',
    "objects": '# ents = [{"start": 0, "end": 8, "label": "PER"}]',
    "words": "# named entities = Ida Berg (PER), Oslo (LOC)",
    "tags": f"# ner = {' '.join(IDA[1])}",
    "tags of another name": f"# gold: layer = {' '.join(IDA[1])}",
    "spans of another name": '# annotation = [{"start": 0, "end": 8, "label": "PER"}]',
}
POS = ["PROPN", "PROPN", "VERB", "ADP", "PROPN", "PUNCT"]


@pytest.mark.parametrize("upos", [POS, ["_"] * 6], ids=["UPOS", "no UPOS"])
@pytest.mark.parametrize("comment", WITH_ENTITIES.values(), ids=WITH_ENTITIES)
def test_entities_in_a_comment_are_said_to_be_left_out(comment, upos):
    said = []
    content = commented("# nothing = O", upos) * 3 + commented(comment, upos) * 2
    parse_sentences(content, told=said.append)
    name = comment[2:].partition(" =")[0]
    assert (
        f"text: entities in the comment “{name}” were left out (2 times, first in line 33)" in said
    )
    read = read_items(content.encode(), "file")
    assert any(f"entities in the comment “{name}”" in each.message for each in read.problems)


@pytest.mark.parametrize(
    "comment",
    [
        *(
            "# entities = []",
            "# ents = _",
            "# ner = O O O O O O",
            "# entities =",
            "# newdoc id = 3",
        ),
        *("# text_en = B-52 flies", "# genre = news", "# speakers = [1, 2]", "# sent = B-PER"),
    ],
)
def test_comment_without_entities_is_not_said_to_have_some(comment):
    said = []
    parse_sentences(commented(comment, POS), told=said.append)
    assert said == []


def test_comment_beside_tags_of_entities_is_no_loss():
    said = []
    parse_sentences(commented(WITH_ENTITIES["spans"], IDA[1]), told=said.append)
    assert said == []


def test_comment_of_columns_has_entities_too():
    said = []
    rows = "".join(f"{w}\t{t}\n" for w, t in zip(IDA[0], POS, strict=True))
    parse_sentences(f"{WITH_ENTITIES['words']}\n{rows}\n", told=said.append)
    assert said == ["text: entities in the comment “named entities” were left out (in line 1)"]
