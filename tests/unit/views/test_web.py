"""The stage's JavaScript and CSS: what the formatters leave to whoever writes them."""

from pathlib import Path

import pytest

import crfviz

PRODUCT = Path(crfviz.__file__).parent
FILES = sorted([*PRODUCT.rglob("*.js"), *PRODUCT.rglob("*.css")])
WEB = PRODUCT / "views" / "stage" / "web"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_line_is_longer_than_120_columns(path):
    lines = path.read_text("utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > 120] == []


def test_only_host_js_calls_streamlit():
    texts = {
        path.relative_to(WEB).as_posix(): path.read_text("utf-8") for path in WEB.rglob("*.js")
    }
    knowing = [name for name, text in texts.items() if "setTriggerValue" in text]
    assert knowing == ["host.js"]


def test_folders_have_at_most_20_modules():
    folders = {path.parent for path in WEB.rglob("*.js")}
    assert max(len(list(folder.glob("*.js"))) for folder in folders) <= 20
