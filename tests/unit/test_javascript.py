"""The unit tests of JavaScript, which `make js` runs alone."""

import subprocess

import pytest

from tests.support import node
from tests.support.paths import ROOT

FILES = sorted((ROOT / "tests" / "unit" / "js").glob("*.test.js"))


def test_javascript_unit_tests_pass():
    assert FILES
    done = subprocess.run(
        [node.program(), "--test", "--test-reporter", "spec", *FILES],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    if done.returncode != 0:
        report = done.stdout + done.stderr
        pytest.fail(report.rpartition("failing tests:")[2], pytrace=False)
