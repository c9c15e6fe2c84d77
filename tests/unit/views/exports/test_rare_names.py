"""Whatever tags and words are called, the browser's numbers are those of a recursion in NumPy."""

import random
from urllib.parse import parse_qsl

import numpy as np
import pytest

import crfviz
from crfviz.chain.edits import END, START, Edits
from crfviz.ui.state.link import decode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.link_text import cell_text, names_text, read_cell, read_names, tag_text
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, data
from tests.support import node
from tests.support.rare_names import NAMES, rare_chain, seed_of_commit

BACKEND = {
    bundle.OWN / "local_backend.js": "LocalBackend",
    bundle.STAGE / "link_text.js": "tagText",
}
CASES = 25
SOLVE = """
  const [files, names] = told;
  const answers = files.map(([data, events]) => {
    const local = new LocalBackend(data, { turned: () => null, beyond: () => null });
    local.take(events);
    const { results, chosen } = local.payload();
    const { logPartition, marginals } = results;
    const saved = { ...data, edits: local.plainEdits() };
    const again = new LocalBackend(saved, { turned: () => null }).payload().results.logPartition;
    return { logPartition, marginals: [...marginals], again, chosen, query: local.query() };
  });
  return { answers, texts: names.map(tagText) };
"""


def numpy_sums(emissions, transitions, start, end):
    """Return log Z and the marginals by the forward-backward recursion."""
    logs = np.logaddexp.reduce
    alpha, beta = [start + emissions[0]], [end]
    for row in emissions[1:]:
        alpha.append(logs(alpha[-1][:, None] + transitions, axis=0) + row)
    for row in emissions[:0:-1]:
        beta.insert(0, logs(transitions + row + beta[0], axis=1))
    log_z = logs(alpha[-1] + end)
    return log_z, np.exp(np.array(alpha) + np.array(beta) - log_z)


def edited_by_hand(chain, dice):
    """Return a number for every weight of the matrix, as tables, events and edits."""
    tags, K = chain.tag_names, chain.num_tags
    matrix = np.array([[dice.randrange(-80, 80) / 16 for _ in range(K + 1)] for _ in range(K + 1)])
    names = [START, *tags], [*tags, END]
    cells = [(i, j) for i in range(K + 1) for j in range(K + 1) if (i, j) != (0, K)]
    moves = {(names[0][i], names[1][j]): float(matrix[i, j]) for i, j in cells}
    events = [
        {"kind": "transition", "from": a, "to": b, "score": score}
        for (a, b), score in moves.items()
    ]
    return (matrix[1:, :K], matrix[0, :K], matrix[1:, K]), events, Edits(moves)


def test_every_weight_of_rare_tags_is_edited_as_in_numpy(tmp_path):
    files, wanted = [], []
    for seed in range(seed_of_commit(), seed_of_commit() + CASES):
        chain, dice = rare_chain(seed), random.Random(seed)
        (steps, start, end), events, edits = edited_by_hand(chain, dice)
        tag = dice.choice(chain.tag_names)
        events.append({"kind": "view", "name": "chosen", "value": cell_text(1, tag)})
        numbered = [{"seq": n, **event} for n, event in enumerate(events, 1)]
        files.append([data(Live(chain), list(PAGES)), numbered])
        sums = numpy_sums(chain.emissions.numpy(), steps, start, end)
        wanted.append((chain, edits, *sums, [1, chain.tag_names.index(tag)]))
    told = node.run(tmp_path, BACKEND, SOLVE, [files, list(NAMES)])
    models = Models(["m"], "m", lambda _: "")
    for (chain, edits, log_z, marginals, chosen), answer in zip(
        wanted, told["answers"], strict=True
    ):
        assert answer["logPartition"] == pytest.approx(log_z, abs=1e-9), chain.tags
        assert answer["again"] == pytest.approx(log_z, abs=1e-9), chain.tags
        assert answer["marginals"] == pytest.approx(marginals.flatten().tolist(), abs=1e-9)
        assert answer["chosen"] == chosen
        sums = crfviz.forward_backward(edits.apply(chain))
        assert sums.log_partition == pytest.approx(log_z, abs=1e-9)
        decoded = decode(dict(parse_qsl(answer["query"])), models)
        assert decoded.ignored == []
        assert decoded.scenario.edits == edits
    assert told["texts"] == [tag_text(name) for name in NAMES]


def test_page_options_name_rare_tags():
    tags = [*NAMES, START, END]
    for first, second in zip(NAMES, reversed(NAMES), strict=True):
        assert read_names(names_text(first, second), tags, tags) == (first, second)
        assert read_cell(cell_text(1001, first), tags) == (1001, tags.index(first))


def test_page_options_of_old_links_name_tags_as_they_are():
    assert read_cell("3 ,", [",", "NN"]) == (3, 0)
    assert read_cell("3 50%", ["50%", "NN"]) == (3, 0)
    assert read_names("O B-geo loc", ["O"], ["B-geo loc"]) == ("O", "B-geo loc")
    assert read_names("START ,", [START, ","], [",", END]) == (START, ",")
    assert read_cell("x NN", ["NN"]) is None
    assert read_names("NN", ["NN"], ["NN"]) is None
