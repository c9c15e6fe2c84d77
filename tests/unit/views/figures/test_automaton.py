"""The graph of an automaton: every move in the picture, in its words and in its table."""

import base64
import itertools
import re
from xml.etree import ElementTree

import pytest

from crfviz.chain.patterns import automaton
from crfviz.views.figures.automaton import automaton_html, move_frame, moves
from crfviz.views.strips.rules import examples

TAGS = ("A", "B", "C", "D", "E", 'x <y> "z"')
RULES = ["A*", ". B .*", "[^ A]* A? [^ A]*", "A{3} | B .* (C D)+", "(A{0,3} [^ A])* A{0,3}", "A B"]
RULES += ['"x <y> ""z"""+', "", ".{63}"]


def drawing(rule):
    html = automaton_html(automaton(rule, TAGS))
    return re.search(r'aria-label="([^"]*)"', html)[1], svg_of(html)


def svg_of(html):
    return ElementTree.fromstring(base64.b64decode(re.search(r"base64,([^']+)'", html)[1]))


@pytest.mark.parametrize("pattern", RULES)
def test_states_joined_by_a_tag_are_one_move(pattern):
    rule = automaton(pattern, TAGS)
    wanted = {
        (before, after) for before, row in enumerate(rule.next) for after in row if after >= 0
    }
    found = moves(rule)
    assert sorted((before, after) for before, _, after in found) == sorted(wanted)
    for before, text, after in found:
        used = [tag for k, tag in enumerate(TAGS) if rule.next[before, k] == after]
        others = [tag for tag in TAGS if tag not in used]
        assert text in (
            "any tag" if not others else "",
            ", ".join(used),
            f"not {', '.join(others)}",
        )


@pytest.mark.parametrize("pattern", RULES)
def test_picture_has_every_state_and_label_inside_its_frame(pattern):
    rule = automaton(pattern, TAGS)
    label, svg = drawing(pattern)
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in svg.iter(f"{space}text")]
    for state in range(rule.num_states):
        assert str(state) in texts
    assert sorted(texts) == sorted(
        [*map(str, range(rule.num_states)), *(m[1] for m in moves(rule))]
    )
    rings = list(svg.iter(f"{space}circle"))
    assert len(rings) == rule.num_states + int(rule.accepting.sum())
    width, height = (float(svg.get(side)) for side in ("width", "height"))
    for text in svg.iter(f"{space}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 10 <= float(text.get("y")) <= height
    assert f"Automaton with {rule.num_states} states. Start: 0." in label


ENTITIES = ("O", *(f"{letter}-{kind}" for kind in ("LOC", "ORG", "PER") for letter in "BI"))
LONG_ENTITY = {each.name: each.rule for each in examples(ENTITIES)}["No entity over 3 words"]
CROWDED = [(TAGS, f".* B {rest}") for rest in (".{0,8}", ".{3}", ".{4}")]
CROWDED.append((TAGS, "(A B|C D|E){3,12}"))


@pytest.mark.parametrize(("tags", "pattern"), [(ENTITIES, LONG_ENTITY), *CROWDED])
def test_labels_of_a_crowded_automaton_do_not_overlap(tags, pattern):
    svg = svg_of(automaton_html(automaton(pattern, tags)))
    space = "{http://www.w3.org/2000/svg}"
    labels = [(t.text, float(t.get("x")), float(t.get("y"))) for t in svg.iter(f"{space}text")]
    for (first, x, y), (second, x2, y2) in itertools.combinations(labels, 2):
        apart = abs(y - y2) >= 11 or abs(x - x2) >= 3.5 * (len(first) + len(second))
        assert apart, (first, second)
    holes = [
        tuple(map(float, re.findall(r"-?[\d.]+", hole.get("d"))))
        for hole in svg.find(f"{space}mask")[1:]
    ]
    for text, x, y in labels:
        half = 3.5 * len(text)
        assert text.isdigit() or any(
            (x0 < x - half < x + half < x1) and (top <= y - 10 < y <= bottom)
            for x0, top, x1, bottom, _ in holes
        )
    group = svg.find(f"{space}g")
    assert group.get("mask") == "url(#labels)"
    assert len(group) == len(moves(automaton(pattern, tags))) + 1


def test_label_describes_every_move_and_the_final_states():
    label, _ = drawing("A B*")
    assert label.endswith("May end in: 1. Moves: 0 to 1: A; 1 to 1: B.")


def test_table_has_a_row_for_every_move():
    frame = move_frame(automaton("A B", ("A", "B")))
    assert frame.to_dict("list") == {
        "state": [0, 1],
        "tags": ["A", "B"],
        "next state": [1, 2],
        "may end there": ["no", "yes"],
    }
