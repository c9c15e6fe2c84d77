"""Predictions of any tagger on the page Model errors: a file is a model without scores."""

from urllib.parse import parse_qs, urlsplit

import pytest

from crfviz.corpus.tables.report import OF_SCORES
from crfviz.exceptions import FormatError
from crfviz.taggers.answers import Answers
from crfviz.taggers.registry import load_tagger
from crfviz.text.readers.losses import LossWarning
from crfviz.ui.errors import files as sources
from crfviz.ui.errors.error_analysis import ExplorerLinks, analyse_sentences
from crfviz.ui.errors.questions import NEED_SCORES, TABS
from crfviz.views.figures.offline import html_report
from tests.support.app_pages import open_at, stage_of

SCRIPT = "pages/model-errors.py"
GOLD = ["B-PER I-PER O B-PER", "B-ORG O B-LOC I-LOC", "B-ORG O B-LOC I-LOC"]
GIVEN = ["B-PER I-PER O O", "B-PER O B-LOC O", "B-ORG O B-LOC I-LOC"]
WORDS = ["Anna Berg met Uno", "Shell left New York", "Shell left New York"]
ROWS = [
    list(zip(*(each.split() for each in block), strict=True))
    for block in zip(WORDS, GOLD, GIVEN, strict=True)
]


def columns(*wanted, rows=ROWS):
    blocks = ("\n".join("\t".join(word[i] for i in wanted) for word in block) for block in rows)
    return "\n\n".join([*blocks, ""]).encode()


def open_file(app, content, **params):
    digest = sources.read_upload("theirs.conll", content).digest
    app.query_params.update({"model": "ner-en", "v.corpus": "file", "v.file": digest, **params})
    return open_at(app, SCRIPT)


def headline(app):
    return next(each.value for each in app.markdown if "token accuracy" in each.value)


def entities(tags):
    """The entities of BIO tags without a fault."""
    found = []
    for t, tag in enumerate(tags):
        if tag.startswith("B-"):
            end = t + 1
            while end < len(tags) and tags[end] == f"I-{tag[2:]}":
                end += 1
            found.append((t, end, tag[2:]))
    return set(found)


def test_last_column_is_evaluated_against_the_one_before(app):
    open_file(app, columns(0, 1, 2))
    assert not app.exception
    assert not app.warning
    gold, given = ([[word[i] for word in block] for block in ROWS] for i in (1, 2))
    hits = sum(len(entities(a) & entities(b)) for a, b in zip(gold, given, strict=True))
    total = sum(len(entities(tags)) for tags in (*gold, *given))
    words = [a == b for one in zip(gold, given, strict=True) for a, b in zip(*one, strict=True)]
    said = headline(app)
    assert "predictions in theirs.conll" in said
    assert f"entity F1 **{200 * hits / total:.2f} %**" in said
    assert f"token accuracy **{100 * sum(words) / len(words):.2f} %**" in said
    assert "3 wrong words in 3 runs, in 2 sentences" in said


BOTH = "entity F1 **{} %** by conlleval’s rules and **{} %** strictly by the scheme"
OWN_RULES = {  # gold, answers, F1 by conlleval's rules and strictly, and a note
    "inner tags alone": ("B-PER I-PER O B-LOC", "I-PER I-PER O I-LOC", "100.00", "0.00", "IOB1"),
    "stray begin tag": ("I-PER I-PER O I-LOC", "B-PER I-PER O I-LOC", "100.00", "50.00", "IOB1"),
    "another scheme": ("B-PER I-PER O B-LOC", "B-PER E-PER O S-LOC", "100.00", "100.00", "BIOES"),
}


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("case", OWN_RULES)
def test_answers_have_the_figures_of_both_rules(app, case, files):
    gold, given, lenient, strict, note = OWN_RULES[case]
    rows = [list(zip(WORDS[0].split(), gold.split(), given.split(), strict=True))]
    if files == 1:
        open_file(app, columns(0, 1, 2, rows=rows))
    else:
        source = sources.read_upload("gold.conll", columns(0, 1, rows=rows))
        both = sources.with_answers(source, "out.conll", columns(0, 2, rows=rows))
        app.query_params.update({"model": "ner-en", "v.corpus": "file", "v.file": both.digest})
        open_at(app, SCRIPT)
    assert not app.exception
    assert BOTH.format(lenient, strict) in headline(app)
    assert any(note in each.value for each in app.caption)


@pytest.mark.parametrize("tab", TABS)
def test_tab_that_needs_scores_says_so(app, tab):
    open_file(app, columns(0, 1, 2), **{"v.tab": tab})
    assert not app.exception
    assert not app.error
    said = "".join(info.value for info in app.info)
    assert ("needs scores" in said) == (tab in NEED_SCORES)
    assert bool(app.dataframe) == (tab not in NEED_SCORES)


def test_errors_open_with_gold_and_predicted_tags(app):
    open_file(app, columns(0, 1, 2), **{"v.cell": "B-ORG B-PER"})
    listed = next(frame.value for frame in app.dataframe if "explore" in frame.value)
    (link,) = listed["explore"]
    params = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
    assert params["sentence"] == "Shell left New York"
    assert params["v.theirs"] == "0.B-PER,1.O,2.B-LOC,3.O"
    assert params["r"] == "0.B-ORG,1.O,2.B-LOC,3.I-LOC"
    assert not {"kind", "gap, nats", "p(gold)"} & set(listed)


def test_opened_error_of_another_tagger_is_what_the_explorer_speaks_of(app):
    link = {"model": "ner-en", "sentence": "Shell left New York", "v.at": "0 B-ORG"}
    theirs, gold = "0.B-PER,1.O,2.B-LOC,3.O", "0.B-ORG,1.O,2.B-LOC,3.I-LOC"
    app.query_params.update({**link, "v.theirs": theirs, "r": gold})
    note = stage_of(open_at(app, "pages/explore.py"))["note"]
    assert note.startswith("The other tagger says that word 1 “Shell” is B-PER, and B-ORG in gold.")


def test_repeated_sentence_keeps_its_own_predictions(app):
    open_file(app, columns(0, 1, 2), **{"v.tab": "Two models", "v.against": "ner-en"})
    listed = next(frame.value for frame in app.dataframe if "where" in frame.value)
    assert "Shell B-ORG B-PER/" in listed["where"].tolist()[1]
    assert not any("Shell B-ORG B-ORG" in where for where in listed["where"].tolist()[:2])


def test_model_can_be_evaluated_instead_of_predictions(app):
    open_file(app, columns(0, 1, 2), **{"v.judged": "model", "v.tab": "Why"})
    assert "**ner-en** on theirs.conll" in headline(app)
    assert app.dataframe


def test_predictions_in_a_second_file_are_evaluated(app):
    gold = sources.read_upload("gold.conll", columns(0, 1))
    both = sources.with_answers(gold, "out.conll", columns(0, 2))
    app.query_params.update({"model": "ner-en", "v.corpus": "file", "v.file": both.digest})
    open_at(app, SCRIPT)
    assert "**predictions in out.conll** on gold.conll" in headline(app)


def test_tags_of_a_second_file_are_mapped_only_for_links(app):
    def person(tag):
        return tag.replace("PER", "PERSON").replace("LOC", "GPE")

    renamed = [[(word, person(a), person(b)) for word, a, b in block] for block in ROWS]
    open_file(app, columns(0, 1, 2, rows=renamed), **{"v.cell": "B-ORG B-PERSON"})
    assert "entity F1" in headline(app)
    listed = next(frame.value for frame in app.dataframe if "explore" in frame.value)
    assert "v.theirs=0.B-PER%2C1.O%2C2.B-LOC%2C3.O" in listed["explore"].tolist()[0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ROWS[0], ROWS[2], ROWS[1][:3]], "sentence 3: 'Shell left New' where gold has"),
        (ROWS[:2], "expected 3 sentences as in gold, got 2"),
    ],
)
def test_predictions_for_other_words_are_rejected(rows, message):
    gold = sources.read_upload("gold.conll", columns(0, 1))
    with pytest.raises(FormatError, match="same words in the same order") as refused:
        sources.with_answers(gold, "out.conll", columns(0, 2, rows=rows))
    assert message in str(refused.value)


def test_extra_column_is_reported_as_left_out(tmp_path):
    from crfviz import read_sentences  # the door of the library

    path = tmp_path / "theirs.conll"
    path.write_bytes(columns(0, 1, 2))
    with pytest.warns(LossWarning, match="has a tagger's answers"):
        sentences = read_sentences(path)
    assert [list(s.tags) for s in sentences] == [[word[1] for word in block] for block in ROWS]


def test_report_of_predictions_omits_score_tables():
    source = sources.read_upload("theirs.conll", columns(0, 1, 2))
    tagger = Answers("theirs", source.sentences, source.answers)
    _, record, tables, _ = analyse_sentences(
        tagger,
        source.sentences,
        source.name,
        lambda *_: None,
        opener=ExplorerLinks(load_tagger("ner-en"), dict(enumerate(source.sentences))),
    )
    assert not {*tables} & {*OF_SCORES}
    assert {"tags", "confusion", "entity_kinds", "slices", "errors"} <= {*tables}
    written = html_report(record, tables)
    assert "as given" in written
    assert "calibration" not in written.casefold()
