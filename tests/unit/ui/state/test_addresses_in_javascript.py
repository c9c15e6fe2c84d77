"""Addresses that JavaScript writes ahead of Python are those that Python then writes.

What else that JavaScript does: `tests/unit/js/addresses.test.js`.
"""

from urllib.parse import parse_qsl

import pytest

from crfviz.ui.state.link import NOT_ELSEWHERE, encode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import BEFORE_FIRST, OF_PAGE, Scenario
from tests.support import node
from tests.support.paths import ROOT

WEB = ROOT / "crfviz/ui/shell/web"
BEFORE = [
    Scenario("other", "Fruit ~ flies*", view={"nodes": "alpha", "tour": "3"}, step=3),
    Scenario("other", "Fruit flies", step=BEFORE_FIRST),
    Scenario("default", "First .", step=7),
    Scenario("default", "First .", view={"rows": "viterbi"}),
    Scenario("default", "First ."),
]


def query(params):
    return "&".join(
        f"{name}={value.replace(' ', '+').replace('~', '%7E')}" for name, value in params.items()
    )


def test_step_url_from_javascript_equals_python(tmp_path):
    models = Models(["default", "other"], "default", lambda _: "First .")
    cases = [(before, step) for before in BEFORE for step in (BEFORE_FIRST, 0, 12)]
    given = [
        [f"?{query(encode(before, models).params)}", "start" if step == BEFORE_FIRST else step]
        for before, step in cases
    ]
    body = "return told.map(([search, step]) => withStep(search, step));"
    written = node.run(tmp_path, {WEB / "address.js": "withStep"}, body, given)
    for (before, step), search in zip(cases, written, strict=True):
        after = Scenario(before.model, before.sentence, view=before.view, step=step)
        assert parse_qsl(search[1:]) == list(encode(after, models).params.items())


@pytest.mark.parametrize("view", [dict.fromkeys(OF_PAGE, "x"), {"rows": "gold", "panel": "z"}])
def test_page_link_from_javascript_equals_python(tmp_path, view):
    link = encode(Scenario("m", "é & +", step=3, view={**view, "weight": "DET NOUN"}))
    told = {"search": f"?{query(link.params)}", "own": NOT_ELSEWHERE}
    body = "return queryForLinks(told.search, told.own);"
    carried = node.run(tmp_path, {WEB / "address.js": "queryForLinks"}, body, told)
    assert carried == query(link.elsewhere.params)
