"""The notebooks of the documentation run, from the first cell to the last, and draw something."""

import pytest

from tests.support.paths import ROOT

NOTEBOOKS = sorted(ROOT.glob("docs/notebooks/*.ipynb"))
DRAWN = ("text/html", "application/vnd.jupyter.widget-view+json")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_notebook_runs_and_draws(path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("anywidget")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "saved with outputs"
    resources = {"metadata": {"path": str(path.parents[2])}}
    nbclient.NotebookClient(notebook, timeout=120, resources=resources).execute()
    shown = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", ())]
    assert any(kind in data for data in shown for kind in DRAWN)
