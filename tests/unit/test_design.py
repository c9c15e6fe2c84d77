"""The flows of docs/structure.md have files and functions, the ideas of docs/design.md modules."""

import re
from importlib import import_module
from operator import attrgetter

import pytest

from tests.support.paths import ROOT

TEXT = (ROOT / "docs/structure.md").read_text("utf-8")
SECTION = TEXT.partition("## Two flows\n")[2].partition("\n## ")[0]
STOP = re.compile(r"^(\d+)\. `(\S+)`(?: `(\S+)`)?: (.+)$", re.M)
MAX_FUNCTIONS = 15  # that only transport, in each flow
FLOWS = [
    (title, *map(int, (stops, functions, scripts)), STOP.findall(body))
    for title, stops, functions, scripts, body in re.findall(
        r"\*\*(.+?)\*\*: (\d+) stops, (\d+) functions and (\d+) scripts? transport\."
        r"(.*?)(?=\n\*\*|\Z)",
        SECTION,
        re.S,
    )
]


def is_function(file, name):
    if file.endswith(".js"):
        text = (ROOT / file).read_text("utf-8")
        defined = rf"^(export )?(async )?function {name}\(|^  (async )?{name}\(.*\) \{{$"
        return re.search(defined, text, re.M) is not None
    module = import_module(file.removesuffix(".py").replace("/", "."))
    return callable(attrgetter(name)(module))


def test_structure_document_has_two_flows():
    assert [title for title, *_ in FLOWS] == [
        "A typed sentence becomes a picture",
        "A dragged transition gets its answer",
    ]


@pytest.mark.parametrize(("title", "stops", "functions", "scripts", "listed"), FLOWS)
def test_every_stop_of_a_flow_exists(title, stops, functions, scripts, listed):
    assert [int(number) for number, *_ in listed] == list(range(1, stops + 1)), title
    transport = [name for _, _, name, what in listed if not what.startswith("*")]
    assert (len(list(filter(None, transport))), transport.count("")) == (functions, scripts)
    assert functions <= MAX_FUNCTIONS
    assert [file for _, file, _, _ in listed if not (ROOT / file).is_file()] == []
    names = [(file, name) for _, file, name, _ in listed if name]
    assert [each for each in names if not is_function(*each)] == []


def test_module_of_every_idea_exists():
    rows = (ROOT / "docs/design.md").read_text("utf-8").splitlines()
    ideas = [
        [cell.strip() for cell in row.split("|")[1:-1]] for row in rows if row.startswith("| ")
    ]
    places = [re.findall(r"`([^`]+)`", place) for _, place, _ in ideas[1:]]
    assert len(places) > 25
    assert all(places)
    for first, *others in places:
        folder = (ROOT / "crfviz" / first).parent
        for name in (first, *others):
            base = ROOT / "crfviz" if "/" in name else folder
            exists = [(base / f"{name}{end}").exists() for end in ("", ".py")]
            assert any(exists), name
