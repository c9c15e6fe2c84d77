"""Selection of the rotating tests to run: a tenth chosen by the commit, all of them, or none.

The tests of `tests/matrix` rotate, as do long variants in other folders with the mark `rotating`.
For each page, a test of its main behaviour always runs.

The commit's hash chooses the tenth: a commit always runs the same one, so failures can be repeated.
`--share 3` runs a third of all tests, chosen in the same way: enough on a second Python.
"""

import hashlib
import subprocess

from tests.support.paths import ROOT

PARTS = 10
TESTS = ROOT / "tests"
MATRIX = TESTS / "matrix"


def layer_of(path):
    """Return the folder below `tests/` that contains a test file; None outside `tests/`."""
    return path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else None


def commit():
    """Return the hash of the checked-out commit as a number; 0 without a repository."""
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "0"


def part_of_commit(parts=PARTS):
    return int(commit(), 16) % parts


def part_of_test(nodeid, parts=PARTS):
    return int(hashlib.sha256(nodeid.encode()).hexdigest(), 16) % parts


def names_tests(config):
    """Return whether the command line names a test, a test file, or a folder in `tests/matrix`."""
    paths = [config.invocation_params.dir / arg.split("::")[0] for arg in config.args]
    return any(path.is_file() or path.resolve().is_relative_to(MATRIX) for path in paths)


def rotates(item):
    return layer_of(item.path) == "matrix" or item.get_closest_marker("rotating") is not None


def chosen(config):
    """ "all", "none", or the number of the tenth that runs."""
    if names_tests(config):
        return "all"
    wanted = config.getoption("--matrix")
    return part_of_commit() if wanted == "tenth" else wanted


def header(config):
    part = chosen(config)
    which = f"tenth {part} of 0 to {PARTS - 1}" if isinstance(part, int) else part
    shares = config.getoption("--share")
    own = f"; of all tests: part {part_of_commit(shares)} of {shares}" if shares > 1 else ""
    return f"rotating tests: {which}{own}"


def deselect(config, items):
    """Deselect the rotating tests that are not chosen, and all tests outside the chosen share."""
    part, shares = chosen(config), config.getoption("--share")
    share = part_of_commit(shares)
    kept, left_out = [], []
    for item in items:
        runs = part in ("all", part_of_test(item.nodeid)) or not rotates(item)
        runs = runs and share == part_of_test(item.nodeid, shares)
        (kept if runs else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
