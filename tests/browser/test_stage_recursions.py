"""The stage's own recursions (JavaScript) against the library's, on the same chains."""

import math
from pathlib import Path

import pytest
import torch

import crfviz.views.stage.component as component
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials

WEB = Path(component.__file__).parent / "web"
SIZES = [(1, 1), (1, 17), (7, 3), (12, 17), (40, 17), (3, 50)]

SOLVE = """
async (chain) => {
  const { solve } = await import("http://stage.test/recursions.js");
  const number = (value) => value === "forbidden" ? -Infinity : value;
  const text = (value) => value === -Infinity ? "forbidden" : value;
  const read = (values) => Float64Array.from(values.flat(3), number);
  const plain = (table) => Array.from(table, text);
  const names = ["emissions", "transitions", "start", "end"];
  const tables = names.map((name) => [name, read(chain[name])]);
  const solved = solve({ T: chain.T, K: chain.K, ...Object.fromEntries(tables) });
  return {
    alpha: plain(solved.alpha), beta: plain(solved.beta), best: plain(solved.best),
    marginals: plain(solved.marginals), backpointers: Array.from(solved.backpointers),
    logPartition: text(solved.logPartition), rows: solved.rows,
  };
}
"""


@pytest.fixture(scope="module")
def solve(chromium):
    page = chromium.new_page()
    page.route(
        "http://stage.test/*.js",
        lambda route: route.fulfill(
            body=(WEB / route.request.url.rsplit("/", 1)[1]).read_text(),
            content_type="text/javascript",
            headers={"Access-Control-Allow-Origin": "*"},
        ),
    )

    def run(chain):
        def plain(table):
            return [plain(row) for row in table] if isinstance(table, list) else _wire(table)

        tables = {
            name: plain(getattr(chain, name).tolist())
            for name in ("emissions", "transitions", "start", "end")
        }
        return page.evaluate(SOLVE, {"T": chain.num_tokens, "K": chain.num_tags, **tables})

    yield run
    page.close()


def _wire(value):
    return "forbidden" if value == -math.inf else value


def random_chain(tokens, tags, seed, *, forbidden=0.0, per_step=False):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        table = 3 * torch.randn(*shape, generator=generator, dtype=torch.float64)
        gone = torch.rand(*shape, generator=generator) < forbidden
        return table.masked_fill(gone, -math.inf)

    steps = (tokens - 1,) if per_step else ()
    return Potentials(draw(tokens, tags), draw(*steps, tags, tags), draw(tags), draw(tags))


def assert_same(solved, chain):
    expected = analyse(chain)
    tables = expected.forward_backward
    for name, table in [
        ("alpha", tables.log_alpha),
        ("beta", tables.log_beta),
        ("best", expected.best),
        ("marginals", tables.marginals),
    ]:
        numbers = [-math.inf if value == "forbidden" else value for value in solved[name]]
        assert numbers == pytest.approx(table.flatten().tolist(), abs=1e-9), name
    assert solved["backpointers"] == expected.reached_backpointers.flatten().tolist()
    log_partition = -math.inf if solved["logPartition"] == "forbidden" else solved["logPartition"]
    assert log_partition == pytest.approx(tables.log_partition, abs=1e-9)
    path = None if expected.viterbi is None else expected.viterbi.path
    assert solved["rows"]["viterbi"] == path
    assert solved["rows"]["greedy"] == expected.greedy
    assert solved["rows"]["left_to_right"] == expected.left_to_right
    assert solved["rows"]["max_marginal"] == expected.max_marginal


@pytest.mark.parametrize(("tokens", "tags"), SIZES, ids=str)
def test_browser_and_python_agree(solve, tokens, tags):
    chain = random_chain(tokens, tags, seed=tokens * 100 + tags)
    assert_same(solve(chain), chain)


@pytest.mark.parametrize("seed", range(20))
def test_browser_and_python_agree_where_scores_are_forbidden(solve, seed):
    chain = random_chain(6, 4, seed, forbidden=0.35)
    assert_same(solve(chain), chain)


def test_browser_and_python_agree_on_transitions_of_each_step(solve):
    chain = random_chain(9, 5, seed=1, per_step=True)
    assert_same(solve(chain), chain)


def test_browser_and_python_break_ties_alike(solve):
    chain = Potentials(torch.zeros(5, 4), torch.zeros(4, 4))
    assert_same(solve(chain), chain)


def test_browser_knows_when_no_path_is_allowed(solve):
    chain = Potentials(torch.zeros(3, 2), torch.full((2, 2), -math.inf))
    solved = solve(chain)
    assert solved["logPartition"] == "forbidden"
    assert solved["rows"]["viterbi"] is None
    assert_same(solved, chain)
