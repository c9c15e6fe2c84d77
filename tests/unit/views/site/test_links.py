"""The site reads the links that the app writes, as the app itself does."""

import math
import random
from urllib.parse import urlencode

from crfviz.chain.edits import END, START, Edits
from crfviz.ui.state.link import decode, encode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.link_text import FEW
from crfviz.ui.state.scenario import BEFORE_FIRST, MAX_CHARACTERS, Scenario
from crfviz.views.site import folder
from crfviz.views.strips.pictures import SWEEP_DISPLAYS
from tests.support import node
from tests.support.rare_names import NAMES, seed_of_commit

READ = """
  const finite = (value) => (value === -Infinity ? "-inf" : value);
  return told.map((query) => {
    const { edits, ...link } = readLink(query, { models: ["own"], pages: [] });
    const cells = (list) => list.map(([names, value]) => [...names, finite(value)]);
    const { transitions, emissions, strength } = edits;
    return { ...link, transitions: cells(transitions), emissions: cells(emissions), strength };
  });
"""
SITE = {folder.WEB / "link.js": "readLink"}
MODELS = Models(["own"], "own", lambda _: "")


def scenario(dice):
    """Return a scenario as a reader leaves it: few edits or many, short sentences and long ones."""
    tags = dice.sample(NAMES, 6)
    moves = [(a, b) for a in [START, *tags] for b in [*tags, END] if (a, b) != (START, END)]
    few = dice.choice([0, 3, FEW, FEW + 1, len(moves)])
    score = lambda: dice.choice([-math.inf, round(dice.gauss(0, 3), 6), round(dice.gauss(0, 3), 2)])  # noqa: E731
    sentence = " ".join(dice.choices(NAMES, k=dice.choice([1, 8, 20])))
    long = "x" * dice.choice([4_999, 5_001, 6_000]) if dice.random() < 0.1 else sentence
    return Scenario(
        "own",
        long,
        Edits(
            {move: score() for move in dice.sample(moves, few)},
            {(dice.randrange(200), tag): score() for tag in tags[:3]},
            dice.choice([0.0, 0.5, 1.0, 1.37]),
            dice.random() < 0.5,
        ),
        {dice.randrange(2_000): tag for tag in tags[3:]},
        step=dice.choice([0, 3, 10_000, BEFORE_FIRST]),
    )


def text(value):
    return "-inf" if value == -math.inf else value


def test_two_hundred_links_of_the_app_are_read_by_both(tmp_path):
    dice = random.Random(seed_of_commit())
    states = [scenario(dice) for _ in range(200)]
    links = [encode(state) for state in states]
    assert sum("m" in link.params for link in links) > 20
    answers = node.run(tmp_path, SITE, READ, [urlencode(link.params) for link in links])
    for link, answer in zip(links, answers, strict=True):
        decoded = decode(link.params, MODELS)
        read = decoded.scenario
        assert (decoded.ignored, answer["ignored"]) == ([], [])
        edits, given = read.edits, {(a, b): score for a, b, score in answer["transitions"]}
        assert given == {move: text(score) for move, score in edits.transitions.items()}
        places = {(t, tag): score for t, tag, score in answer["emissions"]}
        assert places == {place: text(score) for place, score in edits.emissions.items()}
        assert (answer["strength"], answer["constrained"]) == (edits.strength, edits.constrained)
        assert dict(answer["pins"]) == dict(read.pins)
        assert (answer["sentence"], answer["model"]) == (read.sentence, "own")
        steps = {None: 0, "start": BEFORE_FIRST}
        assert steps.get(answer["step"], answer["step"]) == read.step


def test_display_of_the_numbers_is_read_and_others_are_reported(tmp_path):
    links = [urlencode({"v.sweep": display}) for display in (*SWEEP_DISPLAYS, "roman")]
    *answers, unknown = node.run(tmp_path, SITE, READ, links)
    assert [answer["sweep"] for answer in answers] == list(SWEEP_DISPLAYS)
    assert unknown["sweep"] is None
    assert "expected one of log, probability, normalised" in unknown["ignored"][0]


def test_damaged_packed_edits_are_reported_by_the_site(tmp_path):
    for packed in ("A.B:xx", "A.A:", ":AAAA", "A:%%"):
        (answer,) = node.run(tmp_path, SITE, READ, [urlencode({"m": packed})])
        assert answer["transitions"] == []
        assert "the link is damaged" in answer["ignored"][0]


def test_sentence_is_cut_where_the_app_cuts_it(tmp_path):
    long = "x" * (MAX_CHARACTERS + 5)
    (answer,) = node.run(tmp_path, SITE, READ, [urlencode({"sentence": long})])
    assert len(answer["sentence"]) == MAX_CHARACTERS
    assert "the end of the sentence" in answer["ignored"][0]
