"""What `crfviz.watch` costs on the layers of the tests: `python benchmarks/watching.py`."""

import json
import sys
from pathlib import Path

from serving import ROOT

OUT = Path(__file__).with_name("watching.json")
HEAD = "| layer | sentences | a pass (ms) | while watched | kept (MB) | search (ms) |"
ROW = "| {layer} | {sentences} | {ms:.1f} | {ratio:.2f} × | {kept_mb:.2f} | {search_ms:.0f} |"


def table(rows: list[dict[str, object]]) -> str:
    return "\n".join([HEAD, "|---|---:|---:|---:|---:|---:|", *(ROW.format(**r) for r in rows)])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from tests.support.watch_cost import KINDS, cost

    OUT.write_text(json.dumps([cost(name, 30) for name in KINDS], indent=2) + "\n")
