"""Rules on the screen: the examples for a set of tags, and what is said of a rule."""

import itertools

import pytest
import torch

from crfviz import Potentials, match
from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.patterns import automaton
from crfviz.text.schemes import UPOS, spans
from crfviz.views.strips.rules import (
    copies_legend,
    decoded_by_browser,
    examples,
    rule_grids,
    rule_note,
    rule_probability,
    rule_rows,
    states_on,
)

NER = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TAG_SETS = [NER, UPOS, ("Healthy", "Fever"), ("A",), ("O", "B-X"), ("x y", '"', "[")]


def matches(rule, path):
    state = 0
    for tag in path:
        state = int(rule.next[state, tag])
        if state < 0:
            return False
    return bool(rule.accepting[state])


@pytest.mark.parametrize("tags", TAG_SETS)
def test_example_rules_are_valid_and_distinct(tags):
    made = examples(tags)
    assert len({each.name for each in made}) == len(made) >= 2
    for each in made:
        assert automaton(each.rule, tags).num_states >= 1


def test_examples_with_too_many_states_are_left_out():
    tags = ["O", *(f"{part}-{kind}" for kind in range(70) for part in "BI")]
    assert "BIO" not in {each.name for each in examples(tags)}


def test_very_long_tag_names_leave_one_trivial_example():
    assert [each.rule for each in examples(["A" * 2000, "B" * 2000])] == [".*"]


def longest(tags):
    return max((span.end - span.start for span in spans(tags)), default=0)


OF_ENTITIES = {
    "At most one PER": lambda tags: [span.type for span in spans(tags)].count("PER") <= 1,
    "No entity over 3 words": lambda tags: longest(tags) <= 3,
    "Starts with PER": lambda tags: tags[0] == "B-PER",
    "BIO": lambda _: True,
}


@pytest.mark.parametrize("name", OF_ENTITIES)
def test_entity_examples_match_the_described_legal_paths(name):
    rule = automaton({each.name: each.rule for each in examples(NER)}[name], NER)
    for path in itertools.product(range(len(NER)), repeat=5):
        tags = [NER[k] for k in path]
        if not illegal_positions(tags):
            assert matches(rule, path) == OF_ENTITIES[name](tags), tags
        elif name in ("BIO", "No entity over 3 words"):
            assert not matches(rule, path), tags


OF_TAGS = {
    "Starts with DET": lambda tags: tags[0] == "DET",
    "At most one VERB": lambda tags: tags.count("VERB") <= 1,
    "VERB somewhere": lambda tags: "VERB" in tags,
    "Short runs of NOUN": lambda tags: "NOUN NOUN NOUN NOUN" not in " ".join(tags),
}


@pytest.mark.parametrize("name", OF_TAGS)
def test_tag_examples_match_the_described_paths(name):
    tags = ("NOUN", "VERB", "DET", "X")
    rule = automaton({each.name: each.rule for each in examples(tags)}[name], tags)
    for path in itertools.product(range(4), repeat=5):
        assert matches(rule, path) == OF_TAGS[name]([tags[k] for k in path])


CHAIN = Potentials([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [[0.0, 0.0]] * 2, tags=["A", "B"])


def test_rows_note_and_tables_equal_the_match():
    now, pattern = analyse(CHAIN), "B* A{2}"
    found, rule = match(CHAIN, pattern), automaton("B* A{2}", ("A", "B"))
    rows = rule_rows(now, found, rule)
    assert [row.tags for row in rows[:2]] == [[0, 1, 0], [1, 0, 0]] == [[0, 1, 0], found.path]
    assert rows[1].value == "−3.00"
    assert list(rows[2].texts) == [str(s) for s in states_on(rule, found.path)]
    ruled, moved, before = rule_grids(now, found)
    assert torch.equal(ruled.values - before.values, moved.values)
    assert torch.equal(ruled.values, found.marginals)
    assert torch.equal(before.values, now.forward_backward.marginals)
    assert moved.label == "what the rule changes"
    assert rule_grids(now, match(CHAIN, ".*"))[1].label.endswith("no marginal by 0.005 or more")
    note = rule_note(now, found)
    assert note.startswith(f"{100 * found.probability:.2f} % of the probability")
    assert "3.00 nats less than the best path: “1” A → B, “2” B → A." in note
    almost = Potentials([[20.0, 0.0]], [[0.0, 0.0]] * 2, tags=["A", "B"])
    assert rule_note(analyse(almost), match(almost, "A")).startswith("Nearly all of the prob")
    assert rule_note(now, match(CHAIN, ".*")).startswith("100.00 % of the probability")
    assert rule_note(now, match(CHAIN, ".*")).endswith("matches the rule: it stays the best.")


@pytest.mark.parametrize(
    ("nats", "shown"),
    [(0.0, "0.5000"), (-6.0, "0.002473"), (-20.0, "2.061e−09"), (-800.0, "< 1e−300")],
)
def test_rule_probability_has_four_digits_without_rounding_to_0_or_1(nats, shown):
    found = match(Potentials([[nats, 0.0]], [[0.0, 0.0]] * 2, tags=["A", "B"]), "A")
    assert rule_probability(found) == shown
    almost = Potentials([[20.0, 0.0]], [[0.0, 0.0]] * 2, tags=["A", "B"])
    assert rule_probability(match(almost, "A")) == "> 0.9999"
    assert rule_probability(match(almost, ".")) == "1.000"


@pytest.mark.parametrize("seed", range(20))
def test_rule_matching_every_path_has_probability_one(seed):
    torch.manual_seed(seed)
    chain = Potentials(torch.randn(6, 3), torch.randn(3, 3), tags=["A", "B", "C"])
    found = match(chain, "[^ A]* (A [^ A]*)*")
    assert rule_probability(found) == "1.000"
    assert rule_note(analyse(chain), found).startswith("100.00 % of the probability")


def test_note_of_an_underflowing_probability_says_next_to_none():
    chain = Potentials([[-800.0, 0.0]], [[0.0, 0.0]] * 2, tags=["A", "B"])
    assert rule_note(analyse(chain), match(chain, "A")).startswith("Next to none of the prob")


@pytest.mark.parametrize(("a_step", "most"), [(False, 4_000_000), (True, 500_000)])
def test_browser_decodes_a_rule_only_below_the_size_limit(a_step, most):
    rule = automaton("B* A B*", ("A", "B"))
    assert len(rule.copies) == 3
    for words in (most // 9, most // 9 + 1):  # T K^2 of the copies
        transitions = torch.zeros((words - 1, 2, 2) if a_step else (2, 2))
        transitions[..., 0] = torch.arange(words - 1)[:, None] if a_step else 0.0
        chain = Potentials(torch.zeros(words, 2), transitions, tags=["A", "B"])
        assert (decoded_by_browser(rule, chain) is rule) == (words * 9 <= most)


def test_legend_explains_split_rows():
    rule = automaton(".* B .*", ("A", "B"))
    assert copies_legend(rule, [1, 0]) == "A·1: the tag A, state 1 after it"
    assert copies_legend(rule, [1]) == "A·0: the tag A, state 0 after it"
    assert "no row is split" in copies_legend(automaton("A*", ("A", "B")), [0])


LAST = {"BIOES": ("E", "S"), "BILOU": ("L", "U")}


def entities_of(tags, end):
    """[type, words] of each entity, read letter by letter; None for an illegal sequence."""
    found, open_type = [], None
    for tag in tags:
        letter, kind = tag[0], tag[2:]
        if open_type is None:
            if letter in ("I", end):
                return None
            if letter != "O":
                found.append([kind, 1])
            open_type = kind if letter == "B" else None
        else:
            if letter not in ("I", end) or kind != open_type:
                return None
            found[-1][1] += 1
            open_type = None if letter == end else open_type
    return None if open_type else found


@pytest.mark.parametrize("scheme", LAST)
def test_examples_of_other_schemes_match_the_described_paths(scheme):
    end, single = LAST[scheme]
    letters = ("B", "I", end, single)
    tags = ("O", *(f"{letter}-PER" for letter in letters), "B-X", f"{end}-X")
    rules = {each.name: automaton(each.rule, tags) for each in examples(tags)}
    assert list(rules)[-1] == scheme
    for path in itertools.product(range(len(tags)), repeat=4):
        names = [tags[k] for k in path]
        found = entities_of(names, end)
        assert matches(rules[scheme], path) == (found is not None), names
        short = found is not None and all(words <= 3 for _, words in found)
        assert matches(rules["No entity over 3 words"], path) == short, names
        if found is not None:
            people = [kind for kind, _ in found].count("PER")
            assert matches(rules["At most one PER"], path) == (people <= 1), names
            begins = names[0] in ("B-PER", f"{single}-PER")
            assert matches(rules["Starts with PER"], path) == begins, names
