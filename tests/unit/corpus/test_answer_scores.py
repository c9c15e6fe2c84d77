"""Scores of answers, against seqeval, conlleval's rules written here, and counted examples."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval import metrics as seqeval
from seqeval import scheme as seqeval_schemes

import crfviz
from crfviz import CrfvizError, FormatError, ShapeError, score_answers
from crfviz.corpus.answer_scores import score_tags

PREFIXES = {"IOB1": "IB", "IOB2": "IB", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}
SHOWN = {  # sentences that tell the scheme of a side
    "IOB1": ["I-AA", "O", "I-BB", "O"] * 30,
    "IOB2": ["B-AA", "O", "B-BB", "O"] * 30,
    "IOE2": ["I-AA", "E-AA", "O", "E-BB"],
    "IOBES": ["B-AA", "E-AA", "S-BB"],
    "BILOU": ["B-AA", "L-AA", "U-BB"],
}
NAMES = {"IOB2": "BIO", "IOBES": "BIOES"}


def sides_of(prefixes):
    """Random tags of both sides, in sentences of the same lengths."""
    tag = st.sampled_from(["O", *(f"{p}-{kind}" for p in prefixes for kind in ("AA", "BB"))])
    sentence = st.lists(st.tuples(tag, tag), min_size=1, max_size=8)
    return st.lists(sentence, min_size=1, max_size=4).map(
        lambda pairs: tuple([[pair[side] for pair in row] for row in pairs] for side in (0, 1))
    )


def conlleval(gold, answers):
    """Counts of correct, answered and gold chunks by conlleval.pl's two tables, for I, B, E, O."""
    counts = {}
    for expected, guessed in zip(gold, answers, strict=True):
        found = []
        for tags in (expected, guessed):
            chunks, begun = set(), None
            before, old = "O", ""
            for t, tag in enumerate([*tags, "O"]):
                prefix, _, kind = tag.partition("-")
                pair = before + prefix
                other = kind != old
                if begun is not None and (
                    pair in ("BB", "BO", "IB", "IO", "EE", "EI", "EO") or (before != "O" and other)
                ):
                    chunks.add((old, begun, t))
                    begun = None
                if pair in ("BB", "IB", "OB", "OI", "EE", "EI", "OE") or (prefix != "O" and other):
                    begun = t
                before, old = prefix, kind
            found.append(chunks)
        for place, chunks in enumerate((found[0] & found[1], found[1], found[0])):
            for kind, *_ in chunks:
                counts.setdefault(kind, [0, 0, 0])[place] += 1
    return counts


def counted(scores):
    return {kind: [each.correct, each.answered, each.gold] for kind, each in scores.by_type.items()}


@pytest.mark.parametrize("scheme", PREFIXES)
@given(data=st.data())
def test_strict_scores_equal_seqeval(scheme, data):
    gold, answers = data.draw(sides_of(PREFIXES[scheme]))
    gold, answers = ([*side, SHOWN[scheme]] for side in (gold, answers))
    scores = score_answers(gold, answers, mode="strict")
    assert scores.scheme == (NAMES.get(scheme, scheme),) * 2
    options = {"mode": "strict", "scheme": getattr(seqeval_schemes, scheme), "zero_division": 0}
    for name in ("precision", "recall", "f1"):
        expected = getattr(seqeval, f"{name}_score")(gold, answers, **options)
        assert getattr(scores, name) == pytest.approx(expected, abs=1e-12)
    report = seqeval.classification_report(gold, answers, output_dict=True, **options)
    for kind, score in scores.by_type.items():
        row = report.get(kind, {"precision": 0, "recall": 0, "f1-score": 0, "support": 0})
        assert score.gold == row["support"]
        assert score.precision == pytest.approx(row["precision"], abs=1e-12)
        assert score.recall == pytest.approx(row["recall"], abs=1e-12)
        assert score.f1 == pytest.approx(row["f1-score"], abs=1e-12)
    assert scores.accuracy == pytest.approx(seqeval.accuracy_score(gold, answers), abs=1e-12)


@given(sides_of("IB"))
def test_conlleval_scores_equal_its_rules(sides):
    gold, answers = sides
    scores = score_tags(gold, answers, "conlleval")
    assert counted(scores) == conlleval(gold, answers)


@pytest.mark.parametrize("prefixes", ["IB", "BIES"])
@given(data=st.data())
def test_conlleval_scores_equal_seqeval_by_default(prefixes, data):
    gold, answers = data.draw(sides_of(prefixes))
    scores = score_answers(gold, answers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [
            score(gold, answers, zero_division=0)
            for score in (seqeval.precision_score, seqeval.recall_score, seqeval.f1_score)
        ]
    assert [scores.precision, scores.recall, scores.f1] == pytest.approx(expected, abs=1e-12)


@given(sides_of("BILU"))
def test_bilou_is_scored_as_the_same_tags_in_bioes(sides):
    letters = str.maketrans("LU", "ES")
    other = [[[tag[:1].translate(letters) + tag[1:] for tag in s] for s in side] for side in sides]
    whole = [[*side, SHOWN["BILOU"]] for side in sides], [[*s, SHOWN["IOBES"]] for s in other]
    assert counted(score_answers(*whole[0])) == counted(score_answers(*whole[1]))


IOB1 = [["I-PER", "O", "I-LOC", "B-LOC", "O", "I-ORG"]]
STRAY = [["B-PER", "O", "I-LOC", "B-LOC", "O", "I-ORG"]]


def test_stray_begin_tag_in_iob1_answers_counts_by_conlleval_alone():
    lenient = score_answers(IOB1, STRAY)
    assert (lenient.f1, lenient.scheme) == (1.0, ("IOB1", "IOB1"))
    assert lenient.accuracy == pytest.approx(5 / 6)
    strict = score_answers(IOB1, STRAY, mode="strict")
    assert (strict.total.correct, strict.total.answered, strict.total.gold) == (3, 3, 4)
    assert strict.notes == ("The answers: 1 entity is ill-formed in IOB1; they do not count.",)


def test_inner_tags_alone_beside_bio_are_ill_formed():
    gold, answers = [["B-PER", "I-PER", "O", "B-LOC"]], [["I-PER", "I-PER", "O", "I-LOC"]]
    assert score_answers(gold, answers).f1 == 1.0
    strict = score_answers(gold, answers, mode="strict")
    assert strict.f1 == 0.0
    assert strict.scheme == ("BIO", "BIO")
    assert strict.notes[0] == "The answers look like IOB1 and are read as gold, which is BIO."


@pytest.mark.parametrize("mode", ["conlleval", "strict"])
@pytest.mark.parametrize(
    ("scheme", "answers"),
    [
        ("BIOES", ["B-PER", "E-PER", "O", "S-LOC", "S-LOC"]),
        ("BILOU", ["B-PER", "L-PER", "O", "U-LOC", "U-LOC"]),
    ],
)
def test_answers_in_another_scheme_are_read_by_their_own(mode, scheme, answers):
    scores = score_answers([["B-PER", "I-PER", "O", "B-LOC", "B-LOC"]], [answers], mode=mode)
    assert (scores.f1, scores.accuracy) == (1.0, 1.0)
    assert scores.scheme == ("BIO", scheme)
    assert scores.notes[0] == f"Gold is BIO, and the answers are {scheme}: each is read by its own."


def test_unclosed_entity_of_bioes_does_not_count_strictly():
    gold, answers = [["B-PER", "E-PER", "S-LOC"]], [["B-PER", "I-PER", "S-LOC"]]
    assert score_answers(gold, answers).f1 == 1.0
    assert score_answers(gold, answers, mode="strict").f1 == pytest.approx(2 / 3)


def test_types_without_prefixes_are_runs():
    gold = [["B-PER", "I-PER", "O", "B-LOC"]]
    scores = score_answers(gold, [["PER", "PER", "O", "LOC"]])
    assert (scores.f1, scores.scheme) == (1.0, ("BIO", "IO"))
    assert score_answers(gold, [["PER", "PER", "O", "LOC"]], mode="strict").f1 == 0.0


def test_bare_prefixes_have_one_type():
    scores = score_answers([["B", "I", "O", "B"]], [["B", "I", "O", "O"]])
    assert counted(scores) == {"_": [1, 1, 2]}


def test_parts_of_speech_count_word_by_word():
    scores = score_answers([["NOUN", "VERB", "NOUN"]], [["NOUN", "NOUN", "NOUN"]])
    assert scores.scheme == (None, None)
    assert scores.f1 == scores.precision == scores.recall == scores.accuracy == pytest.approx(2 / 3)
    assert counted(scores) == {"NOUN": [2, 3, 2], "VERB": [0, 0, 1]}
    assert scores.notes == ("The tags have no scheme of entities: each word counts.",)


def test_without_entities_the_scores_are_zero_and_all_words_right():
    scores = score_answers([["O", "O"]], [["O", "O"]])
    assert (scores.f1, scores.accuracy, scores.by_type) == (0.0, 1.0, {})


@pytest.mark.parametrize(
    ("gold", "answers", "said"),
    [
        ([["O"]], [["O"], ["O"]], "expected 1 sentences as in gold, got 2"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], "sentence 2: expected 2 tags as in gold, got 1"),
        ([], [], "expected tagged sentences, got none"),
        ([["O"]], None, "expected answers: the tags of each sentence, or a file"),
        (["B-PER", "O"], [["O", "O"]], "gold: expected a list of tags for each sentence"),
    ],
)
def test_sides_that_do_not_fit_are_refused(gold, answers, said):
    with pytest.raises((FormatError, ShapeError), match=said) as error:
        score_answers(gold, answers)
    assert "\n" not in str(error.value)


def test_unknown_mode_is_refused():
    with pytest.raises(CrfvizError, match="one of the modes conlleval, strict, got 'lenient'"):
        score_answers([["O"]], [["O"]], mode="lenient")


GOLD = "Nora\tI-PER\nVik\tI-PER\nsails\tO\n\nOslo\tI-LOC\nwaits\tO\n"
ANSWERS = "Nora\tB-PER\nVik\tI-PER\nsails\tO\n\nOslo\tI-LOC\nwaits\tO\n"


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def both(gold, answers):
    """Rows of words, gold and answers from two files."""
    pairs = zip(gold.split("\n"), answers.split("\n"), strict=True)
    return "\n".join(f"{one}\t{other.split(chr(9))[1]}" if one else "" for one, other in pairs)


@pytest.mark.parametrize(("mode", "f1"), [("conlleval", 1.0), ("strict", 1.0)])
def test_files_are_scored_as_they_are_written(tmp_path, mode, f1):
    files = write(tmp_path, "gold.tsv", GOLD), write(tmp_path, "answers.tsv", ANSWERS)
    one = write(tmp_path, "both.tsv", both(GOLD, ANSWERS))
    scores = score_answers(*files, mode=mode)
    assert scores.scheme[0] == "IOB1"
    assert score_answers(one, mode=mode) == scores
    assert score_answers(*map(str, files), mode=mode).f1 == scores.f1
    expected = [
        [["I-PER", "I-PER", "O"], ["I-LOC", "O"]],
        [["B-PER", "I-PER", "O"], ["I-LOC", "O"]],
    ]
    assert score_answers(*expected, mode=mode) == scores
    assert (scores.f1 == f1) == (mode == "conlleval")


def test_bioes_answers_beside_bio_gold_in_one_file(tmp_path):
    rows = "Nora\tB-PER\tB-PER\nVik\tI-PER\tE-PER\nsails\tO\tO\nto\tO\tO\nOslo\tB-LOC\tS-LOC\n"
    path = write(tmp_path, "both.tsv", rows)
    for mode in ("conlleval", "strict"):
        scores = score_answers(path, mode=mode)
        assert (scores.f1, scores.scheme) == (1.0, ("BIO", "BIOES"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ANSWERS.replace("Oslo", "Rome"), "sentence 2: 'Rome waits' where gold has 'Oslo waits'"),
        (ANSWERS.replace("\nwaits\tO", ""), "sentence 2: 'Oslo' where gold has 'Oslo waits'"),
        (ANSWERS.split("\n\n")[0] + "\n", "expected 2 sentences as in gold, got 1"),
    ],
)
def test_files_with_other_words_are_refused_with_the_place(tmp_path, text, said):
    files = write(tmp_path, "gold.tsv", GOLD), write(tmp_path, "answers.tsv", text)
    with pytest.raises(FormatError, match=said) as error:
        score_answers(*files)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("words.tsv", GOLD, "expected gold tags and answers in the last two columns"),
        ("a.jsonl", '{"tokens": ["Oslo"], "tags": ["B-LOC"]}\n', "expected columns.* got jsonl"),
        ("c.tsv", "Oslo\tNNP\tB-NP\tB-LOC\nwaits\tVBZ\tB-VP\tO\n", "in the last two columns, got"),
    ],
)
def test_file_without_answers_is_refused(tmp_path, name, text, said):
    with pytest.raises(FormatError, match=said) as error:
        score_answers(write(tmp_path, name, text))
    assert "\n" not in str(error.value)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(FormatError, match="expected a file to read, got: No such file"):
        score_answers(tmp_path / "none.tsv", [["O"]])


def test_text_has_per_cent_and_notes():
    text = str(score_answers(IOB1, STRAY, mode="strict"))
    assert text.splitlines()[0] == (
        "strict: accuracy 83.33 %; precision 100.00 %, recall 75.00 %, F1 85.71 % (3 of 3 and 4)"
    )
    assert text.splitlines()[-1].startswith("The answers: 1 entity is ill-formed")
    assert "score_answers" in crfviz.__all__


@pytest.mark.parametrize("spelled", ["{1}-{0}", "{1}_{0}", "{0}_{1}", "{2}-{1}"])
@pytest.mark.parametrize("mode", ["conlleval", "strict"])
def test_spellings_of_prefixes_are_no_types(spelled, mode):
    answers = [["B-PER", "I-PER", "O"], ["B-LOC", "O"]]
    gold = [
        [t if t == "O" else spelled.format(*t.split("-"), t[0].lower()) for t in tags]
        for tags in answers
    ]
    scores = score_answers(gold, answers, mode)
    assert (scores.f1, scores.accuracy, [*scores.by_type]) == (1, 1, ["LOC", "PER"])
    assert [note[:19] for note in scores.notes] == ["Gold: tags such as "]


def test_answers_before_gold_are_refused(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("token\tpred\tgold\nUno\tO\tB-PER\nnaps\tO\tO\n")
    with pytest.raises(FormatError, match="gold tags before the answers, got the columns pred and"):
        score_answers(path)
