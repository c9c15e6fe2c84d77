"""What is taken away sends nothing anywhere: no button of Plotly's leads to a company."""

import json
import re

from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.report import full_record, tables_of
from crfviz.text.sentences import Sentence
from crfviz.views.figures.offline import html_report
from tests.support.fake_tagger import FakeTagger
from tests.support.paths import ROOT


def report():
    tagger = FakeTagger(["X", "Y"], {"a": {"X": 1.0}})
    results = run(tagger, [Sentence(("a", "a"), ("X", "Y"))])
    tables = tables_of(results)
    return html_report(full_record(results, "f", tables), tables)


def test_exported_figures_have_no_upload_button():
    page = report()
    figures = page.split("Plotly.newPlot(")[1:]  # the library does not call itself so
    configs = [
        re.findall(r"\{[^{}]*\}", figure.partition("</script>")[0])[-1] for figure in figures
    ]
    assert configs
    for config in map(json.loads, configs):
        assert config["showSendToCloud"] is False
        assert config["displaylogo"] is False
    assert "default-src 'none'" in page.split("<title>")[0]


def test_only_one_module_exports_plotly_figures():
    """A table of pandas (`frame.to_html`) is text alone and may leave elsewhere."""
    modules = [
        *ROOT.glob("crfviz/**/*.py"),
        *ROOT.glob("pages/*.py"),
        *ROOT.glob("benchmarks/*.py"),
    ]
    door = re.compile(r"(?<!frame\.)to_html\(|write_html\(|plotly_chart\(|embed_options|\.show\(\)")
    leaving = [path.name for path in modules if door.search(path.read_text("utf-8"))]
    assert leaving == ["offline.py"]
