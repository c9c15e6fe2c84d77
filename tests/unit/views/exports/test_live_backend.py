"""The live file's own backend: its numbers, sentences and rules are Python's."""

import json
import math
from urllib.parse import parse_qs

import pytest
import torch

from crfviz import Potentials, match
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.patterns import automaton
from crfviz.chain.questions.rules import analyse_match
from crfviz.exceptions import NoPathError
from crfviz.ui.stage import GIVEN
from crfviz.views.explanation import explain
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, Origin, data
from crfviz.views.stage.picture import WINDOW
from crfviz.views.strips.paths import entropy_note
from tests.support import node

BACKEND = {bundle.OWN / "local_backend.js": "LocalBackend"}
MODULES = {
    **BACKEND,
    bundle.OWN / "rebind_sentence.js": "rebindSentence",
    bundle.STAGE / "model.js": "chainOf",
}
WORDS = ("These", "look", "<b>fine</b>", "to", "me", ".")
EVENTS = [
    {"seq": 1, "kind": "transition", "from": "A", "to": "B", "score": 1.25},
    {"seq": 2, "kind": "transition", "from": "START", "to": "C", "score": None},
    {"seq": 3, "kind": "emission", "position": 2, "tag": "D", "score": -0.5},
    {"seq": 4, "kind": "strength", "value": 0.5},
    {"seq": 5, "kind": "transition", "from": "D", "to": "END", "score": 9},
    {"seq": 6, "kind": "undo"},
]
EDITS = Edits({("A", "B"): 1.25, ("START", "C"): -math.inf}, {(2, "D"): -0.5}, 0.5)
NUMBERS = """
  const [data, events] = told;
  const local = new LocalBackend(data, { turned: () => null, beyond: () => null });
  local.take(events);
  local.open("forward-backward");
  const { results, note, rows } = local.payload();
  const text = (value) => (value === -Infinity ? "forbidden" : value);
  const names = ["alpha", "beta", "best", "marginals"];
  const tables = Object.fromEntries(names.map((name) => [name, Array.from(results[name], text)]));
  const { logPartition, score, path } = results;
  return { ...tables, logPartition, score, path, note, sums: rows[0].texts, query: local.query() };
"""
RETELL = """
  const [of, chains] = told;
  return chains.map(({ words, trained, gold }) => {
    const chain = chainOf(trained, words.length, of.tags.length);
    const data = rebindSentence(of, { words, chain, sentence: words.join(" "), gold });
    const local = new LocalBackend(data, { turned: () => null, beyond: () => null });
    const notes = data.pages.map(({ id }) => {
      local.at = id;
      return local.payload().note;
    });
    return { pages: data.pages, notes, margin: data.margin };
  });
"""


def chain(words=WORDS, seed=3):
    dice = torch.Generator().manual_seed(seed)
    shapes = ((len(words), 4), (4, 4), (4,), (4,))
    scores = (torch.randn(*size, generator=dice) for size in shapes)
    return Potentials(*scores, tags=list("ABCD"), tokens=words)


def test_browser_numbers_equal_python_within_1e_9(tmp_path):
    answers = node.run(tmp_path, BACKEND, NUMBERS, [data(Live(chain()), list(PAGES)), EVENTS])
    expected = analyse(EDITS.apply(chain()))
    sweeps = expected.forward_backward
    for name, table in [
        ("alpha", sweeps.log_alpha),
        ("beta", sweeps.log_beta),
        ("best", expected.best),
        ("marginals", sweeps.marginals),
    ]:
        got = [-math.inf if value == "forbidden" else value for value in answers[name]]
        assert got == pytest.approx(table.flatten().tolist(), abs=1e-9), name
    assert answers["logPartition"] == pytest.approx(sweeps.log_partition, abs=1e-9)
    assert answers["score"] == pytest.approx(expected.viterbi.score, abs=1e-9)
    assert answers["path"] == expected.viterbi.path
    assert answers["note"].startswith(f"log Z from α {sweeps.log_partition:.9f}".replace("-", "−"))
    assert answers["sums"] == [f"{sweeps.log_partition:.4f}".replace("-", "−")] * len(WORDS)
    assert answers["query"] == "k=0.5&t=A.B%3A1.25%2CSTART.C%3A-inf&e=2.D%3A-0.5"


def odd_chains():
    """Of one to eight words, some with ties, and two without any path."""
    for seed in range(40):
        words = [f"w{t}" for t in range(1 + seed % 8)]
        plain = chain(words, seed=seed)
        emissions = plain.emissions.round() if seed % 3 == 0 else plain.emissions
        steps = plain.transitions.round() if seed % 3 == 0 else plain.transitions
        steps = torch.full_like(steps, -math.inf) if seed in (7, 22) else steps
        yield Potentials(emissions, steps, plain.start, tags=plain.tags, tokens=words)


def scales(pages):
    """Of all tables; they are taken out."""
    tables = [table for page in pages for table in page["picture"]["tables"]]
    return [table.pop("scale") for table in tables]


def test_new_sentence_is_described_in_the_browser_as_in_python(tmp_path):
    chains = [chain(), *odd_chains()]
    analyses = [analyse(each) for each in chains]
    golds = [None if n % 2 else [0] * len(each.words) for n, each in enumerate(analyses)]
    wanted = [
        data(Live(each, gold=gold, probabilistic=False), list(PAGES))
        for each, gold in zip(chains, golds, strict=True)
    ]
    asked = [
        {"words": told["words"], "trained": told["trained"], "gold": gold}
        for told, gold in zip(wanted, golds, strict=True)
    ]
    answers = node.run(tmp_path, MODULES, RETELL, [wanted[1], asked])
    for told, analysis, answer in zip(wanted, analyses, answers, strict=True):
        (marginals,) = told["pages"][5]["picture"]["tables"]
        marginals["framed"] = True  # without a path there is nothing to frame
        got, pages = (json.loads(json.dumps(each["pages"])) for each in (answer, told))
        assert scales(got) == pytest.approx(scales(pages), abs=1e-9)
        assert [{key: of for key, of in page.items() if of is not None} for page in got] == pages
        assert answer["margin"] == pytest.approx(told["margin"], abs=1e-9)
        reasons, entropy = [explain(analysis)] * 3, entropy_note(analysis)
        assert [*answer["notes"][:3], answer["notes"][5]] == [*reasons, entropy]
        assert answer["notes"][4] == ""


RULES = ["A* B [^ B]*", ". .*", "(A B|C)* D?", "D{6}", "A{4}", "[^ A]* A? [^ A]*"]
COUNTED = "[^ A]* (A [^ A]*)? B"
ANSWERS = """
  return told.map(([data, events]) => {
    const local = new LocalBackend(data, { turned: () => null, beyond: () => null });
    const shown = () => {
      const { results, tables, note, rows } = local.payload();
      const marginals = tables.find((table) => table.name === "marginals")?.values ?? [];
      return { log: results.logPartition, marginals: [...marginals], note, rows };
    };
    const before = shown();
    local.take(events);
    return { before, after: shown(), query: local.query() };
  });
"""
SHAPES = {
    "one matrix": (6, ()),
    "a matrix a step": (6, (5,)),
    "one word": (1, ()),
    "a window": (125, ()),
}


def four_tags(words, steps, seed=5):
    dice = torch.Generator().manual_seed(seed)
    shapes = ((words, 4), (*steps, 4, 4), (4,), (4,))
    scores = (2 * torch.randn(*size, generator=dice) for size in shapes)
    return Potentials(*scores, tags=list("ABCD"))


def row_named(shown, name):
    return next((row for row in shown["rows"] if row["id"] == name), None)


def under(potentials, rule):
    """Tags and value of the row of a rule."""
    try:
        found = match(potentials, rule)
    except NoPathError:
        return None, "−∞"
    return found.path[:WINDOW], f"−{found.cost:.2f}" if found.cost else ""


def test_browser_decodes_under_a_rule_as_python(tmp_path):
    cases = [(rule, four_tags(*shape)) for rule in RULES for shape in SHAPES.values()]
    events = [
        {"seq": 1, "kind": "transition", "from": "A", "to": "B", "score": 3.25},
        {"seq": 2, "kind": "emission", "position": 0, "tag": "D", "score": None},
    ]
    told = []
    for rule, potentials in cases:
        origin = Origin("upos-en", "a")
        live = Live(potentials, rule=automaton(rule, tuple("ABCD")), origin=origin)
        told.append([data(live, list(PAGES)), events])
    edits = Edits({("A", "B"): 3.25}, {(0, "D"): -math.inf})
    answers = node.run(tmp_path, BACKEND, ANSWERS, told)
    for (rule, potentials), answer in zip(cases, answers, strict=True):
        for name, known in (("before", potentials), ("after", edits.apply(potentials))):
            row = row_named(answer[name], "rule")
            assert (row["tags"], row["value"]) == under(known, rule), (rule, name)
        assert parse_qs(answer["query"])["v.rule"] == [rule]


@pytest.mark.parametrize("num_words", [5, 125])
def test_browser_marginals_are_conditioned_on_the_rule(tmp_path, num_words):
    potentials = four_tags(num_words, (), seed=6)
    live = Live(potentials, rule=automaton(COUNTED, tuple("ABCD")), opens="marginals")
    event = {"seq": 1, "kind": "transition", "from": "A", "to": "C", "score": 4.5}
    (answer,) = node.run(tmp_path, BACKEND, ANSWERS, [[data(live, list(PAGES)), [event]]])
    edited = Edits({("A", "C"): 4.5}).apply(potentials)
    for name, chain in (("before", potentials), ("after", edited)):
        found, shown = match(chain, COUNTED), answer[name]
        assert row_named(shown, "viterbi")["tags"] == found.path[:WINDOW]
        assert shown["log"] == pytest.approx(found.log_partition, abs=1e-9)
        expected = found.marginals[:WINDOW].flatten().tolist()
        assert shown["marginals"] == pytest.approx(expected, abs=1e-9)
        assert shown["note"] == f"{GIVEN} {entropy_note(analyse_match(chain, COUNTED))}"
        assert row_named(shown, "rule") is None
