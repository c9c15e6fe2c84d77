"""Names between commas, quoted as in CSV."""

import csv
import io

import pytest

from crfviz.exceptions import FormatError
from crfviz.text.name_lists import parse_names, parse_pairs, written_pairs
from crfviz.text.sentences import parse_types
from tests.support.rare_names import NAMES


def test_list_is_split_at_commas_outside_quotes():
    assert parse_names("NN,VB") == ["NN", "VB"]
    assert parse_names(' NN , "," , a=b, "a,b" ') == ["NN", ",", "a=b", "a,b"]
    assert parse_pairs('A=a, "a=b"=c, ","') == [("A", "a"), ("a=b", "c"), (",", None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",,NN", "a name before and after each comma"),
        ("NN,", "a name before and after each comma"),
        (" , ", "a name before and after each comma"),
        ("=a", "a name before and after each comma"),
        ('"NN', "a closing quote"),
        ('"NN"x, VB', "a closing quote"),
    ],
)
def test_missing_name_is_refused(text, message):
    with pytest.raises(FormatError, match=message):
        parse_pairs(text)


def test_rare_names_are_read_back():
    pairs = [(name, NAMES[-k] if k % 3 else None) for k, name in enumerate(NAMES)]
    assert parse_pairs(written_pairs(pairs)) == pairs
    line = io.StringIO()
    csv.writer(line).writerow(NAMES)  # as a program writes them
    assert parse_names(line.getvalue()) == list(NAMES)


def test_entity_types_with_commas_are_mapped():
    types = {"a,b": "PER", ",": "ORG", "a=b": "a=c"}
    assert parse_types(['"a,b"=PER,","=ORG', '"a=b"=a=c']) == types | {
        new: new for new in types.values()
    }
    with pytest.raises(FormatError, match="OLD=NEW"):
        parse_types(["PER"])
