"""The step of a walk in the address, in JavaScript: there from the key on, before Python hears."""

from urllib.parse import parse_qsl

import pytest

from crfviz.ui.state.link import Models, encode
from crfviz.ui.state.scenario import BEFORE_FIRST, Scenario
from tests.support import node
from tests.support.paths import ROOT

MODULE = ROOT / "crfviz/ui/shell/web/address.js"
BODY = """
  const [past, listening] = [[told.at], {}];
  globalThis.location = {
    get href() { return new URL(past.at(-1), "http://x").href; },
    get pathname() { return new URL(location.href).pathname; },
    get search() { return new URL(location.href).search; },
  };
  globalThis.history = {
    pushState: (state, title, url) => void past.push(url),
    replaceState: (state, title, url) => void past.splice(-1, 1, url),
  };
  globalThis.addEventListener = (name, act) => { listening[name] = act; };
  globalThis.document = { addEventListener };
  watchSteps(() => "opening");
  for (const [what, of] of told.done) {
    if (what === "python") { // Streamlit writes what is another address
      if (location.search !== of) history.pushState({}, "", location.pathname + of);
    } else if (what === "turn") history.pushState({}, "", of);
    else listening["crfviz-steps"]({ detail: of });
  }
  return past;
"""
HEARD = ("step", None)


def places(tmp_path, at, *done):
    """The addresses that the browser's Back goes through, that of now last."""
    return node.run(tmp_path, {MODULE: "watchSteps"}, BODY, {"at": at, "done": done})


def test_keys_in_a_row_make_one_place_which_python_then_finds_written(tmp_path):
    steps = [("step", 4), ("step", 5), ("step", 6)]
    done = [*steps, ("python", "?model=a&step=6"), HEARD, ("step", 7)]
    assert places(tmp_path, "/viterbi?model=a&step=3", *done) == [
        "/viterbi?model=a&step=3",
        "/viterbi?model=a&step=6",
        "/viterbi?model=a&step=7",
    ]


def test_a_slow_answer_does_not_take_back_a_newer_step(tmp_path):
    done = [("step", 1), ("step", 2), ("python", "?model=a&step=1")]
    assert places(tmp_path, "/?model=a", *done) == ["/?model=a", "/?model=a&step=2"]
    other = [*done, ("python", "?model=b&step=1")]
    assert places(tmp_path, "/?model=a", *other)[-1] == "/?model=b&step=1"
    turned = [*done, ("turn", "/emissions?model=a")]
    assert places(tmp_path, "/?model=a", *turned)[-1] == "/emissions?model=a"
    heard = [("step", 2), HEARD, ("python", "?model=a&step=1")]
    assert places(tmp_path, "/?model=a", *heard)[-1] == "/?model=a&step=1"


def test_the_next_page_gets_its_query_though_python_has_not_heard_of_the_steps_of_the_last(
    tmp_path,
):
    query = "?model=opening&step=start"
    turned = [("step", 1), ("turn", "/emissions"), ("python", query)]
    assert places(tmp_path, "/?model=opening", *turned)[-1] == f"/emissions{query}"


@pytest.mark.parametrize("step", [BEFORE_FIRST, 0, 12])
@pytest.mark.parametrize(
    "before",
    [
        Scenario("other", "Fruit ~ flies*", view={"nodes": "alpha", "tour": "3"}, step=3),
        Scenario("other", "Fruit flies", step=BEFORE_FIRST),
        Scenario("opening", "First .", step=7),
        Scenario("opening", "First .", view={"rows": "viterbi"}),
        Scenario("default", "First ."),
    ],
)
def test_it_is_what_python_writes(tmp_path, before, step):
    models = Models(["opening", "default", "other"], "default", lambda _: "First .", "opening")
    link = encode(before, models).params
    body = "return withStep(told.search, told.step, 'opening');"
    search = f"?{'&'.join(f'{name}={quoted(value)}' for name, value in link.items())}"
    told = {"search": search, "step": "start" if step == BEFORE_FIRST else step}
    found = node.run(tmp_path, {MODULE: "withStep"}, body, told)
    after = Scenario(before.model, before.sentence, view=before.view, step=step)
    expected = encode(after, models).params or {"model": "opening"}  # which says the same
    assert parse_qsl(found[1:]) == list(expected.items())


def quoted(value):
    return value.replace(" ", "+").replace("~", "%7E")


def test_a_step_drops_the_cell_that_was_explained_and_a_cue_names_each(tmp_path):
    body = "return told.map(([search, step]) => withStep(search, step, 'opening'));"
    told = [
        ["?model=a&step=3&v.chosen=1+DET&v.nodes=best", 4],
        ["", 4],
        ["", 0],
        ["?lecture=greedy&cue=3&step=2&v.theme=dark", 0],
    ]
    assert node.run(tmp_path, {MODULE: "withStep"}, body, told) == [
        "?model=a&step=4&v.nodes=best",
        "?model=opening&step=4",
        "",
        "?lecture=greedy&cue=3&step=0&v.theme=dark",
    ]
