"""Rules over tags against Python's `re`; their automata are minimal; bad rules name the column."""

import itertools

import numpy as np
import pytest

from crfviz.chain.pattern_syntax import quoted
from crfviz.chain.patterns import MAX_STATES, automaton
from crfviz.exceptions import CrfvizError, FormatError, UnknownTagError
from tests.support import rules

AB = ("A", "B")


def accepts(machine, path):
    state = 0
    for tag in path:
        state = machine.next[state, tag]
        if state < 0:
            return False
    return bool(machine.accepting[state])


@pytest.mark.parametrize("seed", range(200))
def test_automaton_accepts_what_re_matches(seed):
    generator = np.random.default_rng(seed)
    num_tags = int(generator.integers(1, 5))
    ours, theirs = rules.random_rule(generator, num_tags)
    machine = automaton(ours, rules.TAGS[:num_tags])
    for length in range(1, 6):
        paths = rules.all_paths(length, num_tags)
        found = [accepts(machine, path) for path in paths]
        assert found == rules.matching(theirs, paths).tolist(), (ours, length)
    assert machine.accepting[0] == rules.matching(theirs, np.zeros((1, 0), int))[0]


@pytest.mark.parametrize("seed", range(200))
def test_automaton_is_minimal(seed):
    generator = np.random.default_rng(seed)
    num_tags = int(generator.integers(1, 5))
    machine = automaton(rules.random_rule(generator, num_tags)[0], rules.TAGS[:num_tags])
    size = machine.num_states
    dead = size  # the state that the automaton leaves out
    differ = {
        (a, b)
        for a, b in itertools.combinations(range(size + 1), 2)
        if machine.accepting[a] != (b < size and machine.accepting[b])
    }
    while True:
        more = set()
        for a, b in itertools.combinations(range(size + 1), 2):
            for k in range(num_tags):
                after = [
                    dead if s == dead or machine.next[s, k] < 0 else int(machine.next[s, k])
                    for s in (a, b)
                ]
                if (min(after), max(after)) in differ:
                    more.add((a, b))
        if more <= differ:
            break
        differ |= more
    if machine.accepting.any():
        assert differ == set(itertools.combinations(range(size + 1), 2))
    else:
        assert size == 1
    reached = {0}
    for _ in range(size):
        reached |= {int(s) for state in reached for s in machine.next[state] if s >= 0}
    assert reached == set(range(size))


@pytest.mark.parametrize(
    ("pattern", "num_states"),
    [
        ("", 1),
        ("()", 1),
        ("A{0}", 1),
        (".*", 1),
        ("A", 2),
        (".{63}", 64),
        (".* A .{5}", 64),
        ("(A|A A){2}", 5),
    ],
)
def test_automaton_has_the_fewest_states(pattern, num_states):
    assert automaton(pattern, AB).num_states == num_states


def test_states_are_numbered_by_breadth_and_tag():
    assert automaton("(A A | B A) B", AB).next.tolist() == [[1, 1], [2, -1], [-1, 3], [-1, -1]]


def test_rule_without_a_matching_sentence_has_one_state():
    machine = automaton("[^ A B] A", AB)
    assert machine.next.tolist() == [[-1, -1]]
    assert not machine.accepting[0]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("*", "column 1: '*' has nothing before it to repeat"),
        ("A | + B", "column 5: '+' has nothing before it to repeat"),
        ("(?)", "column 2: '?' has nothing before it to repeat"),
        ("{2}", "column 1: '{2}' has nothing before it to repeat"),
        ("A ( B", "column 3: '(' is never closed"),
        ("A ) B", "column 3: ')' closes a bracket that was never opened"),
        ("A ]", "column 3: ']' closes a bracket that was never opened"),
        ("A }", "column 3: '}' closes a bracket that was never opened"),
        ("B [A", "column 3: '[' is never closed"),
        ("[", "column 1: '[' is never closed"),
        ("[]", "column 1: '[' has no tag before its ]"),
        ("[^]", "column 1: '[' has no tag before its ]"),
        ("[A .]", "column 4: '.' cannot stand in [ ], where tags are listed"),
        ("[A ^]", "column 4: '^' cannot stand in [ ], where tags are listed"),
        ("A^", "column 2: '^' may only stand right after ["),
        ("A{2", "column 2: '{' is never closed"),
        ("A{3,1}", "column 2: '{3,1}' must have the smaller number first"),
        ("A{x}", "column 2: '{x}' must be a number of times, such as {2}, {1,3} or {2,}"),
        ('A "B', "column 3: '\"' is never closed"),
        ("A*?", "column 3: '?' follows another repeat: put the first into ( )"),
        ("(" * 60, "column 51: '(' is too deep: at most 50 brackets may stand in each other"),
        ("A " * 50_000, "column 1001: a rule may have at most 1,000 characters, got 100,000"),
        (7, "a rule must be a text, got 7"),
        (["A"], "a rule must be a text, got ['A']"),
    ],
)
def test_invalid_rule_is_rejected_with_its_column(pattern, message):
    with pytest.raises(FormatError) as error:
        automaton(pattern, AB)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("A noun", "column 3: expected a tag such as NOUN, got 'noun'"),
        ("[^ A PRN]", "column 6: expected a tag such as PROPN, got 'PRN'"),
        ("qqq", "column 1: expected a tag: A, NOUN, PROPN, \".\", got 'qqq'"),
    ],
)
def test_unknown_tag_error_suggests_similar_tags(pattern, message):
    with pytest.raises(UnknownTagError) as error:
        automaton(pattern, ("A", "NOUN", "PROPN", "."))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        (".{64}", "65 states,"),
        ("A{1,65}", "66 states,"),
        (".* A .{30}", "1,00"),
        ("(A{99}){99}", "1,001 states or more"),
    ],
)
def test_rule_with_too_many_states_is_rejected_with_its_size(pattern, size):
    with pytest.raises(
        CrfvizError, match=f"the rule needs {size}.*at most {MAX_STATES} are possible"
    ):
        automaton(pattern, AB)


@pytest.mark.parametrize("tag", ["B-PER", "PRP$", ".", "a b", 'say "x"', "", "[", "é"])
def test_quoted_tag_name_is_read_literally(tag):
    assert automaton(quoted(tag), ("Z", tag)).next.tolist() == [[-1, 1], [-1, -1]]
