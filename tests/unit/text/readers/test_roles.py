"""Columns without names in unusual places: read with a note, or rejected, and never misread."""

import pytest

from crfviz.annotations.files.importing import read_items
from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.losses import LossWarning

WORDS = (["Anna", "Berg", "lives", "in", "New", "York", "."], ["It", "rains", "."])
ENTITIES = (["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"], ["O", "O", "O"])
SPEECH = (["NNP", "NNP", "VBZ", "IN", "NNP", "NNP", "."], ["PRP", "VBZ", "."])
TYPES = (["Peop", "Peop", "O", "O", "Loc", "Loc", "O"], ["O", "O", "O"])
READ_AS = "column {} was read as the words and column {} as the tags"
FIRST = "column {} was read, the only one with {}"


def text(*columns, separator="\t"):
    """Two sentences of columns: their values, or a function of the sentence and the word."""
    lines = []
    for number, words in enumerate(WORDS):
        for place in range(len(words)):
            row = (c(number, place) if callable(c) else c[number][place] for c in columns)
            lines.append(separator.join(row))
        lines.append("")
    return "\n".join(lines) + "\n"


def fixed(value):
    return lambda *_: value


def index(_, place):
    return str(place + 1)


def far_index(number, place):
    return str(17 + 100 * number + place)


def start(_, place):
    return str(5 * place)


def end(number, place):
    return str(5 * place + len(WORDS[number][place]))


def offsets(_, place):
    return f"{5 * place}-{5 * place + 3}"


def dotted(number, place):
    return f"{number + 1}.{place + 1}"


def named(number, place):
    return f"s{number + 1}-t{place + 1}"


def document(number, _):
    return str(number)


def from_zero(_, place):
    return str(place)


def lemma(number, place):
    return WORDS[number][place].lower()


def sparse(_, place):
    return "A0" if place == 0 else "_"


def score(_, place):
    return f"0.9{place}"


OUT, BLANK, DASH = fixed("O"), fixed("_"), fixed("-")
PATH = fixed("bc/cctv/00/cctv_0000")
CONLL_04 = (document, TYPES, from_zero, OUT, SPEECH, WORDS, OUT, OUT, OUT)
PARSED = (
    PATH,
    fixed("0"),
    from_zero,
    WORDS,
    SPEECH,
    fixed("(NP*)"),
    DASH,
    DASH,
    DASH,
    fixed("A#1"),
)
BRACKETS = (["(PER*", "*)", "*", "*", "(LOC*", "*)", "*"], ["*", "*", "*"])
LAYOUTS = {  # columns, tags that are read, and the note; "" for none
    "CoNLL-04": (CONLL_04, TYPES, READ_AS.format(6, 2)),
    "CoNLL-2012 without its begin": ((*PARSED, BRACKETS, DASH), ENTITIES, ""),
    "CoNLL-2009": (
        (index, WORDS, lemma, lemma, SPEECH, SPEECH, BLANK, BLANK, index, index, BLANK, sparse),
        SPEECH,
        "column 5 was read",
    ),
    "CoNLL-X of eight columns": (
        (index, WORDS, lemma, SPEECH, SPEECH, BLANK, start, BLANK),
        SPEECH,
        "column 4 was read",
    ),
    "TreeTagger": ((WORDS, SPEECH, lemma), SPEECH, FIRST.format(2, "tags")),
    "LitBank": ((WORDS, ENTITIES, OUT, OUT, OUT), ENTITIES, FIRST.format(2, "entities")),
    "CCG tagger": (
        (ENTITIES, fixed("0"), from_zero, OUT, SPEECH, WORDS, fixed("x"), fixed("x"), fixed("0")),
        ENTITIES,
        READ_AS.format(6, 1),
    ),
    "Stanford NER, offsets": ((WORDS, ENTITIES, start, end), ENTITIES, FIRST.format(2, "entities")),
    "TimeBank": (
        (fixed("wsj_0.tml"), document, from_zero, WORDS, ENTITIES),
        ENTITIES,
        READ_AS.format(4, 5),
    ),
    "id, offsets, word, tag": (
        (index, start, end, WORDS, ENTITIES),
        ENTITIES,
        READ_AS.format(4, 5),
    ),
    "offsets, word, tag": ((start, end, WORDS, ENTITIES), ENTITIES, READ_AS.format(3, 4)),
    "a score behind the tag": ((WORDS, SPEECH, score), SPEECH, FIRST.format(2, "tags")),
    "a sentence id behind the tag": (
        (index, WORDS, lemma, SPEECH, fixed("ewtb.r.1")),
        SPEECH,
        FIRST.format(4, "tags"),
    ),
    "blanks behind the tag": ((WORDS, SPEECH, BLANK), SPEECH, FIRST.format(2, "tags")),
    "tag, tag, word": ((ENTITIES, SPEECH, WORDS), ENTITIES, READ_AS.format(3, 1)),
    "number, tag, word, tag": ((index, SPEECH, WORDS, ENTITIES), ENTITIES, READ_AS.format(3, 4)),
    "tag, word": ((SPEECH, WORDS), SPEECH, READ_AS.format(2, 1)),
    "document, number, word, tag": (
        (fixed("doc1"), from_zero, WORDS, ENTITIES),
        ENTITIES,
        READ_AS.format(3, 4),
    ),
    "word, tag": ((WORDS, ENTITIES), ENTITIES, ""),
    "word, tag, chunk": ((WORDS, SPEECH, ENTITIES), ENTITIES, ""),
    "number, word, tag": ((index, WORDS, ENTITIES), ENTITIES, ""),
} | {
    f"{ids.__name__}, word, tag": ((ids, WORDS, ENTITIES), ENTITIES, READ_AS.format(2, 3))
    for ids in (far_index, offsets, dotted, named)
} | {
    f"{value}, word, tag": ((fixed(value), WORDS, ENTITIES), ENTITIES, READ_AS.format(2, 3))
    for value in ("_", "-", "news", "17")
}  # fmt: skip


@pytest.mark.parametrize("case", LAYOUTS.values(), ids=LAYOUTS)
def test_words_and_tags_are_found_in_unusual_columns(case):
    columns, tags, note = case
    said = []
    sentences = parse_sentences(text(*columns), name="file", told=said.append)
    assert [list(each.tokens) for each in sentences] == list(WORDS)
    assert [list(each.tags) for each in sentences] == list(tags)
    assert [note in message for message in said] == [True] * bool(note)
    imported = read_items(text(*columns).encode(), "file")
    assert [list(item.tokens) for item in imported.items] == list(WORDS)
    assert bool(imported.problems) is bool(note)


def test_rows_between_blanks_are_read_like_rows_between_tabs():
    said = []
    content = text(fixed("news"), WORDS, SPEECH, ENTITIES, separator=" ")
    sentences = parse_sentences(content, name="file", told=said.append)
    assert [list(each.tokens) for each in sentences] == list(WORDS)
    assert READ_AS.format(2, 4) in said[0]
    for plain in ("I am here .\nI am there .\nI was gone .\n", "1 dog\n2 cats\n3 cows\n"):
        assert read_items(plain.encode(), "file").format == "text"


def test_relations_of_conll_04_are_left_out_with_a_note():
    relation = "0\t4\tLive_In\n\n"
    head, tail = text(*CONLL_04).rstrip("\n").split("\n\n")
    said = []
    content = f"{head}\n\n{relation}{tail}\n\n\n"
    sentences = parse_sentences(content, name="file", told=said.append)
    assert [list(each.tokens) for each in sentences] == list(WORDS)
    assert len(said) == 1
    assert "relations were left out" in said[0]
    assert [list(item.tokens) for item in read_items(content.encode(), "f").items] == list(WORDS)


PUBTATOR = "227508|t|Naloxone reverses.\n227508|a|In rats.\n227508\t0\t8\tNaloxone\tChemical\tD1\n"
REJECTED = {
    "PubTator": (PUBTATOR, "seems to be PubTator"),
    "PubTator without texts": (
        "7\t0\t8\tNaloxone\tChemical\tD009\n7\t49\t53\trats\tSpecies\tD003\n",
        "seems to be PubTator",
    ),
    "CRF++ -v1": (
        text(WORDS, SPEECH, lambda n, t: f"{ENTITIES[n][t]}/0.9{t}"),
        "output of CRF.. with probabilities; run crf_test without -v",
    ),
    "words without tags": (
        text(fixed("wsj_0026"), fixed("0"), from_zero, WORDS),
        "no column shows tags; found 1: 'wsj_0026', 2: '0', 3: '0', 4: 'Anna'; name them with",
    ),
    "vectors": (text(WORDS, score, score), "no column shows tags"),
    "counts of words": (
        "".join(f"{word}\t{7 * n}\n" for n, word in enumerate(WORDS[0])),
        "column 2 has numbers, not tags",
    ),
    "classes of texts": (
        "1\tI love it\n0\tI hate it\n1\tso good\n",
        "column 2 has texts, not tags",
    ),
    "tag, word, tag": (text(ENTITIES, WORDS, SPEECH), "several columns may have the tags"),
    "nested entities": (
        text(WORDS, ENTITIES, (["O", "B-DIS", "O", "O", "O", "B-CITY", "O"], ["O"] * 3)),
        "several columns may have the tags",
    ),
    "lemmas": (text(WORDS, lemma), "column 2 seems to have words or lemmas"),
    "attributes": (
        text(ENTITIES, lambda n, t: f"w[0]={WORDS[n][t]}", fixed("cap")),
        "column 2 has attributes .CRFsuite.",
    ),
    "tags of two kinds": ("a\tB-PER\nb\t0\n", "such as 'B-PER' or O, got '0'"),
    "numbered words": (text(index, WORDS), "no column shows words"),
}


@pytest.mark.parametrize("case", REJECTED.values(), ids=REJECTED)
def test_columns_without_words_or_tags_are_rejected_in_one_line(case):
    content, message = case
    with pytest.raises(FormatError, match=message) as refused:
        parse_sentences(content, name="file")
    assert str(refused.value).startswith("file")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "columns",
    [(from_zero, ENTITIES), (SPEECH, ENTITIES), (fixed("x"), ENTITIES), (SPEECH, SPEECH, ENTITIES)],
)
def test_columns_without_words_are_a_question(columns):
    with pytest.raises(FormatError, match="no column shows words; found 1: "):
        parse_sentences(text(*columns), name="file")


@pytest.mark.parametrize(
    "content",
    [
        "2\tHOT\n3\tHOT\n1\tCOLD\n",
        "".join(
            f"{letter}\t{state}\n" for letter, state in zip("ACGTACGT", "IIBBIIBB", strict=True)
        ),
        "".join(f"word{n}\tX\n" for n in range(9)),
        "ha\tUH\n" * 3,
        text(
            WORDS, SPEECH, (["B-NP", "I-NP", "B-VP", "B-PP", "B-NP", "I-NP", "O"], ["O"] * 3), OUT
        ),
        text(WORDS, BLANK),
    ],
)
def test_words_in_the_first_column_are_read_without_a_note(content):
    said = []
    sentences = parse_sentences(content, name="file", told=said.append)
    first = [line.split("\t")[0] for line in content.splitlines() if line]
    assert [word for each in sentences for word in each.tokens] == first
    assert not said


def test_header_and_chosen_column_decide_before_the_values():
    said = []
    columns = (fixed("doc"), WORDS, ENTITIES, SPEECH)
    content = "word\tx\tner\tpos\n" + text(*columns)
    (first, _) = parse_sentences(content, name="file", told=said.append)
    assert (set(first.tokens), list(first.tags)) == ({"doc"}, ENTITIES[0])
    assert not said
    (first, _) = parse_sentences(text(*columns), name="file", column=4, told=said.append)
    assert (list(first.tokens), list(first.tags)) == (WORDS[0], SPEECH[0])
    assert "column 2 was read as the words" in said[0]


def test_repeated_sentences_after_their_tags_are_words():
    rows = ("O\t0\tIN\tIn", "Peop\t1\tNNP\tHayes", "O\t2\tVBD\twas", "Loc\t3\tNNP\tOhio")
    block = "".join(f"0\t{row}\tO\n" for row in rows)
    with pytest.warns(LossWarning, match="column 5 was read as the words"):
        read = parse_sentences(f"{block}\n" * 3)
    assert {each.tokens for each in read} == {("In", "Hayes", "was", "Ohio")}
    assert {each.tags for each in read} == {("O", "Peop", "O", "Loc")}
