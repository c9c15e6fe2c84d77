"""Which rotating tests run: a tenth that the commit chooses, all of them, or none.

The tests of `tests/matrix` rotate, and so do long variants in other folders, which have the mark
`rotating`: each page keeps a test of its main behaviour that always runs.

Every commit runs another tenth, and each commit always the same one, so failures can be repeated.
"""

import hashlib
import subprocess

from tests.support.paths import ROOT

PARTS = 10
TESTS = ROOT / "tests"
MATRIX = TESTS / "matrix"


def layer_of(path):
    """Name of the folder below `tests/` that a test file is in; None outside of it."""
    return path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else None


def commit():
    """Hash of the checked-out commit; zero where there is no repository."""
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "0"


def part_of_commit():
    return int(commit(), 16) % PARTS


def part_of_test(nodeid):
    return int(hashlib.sha256(nodeid.encode()).hexdigest(), 16) % PARTS


def names_tests(config):
    """Whether the command line names a test, a test file, or a folder inside of `tests/matrix`."""
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
    return f"rotating tests: {which}"


def deselect(config, items):
    """Take the other rotating tests out of the run."""
    part = chosen(config)
    if part == "all":
        return
    kept, left_out = [], []
    for item in items:
        runs = not rotates(item) or part == part_of_test(item.nodeid)
        (kept if runs else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
