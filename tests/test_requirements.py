"""The pinned versions: pip takes them as constraints, which know names and versions only."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONSTRAINT = re.compile(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*")


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_pin_can_be_a_constraint(name: str) -> None:
    pins = (ROOT / name).read_text("utf-8").splitlines()
    assert [pin for pin in pins if not CONSTRAINT.fullmatch(pin)] == []
