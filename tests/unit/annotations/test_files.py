"""Annotations out of the store into files and back, and every way in which a file can be wrong."""

import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import conllu
import pyarrow.json
import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.training import Example

from crfviz.annotations.files import importing
from crfviz.annotations.files.exporting import (
    FILE_FORMATS,
    FOREIGN_SUFFIXES,
    foreign,
    render,
    rendered,
)
from crfviz.annotations.files.importing import INPUT_FORMATS, MAX_BYTES, read_items
from crfviz.annotations.files.merging import conflicts, keep, known_documents, planned
from crfviz.annotations.mixing import TagRules
from crfviz.annotations.records import STATES, Annotation, Item
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import FormatError, UnknownTagError
from crfviz.text.formats import parse_sentences
from tests.support.strategies import fewer_examples

ODD = "aZ9é日\u0301👩\u200d\t\n\r\u2028\x85\x1f |%=#:_\"'\\{[,.\ufeff"
texts = st.text(st.sampled_from(ODD) | st.characters(codec="utf-8", exclude_characters="\0"))
names = st.text(st.sampled_from("anna |%/#é"), min_size=1).filter(str.strip)
tags = st.sampled_from(["O", "B-PER", "I-PER", "I-LOC", "NOUN", "X|Y%=", "_", "B-", "$"])
moments = st.datetimes(datetime(2000, 1, 1), timezones=st.just(UTC))


@st.composite
def places(draw, text):
    """Any words in a text: none overlap, none is empty, and blanks may be words."""
    edges = draw(st.lists(st.integers(0, len(text)), unique=True, max_size=10).map(sorted))
    return tuple(zip(edges[::2], edges[1::2], strict=False))


def tags_for(offsets):
    return st.lists(tags, min_size=len(offsets), max_size=len(offsets)).map(tuple)


@st.composite
def documents(draw):
    """Sentences and who said what about them, as `Store.add` takes them."""
    items, labelled = [], []
    for number in range(draw(st.integers(1, 3))):
        text = draw(texts)
        own = draw(places(text))
        items.append(Item(text, own, draw(st.none() | tags_for(own))))
        for annotator in draw(st.lists(names, unique=True, max_size=2)):
            words = draw(st.just(own) | places(text))
            pinned = draw(st.sets(st.integers(0, len(words) - 1))) if words else ()
            labelled.append(
                Annotation(
                    number,
                    annotator,
                    words,
                    draw(tags_for(words)),
                    draw(tags_for(words)),
                    {t: draw(tags) for t in pinned},
                    state=draw(st.sampled_from(STATES)),
                    model=draw(st.sampled_from(["", "upos-en"])),
                    model_version=draw(st.sampled_from(["", "1f"])),
                    seconds=draw(st.floats(0, 1e6)),
                    created=draw(moments),
                    updated=draw(moments),
                )
            )
    return items, labelled


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    with (
        open_store(f"sqlite:///{folder}/one.db") as one,
        open_store(f"sqlite:///{folder}/two.db") as two,
    ):
        yield one, two


def empty(*stores):
    for store in stores:
        for document in store.documents():
            store.remove(document.name)


@pytest.mark.parametrize("file_format", FILE_FORMATS)
@settings(fewer_examples, suppress_health_check=[HealthCheck.too_slow])
@given(content=st.lists(st.tuples(names, documents()), min_size=1, max_size=2))
def test_export_import_export_gives_the_same_bytes(stores, file_format, content):
    one, two = stores
    empty(one, two)
    for name, (items, labelled) in content:
        one.add(name, items, labelled=labelled)
    pairs = one.annotations()
    exported = render(pairs, file_format).encode()
    imported = read_items(exported, "other name", rules=TagRules(mixed=True))
    assert imported.problems == []
    keep(two, imported)
    again = two.annotations()
    assert render(again, file_format).encode() == exported
    assert [loose(*pair) for pair in again] == [loose(*pair) for pair in pairs]


@pytest.mark.parametrize("scheme", [None, "IOB1", "BIOES", "BILOU"])
@pytest.mark.parametrize("file_format", FOREIGN_SUFFIXES)
def test_export_to_other_programs_has_the_final_entities(stores, file_format, scheme):
    store, _ = stores
    empty(store)
    text = "Anna Lee met Bo in Oslo."
    offsets = ((0, 4), (5, 8), (9, 12), (13, 15), (16, 18), (19, 23), (23, 24))
    final = ("B-PER", "I-PER", "O", "B-PER", "O", "B-LOC", "O")
    said = Annotation(0, "anna", offsets, ("O",) * 7, final, {0: "B-PER"}, state="done")
    store.add("trip", [Item(text, offsets)], labelled=[said])
    content = foreign(store.annotations(), file_format, scheme)
    (sentence,) = parse_sentences(content, name="f", scheme="BIO")
    assert sentence.tokens == ("Anna", "Lee", "met", "Bo", "in", "Oslo", ".")
    assert sentence.tags == final


def loose(item, annotation):
    """A pair without what belongs to one store."""
    return replace(item, id=0), replace(annotation, item=0)


TEXT = "Kim  saw Oslo's fjord."
WORDS = ((0, 3), (5, 8), (9, 13), (13, 15), (16, 21), (21, 22))
BIO = ("B-PER", "O", "B-LOC", "O", "O", "O")
UPOS = ("PROPN", "VERB", "PROPN", "PART", "NOUN", "PUNCT")


def pair(final, **fields):
    item = Item(TEXT, WORDS, document="a.txt", position=4)
    return item, Annotation(0, "anna", WORDS, final[:1] * 6, final, **fields)


def test_conllu_export_is_read_by_the_conllu_library():
    (sentence,) = conllu.parse(render([pair(UPOS)], "conllu"))
    assert sentence.metadata["text"] == TEXT
    assert sentence.metadata["sent_id"] == "a.txt-5-anna"
    assert [word["id"] for word in sentence] == [1, 2, 3, 4, 5, 6]
    assert [word["form"] for word in sentence] == ["Kim", "saw", "Oslo", "'s", "fjord", "."]
    assert tuple(word["upos"] for word in sentence) == UPOS
    for word, (start, end) in zip(sentence, WORDS, strict=True):
        assert word["misc"]["TokenRange"] == f"{start}:{end}"
        assert TEXT[start:end] == word["form"]
        assert (word["misc"]["Annotator"], word["misc"]["Proposal"]) == ("anna", "PROPN")
        assert ("SpaceAfter" in word["misc"]) == (TEXT[end : end + 1] not in ("", " "))


@pytest.mark.parametrize("file_format", ["conllu", "columns", "jsonl"])
def test_exports_are_read_as_tagged_sentences(file_format):
    (sentence,) = parse_sentences(render([pair(UPOS)], file_format))
    assert sentence.tokens == ("Kim", "saw", "Oslo", "'s", "fjord", ".")
    assert (sentence.tags, sentence.text) == (UPOS, TEXT)


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("  ", " ")])
def test_spacy_reads_exported_entities(text):
    """With two blanks the words cannot be said to spaCy, so it splits the text itself."""
    shift = len(TEXT) - len(text)
    words = tuple((max(0, a - shift * (a > 0)), b - shift * (a > 0)) for a, b in WORDS)
    item = Item(text, words)
    (row,) = json.loads(render([(item, Annotation(0, "anna", words, BIO, BIO))], "spacy"))
    example = Example.from_dict(spacy.blank("en").make_doc(row["text"]), row["annotations"])
    found = [(e.text, e.label_, e.start_char, e.end_char) for e in example.reference.ents]
    start = text.index("Oslo")
    assert found == [("Kim", "PER", 0, 3), ("Oslo", "LOC", start, start + 4)]


def test_spacy_reads_exported_tags():
    (row,) = json.loads(render([pair(UPOS)], "spacy"))
    example = Example.from_dict(spacy.blank("en").make_doc(row["text"]), row["annotations"])
    assert [token.tag_ for token in example.reference] == list(UPOS)
    assert example.get_aligned("TAG", as_string=True)[:1] == ["PROPN"]


def test_large_export_is_streamed_in_pieces():
    pieces = rendered(iter([pair(BIO)] * 3), "spacy")
    assert next(pieces).startswith('[\n{"text"')
    assert len(list(pieces)) == 3
    assert read_items(render([], "spacy").encode(), "empty").items == ()


@pytest.mark.parametrize("file_format", ["conllu", "columns"])
@pytest.mark.parametrize("tag", ["", " ", "A\tB", " A"])
def test_columns_reject_a_tag_they_cannot_hold(file_format, tag):
    with pytest.raises(FormatError, match=r"cannot hold the tag .*JSONL can hold it"):
        render([pair((tag, *UPOS[1:]))], file_format)


CONLLU = (
    "# text = {}\n1\tKim\t_\tPROPN\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t!\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
)


@pytest.mark.parametrize(
    ("content", "file_format", "text", "offsets", "gold"),
    [
        ("Kim left.\n\n", "text", "Kim left.", ((0, 3), (4, 8), (8, 9)), None),
        ("#x\n", "text", "#x", ((0, 1), (1, 2)), None),
        (CONLLU.format("Kim!"), "conllu", "Kim!", ((0, 3), (3, 4)), ("PROPN", "X")),
        (CONLLU.split("\n", 1)[1], "conllu", "Kim!", ((0, 3), (3, 4)), ("PROPN", "X")),
        ("1\tKim\tB-PER\t-\t-\n2\t!\tO\t-\t-\n", "iob2", "Kim !", ((0, 3), (4, 5)), ("B-PER", "O")),
        ("Kim\tPROPN\n!\tX\n", "columns", "Kim !", ((0, 3), (4, 5)), ("PROPN", "X")),
        ('{"tokens": ["Kim", "!"]}\n', "jsonl", "Kim !", ((0, 3), (4, 5)), None),
        (
            '{"tokens": ["a", "a"], "tags": ["X", "Y"], "text": "a a a", '
            '"offsets": [[0, 1], [4, 5]]}\n',
            "jsonl",
            "a a a",
            ((0, 1), (4, 5)),
            ("X", "Y"),
        ),
        ('[["Kim\'s!", {"entities": [[0, 3, "PER"]]}]]', "spacy", "Kim's!",
         ((0, 3), (3, 5), (5, 6)), ("B-PER", "O", "O")),
        ('[\n{"text": "Kim!", "entities": [[0, 4, "PER"]]}\n]', "spacy", "Kim!",
         ((0, 3), (3, 4)), ("B-PER", "I-PER")),
        ('[["Kim !", {"words": ["Kim", "!"], "tags": ["PROPN", "X"]}]]', "spacy", "Kim !",
         ((0, 3), (4, 5)), ("PROPN", "X")),
    ],
)  # fmt: skip
def test_every_format_is_detected(content, file_format, text, offsets, gold):
    read = read_items(content.encode(), "a file")
    assert read.problems == []
    assert read.format == file_format
    assert read.items == (Item(text, offsets, gold, document="a file"),)
    assert read.annotations == ()


def test_input_formats_are_listed():
    assert set(INPUT_FORMATS) == {"text", "conllu", "iob2", "columns", "jsonl", "spacy"}


GOOD = b"Oslo\tB-LOC\n"


@pytest.mark.parametrize(
    ("content", "message", "dropped"),
    [
        (b"Kim\tB-PER\nfoo\n\n" + GOOD, "line 2: expected word TAB tag", True),
        (b"a\tO\nb\tX\tO\n\n" + GOOD, "line 2: expected 2 columns, as in line 1, got 3", True),
        (b"Kim\t\n\n" + GOOD, "line 1: expected a tag in column 2, got none", True),
        (b"a\tO\ncaf\x81\tO\n\n" + GOOD, "line 2: expected UTF-8 text, got byte 0x81", True),
        (b"a\tO\n\x00b\tO\n\n" + GOOD, "line 1: expected text, got the character U.0000", True),
        (b"a\tO\r\nb\tO\n\n" + GOOD, "line 2: mixed line ends: LF after CR LF", False),
        (b"\xef\xbb\xbfa\tO\n\n" + GOOD, r"line 1: the byte order mark \(BOM\)", False),
        (b"a\tO\nKim\tI-PER\n\n" + GOOD, "line 2: I-PER begins an entity: read as B-PER", False),
        (b"a\tO\nb\tB-Z\n\n" + GOOD, r"line 2: expected .*'B-Z' .1 word.: the gold tags", False),
        (b"# text = other\na\tO\n\n" + GOOD, "line 1: the words are not those of # text", False),
    ],
)  # fmt: skip
def test_invalid_columns_are_reported_with_their_line(content, message, dropped):
    read = read_items(content, "f.conll", rules=TagRules(["O", "B-LOC", "B-PER", "I-PER"]))
    (problem,) = read.problems
    assert problem.dropped == dropped
    assert read.dropped == dropped
    assert re.match(f"f.conll, {message}", problem.message)
    assert read.items[-1] == Item("Oslo", ((0, 4),), ("B-LOC",), document="f.conll")
    assert len(read.items) == 2 - dropped


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"tokens": ["a"]\n', "line 1: expected a JSON object"),
        ('{"tokens": ["a"], "tags": ["X", "Y"]}\n', "line 1: expected one tag per token"),
        ('{"tokens": ["a"], "text": "b a", "offsets": [[0, 1]]}', "line 1: expected offsets that"),
        ('{"tokens": ["a"], "text": "a", "offsets": 7}', r"line 1: expected offsets such as"),
        ('{"tokens": ["a", "a"], "text": "a", "offsets": [[0, 1], [0, 1]]}', "line 1: word 2 must"),
        ('{"tokens": ["\\ud800"]}', "line 1: expected text, got the character U.D800"),
        ('[["a", {"entities": [[0, 1]]}]]', "line 1: expected spans such as"),
        ('[{"text": 3}]', "line 1: expected a sentence such as"),
        ('[{"text": "a", "annotations": 3}]', 'line 1: expected an object in "annotations"'),
        ('[["a", {"entities": []}],\n oops', "line 2: expected JSON, got .*; the rest is not read"),
    ],
)  # fmt: skip
def test_invalid_json_is_reported_with_its_line(content, message):
    (problem,) = read_items(content.encode(), "f").problems
    assert problem.dropped
    assert re.match(f"f, {message}", problem.message)


@pytest.mark.parametrize(
    ("content", "gold", "message"),
    [
        (
            '[\n["ab", {"entities": [[0, 2, "X"], [1, 2, "Y"]]}]]',
            ("B-X", "I-X"),
            r"overlapping spans were left out; .* .in line 2: 'b .Y.'",
        ),
        (
            '[["a  b", {"entities": [[1, 3, "X"]]}]]',
            ("O", "O"),
            "spans without a word were left out .in line 1: 'X'",
        ),
    ],
)
def test_invalid_spans_are_reported(content, gold, message):
    read = read_items(content.encode(), "f")
    (problem,) = read.problems
    assert not problem.dropped
    assert re.search(message, problem.message)
    assert [set(item.gold) <= set(gold) for item in read.items] == [True]


ONE = {"text": "Kim left", "tags": ["X", "Y"], "offsets": [[0, 3], [4, 8]], "annotator": "anna"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "half"}, "expected open or done in \"state\", got 'half'"),
        ({"annotator": 3}, 'expected a string in "annotator"'),
        ({"tags": ["X"]}, "an annotation needs one proposed tag per word"),
        ({"tokens": ["Kim", "eft"]}, "expected offsets that point at the tokens"),
        ({"pins": {"2": "X"}}, "pins must lie in 0 to 1, got position 2"),
        ({"pins": {"-1": "X"}}, 'expected an object such as {"0": "NOUN"} in "pins"'),
        ({"pins": ["X"]}, 'expected an object such as {"0": "NOUN"} in "pins"'),
        ({"seconds": -1}, 'expected a number from 0 in "seconds"'),
        ({"created": "today"}, "expected a time such as"),
        ({"offsets": [[0, 3], [4, 9]]}, "word 2 must lie between characters 3 and 8"),
        ({"gold": ["X"]}, "a sentence needs one gold tag per word"),
        ({"offsets_in_file": [[0]]}, "expected offsets such as"),
        ({"text": None}, 'expected a string in "text"'),
    ],
)
def test_invalid_annotation_is_reported(change, message):
    content = json.dumps(ONE | change).encode()
    read = read_items(content, "f")
    assert read.items == ()
    assert read.problems[0].message.startswith(f"f, line 1: {message}")


MIXED = "Kim\tPROPN\n\nOslo\tB-LOC\n\nBo\tPROPN\nleft\tO\n\nof\tADP\nYork\tI-LOC\n"


def test_document_with_two_kinds_of_tags_is_reported_with_lines():
    read = read_items(MIXED.encode(), "f")
    assert [problem.message for problem in read.problems] == [
        "f, line 3: expected tags of one kind in a document, got 'B-LOC' beside tags such as 'ADP'",
        "f, line 8: expected tags of one kind in a document, got 'I-LOC' beside tags such as 'ADP'",
    ]
    assert (read.wrong, read.dropped, read.mixed) == (2, 2, 2)
    assert [item.tokens for item in read.items] == [("Kim",), ("Bo", "left")]
    for rules in (TagRules(mixed=True), TagRules({"PROPN", "ADP", "O", "B-LOC", "I-LOC"})):
        allowed = read_items(MIXED.encode(), "f", rules=rules)
        assert (allowed.dropped, len(allowed.items)) == (0, 4)


def test_xpos_mixed_with_upos_is_reported_with_lines():
    upos, xpos = "Kim\tPROPN\nleft\tVERB\n,\t,\n", "Bo\tNNP\nleft\tVBD\n,\t,\n"
    read = read_items(f"{upos}\n{xpos}\n{upos}\nthe\tDET\ndog\tNN\n".encode(), "f")
    told = "expected tags of one kind in a document, got"
    assert [problem.message for problem in read.problems] == [
        f"f, line 5: {told} 'NNP' beside tags such as 'DET'",
        f"f, line 13: {told} 'NN' beside tags such as 'DET'",
    ]
    assert [item.tokens[0] for item in read.items] == ["Kim", "Kim"]
    assert read_items(f"{xpos}\n{xpos}\n{upos}".encode(), "f").items[0].tokens[0] == "Bo"
    both = "the\tDET\n5\tSYM\n\nx\tMINE\n"  # nobody can tell that these are of two sets
    assert read_items(both.encode(), "f").problems == []


def test_entity_prefixes_of_all_schemes_are_one_kind():
    lines = "\n".join(
        f"{tag[0]}w\t{tag}" for tag in ("O", "B-X", "I-X", "E-X", "S-X", "L-X", "U-X")
    )
    assert read_items(lines.encode(), "f").problems == []


def test_annotations_of_two_kinds_in_a_document_are_reported_with_lines():
    first, second = pair(UPOS), pair(BIO)
    other = replace(second[0], position=5), second[1]
    elsewhere = replace(second[0], document="b.txt"), second[1]
    ben = first[0], replace(first[1], annotator="ben")
    read = read_items(render([first, ben, other, elsewhere], "jsonl").encode(), "f")
    (problem,) = read.problems
    assert problem.message.startswith("f, line 3: expected tags of one kind in a document, got 'B-")
    assert [(item.document, item.position) for item in read.items] == [("a.txt", 4), ("b.txt", 4)]
    assert [(each.item, each.final) for each in read.annotations] == [
        (0, UPOS),
        (0, UPOS),
        (1, BIO),
    ]
    second_says = first[0], replace(second[1], annotator="ben")
    read = read_items(render([first, second_says, ben], "jsonl").encode(), "f")
    assert [each.annotator for each in read.annotations] == ["anna"]


def test_annotation_requires_only_text_words_tags_and_annotator():
    read = read_items(json.dumps(ONE).encode(), "f")
    assert read.items == (Item("Kim left", ((0, 3), (4, 8)), document="f"),)
    assert read.annotations == (
        Annotation(0, "anna", ((0, 3), (4, 8)), ("X", "Y"), ("X", "Y"), state="done"),
    )


def test_annotations_of_one_sentence_are_grouped_across_the_file():
    item, anna = pair(BIO)
    other = replace(item, position=5), anna
    ben = item, replace(anna, annotator="ben")
    read = read_items(render([(item, anna), other, ben], "jsonl").encode(), "f")
    assert [(a.item, a.annotator) for a in read.annotations] == [
        (0, "anna"),
        (1, "anna"),
        (0, "ben"),
    ]
    read = read_items(render([(item, anna)] * 2, "jsonl").encode(), "f")
    assert len(read.items) == len(read.annotations) == 1
    assert (
        read.problems[0].message == "f, line 2: a second annotation of the same sentence by 'anna'"
    )


def test_edited_word_is_rejected_and_edited_tag_accepted():
    exported = render([pair(UPOS)], "conllu")
    (problem,) = read_items(exported.replace("\tfjord\t", "\tfjords\t").encode(), "f").problems
    assert problem.message == (
        "f, line 8: expected 'fjord', the characters 16 to 21 of the text, got 'fjords'"
    )
    (changed,) = read_items(exported.replace("\tNOUN\t", "\tX\t").encode(), "f").annotations
    assert changed.final == (*UPOS[:4], "X", "PUNCT")
    exported = render([pair(BIO)], "spacy").replace('"LOC"', '"ORG"')
    (problem,) = read_items(exported.encode(), "f").problems
    assert 'line 2: "annotations" and "crfviz" say different things' in problem.message


def test_file_that_is_too_large_or_utf_16_is_rejected():
    with pytest.raises(FormatError, match=r"big: expected at most 5 MB, got 5,242,881 bytes"):
        read_items(b"x" * (MAX_BYTES + 1), "big")
    word = "x" * MAX_BYTES
    assert read_items(f"{word}\tX\n".encode(), "big", limit=None).items[0].tokens == (word,)
    with pytest.raises(FormatError, match="f: expected a text file, got a PDF; save it"):
        read_items(b"%PDF-1.7\n", "f")
    with pytest.raises(FormatError, match="expected UTF-16 text, got"):
        read_items("Kim".encode("utf-16")[:-1], "f")
    assert read_items("Kim".encode("utf-16"), "f").items[0].tokens == ("Kim",)


def test_truncated_file_loses_only_its_last_sentence():
    for file_format in FILE_FORMATS:
        pairs = [(replace(item, position=n), a) for n, (item, a) in enumerate([pair(BIO)] * 3)]
        exported = render(pairs, file_format)
        read = read_items(exported[: len(exported) * 9 // 10].encode(), "f")
        assert len(read.items) == 2
        assert read.dropped == 1


@pytest.mark.parametrize("file_format", FILE_FORMATS)
def test_export_with_windows_line_ends_and_bom_is_unchanged(file_format):
    exported = render([pair(BIO, state="done")], file_format)
    edited = b"\xef\xbb\xbf" + exported.replace("\n", "\r\n").encode()
    read = read_items(edited, "f")
    assert [problem.message for problem in read.problems] == [
        "f, line 1: the byte order mark (BOM) at the beginning was left out"
    ]
    plain = read_items(exported.encode(), "f")
    assert (read.items, read.annotations) == (plain.items, plain.annotations)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '[{"text": "Kim left"}]\n[{"text": "Bob left"}]',
            "line 1: expected nothing after the list",
        ),
        ("hello", "expected a JSON list"),
        ("", "expected a JSON list"),
    ],
)
def test_skipped_list_entries_are_reported(text, says):
    found = read_items(text.encode(), "file", "spacy")
    assert found.dropped
    assert says in found.problems[0].message


def test_markdown_task_list_is_read_as_text():
    found = read_items(b"[ ] buy milk\n[x] sleep\n", "tasks")
    assert (found.format, len(found.items)) == ("text", 2)


def test_jsonl_columns_have_one_type_in_every_row():
    """Arrow takes the types of its columns from the first rows, and casts those of other files."""
    words = ((0, 3), (4, 8))
    bare = Item("Kim left", words, document="a")
    then = datetime(2030, 1, 1, tzinfo=UTC)
    plain = Annotation(0, "bo", words, ("O", "O"), ("O", "O"), created=then, updated=then)
    told = replace(plain, pins={1: "X"})
    pairs = [(bare, plain), (replace(bare, gold=("X", "O")), told)]
    tables = [
        pyarrow.json.read_json(io.BytesIO(render([pair], "jsonl").encode())) for pair in pairs
    ]
    assert tables[0].schema == tables[1].schema
    assert tables[0].schema.field("gold").type == pyarrow.list_(pyarrow.string())


def test_older_export_is_read():
    old = {
        "text": "Kim left", "tokens": ["Kim", "left"], "tags": ["X", "O"],
        "offsets": [[0, 3], [4, 8]], "annotator": "bo", "pins": {"0": "X"},
    }  # fmt: skip
    read = read_items(json.dumps(old).encode(), "f")
    assert read.items[0].gold is None
    assert read.annotations[0].pins == {0: "X"}


LONG = 1001


@pytest.mark.parametrize(
    "content",
    [
        "dog " * LONG,
        "(" * LONG,
        "1\t_\t_\tX\t_\t_\t_\t_\t_\t_\n" * LONG,
        "# sent_id = 1\n" + "dog\tX\n" * LONG,
        json.dumps({"tokens": ["dog"] * LONG}),
        json.dumps([{"text": "dog " * LONG, "entities": []}]),
        json.dumps([{"text": "d" * LONG, "entities": [[n, n + 1, "X"] for n in range(LONG)]}]),
    ],
    ids=["text", "marks", "conllu", "columns", "jsonl", "spacy", "entities"],
)
def test_sentence_over_a_thousand_words_is_rejected(content):
    read = read_items(content.encode(), "f")
    assert (read.items, read.dropped) == ((), 1)
    assert read.problems[0].message.startswith("f, line 1: expected at most 1,000 words")


def test_problems_after_the_first_thousand_are_counted_only():
    read = read_items(b"dog\tX\n\n" + b"dog\n\n" * 3000, "f")
    assert (len(read.items), len(read.problems), read.wrong, read.dropped) == (1, 1000, 3000, 3000)


def test_sentence_limit_applies_to_pages_and_not_to_the_command_line(monkeypatch):
    monkeypatch.setattr(importing, "MAX_SENTENCES", 2)
    assert len(read_items(b"dog\tX\n\n" * 3, "f", limit=None).items) == 3
    with pytest.raises(FormatError, match="f, line 5: expected at most 2 sentences"):
        read_items(b"dog\tX\n\n" * 3, "f")


DOGS = ["Dogs run home .", "Stop !", "Stop !", "Cats sleep ."]


@pytest.fixture
def two(tmp_path):
    """A store with a document, and one elsewhere where ben labelled the same sentences."""
    with (
        open_store(f"sqlite:///{tmp_path}/here.db") as here,
        open_store(f"sqlite:///{tmp_path}/there.db") as there,
    ):
        for each in (here, there):
            keep(each, read_items("\n".join(DOGS).encode(), "dogs.txt"))
        say(here, 0, "anna", "N")
        for number, tag in ((0, "N"), (2, "V"), (3, "N")):
            say(there, number, "ben", tag)
        yield here, there


def say(store, number, who, tag, **fields):
    item = store.items("dogs.txt")[number]
    tags = (tag,) * len(item.offsets)
    given = {"state": "done", "model": "m"} | fields
    return store.save(Annotation(item.id, who, item.offsets, tags, tags, **given), ("N", "V"))


def join(store, content, name="ben.jsonl"):
    """What would happen, then it happens."""
    read = read_items(content, name)
    known = known_documents(store, read)
    plans = planned(store, known)
    lines = [line for name, plan in plans.items() for line in conflicts(known[name], plan)]
    return keep(store, read, None, known), sum(len(p.new) for p in plans.values()), lines


@pytest.mark.parametrize("file_format", FILE_FORMATS)
def test_second_annotator_is_merged_and_merging_twice_is_idempotent(two, file_format):
    here, there = two
    exported = render(there.annotations(), file_format).encode()
    assert join(here, exported) == (["dogs.txt"], 3, [])
    once = here.annotations()
    assert [(i.position, a.annotator, a.final[0]) for i, a in once] == [
        (0, "anna", "N"),
        (0, "ben", "N"),
        (2, "ben", "V"),
        (3, "ben", "N"),
    ]
    assert join(here, exported) == (["dogs.txt"], 0, [])
    assert here.annotations() == once


def test_conflicting_annotations_are_reported_and_not_overwritten(two):
    here, there = two
    kept = say(here, 0, "ben", "V")
    begun = say(here, 3, "ben", "N", state="open")
    exported = render(there.annotations(), "jsonl").encode()
    (line,) = join(here, exported)[2]
    assert line.startswith("dogs.txt, sentence 1 (Dogs run home .): ben has V at word 1 in the ")
    assert "N (and 3 more) in the file; what is in the store stays" in line
    assert here.annotation(kept.item, "ben") == kept
    assert here.annotation(begun.item, "ben").state == "done"


@pytest.mark.parametrize(
    ("stored", "imported", "merged"),
    [
        ("open", "open", "open"),
        ("open", "done", "done"),
        ("done", "open", "done"),
        ("done", "done", "done"),
    ],
)
def test_merging_finishes_an_open_annotation_only_if_the_file_is_done(
    two, stored, imported, merged
):
    here, there = two
    before = say(here, 1, "ben", "N", state=stored)
    say(there, 1, "ben", "N", state=imported)
    plan = join(here, render(there.annotations(), "jsonl").encode())
    finished = stored != merged
    assert plan == (["dogs.txt"], 3 + finished, [])
    after = here.annotation(before.item, "ben")
    assert (after.state, after.revision) == (merged, before.revision + finished)


def test_merging_tags_of_another_kind_is_rejected(two):
    here, there = two
    exported = render(there.annotations(), "jsonl")
    for tag in {tag for _, each in there.annotations() for tag in each.final}:
        exported = exported.replace(f'"{tag}"', '"B-PER"')
    exported = exported.encode()
    with pytest.raises(UnknownTagError, match="'B-PER' is none of them"):
        join(here, exported)
    assert len(here.annotations()) == 1


@pytest.mark.parametrize(
    ("lines", "known"),
    [(DOGS, True), (DOGS[:3], False), (DOGS[::-1], False), ([*DOGS, "More ."], False)],
)
def test_file_without_annotations_is_recognised_only_if_complete(two, lines, known):
    read = read_items("\n".join(lines).encode(), "other.txt")
    assert bool(known_documents(two[0], read)) is known


def test_moved_sentences_are_matched_in_order(two):
    here, there = two
    lines = render(there.annotations(), "jsonl").splitlines()
    moved = [json.dumps(json.loads(line) | {"sentence": 9 + n}) for n, line in enumerate(lines)]
    (known,) = known_documents(here, read_items("\n".join(moved).encode(), "x")).values()
    assert [item.position for item in known.sentences] == [0, 1, 3]
