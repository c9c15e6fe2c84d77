"""What the links to the pages take from the address, in JavaScript."""

import pytest

from crfviz.ui.state.link import NOT_ELSEWHERE, encode
from crfviz.ui.state.scenario import OF_PAGE, Scenario
from tests.support import node
from tests.support.paths import ROOT

MODULE = ROOT / "crfviz/ui/shell/web/links.js"
BODY = "return told.searches.map((search) => carried(search, told.own));"


def carried(tmp_path, *searches):
    told = {"own": NOT_ELSEWHERE, "searches": searches}
    return node.run(tmp_path, {MODULE: "carried"}, BODY, told)


def test_what_a_page_has_for_itself_is_left_out_and_all_else_stays_as_it_is(tmp_path):
    searches = ["", "?step=4", "?t=A.B%3A1&step=4&p=0.A", "?v.panel=beta&v.panels=1&steps=2&k="]
    assert carried(tmp_path, *searches) == ["", "", "t=A.B%3A1&p=0.A", "v.panels=1&steps=2&k="]


@pytest.mark.parametrize("view", [dict.fromkeys(OF_PAGE, "x"), {"rows": "gold", "panel": "z"}])
def test_it_is_what_python_writes_into_them(tmp_path, view):
    link = encode(Scenario("m", "é & +", step=3, view={**view, "weight": "DET NOUN"}))
    [query] = carried(tmp_path, f"?{_query(link.params)}")
    assert query == _query(link.elsewhere.params)


def _query(params):
    return "&".join(f"{name}={value}".replace(" ", "+") for name, value in params.items())
