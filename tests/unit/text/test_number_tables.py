"""Tables of numbers as people paste and save them."""

import io
import json
import math
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.exceptions import FormatError
from crfviz.text.number_tables import parse_number_table, read_number_table

INF = math.inf
TABLE = [[0.5, -1.25], [3.0, -INF], [2e-5, 4.0]]
TAGS = ("NOUN", "VERB")
WORDS = ("a", "b", "c")


def saved(save, *arrays, **named):
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "0.5,-1.25\n3,-inf\n2e-5,4\n",
        "0.5\t-1.25\r\n3\t-inf\r\n2e-5\t4",
        "0,5;-1,25\n3;−∞\n2e-5;4",
        "0.5  -1.25\n\n 3 -inf\n\n2e-5 4",
        ",NOUN,VERB\na,0.5,-1.25\nb,3,-inf\nc,2e-5,4",
        "word,NOUN,VERB\na,0.5,-1.25\nb,3,-inf\nc,2e-5,4",
        "NOUN,VERB\n0.5,-1.25\n3,-inf\n2e-5,4",
        "a 0.5 -1.25\nb 3 -Infinity\nc 2e-5 4",
        "t;0;1\n1;0,5;-1,25\n2;3;-inf\n3;2e-5;4",
        "| w | NOUN | VERB |\n|--|--:|--:|\n| a | .5 | -1.25 |\n| b | 3 | -∞ |\n| c | 2e-5 | 4 |",
        "[[0.5, -1.25], [3, -inf], [2e-5, 4]]",
        "[[ 5.00e-01 -1.25e+00]\n [ 3.00e+00      -inf]\n [ 2.00e-05  4.00e+00]]",
        "tensor([[ 0.5, -1.25],\n [3.0,   -inf],\n  [2e-5,  4.0]], dtype=float)",
        "array([[ 0.5, -1.25],\n       [3. ,   -inf],\n       [2.e-05, 4. ]])",
        '{"alpha": [[0.5, -1.25], [3, "-inf"], [2e-5, 4]], "note": "mine"}',
        '{"alpha": [[0.5, -1.25], [3, "-inf"], [2e-5, 4]], "beta": [[1]]}',
    ],
)
def test_one_table_is_read_in_many_notations(text):
    table = parse_number_table(text, names=TAGS, words=WORDS, prefer="alpha")
    assert table.values.tolist() == TABLE


def test_header_and_row_labels_are_returned():
    table = parse_number_table(",NOUN,VERB\na,1,2\nb,3,4", names=TAGS)
    assert (table.header, table.labels) == (("NOUN", "VERB"), ("a", "b"))


def test_tag_names_in_cells_become_tag_ids():
    table = parse_number_table("START START\nVERB NOUN\nNOUN NOUN", names=TAGS)
    assert table.values.tolist() == [[-1, -1], [1, 0], [0, 0]]


def test_words_that_look_like_numbers_can_be_column_headers():
    table = parse_number_table("day,2,3\nC,0.1,0.2\nH,0.3,0.4", names=("C", "H"), words=("2", "3"))
    assert table.values.tolist() == [[0.1, 0.2], [0.3, 0.4]]


def test_numbers_too_large_for_a_float_become_infinity():
    huge = "9" * 5000
    for text in (f"1,{huge}\n2,3", f"[[1, {huge}], [2, 3]]"):
        assert parse_number_table(text).values.tolist() == [[1, np.inf], [2, 3]]


def test_empty_cells_become_nan():
    table = parse_number_table("1,,2\n-,nan,3")
    assert np.isnan(table.values).tolist() == [[False, True, False], [True, True, False]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no table yet"),
        ("  \n ", "no table yet"),
        ("1,2\n3\n", "line 2: expected 2 numbers as in line 1, got 1"),
        ("1,2\n\n3,x1\n", r"line 3, column 2: expected a number, got .*x1"),
        ("NOUN,VERB", "no row of numbers"),
        ("{'a': 1}", "looks like JSON"),
        ('{"a": 1}', "must hold one table"),
        ("[1, [2]]", "list of rows"),
        ("[]", "list of rows"),
        ("[[1, true]]", "row 1, column 2"),
        ("<b>x</b> 2\n3 4", "line 1, column 1"),
        ("[[[1]]]", "row 1, column 1"),
        ("1 " * 200_000, "at most"),
        ("1 " * 600_000, "at most"),
        ("1\n" * 600_000, "at most"),
        ("[[1]," + "[1]," * 600_000, "at most"),
        ("1" * 5_000_001, "at most"),
        ("1,111" + "1" * 100_000 + "x", "line 1, column 2"),
        ("[" + " " * 40_000 + "x", "no row"),
        ("[[1, [2]]]", "row 1, column 2"),
    ],
)
def test_invalid_table_is_rejected_with_its_place(text, message):
    with pytest.raises(FormatError, match=message):
        parse_number_table(text)


@given(st.text(max_size=60))
def test_any_text_is_a_table_or_a_format_error(text):
    with suppress(FormatError):
        assert parse_number_table(text, names=TAGS, words=WORDS).values.ndim == 2


@given(st.binary(max_size=60), st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY"]))
def test_any_bytes_are_a_table_or_a_format_error(data, start):
    with suppress(FormatError):
        assert read_number_table(start + data).values.ndim == 2


@given(st.lists(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2), min_size=1))
def test_json_rows_are_read_back_unchanged(rows):
    assert parse_number_table(json.dumps(rows)).values.tolist() == rows


def test_numpy_files_are_read_as_tables():
    table = np.array(TABLE)
    assert read_number_table(saved(np.save, table)).values.tolist() == TABLE
    assert read_number_table(saved(np.savez, table)).values.tolist() == TABLE
    both = saved(np.savez_compressed, beta=table.T, alpha=table.astype(np.float32), size=3)
    found = read_number_table(both, prefer="alpha")
    assert found.values == pytest.approx(np.array(TABLE), rel=1e-6)
    assert found.source == "alpha"
    assert read_number_table("\ufeff1,2\n3,4".encode()).values.tolist() == [[1, 2], [3, 4]]


def test_signalling_nan_is_an_empty_cell():
    table = np.array([[0x7F800001, 0]], dtype=np.uint32).view(np.float32)  # it signals
    for file in (saved(np.save, table), saved(np.savez, alpha=table)):
        assert np.isnan(read_number_table(file).values).tolist() == [[True, False]]


def test_pickled_objects_are_never_loaded():
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    trap = np.array([[Trap()]], dtype=object)
    for data in (saved(np.savez, alpha=trap), saved(np.save, trap), pickle.dumps(Trap())):
        with pytest.raises(FormatError, match="pickl"):
            read_number_table(data)


def test_zip_bomb_is_rejected_before_unpacking():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("alpha.npy", b"\0" * 30_000_000)
    with pytest.raises(FormatError, match="unpacks to 30,000,000 bytes"):
        read_number_table(buffer.getvalue())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (saved(np.savez, a=np.zeros((2, 2)), b=np.zeros((2, 2))), "one named “alpha”"),
        (saved(np.savez, a=np.zeros(2)), "one named “alpha”"),
        (saved(np.save, np.array([["x"]])), "table of numbers"),
        (saved(np.savez, np.zeros((2, 2)))[:-30], "damaged"),
        (saved(np.save, np.zeros((2, 2)))[:-8], "is cut off"),
        (b"\xff\xfe1", "UTF-8"),
        (b"1" * 5_000_001, "at most 5,000,000"),
    ],
    ids=["two", "a list", "texts", "cut", "cut array", "no text", "long"],
)
def test_files_without_a_table_are_rejected(data, message):
    with pytest.raises(FormatError, match=message):
        read_number_table(data, prefer="alpha")
