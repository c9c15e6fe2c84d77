"""Every number and claim of a shipped lecture holds of the chain on its screen."""

import pytest

from crfviz.ui import cached
from crfviz.ui.lectures.claims import Chain, Facts, filled, worked_out
from crfviz.ui.lectures.shelf import SHIPPED, lecture

NAMES = sorted(path.stem for path in SHIPPED.glob("*.toml"))


def facts(cue):
    return Chain(Facts(cached.edited(cue.scenario)), Facts(cached.trained(cue.scenario)))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_holds(name):
    shipped = lecture(name)
    assert shipped.problems == ()
    assert 8 <= shipped.minutes <= 15 or name == "45-minutes"
    for cue in shipped.cues:
        chain = facts(cue)
        assert 0 < len(filled(cue.say, chain)) <= 220, cue.place
        for claim in cue.holds:
            assert worked_out(claim, chain) is True, f"{cue.place}: {claim}"
        assert cue.holds, f"{cue.place} rests on nothing"
