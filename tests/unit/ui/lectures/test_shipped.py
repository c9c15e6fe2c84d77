"""Every number and claim of a shipped lecture holds of the chain on its screen."""

import pytest

from crfviz.ui import cached
from crfviz.ui.lectures.expressions import Chain, Facts, evaluate, fill_in
from crfviz.ui.lectures.lecture_store import SHIPPED, lecture
from crfviz.ui.state.scenario import covered
from crfviz.views.quiz.question import read_ask
from crfviz.views.quiz.selection import question
from tests.support.plain_words import long_sentences, problems_of

NAMES = sorted(path.stem for path in SHIPPED.glob("*.toml"))


def facts(cue):
    return Chain(Facts(cached.edited(cue.scenario)), Facts(cached.trained(cue.scenario)))


@pytest.mark.parametrize("name", NAMES)
def test_claims_of_shipped_lectures_hold(name):
    shipped = lecture(name)
    assert shipped.problems == ()
    assert 8 <= shipped.minutes <= 15 or name == "45-minutes"
    for cue in shipped.cues:
        chain = facts(cue)
        said = fill_in(cue.say, chain)
        assert 0 < len(said) <= 220, cue.place
        assert (problems_of(said), long_sentences(said)) == ([], []), cue.place
        for claim in cue.holds:
            assert evaluate(claim, chain) is True, f"{cue.place}: {claim}"
        assert cue.holds, f"{cue.place} rests on nothing"


@pytest.mark.parametrize("name", NAMES)
def test_questions_of_shipped_lectures_are_valid_and_covered(name):
    asked = [cue for cue in lecture(name).cues if cue.ask]
    assert len(asked) >= 2
    for cue in asked:
        chain = cached.edited(cue.scenario), cached.trained(cue.scenario)
        found = question(*chain, read_ask(cue.ask))
        assert found is not None, f"{cue.place}: {cue.ask}"
        if cue.ask.startswith(("greedy", "viterbi", "max_marginal")):
            shown = found.ask.kind not in covered(cue.scenario.view)
            assert shown or "lattice" not in covered(cue.scenario.view), cue.place
