"""Rules over tags in pictures: examples for a set of tags, rows, marginals, and a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.pattern_syntax import quoted
from crfviz.chain.patterns import Automaton, automaton
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import Match
from crfviz.chain.recursions import TOLERANCE
from crfviz.exceptions import CrfvizError
from crfviz.text.schemes import OUTSIDE, SCHEMES, entity_scheme
from crfviz.views.formatting import minus, moved, per_cent, short
from crfviz.views.stage.picture import MAX_DRAWN_COPIES, Grid, Picture, Row, most_words
from crfviz.views.strips.decoders import LEGAL
from crfviz.views.strips.pictures import marginal_grid

LONGEST = 3  # words of an entity, or of a run of one tag, in the examples
UNDER_RULE = "rule"  # id of the row of the best path that matches
FAVOURITES = ("DET", "VERB", "NOUN")  # tags that the examples prefer


@dataclass(frozen=True)
class Example:
    """A rule to try."""

    name: str
    rule: str
    about: str  # description of the rule, one sentence


def examples(tags: Sequence[str]) -> list[Example]:
    """Return rules to try with K tag names, at least one; none has too many states."""
    scheme = entity_scheme(tags)
    made = _of_entities(tags, scheme) if scheme else _of_tags(tags)
    known = [each for each in made if _is_usable(each.rule, tags)]
    return known or [Example("Any tags", ".*", "Every path matches.")]


def _of_entities(tags: Sequence[str], scheme: str) -> list[Example]:
    kinds = list(dict.fromkeys(tag[2:] for tag in tags if tag != OUTSIDE))
    kind = "PER" if "PER" in kinds else kinds[0]
    known = [quoted(tag) for tag in tags if tag[2:] == kind]
    other = f"[^ {' '.join(known)}]*"
    begin = [quoted(f"{letter}-{kind}") for letter in "BSU" if f"{letter}-{kind}" in tags]
    inner = LONGEST - len(SCHEMES[scheme][::2])  # words between the first, and the last if it shows

    def entities(times: str) -> str:
        return "|".join(["O", *(_entity(each, tags, scheme, times) for each in kinds)])

    return [
        Example(
            f"At most one {kind}",
            f"{other} ({_entity(kind, tags, scheme, '*')} {other})?",
            f"No second {kind} entity may begin.",
        ),
        Example(
            f"No entity over {LONGEST} words",
            f"({entities(f'{{0,{inner}}}')})*",
            f"An entity has at most {LONGEST} words.",
        ),
        Example(
            f"Starts with {kind}", f"{_one_of(begin)} .*", f"The first word begins a {kind} entity."
        ),
        Example(scheme, f"({entities('*')})*", f"Entities as {scheme} writes them."),
    ]


def _entity(kind: str, tags: Sequence[str], scheme: str, times: str) -> str:
    """Return the rule of an entity with `times` inner words, from the existing tags."""
    names = {letter: f"{letter}-{kind}" for letter in SCHEMES[scheme]}
    known = {letter: quoted(name) for letter, name in names.items() if name in tags}
    words = [f"{known[x]}{times}" if x == "I" else known[x] for x in "BIEL" if x in known]
    alone = [known[x] for x in "SU" if x in known]
    return f"({'|'.join([*alone, ' '.join(words)])})" if alone else " ".join(words)


def _one_of(tags: Sequence[str]) -> str:
    return tags[0] if len(tags) == 1 else f"[{' '.join(tags)}]"


def _of_tags(tags: Sequence[str]) -> list[Example]:
    known = [tag for tag in FAVOURITES if tag in tags] or [tags[0], tags[-1]]
    first, one, run = (known * 3)[:3]
    a, b, c = map(quoted, (first, one, run))
    return [
        Example(f"Starts with {first}", f"{a} .*", f"The first word is {first}."),
        Example(f"At most one {one}", f"[^ {b}]* {b}? [^ {b}]*", f"No second {one} may follow."),
        Example(f"{one} somewhere", f"[^ {b}]* {b} .*", f"At least one word is {one}."),
        Example(
            f"Short runs of {run}",
            f"({c}{{0,{LONGEST}}} [^ {c}])* {c}{{0,{LONGEST}}}",
            f"At most {LONGEST} words in a row are {run}.",
        ),
    ]


def _is_usable(rule: str, tags: Sequence[str]) -> bool:
    try:
        automaton(rule, tuple(tags))
    except CrfvizError:
        return False
    return True


def states_on(rule: Automaton, path: Sequence[int]) -> list[int]:
    """Return the state of the automaton after each word of a path that it can read."""
    states = [0]
    for tag in path:
        states.append(int(rule.next[states[-1], tag]))
    return states[1:]


def rule_row(found: Match | str) -> Row:
    """Return the best path that matches a rule, and its cost; dashes where nothing matches."""
    if isinstance(found, str):
        return Row(UNDER_RULE, "under the rule", None, value="−∞")
    cost = f"−{short(found.cost)}" if found.cost else ""
    return Row(UNDER_RULE, "under the rule", found.path, value=cost)


def decoded_by_browser(rule: Automaton, chain: Potentials) -> Automaton | None:
    """Return a rule if a browser can decode the sentence under it while dragging; else None."""
    copies = len(rule.copies)
    fits = chain.num_tokens <= most_words(copies, homogeneous=chain.homogeneous)
    return rule if fits and copies <= MAX_DRAWN_COPIES else None


def with_rule(picture: Picture, rule: Automaton, found: Match | str, chain: Potentials) -> Picture:
    """Return a picture with the best path under a rule, below the Viterbi row and shown with it.

    `chain` has the scores of the whole sentence.
    """
    ids = [row.id for row in picture.rows]
    best = next((name for name in (LEGAL, "viterbi") if name in ids), None)
    if best is None or UNDER_RULE in ids:
        return picture
    after = ids.index(best) + 1
    phases = [
        replace(phase, parts=[*phase.parts, UNDER_RULE]) if best in phase.parts else phase
        for phase in picture.walk.phases
    ]
    rows = [*picture.rows[:after], rule_row(found), *picture.rows[after:]]
    walk = replace(picture.walk, phases=phases)
    return replace(picture, rows=rows, walk=walk, rule=decoded_by_browser(rule, chain))


def rule_rows(now: Analysis, found: Match, rule: Automaton) -> list[Row]:
    """Return the best path, the best path that matches, and the states along it."""
    states = [f"{state}" for state in states_on(rule, found.path)]
    return [
        Row("viterbi", "Viterbi", now.paths["viterbi"]),
        rule_row(found),
        Row("states", "state", None, texts=states),
    ]


def rule_grids(now: Analysis, found: Match) -> list[Grid]:
    """Return p(y_t = k | rule, x), its difference to each marginal, and p(y_t = k | x)."""
    before = marginal_grid(now, now.paths["viterbi"])
    after = replace(before, name="ruled", values=found.marginals, outlined=found.path)
    moved_by = found.marginals - before.values
    changes = "what the rule changes"
    if not (moved_by.abs() >= 0.005).any():  # the browser leaves out rows of 0.00
        changes = "the rule changes no marginal by 0.005 or more"
    return [
        replace(after, label="marginals under the rule"),
        Grid("moved", changes, moved_by, 1.0, 2, "change"),
        replace(before, label="marginals without it"),
    ]


def copies_legend(rule: Automaton, path: Sequence[int]) -> str:
    """Return an example of the name of a row that is a copy of a tag, if possible from a path."""
    product = rule.product
    copies = zip(
        product.names(rule.tags), product.tags.tolist(), product.states.tolist(), strict=True
    )
    split = [each for each in copies if each[0] != rule.tags[each[1]]]
    if not split:
        return "each tag leads to one state: no row is split"
    used = {*zip(path, states_on(rule, path), strict=True)}
    name, tag, state = next((each for each in split if each[1:] in used), split[0])
    return f"{name}: the tag {rule.tags[tag]}, state {state} after it"


def rule_note(now: Analysis, found: Match) -> str:
    """Describe cost and effect of the rule, in two sentences."""
    mass = found.probability
    share = "Nearly all" if _is_nearly_one(found) else per_cent(mass) if mass else "Next to none"
    share += " of the probability is on paths that match."
    best = now.paths["viterbi"]
    if best is None or best == found.path:
        return f"{share} The best path matches the rule: it stays the best."
    return (
        f"{share} The best of them scores {short(found.cost)} nats less than the best path: "
        f"{moved(best, found.path, now)}."
    )


def rule_probability(found: Match) -> str:
    """Return P(rule | x) in four significant digits; 1 only up to rounding, and never 0."""
    if _is_nearly_one(found):
        return "> 0.9999"
    return minus(f"{found.probability:#.4g}") if found.probability else "< 1e−300"


def _is_nearly_one(found: Match) -> bool:
    """Return whether P(rule | x) would round to 1, and is less by more than rounding errors."""
    error = TOLERANCE * max(1.0, abs(found.log_partition))
    return 0.99995 <= found.probability < 1.0 - error
