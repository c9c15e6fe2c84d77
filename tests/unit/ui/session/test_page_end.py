"""The end of a page's script: no click that came meanwhile is lost."""

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType

from crfviz.ui.session.page_end import PageEnd, end_page
from crfviz.ui.widgets import guarded
from tests.support.paths import ROOT


def test_stop_of_streamlit_drops_the_request_of_a_click():
    requests = ScriptRequests()
    requests.request_rerun(RerunData(fragment_id="page"))
    requests.request_stop()
    assert requests.on_scriptrunner_ready().type is ScriptRequestType.STOP


def test_no_script_of_the_app_stops_its_run():
    sources = [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("crfviz/ui/**/*.py")]
    assert [each.name for each in sources if "st.stop()" in each.read_text("utf-8")] == []


def test_end_of_a_page_is_no_error_of_its_parts():
    with pytest.raises(PageEnd), guarded("This part"):
        end_page()
