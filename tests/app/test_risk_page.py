"""The page Risk, its part of Model errors and of Annotate, driven with AppTest."""

import json
import re
from itertools import pairwise, product
from urllib.parse import parse_qsl

import numpy as np
import pytest

import crfviz
from crfviz.chain.questions.costs import cost_matrix
from crfviz.corpus.tables.coverage import read_calibrations
from crfviz.taggers import plugins
from crfviz.taggers.registry import SHIPPED
from crfviz.ui import stage
from crfviz.ui.errors import risk
from crfviz.views.exports import bundle
from tests.app.test_library_pages import Random
from tests.support import node
from tests.support.app_pages import button, go_to, new_app, opened, stage_of

NAMES = {"model": "ner-en", "sentence": "Maria met Milan in Milan ."}
TAGS = {"model": "upos-en", "sentence": "These look fine to me ."}


def at(**params):
    return opened(new_app(), "pages/risk.py", **params)


def rows(app):
    return {row["id"]: row for row in stage_of(app)["rows"]}


def chain(params):
    tagger = crfviz.load_tagger(params["model"])
    return tagger.potentials(tagger.split(params["sentence"]))


def intervals(app):
    return [row["tags"] for name, row in rows(app).items() if name.startswith("interval")]


@pytest.mark.parametrize("costs", ["miss=0.1", "miss=8,false_alarm=0.25", "wrong_type=5"])
def test_dial_shows_the_path_of_least_cost_and_its_intervals(costs):
    wanted = {name: float(value) for name, value in (each.split("=") for each in costs.split(","))}
    app = at(**NAMES, **{"v.costs": costs, "v.dial": "miss"})
    assert rows(app)["least_cost"]["tags"] == crfviz.least_cost(chain(NAMES), wanted).path
    found = crfviz.cost_intervals(
        chain(NAMES), wanted, "miss", high=max(10, 2 * wanted.get("miss", 1))
    )
    assert intervals(app) == [each.path for each in found]
    assert stage_of(app)["contrast"] == "least_cost"


def test_cost_box_changes_the_link_and_can_be_undone():
    app = at(**NAMES)
    app.number_input(key="cost.miss").set_value(4.0).run()
    app.number_input(key="cost.cut").set_value(0.5).run()
    assert app.query_params["v.costs"] in (["miss=4,cut=0.5"], "miss=4,cut=0.5")
    wanted = {"miss": 4.0, "cut": 0.5}
    assert rows(app)["least_cost"]["tags"] == crfviz.least_cost(chain(NAMES), wanted).path
    button(app, "Undo").click().run()
    assert app.number_input(key="cost.cut").value == 1.0
    assert app.number_input(key="cost.miss").value == 4.0
    button(app, "Redo").click().run()
    assert app.number_input(key="cost.cut").value == 0.5


def test_costs_follow_to_another_page_and_back():
    app = at(**NAMES, **{"v.costs": "miss=4"})
    go_to(app, "pages/viterbi.py")
    go_to(app, "pages/risk.py")
    assert app.number_input(key="cost.miss").value == 4.0


def test_tags_without_entities_have_a_share_and_a_cell():
    app = at(**TAGS, **{"v.share": "1.0"})
    assert rows(app)["least_cost"]["tags"] == crfviz.max_marginal(chain(TAGS))
    app = at(**TAGS, **{"v.dial": "cell", "v.costs": "NOUN VERB 5;ADJ ADV 0", "v.twin": "1",
                        "v.true": "NOUN", "v.taken": "VERB"})  # fmt: skip
    table = app.dataframe[-1].value
    assert (table.loc["NOUN", "VERB"], table.loc["ADJ", "ADV"]) == (5.0, 0.0)
    assert (table.loc["ADJ", "ADJ"], table.loc["ADJ", "NOUN"]) == (0.0, 1.0)
    costs = table.to_numpy()
    assert rows(app)["least_cost"]["tags"] == crfviz.least_cost(chain(TAGS), costs).path
    found = crfviz.cost_intervals(chain(TAGS), costs, ("NOUN", "VERB"))
    assert intervals(app) == [each.path for each in found]


@pytest.mark.parametrize("costs", ["miss=x", "NOUN VERB -3", "%%", "miss=1e999", "miss=99999"])
@pytest.mark.parametrize("params", [NAMES, TAGS], ids=["names", "tags"])
def test_invalid_costs_of_a_link_are_ignored(params, costs):
    assert rows(at(**params, **{"v.costs": costs, "v.dial": "cell"}))["least_cost"]["tags"]


@pytest.mark.parametrize("level", [80, 90, 99])
def test_set_is_that_of_the_shipped_calibration(level):
    known = read_calibrations(SHIPPED / "upos-en")
    app = at(**TAGS, **{"v.risk": "set", "v.level": str(level)})
    expected = crfviz.path_set(chain(TAGS), known.at("sentences", level).threshold)
    data = stage_of(app)
    assert data["used"]["tags"] == expected.tags
    assert data["used"]["steps"] == [[list(step) for step in steps] for steps in expected.steps]
    number = "More than 50" if expected.num_paths is None else f"{expected.num_paths} path"
    assert data["note"].startswith(number)
    assert f"of 100 sentences like these, {level} sets hold the right one" in data["note"]
    assert (
        f"Calibrated on {known.file}: {known.at('sentences', level).sentences:,} sentences."
        in (data["note"])
    )
    shown = app.dataframe[0].value
    row = known.rows("sentences", level)["ud-english-ewt/test.conllu"]
    assert shown["covered, %"][0] == pytest.approx(100 * row["covered"], abs=0.005)
    said = f"Measured: {100 * row['covered']:.1f} % on ud-english-ewt/test.conllu."
    assert said in [each.value.replace("\\", "") for each in app.caption]


def test_set_of_words_holds_the_tags_above_the_threshold():
    known = read_calibrations(SHIPPED / "upos-en").at("words", 99)
    app = at(**TAGS, **{"v.risk": "set", "v.level": "99", "v.of": "words"})
    assert stage_of(app)["used"]["tags"] == known.sets(chain(TAGS)).tags


def test_page_says_that_the_rate_fails_on_tweets():
    app = at(**NAMES, **{"v.risk": "set", "v.level": "85"})
    captions = " ".join(each.value for each in app.caption)
    assert "On broad-twitter-corpus/test.conll, handles folded fewer than 85 % hold" in captions
    assert "On uner-english-ewt" not in captions
    assert "% instead of 85 % on broad-twitter-corpus/test.conll, handles folded." in captions
    assert "instead of 85 % on uner-english-ewt" not in captions


def test_edited_chain_is_not_promised_a_rate():
    app = at(**TAGS, t="NOUN.VERB:3", **{"v.risk": "set"})
    assert any("with them it is not promised" in each.value for each in app.caption)


def test_model_without_calibration_says_how_to_get_one():
    params = {"model": "textbook/ice-cream", "sentence": "2 3 3 1"}
    app = at(**params, **{"v.risk": "set", "v.within": "1.5"})
    assert "--calibrate dev.conllu --card" in app.info[0].value
    assert stage_of(app)["used"]["tags"] == crfviz.path_set(chain(params), 1.5).tags


def test_sentence_without_any_path_is_drawn():
    app = at(**TAGS, p="0.PRON", t="PRON.NOUN:-inf")
    assert rows(app)["viterbi"]


def test_model_errors_measures_curve_and_coverage():
    params = {"model": "ner-en", "v.tab": "What it costs", "v.dial": "false_alarm"}
    app = opened(new_app(), "pages/model-errors.py", **params, **{"v.costs": "miss=2"})
    frames = [frame.value for frame in app.dataframe]
    curve = next(frame for frame in frames if "value" in frame)
    sentences = crfviz.read_sentences(SHIPPED / "excerpts" / "btc-dev.conll")
    tagger = crfviz.load_tagger("ner-en")
    costs = {"miss": 2.0, "false_alarm": 1.0}
    expected = crfviz.evaluate(tagger, sentences, costs=costs).figures["least_cost"]
    here = curve[curve["value"] == 1.0]
    assert len(frames) >= 3
    assert here["recall, %"].iloc[0] == pytest.approx(100 * expected["entity_recall"], abs=1e-3)
    known = read_calibrations(SHIPPED / "ner-en").at("sentences", 90)
    share = crfviz.coverage(known, tagger, sentences).share
    by_length = next(frame for frame in frames if "length" in frame)
    assert by_length["covered, %"].iloc[0] == pytest.approx(100 * share)


def test_large_file_is_measured_after_a_click(monkeypatch):
    monkeypatch.setattr(risk, "MAX_WORDS_AT_ONCE", 10)
    monkeypatch.setattr(risk, "RESULT", "of this test")  # the run keeps what others measured
    app = opened(new_app(), "pages/model-errors.py", model="upos-en", **{"v.tab": "What it costs"})
    assert not app.dataframe
    button(app, "Measure").click().run()
    assert not app.exception
    assert any("length" in frame.value for frame in app.dataframe)


@pytest.fixture
def small(monkeypatch):
    """Two taggers of five tags, whose paths are few enough to enumerate."""
    monkeypatch.setattr(plugins, "_registered", {})
    for name, tags in (("bio", ("O", "B-X", "I-X", "B-Y")), ("plain", ("a", "b", "c", "d"))):
        crfviz.register(Random(tags), name)


def under_rule(model, matches):
    """Return the matching paths of a sentence, their scores, and the marginals given the rule."""
    potentials = crfviz.load_tagger(model).potentials(["one", "two", "three", "four"])
    paths = [p for p in product(range(4), repeat=4) if matches([potentials.tags[k] for k in p])]
    scores = np.array([potentials.score(path) for path in paths])
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    at = np.array(paths)
    marginals = [[shares[at[:, t] == k].sum() for k in range(4)] for t in range(4)]
    return at, scores, np.array(marginals)


RULED = {
    "bio": ("[^ B-X]* B-X [^ B-X]*", lambda tags: tags.count("B-X") == 1),
    "plain": (".* a b .*", lambda tags: ("a", "b") in pairwise(tags)),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("bio", {"costs": "miss=3,wrong_type=0.5", "dial": "miss"}),
        ("plain", {"costs": "a b 4", "dial": "cell", "true": "a", "taken": "b"}),
        ("plain", {"share": "1.0"}),
    ],
)
def test_rule_conditions_the_dial(model, options):
    rule, matches = RULED[model]
    paths, _, marginals = under_rule(model, matches)
    params = {f"v.{name}": value for name, value in {"rule": rule, **options}.items()}
    app = at(model=model, sentence="one two three four", **params)
    tags = crfviz.load_tagger(model).tags
    costs = 1.0 - np.eye(4)
    if model == "bio":
        costs = cost_matrix(tags, {"miss": 3.0, "wrong_type": 0.5})
    elif "costs" in options:
        costs[0, 1] = 4.0
    totals = (marginals @ costs)[np.arange(4), paths].sum(1)
    best = paths[totals.argmin()].tolist()
    assert rows(app)["least_cost"]["tags"] == best
    assert best in intervals(app)
    assert all(matches([tags[k] for k in path]) for path in intervals(app))
    assert "Only paths that match the rule count" in stage_of(app)["note"]


@pytest.mark.usefixtures("small")
def test_rule_conditions_the_set():
    rule, matches = RULED["plain"]
    paths, scores, _ = under_rule("plain", matches)
    params = {"v.rule": rule, "v.risk": "set", "v.within": "2"}
    app = at(model="plain", sentence="one two three four", **params)
    near = paths[scores >= scores.max() - 2]
    assert stage_of(app)["used"]["tags"] == [sorted({*near[:, t].tolist()}) for t in range(4)]
    steps = [sorted({*map(tuple, near[:, t : t + 2].tolist())}) for t in range(3)]
    assert stage_of(app)["used"]["steps"] == [[list(step) for step in each] for each in steps]


SHOW = """
  const [data, event] = told;
  const local = new LocalBackend(data, { turned: () => null, beyond: () => null });
  const before = local.payload();
  local.take([event]);
  return { before, after: local.payload().note, query: local.query() };
"""
BACKEND = {bundle.OWN / "local_backend.js": "LocalBackend"}


@pytest.mark.parametrize(
    ("params", "options"),
    [(NAMES, {"costs": "miss=0.01"}), (TAGS, {"risk": "set", "level": "85"})],
    ids=["dial", "set"],
)
def test_html_file_opens_at_the_picture_and_its_link_at_the_costs(
    monkeypatch, tmp_path, params, options
):
    made = {}
    monkeypatch.setattr(stage, "download", lambda label, make, *_, **__: made.update({label: make}))
    app = at(**params, **{f"v.{name}": value for name, value in options.items()})
    page = stage_of(app)
    data = json.loads(re.search(r'id="data">(.*?)</script>', made["Download as HTML"](), re.S)[1])
    words = params["sentence"].split()
    tags = crfviz.load_tagger(params["model"]).tags
    event = {"seq": 1, "kind": "transition", "from": tags[0], "to": tags[1], "score": 3}
    shown = node.run(tmp_path, BACKEND, SHOW, [data, event])
    for name in ("rows", "note", "contrast", "used", "heading", "words"):
        assert shown["before"].get(name) == page[name], name
    assert shown["before"]["words"] == words
    assert shown["after"] == f"Before your changes in this file: {page['note']}"
    query = dict(parse_qsl(shown["query"]))
    assert options == {name: query[f"v.{name}"] for name in options}
