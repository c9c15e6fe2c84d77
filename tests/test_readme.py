"""The README's Python runs as it stands, and its commands and pages exist."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from crfviz.__main__ import main
from crfviz.ui.frame import PAGES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    "code", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL), ids=["library"]
)
def test_readme_code_runs(code):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert "VERB" in printed.getvalue()


def test_every_page_is_in_the_readme():
    for _script, title, path in PAGES:
        assert f"| {title} | `/{path}` |" in README


def test_every_command_of_the_readme_is_one(capsys):
    commands = set(re.findall(r"^python -m crfviz (\w+)", README, flags=re.MULTILINE))
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    listed = set(re.findall(r"^  (\w+)  ", printed.split("commands:")[1], flags=re.MULTILINE))
    assert commands == listed
