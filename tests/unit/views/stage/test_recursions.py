"""The numbers that the stage's recursions in JavaScript are compared with are the library's."""

import pytest

from tests.support import javascript_chains


@pytest.mark.parametrize("case", javascript_chains.read(), ids=lambda case: case["name"])
def test_javascript_fixture_has_the_numbers_of_the_library(case):
    """`recursions.test.js` allows for 5e-10 from these: less than 1e-9 in all."""
    numbers, rows = javascript_chains.results(case)
    assert case["expected"].pop("rows") == rows
    written = {name: javascript_chains.scores(part) for name, part in case["expected"].items()}
    assert written == {
        name: pytest.approx(part, rel=0, abs=1e-10) for name, part in numbers.items()
    }
