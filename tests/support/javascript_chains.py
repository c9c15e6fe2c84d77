"""Chains with the library's results, for `tests/unit/js/recursions.test.js`.

`python -m tests.support.javascript_chains` recomputes the results of all chains in the file.
In the file, tables are flat lists, and null means -inf.
"""

import json
import math

import torch

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from tests.support.paths import ROOT

FILE = ROOT / "tests" / "fixtures" / "recursions.json"
DIGITS = 11  # decimals in the file


def read():
    """Return the list of cases: {"name", "T", "K", "emissions", ..., "expected"}."""
    return json.loads(FILE.read_text("utf-8"))


def results(case):
    """Compute the library's results for the chain of a case: lists of numbers by name, and rows."""
    found = analyse(_potentials(case))
    tables = found.forward_backward
    return {
        "logPartition": [float(tables.log_partition)],
        "score": [-math.inf if found.viterbi is None else found.viterbi.score],
        "alpha": tables.log_alpha.flatten().tolist(),
        "beta": tables.log_beta.flatten().tolist(),
        "best": found.best.flatten().tolist(),
        "marginals": tables.marginals.flatten().tolist(),
        "backpointers": found.reached_backpointers.flatten().tolist(),
    }, dict(found.paths)


def scores(values):
    """Convert numbers of the file to floats; null becomes -inf."""
    return [-math.inf if value is None else value for value in values]


def write(cases):
    """Write the cases with the library's results, one case per line."""
    lines = []
    for case in cases:
        numbers, rows = results(case)
        rounded = {
            name: [None if value == -math.inf else round(value, DIGITS) for value in values]
            for name, values in numbers.items()
        }
        case = {**case, "expected": {**rounded, "rows": rows}}
        lines.append(json.dumps(case, separators=(",", ":")))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def _potentials(case):
    tokens, tags = case["T"], case["K"]
    steps = () if len(case["transitions"]) == tags * tags else (tokens - 1,)
    shapes = {
        "emissions": (tokens, tags),
        "transitions": (*steps, tags, tags),
        "start": (tags,),
        "end": (tags,),
    }
    tables = (
        torch.tensor(scores(case[name]), dtype=torch.float64).reshape(shape)
        for name, shape in shapes.items()
    )
    return Potentials(*tables)


if __name__ == "__main__":
    write(read())
