"""Paths of the project's folders, for tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
EXCERPT = FIXTURES / "ewt" / "test_excerpt.conllu"
