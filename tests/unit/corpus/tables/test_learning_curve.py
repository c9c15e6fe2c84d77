"""Learning curves: points, the expected gain with its interval, and the command."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import crfviz
from crfviz.__main__ import main
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.files.roles import with_role
from crfviz.annotations.store.store import open_store
from crfviz.corpus.tables import learning_curve as module
from crfviz.exceptions import CrfvizError, FormatError

PLACES, PEOPLE = ["Bergen", "Oslo", "Kiel", "Bonn"], ["Anna", "Ben", "Cleo", "Dora"]


def labels(number, seed=0):
    dice = random.Random(seed)
    rows = []
    for n in range(number):
        who, where = dice.choice(PEOPLE), dice.choice(PLACES)
        rows.append(([who, "saw", where, f"w{n}"], ["B-PER", "O", "B-LOC", "O"]))
    return rows


def in_bioes(number):
    return [
        (words, [tag.replace("B-", "S-") for tag in tags]) for words, tags in labels(number)
    ] + [(["New", "Bergen"], ["B-LOC", "E-LOC"])]


@pytest.fixture(scope="module")
def curve():
    return crfviz.learning_curve(labels(40))


@pytest.fixture
def few_sizes(monkeypatch):
    """Two sizes instead of five: two fifths of the fits."""
    monkeypatch.setattr(module, "SHARES", (0.5, 1.0))


def test_curve_has_five_ascending_sizes_with_intervals(curve):
    sizes = [point.sentences for point in curve.points]
    assert sizes == [6, 13, 19, 26, 32]
    for point in curve.points:
        low, high = point.interval
        assert 0 <= low <= point.score <= high <= 1
    assert curve.points[-1].score > 0.9  # the words tell all
    assert curve.next.sentences == 50
    low, high = curve.next.interval
    assert low <= curve.next.gain <= high
    assert curve.metric == "entity F1"


def test_interval_grows_by_how_far_scores_lie_from_their_lines(monkeypatch):
    """Errors of the slopes by the sandwich formula in matrices, HC1."""
    dice = random.Random(0)
    rows = [[f"w{dice.randrange(30)}" for _ in range(4)] for _ in range(40)]  # learnt one by one
    tags = {f"w{n}": dice.choice("NV") for n in range(30)}
    gold = [(row, [tags[word] for word in row]) for row in rows]
    curve = crfviz.learning_curve(gold)
    n, scores = np.array([[p.sentences, p.score] for p in curve.points]).T
    variances = []
    for line in (np.log, np.sqrt):
        design = np.stack([np.ones(len(n)), line(n)], axis=1)
        bread = np.linalg.inv(design.T @ (n[:, None] * design))
        left = scores - design @ bread @ design.T @ (n * scores)
        meat = design.T @ (((n * left) ** 2)[:, None] * design)
        reach = line(90) - line(40)
        variances.append((bread @ meat @ bread)[1, 1] * len(n) / (len(n) - 2) * reach**2)
    monkeypatch.setattr(module, "_scatter", lambda *_: 0.0)
    without = crfviz.learning_curve(gold)
    grown = half(curve) ** 2 - half(without) ** 2
    assert grown == pytest.approx(1.96**2 * np.mean(variances), rel=1e-3)
    assert grown > 0.004


def half(curve):
    low, high = curve.next.interval
    return (high - low) / 2


def test_fields_are_readable_by_name_as_in_the_json(curve):
    fields = json.loads(json.dumps(curve.as_fields()))
    assert fields["points"][0]["sentences"] == curve["points"][0]["sentences"] == 6
    assert fields["next"]["gain"] == curve["next"]["gain"] == curve.next.gain
    assert len(fields["next"]["interval"]) == 2
    with pytest.raises(KeyError):
        curve["nothing"]


def test_slope_is_that_of_weighted_least_squares():
    sizes = np.array([10.0, 20.0, 40.0, 55.0])
    scores = np.array([[0.1, 0.3, 0.35, 0.5], [0.2, 0.1, 0.4, 0.4]])
    for curve in module.CURVES:
        x = curve(sizes)[:, None]
        for row, slope in zip(scores, module._slope(curve(sizes), sizes, scores), strict=True):
            expected = LinearRegression().fit(x, row, sizes).coef_[0]
            assert slope == pytest.approx(expected, abs=1e-12)


def test_weakest_tag_and_word_accuracy_without_entities():
    rows = [(tokens, ["N", "V", "N", "X"]) for tokens, _ in labels(30)]
    odd = [(t, ["N", "W", "N", "X"] if n % 3 == 0 else g) for n, (t, g) in enumerate(rows)]
    curve = crfviz.learning_curve(odd)
    assert curve.metric == "word accuracy"
    assert curve.weakest.tag == "W"  # of the same word as V, and rarer
    assert curve.weakest.gold == 10


@pytest.mark.parametrize(
    ("gain", "interval", "go_on", "said"),
    [
        (0.001, (-0.002, 0.004), False, "Stop: the next 50 sentences are expected to bring 0.1"),
        (0.001, (-0.01, 0.012), None, "Cannot tell yet: the next 50 sentences may bring 0.1"),
        (0.02, (-0.001, 0.041), None, "Cannot tell yet: the next 50 sentences may bring 2.0"),
        (0.0, (0.0, module.WORTH), None, "Cannot tell yet: "),
        (-0.02, (-0.03, -0.01), False, "Stop: "),
        (0.02, (0.001, 0.039), True, "Go on: the next 50 sentences should bring 2.0 points (0.1"),
    ],
)
def test_verdict_is_open_where_the_interval_holds_both(gain, interval, go_on, said):
    following = module.NextGain(50, gain, interval)
    assert module._go_on(following) is go_on
    assert module._verdict(following, None).startswith(said)


def test_verdict_of_a_curve_is_that_of_its_interval(curve):
    assert curve.go_on is module._go_on(curve.next)
    assert curve.verdict == module._verdict(curve.next, curve.weakest)


@pytest.mark.usefixtures("few_sizes")
def test_progress_reaches_one_and_its_exception_ends_the_run():
    shares = []
    crfviz.learning_curve(labels(20), report=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    def stop(_share):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        crfviz.learning_curve(labels(20), report=stop)


@pytest.mark.parametrize(
    ("gold", "error", "message"),
    [
        (labels(19), CrfvizError, "at least 20 different sentences"),
        ([(["a", str(n)], ["O", "O"]) for n in range(30)], CrfvizError, "two different tags"),
        ([crfviz.Sentence(("a",))] * 30, FormatError, "sentence 1: expected gold tags"),
        (
            [*labels(20), (["a", "b"], ["O", "_"])],
            FormatError,
            "sentence 21: expected a tag for 'b'",
        ),
        (
            [*in_bioes(20), (["a"], ["E-PER"])],
            FormatError,
            "sentence 22: expected entities in BIOES",
        ),
        (None, CrfvizError, "expected a file or sentences, got None"),
    ],
    ids=["few", "one tag", "untagged", "untagged word", "no entity", "none"],
)
def test_too_little_is_refused(gold, error, message):
    with pytest.raises(error, match=message):
        crfviz.learning_curve(gold)


@pytest.mark.usefixtures("few_sizes")
def test_command_takes_a_file_or_a_document(tmp_path, capsys):
    file = tmp_path / "towns.conll"
    file.write_text(
        "\n\n".join(
            "\n".join(f"{w}\t{t}" for w, t in zip(*row, strict=True)) for row in labels(25)
        ),
        "utf-8",
    )
    url = f"sqlite:///{tmp_path}/a.db"
    base = ["annotations", "enough", "--database", url]
    assert main([*base, str(file), "--json"]) == 0
    from_file = json.loads(capsys.readouterr().out)
    assert from_file["sentences"] == 25
    with open_store(url) as store:
        keep(store, with_role(read_items(file.read_bytes(), "towns"), "work", "anna"))
    assert main([*base, "towns", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == from_file
    assert main([*base, "towns"]) == 0
    assert from_file["verdict"] in capsys.readouterr().out
    assert main([*base, "nothing"]) != 0
    assert "the document: expected a known value" in capsys.readouterr().err


def test_names_with_two_types_are_listed_with_their_sentences():
    rows = [
        (["New", "York", "won"], ["B-ORG", "I-ORG", "O"]),
        (["in", "New", "York"], ["O", "B-LOC", "I-LOC"]),
        (["new", "York"], ["O", "B-PER"]),
        (["New", "York"], ["B-LOC", "I-LOC"]),
        (["Bonn"], ["B-LOC"]),
    ]
    (found,) = crfviz.inconsistent_names(rows)
    assert (found.name, dict(found.types)) == ("New York", {"LOC": (1, 3), "ORG": (0,)})
    assert crfviz.inconsistent_names([(["a", "a"], ["N", "V"])]) == []
    both = [replace(crfviz.Sentence(("A",)), tags=(tag,)) for tag in ("S-LOC", "B-PER", "S-PER")]
    assert dict(crfviz.inconsistent_names(both)[0].types) == {"LOC": (0,), "PER": (2,)}


def test_interval_without_errors_is_that_of_the_next_sentences():
    words = {"0": "dogs", "1": "bark"}
    rows = [[words[bit] for bit in f"{n:06b}"] for n in range(40)]  # all different
    tags = {"dogs": "NOUN", "bark": "VERB"}
    curve = crfviz.learning_curve([(row, [tags[word] for word in row]) for row in rows])
    assert {point.score for point in curve.points} == {1.0}
    total = 6 * 40
    right = (total + 2) / (total + 4)
    half = 1.96 * np.sqrt(right * (1 - right) / total * 50 / 40)
    assert curve.next.gain == pytest.approx(0, abs=1e-12)
    assert curve.next.interval == pytest.approx((-half, 0), rel=1e-3)


def test_gain_and_interval_stay_within_what_is_left_of_the_score():
    sizes, values = np.array([10.0, 20.0, 30.0, 40.0]), np.array([0.2, 0.6, 0.9, 0.95])
    noise = np.random.default_rng(0).normal(0, 0.1, (500, 4))
    rising = module._next(sizes, values, values + noise, 50, 90)
    assert (rising.gain, rising.interval[1]) == pytest.approx((0.05, 0.05))
    falling = module._next(sizes, 1 - values, 1 - values + noise, 50, 90)
    assert (falling.gain, falling.interval[0]) == pytest.approx((-0.05, -0.05))


@pytest.mark.usefixtures("few_sizes")
def test_entities_of_bioes_are_scored_as_those_of_bio():
    rows = [
        (words, [tag.replace("S-", "B-").replace("E-", "I-") for tag in tags])
        for words, tags in in_bioes(20)
    ]
    expected, found = crfviz.learning_curve(rows), crfviz.learning_curve(in_bioes(20))
    assert found == expected
    assert found.metric == "entity F1"
