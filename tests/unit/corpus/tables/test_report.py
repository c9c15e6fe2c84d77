import json
import math

import pytest
from seqeval.metrics import f1_score
from seqeval.scheme import IOBES

from crfviz.corpus.counts.exact import expected_error
from crfviz.corpus.counts.run_counts import count_run
from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.accuracy import DECODERS, decoder_scores
from crfviz.corpus.tables.card import BEGIN, END, read_evaluations, record_evaluation
from crfviz.corpus.tables.report import as_markdown, as_record, as_text, tables_of
from crfviz.exceptions import CrfvizError, FormatError, ModelError, NoPathError, UnknownTagError
from crfviz.text.sentences import Sentence
from crfviz.views.frames.errors import error_frame
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger

# "a" alone looks like Y, and only the way from X to Y pays for it: the decoders disagree
LETTERS = FakeTagger(
    ["X", "Y", "Z"],
    {"a": {"Y": 1.0}, "b": {"Y": 0.6, "Z": 0.5}, "c": {"Z": 1.0}},
    {("X", "Y"): 2.0, ("X", "Z"): 1.0, ("Y", "Z"): 0.5, ("Z", "Z"): -1.0},
)
LETTER_SENTENCES = [
    Sentence(("a", "b"), ("X", "Y")),
    Sentence(("a", "b", "c"), ("X", "Y", "Z")),
    Sentence(("c",), ("Z",)),
    Sentence(("b", "b", "a"), ("Z", "Z", "Z")),
]

# "Jr" looks like I-PER wherever it stands: greedy breaks BIO, Viterbi may not
PEOPLE = FakeTagger(
    ["O", "B-PER", "I-PER"],
    {"Ann": {"B-PER": 2.0}, "Jr": {"I-PER": 2.0, "B-PER": 1.0}, "runs": {"O": 2.0}},
    scheme="BIO",
)
PEOPLE_SENTENCES = [
    Sentence(("Ann", "Jr", "runs"), ("B-PER", "I-PER", "O")),
    Sentence(("Jr", "runs"), ("B-PER", "O")),
    Sentence(("runs", "runs"), ("O", "O")),
]


def evaluate(tagger, sentences):
    """The scores of each decoder."""
    results = run(tagger, sentences)
    tally = count_run(results)
    return {name: decoder_scores(tally, name) for name in DECODERS}


def independent(chain):
    return [row.index(max(row)) for row in chain.emissions.tolist()]


def left_to_right(chain):
    e, w, s, f = (x.tolist() for x in (chain.emissions, chain.transitions, chain.start, chain.end))
    path = []
    for t, row in enumerate(e):
        gain = [
            score + (w[path[-1]][k] if path else s[k]) + (f[k] if t == len(e) - 1 else 0)
            for k, score in enumerate(row)
        ]
        path.append(gain.index(max(gain)))
    return path


def max_marginal(chain):
    marginals = oracle.marginals(chain)
    tags = range(len(chain.end))
    return [
        max(tags, key=lambda k: marginals.get((t, k), 0.0)) for t in range(len(chain.emissions))
    ]


ORACLES = {
    "independent": independent,
    "left_to_right": left_to_right,
    "viterbi": lambda chain: oracle.allowed(chain)[0][0],
    "max_marginal": max_marginal,
}


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_is_scored_as_decoded_by_enumeration(decoder):
    right = whole = 0
    for sentence in LETTER_SENTENCES:
        path = ORACLES[decoder](LETTERS.potentials(sentence.tokens))
        agree = [LETTERS.tags[k] == tag for k, tag in zip(path, sentence.tags, strict=True)]
        right += sum(agree)
        whole += all(agree)
    scores = evaluate(LETTERS, LETTER_SENTENCES)[decoder]
    assert scores.accuracy.tokens.value == pytest.approx(right / 9, abs=1e-12)
    assert scores.accuracy.sentences.value == pytest.approx(whole / 4, abs=1e-12)
    assert scores.accuracy.tokens.low < right / 9 < scores.accuracy.tokens.high
    assert (scores.entities, scores.invalid_bio) == (None, None)
    assert scores.seconds >= 0


def test_decoders_of_the_example_disagree():
    values = {s.accuracy.tokens.value for s in evaluate(LETTERS, LETTER_SENTENCES).values()}
    assert len(values) > 1


def test_calibration_error_equals_enumeration():
    words, sentences = [], []
    for sentence in LETTER_SENTENCES:
        chain = LETTERS.potentials(sentence.tokens)
        gold = [LETTERS.tags.index(tag) for tag in sentence.tags]
        for t, k in enumerate(max_marginal(chain)):
            words.append((oracle.marginals(chain)[t, k], k == gold[t]))
        path = oracle.allowed(chain)[0][0]
        sentences.append((oracle.probability(chain, path), list(path) == gold))
    results = run(LETTERS, LETTER_SENTENCES)
    found = {name: expected_error(bins) for name, bins in count_run(results).bins.items()}
    assert found["words"] == pytest.approx(plain_calibration_error(words), abs=1e-9)
    assert found["sentences"] == pytest.approx(plain_calibration_error(sentences), abs=1e-9)
    record = as_record(results, "x")
    assert record["ece"] == pytest.approx(plain_calibration_error(words), abs=1e-6)
    assert record["sequence_ece"] == pytest.approx(plain_calibration_error(sentences), abs=1e-6)


def plain_calibration_error(pairs):
    bins = {}
    for probability, right in pairs:
        bins.setdefault(min(14, int(probability * 15)), []).append(right - probability)
    return sum(abs(math.fsum(gaps)) for gaps in bins.values()) / len(pairs)


def test_greedy_breaks_bio_and_viterbi_does_not():
    decoders = evaluate(PEOPLE, PEOPLE_SENTENCES)
    assert {name: scores.invalid_bio for name, scores in decoders.items()} == {
        "independent": 1,  # the sentence that begins with Jr
        "left_to_right": 1,  # on the scores as trained, which have no rules
        "viterbi": 0,
        "max_marginal": 0,
    }
    assert decoders["viterbi"].entities.f1.value == 1.0
    assert decoders["independent"].entities.recall.value == pytest.approx(1 / 2, abs=1e-12)


def test_batch_size_does_not_change_the_record(monkeypatch):
    whole = as_record(run(PEOPLE, PEOPLE_SENTENCES), "x")
    monkeypatch.setattr("crfviz.corpus.run.tagging.SENTENCES_AT_ONCE", 1)
    assert without_seconds(as_record(run(PEOPLE, PEOPLE_SENTENCES), "x")) == without_seconds(whole)


def test_run_stops_at_an_error_in_the_last_sentence(monkeypatch):
    monkeypatch.setattr("crfviz.corpus.run.tagging.SENTENCES_AT_ONCE", 1)
    last, done = PEOPLE_SENTENCES[-1].tokens, []
    score = PEOPLE.potentials_batch

    def scored(sentences, *, constrained=True):
        if last in sentences:
            raise CrfvizError("no scores for the last one")
        return score(sentences, constrained=constrained)

    monkeypatch.setattr(PEOPLE, "potentials_batch", scored)
    with pytest.raises(CrfvizError, match="the last one"):
        run(PEOPLE, PEOPLE_SENTENCES, lambda *progress: done.append(progress))
    assert len(done) == len(PEOPLE_SENTENCES) - 1


def without_seconds(value):
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if not k.endswith("seconds")}
    return value


WALLS = FakeTagger(["X", "Y"], {"a": {"X": -math.inf, "Y": -math.inf}})


@pytest.mark.parametrize(
    ("tagger", "sentences", "error", "message"),
    [
        (LETTERS, PEOPLE_SENTENCES[1:], UnknownTagError, r"knows \(X, Y, Z\), got B-PER, O"),
        (LETTERS, [LETTER_SENTENCES[0], Sentence(("a",))], FormatError, "none in sentence 2"),
        (LETTERS, [], FormatError, "at least one tagged sentence, got none"),
        (WALLS, [Sentence(("a",), ("X",))], NoPathError, "forbidden"),
    ],
    ids=["other tags", "no tags", "no sentences", "no path"],
)
def test_invalid_evaluation_input_is_rejected(tagger, sentences, error, message):
    with pytest.raises(error, match=message):
        run(tagger, sentences)


def figures(tagger, sentences, file="folder/file"):
    return as_record(run(tagger, sentences), file)


def test_record_has_the_documented_keys_and_is_plain_json():
    record = figures(LETTERS, LETTER_SENTENCES, "folder/file.conllu")
    assert json.loads(json.dumps(record)) == record
    assert (record["model"], record["file"]) == ("fake", "folder/file.conllu")
    assert (record["sentences"], record["tokens"]) == (4, 9)
    assert 0 <= record["ece"] <= 1
    assert 0 <= record["sequence_ece"] <= 1
    for name in ("independent", "left_to_right", "viterbi", "max_marginal"):
        scores = record[name]
        assert 0 <= scores["token_accuracy"] <= 1
        low, high = scores["sentence_accuracy_interval"]
        assert low <= scores["sentence_accuracy"] <= high
        assert scores["entity_f1"] is None
        assert scores["invalid_bio"] is None
        assert scores["seconds"] >= 0


def test_record_of_a_bio_tagger_has_entity_scores():
    viterbi = as_record(run(PEOPLE, PEOPLE_SENTENCES), "x")["viterbi"]
    assert viterbi["entity_f1"] == 1.0
    assert viterbi["entity_f1_by_type"] == {"PER": 1.0}
    assert viterbi["entity_f1_interval"][1] == 1.0
    assert viterbi["invalid_bio"] == 0


def test_bioes_entities_are_scored_as_by_seqeval():
    tags = ["O", "B-PER", "I-PER", "E-PER", "S-PER"]
    words = {"Ann": {"S-PER": 2.0, "B-PER": 1.0}, "Lee": {"E-PER": 2.0}, "runs": {"O": 2.0}}
    tagger = FakeTagger(tags, words, {("S-PER", "E-PER"): -3.0})
    gold = [
        Sentence(("Ann", "Lee", "runs"), ("B-PER", "E-PER", "O")),
        Sentence(("Ann", "runs"), ("S-PER", "O")),
        Sentence(("Lee", "runs"), ("S-PER", "O")),
    ]
    results = run(tagger, gold)
    record = as_record(results, "x")
    found = record["viterbi"]
    assert "sentences that break BIOES" in as_text(record)
    assert "breaks BIOES" in error_frame(tables_of(results)["decoders"])
    guess = [["B-PER", "E-PER", "O"], ["S-PER", "O"], ["E-PER", "O"]]
    expected = f1_score([list(s.tags) for s in gold], guess, mode="strict", scheme=IOBES)
    assert found["entity_f1"] == pytest.approx(expected)
    assert found["invalid_bio"] == 1
    assert found["entity_f1_by_type"] == {"PER": pytest.approx(expected)}


def test_printed_table_is_aligned():
    lines = as_text(as_record(run(LETTERS, LETTER_SENTENCES), "letters")).splitlines()
    assert lines[0] == "fake on letters: 4 sentences, 9 words"
    header, *rows = lines[2:7]
    assert [row.split("  ")[0] for row in rows] == [
        "independent",
        "greedy",
        "Viterbi",
        "max-marginal",
    ]
    at = header.index("sentence accuracy, %")
    assert all(row[at - 1] == " " and row[at] != " " for row in rows)
    assert any("Expected calibration error: " in line for line in lines)


def test_printed_table_of_a_bio_tagger_counts_bio_violations():
    text = as_text(as_record(run(PEOPLE, PEOPLE_SENTENCES), "people"))
    assert "sentences that break BIO" in text
    assert "Viterbi F1 by type: PER 100.0." in text
    assert "scores as trained" in text


def test_printed_table_without_bio_rules_has_entity_scores():
    brought = FakeTagger(PEOPLE.tags, PEOPLE.words)
    text = as_text(as_record(run(brought, PEOPLE_SENTENCES), "people"))
    assert "F1, %" in text
    assert "Viterbi F1 by type: PER" in text
    assert "rules of BIO" not in text


def test_figures_are_written_between_the_markers_of_the_card(tmp_path):
    card = tmp_path / "README.md"
    card.write_text(f"# Mine\n\nBefore.\n\n{BEGIN}\nformer\n{END}\n\nAfter.\n", encoding="utf-8")
    record = figures(LETTERS, LETTER_SENTENCES)
    record_evaluation(tmp_path, "letters", record)
    text = card.read_text(encoding="utf-8")
    assert text.startswith(f"# Mine\n\nBefore.\n\n{BEGIN}\n\nOn folder/file: 4 sentences")
    assert text.endswith(f"{END}\n\nAfter.\n")
    assert "former" not in text
    assert as_markdown(record) in text
    assert read_evaluations(tmp_path) == {"letters": record}


def test_figures_of_a_second_file_are_added_and_repeats_replaced(tmp_path):
    first = figures(LETTERS, LETTER_SENTENCES)
    second = figures(LETTERS, LETTER_SENTENCES[:2], "folder/other")
    record_evaluation(tmp_path, "one", first)
    record_evaluation(tmp_path, "two", second)
    once = (tmp_path / "README.md").read_text(encoding="utf-8")
    record_evaluation(tmp_path, "one", first)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == once
    assert read_evaluations(tmp_path) == {"one": first, "two": second}
    assert once.startswith(f"# {tmp_path.name}\n")
    assert (once.count(BEGIN), once.count(END)) == (1, 1)
    assert once.count("| Viterbi |") == 2


def test_card_without_markers_keeps_its_text(tmp_path):
    (tmp_path / "README.md").write_text("# Mine\n\nWords.\n", encoding="utf-8")
    record_evaluation(tmp_path, "one", figures(LETTERS, LETTER_SENTENCES))
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# Mine\n\nWords.\n\n{BEGIN}\n")


@pytest.mark.parametrize("card", [BEGIN, END, f"{END}\n{BEGIN}"])
def test_card_with_broken_markers_is_unchanged(tmp_path, card):
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    with pytest.raises(ModelError, match="expected the markers"):
        record_evaluation(tmp_path, "one", figures(LETTERS, LETTER_SENTENCES))
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == card
    assert not (tmp_path / "evaluation.json").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "must hold a JSON object, got list"),
        ('{"one": 1}', "'one' is no evaluation"),
        ('{"one": {"file": "x"}}', "'one' is no evaluation .*'viterbi'"),
    ],
)
def test_malformed_evaluation_file_is_named_in_the_error(tmp_path, content, message):
    (tmp_path / "evaluation.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=f"evaluation.json: {message}"):
        read_evaluations(tmp_path)


def test_folder_without_figures_has_no_evaluations(tmp_path):
    assert read_evaluations(tmp_path) == {}
