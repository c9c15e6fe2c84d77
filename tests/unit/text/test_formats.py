import contextlib
import os
from concurrent.futures import ThreadPoolExecutor

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.exceptions import FormatError
from crfviz.text.files import decoded
from crfviz.text.formats import (
    FORMATS,
    SentenceFile,
    detect_format,
    parse_part,
    parse_sentences,
    read_sentences,
    render_sentences,
)
from crfviz.text.readers.rows import Wanted
from crfviz.text.sentences import Sentence
from tests.support.paths import EXCERPT

CONLLU = """\
# sent_id = 1
# text = We don't.
1\tWe\twe\tPRON\tPRP\t_\t0\troot\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t0\troot\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t0\troot\t_\t_

"""
IOB2 = """\
# text = Allen Iverson!
1\tAllen\tB-PER\t-\tann
2\tIverson\tI-PER\t-\tann
3\t!\tO\t-\t-

"""


WRITTEN = [file_format for file_format in FORMATS if file_format != "fasta"]

READ = {  # what a text says, as words, tags and, where it is told, the text itself
    "CoNLL-U: words with plain ids": (
        CONLLU,
        ("We do n't .", "PRON AUX PART PUNCT", "We don't."),
    ),
    "IOB2: tags in the third column": (
        IOB2,
        ("Allen Iverson !", "B-PER I-PER O", "Allen Iverson!"),
    ),
    "columns: the first and the last": ("EU\tNNP\tB-ORG\n.\t.\tO\n", ("EU .", "B-ORG O")),
    "columns: blanks around a word": ("\U0001f4a4 \tO\n", ("\U0001f4a4", "O")),
    "rows without a word": ("a\tO\n\tO\n \tB-PER\nb\tO\n", ("a b", "O O")),
    "a first row without a word": ("\tO\n\na\tO\n", ("a", "O")),
    "a row of blank columns": ("a\tO\n\t\nb\tO\n \t \n\n", ("a", "O"), ("b", "O")),
    "a hash before a tab": ("# a comment\n#\tO\n#tag\tO\n", ("# #tag", "O O")),
    "a tag without a type": ("a\tB-\nb\tI-\nc\tB-Day\n", ("a b c", "O O B-Day")),
    "FASTA: letters, named sequences": (
        ">one CpG\nACg\nt\n; remark\n>two\nGG GG\n\nA\n",
        ("A C G T", None),
        ("G G G G", None),
        ("A", None),
    ),
    "no line feed at the end": ("a\tO\n\nb\tO", ("a", "O"), ("b", "O")),
    "CoNLL-U without tags": ("1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n", ("Hi", None)),
    "JSONL": (
        '{"tokens": ["a"]}\n\n{"tokens": ["x"], "tags": ["O"], "text": "x!", "id": 7}\n',
        ("a", None),
        ("x", "O", "x!"),
    ),
}


@pytest.mark.parametrize("case", READ.values(), ids=READ)
def test_each_format_is_parsed(case):
    text, *expected = case
    assert parse_sentences(text) == [
        Sentence(tuple(words.split(" ")), tuple(tags.split()) if tags else None, *raw)
        for words, tags, *raw in expected
    ]


def test_blanks_and_unusual_line_ends_inside_words_are_preserved():
    assert parse_sentences('{"tokens": ["a", "b c"]}')[0].tokens == ("a", "b c")
    assert parse_sentences("ke s\tO\n")[0].tokens == ("ke s",)
    assert parse_sentences("a\u2028b\tO\r\nc\x85d\tO\r\n")[0].tokens == ("a\u2028b", "c\x85d")


def test_conllu_xpos_reads_the_fifth_column():
    assert parse_sentences(CONLLU, file_format="conllu-xpos")[0].tags == ("PRP", "VBP", "RB", ".")


def test_conllu_excerpt_is_read_as_by_the_conllu_library():
    expected = [
        Sentence(
            tuple(word["form"] for word in sentence.filter(id=lambda i: isinstance(i, int))),
            tuple(word["upos"] for word in sentence.filter(id=lambda i: isinstance(i, int))),
            sentence.metadata["text"],
        )
        for sentence in conllu.parse(EXCERPT.read_text(encoding="utf-8"))
    ]
    assert read_sentences(EXCERPT) == expected
    assert len(expected) == 208


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CONLLU, "conllu"),
        (IOB2, "iob2"),
        ("\n# comment\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n", "conllu"),
        ("word\tO\n", "columns"),
        ("a\tb\tc\td\tB-X\n", "columns"),
        ("{\tO\n", "columns"),
        ('{"tokens": []}', "jsonl"),
        ('  { "tokens":\t[] }', "jsonl"),
        ("{oops", "jsonl"),
        ("\n>chr1\nACGT\n", "fasta"),
        ("; remark\n>chr1\nACGT\n", "fasta"),
        (">\tO\n", "columns"),
        ("", "columns"),
        ("# only a comment\n", "columns"),
    ],
)
def test_format_is_detected_from_the_content(text, expected):
    assert detect_format(text.split("\n")) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EU rejects a call\n", r"file, line 1: seems to be plain text without tags; expected"),
        ("a\tO\n\nEU NNP B-ORG\n", r"file, line 3: expected word TAB tag .*got 1: 'EU NNP B-ORG'"),
        ("a\tO\nb\t \n", r"file, line 2: expected a tag in column 2, got none: 'b\\t '"),
        (CONLLU + "1\tx\tNOUN\n", r"file, line 10: expected 10 columns .*\(CoNLL-U\), got 3"),
        (CONLLU + "x" + "\t_" * 9, r"file, line 10: expected a word id such as 3, .* got 'x'"),
        (IOB2 + "²\ta\tO\t-\t-", r"file, line 6: expected a word id .* got '²'"),
        (
            "1\ta\t_\tX" + "\t_" * 6 + "\n2\tb" + "\t_" * 8,
            r"file, line 2: expected a tag for 'b', because .* got '_'",
        ),
        (">x\nAC\nA C1\n", r"file, line 3: expected the letters of a sequence, got 'A C1'"),
        ('{"tokens": ["a"]}\n{"tokens": \n', r"file, line 2: expected a JSON object .* got"),
        ("{" * 50_000, r"file, line 1: expected a JSON object such as"),
        ('{"tokens": ["a"]}\n[]', r"file, line 2: expected a sentence such as .* got \[\]"),
        ('{"tokens": "a b"}', r"line 1: expected a list of strings in \"tokens\", got 'a b'"),
        (
            '{"word": "a"}',
            r"line 1: expected a sentence such as .* found word: .a.; name the keys",
        ),
        ('{"tokens": ["a", ""]}', r"line 1: expected words in \"tokens\", got an empty string"),
        ('{"tokens": ["a"], "tags": [1]}', r"line 1: 'tags' has class numbers without their names"),
        ('{"tokens": ["a"], "tags": [1.5]}', r"line 1: expected a list of strings in \"tags\""),
        ('{"tokens": ["a"], "tags": []}', r"line 1: expected one tag per token, got 0 tags and 1"),
        ('{"tokens": ["a"], "text": 1}', r"line 1: expected a string in \"text\", got 1"),
    ],
)
def test_parse_errors_name_the_line_and_the_bad_input(text, message):
    with pytest.raises(FormatError, match=message):
        parse_sentences(text, name="file")


def test_missing_file_is_named_in_the_error(tmp_path):
    with pytest.raises(
        FormatError, match=r"nothing\.conllu: expected a file to read, got: No such"
    ):
        read_sentences(tmp_path / "nothing.conllu")
    with pytest.raises(FormatError, match="expected a file to read"):
        read_sentences(tmp_path)


def test_invalid_utf8_is_reported_with_its_line(tmp_path):
    path = tmp_path / "latin1.conll"
    path.write_bytes(b"a\tO\ncaf\xe9\tO\n\xc3\xa9\tO\n")  # the third line is UTF-8
    with pytest.raises(FormatError, match="line 2: expected UTF-8 text, got byte 0xe9"):
        read_sentences(path)
    with pytest.raises(FormatError, match="file, line 41: expected UTF-8 text, got byte 0xe9"):
        list(parse_part(path.read_bytes(), "iob2", name="file", first_line=40))


def test_byte_order_mark_is_not_part_of_the_first_word(tmp_path):
    path = tmp_path / "bom.conll"
    path.write_bytes(b"\xef\xbb\xbfa\tO\n")
    assert read_sentences(path) == [Sentence(("a",), ("O",))]


def test_options_fold_handles_and_map_types(tmp_path):
    path = tmp_path / "tweets.conll"
    path.write_text("@\tB-person\nbob\tB-person\nin\tO\nRome\tB-location\n", encoding="utf-8")
    assert read_sentences(path, fold_handles=True, types={"location": "LOC"}) == [
        Sentence(("@user", "in", "Rome"), ("O", "O", "B-LOC"))
    ]


def test_empty_file_has_no_sentences(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    assert read_sentences(path) == []


@pytest.mark.parametrize("file_format", WRITTEN)
def test_written_sentences_are_read_back(file_format, tmp_path):
    sentences = [
        Sentence(("Allen", "#", "ke s", "{", "日本"), ("B-PER", "O", "O", "O", "B-LOC"), "Allen #"),
        Sentence(("so",), ("O",)),
    ]
    path = tmp_path / "file"
    path.write_bytes(render_sentences(sentences, file_format).encode())
    assert read_sentences(path, file_format=file_format) == sentences
    if file_format != "conllu-xpos":
        lines = path.read_text(encoding="utf-8").split("\n")
        assert detect_format(lines) == file_format


def test_writing_fasta_is_rejected():
    with pytest.raises(FormatError, match="FASTA has no place for tags"):
        render_sentences([Sentence(("A",), ("O",))], "fasta")


@pytest.mark.parametrize("file_format", WRITTEN)
def test_untagged_sentences_survive_writing(file_format):
    sentences = [Sentence(("Hi", "!"), None, "Hi!")]
    text = render_sentences(sentences, file_format)
    assert parse_sentences(text, file_format=file_format) == sentences


def test_conllu_library_reads_our_conllu():
    written = render_sentences(read_sentences(EXCERPT), "conllu")
    assert [[word["form"] for word in sentence] for sentence in conllu.parse(written)] == [
        list(sentence.tokens) for sentence in read_sentences(EXCERPT)
    ]


anything = st.text(min_size=1, max_size=8)
names = st.text(  # without the marks of entity tags, whose spelling is changed
    st.characters(categories=["L", "N", "P"], exclude_characters="-_"), min_size=1, max_size=5
).filter(lambda name: name != "o")


@given(st.lists(st.tuples(anything, names), min_size=1, max_size=5), st.none() | st.text())
def test_jsonl_preserves_any_word_and_text(words, text):
    tokens, tags = zip(*words, strict=True)
    sentence = Sentence(tokens, tags, text)
    assert parse_sentences(render_sentences([sentence], "jsonl")) == [sentence]


@given(st.lists(anything, min_size=1, max_size=5), st.sampled_from(["columns", "conllu", "iob2"]))
def test_columns_preserve_a_word_or_reject_it(tokens, file_format):
    sentence = Sentence(tuple(tokens), ("X",) * len(tokens))
    try:
        written = render_sentences([sentence], file_format)
    except FormatError:
        assert any(token != token.strip() or set(token) & set("\t\r\n") for token in tokens)
    else:
        # a few words beside the same tag are no evidence of words, tags and ends
        named = Wanted(1, 2, "blank") if file_format == "columns" else None
        assert parse_sentences(written, file_format=file_format, wanted=named) == [sentence]


@pytest.mark.parametrize("word", ["", " a", "a\tb", "a\nb"])
def test_word_that_columns_cannot_hold_is_rejected(word):
    with pytest.raises(FormatError, match="CoNLL columns cannot hold"):
        render_sentences([Sentence((word,), ("X",))], "columns")


def test_line_breaks_in_the_raw_text_become_blanks():
    text = render_sentences([Sentence(("a", "b"), ("X", "X"), "a\n\tb")], "columns")
    assert parse_sentences(text)[0].text == "a b"


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa\x81\tX\n", b"a\x81\tX\n"])
def test_invalid_utf8_after_a_byte_order_mark_is_reported(content, tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="line 1: expected UTF-8 text, got byte 0x81"):
        read_sentences(path)
    with pytest.raises(FormatError, match="a, line 1: expected UTF-8 text, got byte 0x81"):
        decoded(content, name="a")


@pytest.mark.filterwarnings("ignore::crfviz.text.readers.losses.LossWarning")
@given(st.text())
def test_any_text_is_parsed_or_rejected(text):
    with contextlib.suppress(FormatError):
        assert all(sentence.tokens for sentence in parse_sentences(text))


def test_sentence_file_is_read_lazily_on_each_iteration(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"\xef\xbb\xbfOne\tX\r\n\r\ntwo\xc2\x85\tY\n\nthree\n")
    sentences = iter(SentenceFile(path))
    assert next(sentences).tokens == ("One",)
    assert next(sentences).tokens == ("two",)
    with pytest.raises(FormatError, match="line 5: expected word TAB tag"):
        next(sentences)
    path.write_bytes(b"One\tX\n")
    found = SentenceFile(path)
    assert list(found) == list(found) == read_sentences(path)


@pytest.mark.parametrize("file_format", [None, "columns"])
def test_pipe_is_read_from_its_beginning(tmp_path, file_format):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = "".join(f"# {n}\nword{n}\tX\n\n" for n in range(5000))
    with ThreadPoolExecutor() as pool:
        written = pool.submit(path.write_text, text)
        found = read_sentences(path, file_format=file_format)
        written.result()
    assert [sentence.tokens for sentence in found] == [(f"word{n}",) for n in range(5000)]
