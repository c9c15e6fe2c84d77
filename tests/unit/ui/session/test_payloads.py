"""What a stage is answered: changes only where its browser has what they change, else the whole."""

import json
import math

import pytest

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.ui.session import components
from crfviz.ui.session.components import NAME, SINCE, WEB, answer, note_payload
from crfviz.ui.streamlit_compat import PACKAGE
from crfviz.views.stage.payload import changes, payload
from crfviz.views.stage.picture import Picture, Subject
from crfviz.views.strips.decoders import LABELS, decoder_rows
from tests.support import node

pytestmark = pytest.mark.usefixtures("asked_again")  # nothing may be cut short

CHAIN = Potentials([[1.0, 0.5], [0.0, 0.5], [0.3, 0.1]], [[0.0, -1.0], [0.2, 0.0]], tags=["A", "B"])
EDITS = Edits().with_transition("A", "B", 2.5)
FORBIDDEN = Edits().with_emission(0, "A", -math.inf).with_emission(0, "B", -math.inf)
MODULES = {
    PACKAGE / WEB / "model.js": "decode",
    PACKAGE / WEB / "outbox.js": "Outbox",
    PACKAGE / WEB / "payload_store.js": "PayloadStore",
}
BODY = """
  const asked = [], drawn = [];
  const outbox = new Outbox((events) => asked.push(...events.map(({ kind, seq }) => [kind, seq])));
  const here = new PayloadStore(outbox);
  const plain = (table) => Array.from(table, (value) => (value === -Infinity ? null : value));
  for (const data of told) {
    const payload = here.payload(data, decode);
    if (!payload) continue;
    outbox.acknowledge(payload.ack);
    const { path, score, logPartition, marginals, backpointers } = payload.results;
    const results = [path, plain([score, logPartition]), plain(backpointers), plain(marginals)];
    const edits = [...payload.edits.transitions].map(String);
    drawn.push({ ...payload, results, edits, trained: null, whole: null, since: null });
  }
  outbox.close();
  return { asked, drawn };
"""


@pytest.fixture
def of_part(monkeypatch):
    """This run draws a part of the page."""
    monkeypatch.setattr(components, "is_fragment_run", lambda: True)


def of(edits=None, ack=0, chain=CHAIN, *, with_tables=False):
    """A payload as it comes out of the wire."""
    edits = edits or Edits()
    trained, now = analyse(chain), analyse(edits.apply(chain))
    rows = decoder_rows(now, which=list(LABELS), trained=trained)
    picture = Picture(["strips"], rows)
    told = payload(Subject(trained, now, edits), picture, ack, with_tables=with_tables)
    return json.loads(json.dumps(told))


@pytest.mark.usefixtures("of_part")
def test_browser_with_the_last_payload_gets_only_changes():
    whole = answer("one", of())
    note_payload("one", whole[NAME])
    told = answer("one", of(EDITS, 1))
    assert told[SINCE] == whole[NAME]
    assert told["ack"] == 1
    assert NAME not in told
    assert not {"trained", "words", "tags", "walk"}.intersection(told)
    assert told["edits"]["transitions"] == [["A", "B", 2.5]]
    assert set(told["results"]) == {"log_partition", "score", "path"}


@pytest.mark.usefixtures("of_part")
def test_changes_refer_to_the_payload_of_the_browser():
    whole = answer("one", of())
    for number in (1, 2):
        note_payload("one", whole[NAME])
        told = answer("one", of(EDITS if number == 1 else None, number))
    assert set(told) == {"ack", SINCE}  # the first edit was taken back


@pytest.mark.usefixtures("of_part")
@pytest.mark.parametrize("has", [None, "another", 1, [], {}], ids=str)
def test_browser_with_another_payload_gets_the_whole(has):
    name = answer("one", of())[NAME]
    note_payload("one", has)
    told = answer("one", of(EDITS, 1))
    assert told == {**of(EDITS, 1), NAME: told[NAME]}
    assert told[NAME] != name


@pytest.mark.usefixtures("of_part")
def test_run_without_an_event_sends_the_whole_payload():
    name = answer("one", of())[NAME]
    note_payload("one", name)
    assert SINCE in answer("one", of(EDITS, 1))
    note_payload("one", None)
    assert NAME in answer("one", of(EDITS, 1))


def test_full_rerun_sends_the_whole_payload():
    name = answer("one", of())[NAME]
    note_payload("one", name)
    assert NAME in answer("one", of(EDITS, 1))


@pytest.mark.usefixtures("of_part")
def test_stages_have_separate_payloads_and_old_ones_are_dropped():
    first = answer("one", of())[NAME]
    second = answer("two", of())[NAME]
    note_payload("one", second)
    assert NAME in answer("one", of(EDITS, 1))
    answer("three", of())
    note_payload("two", second)
    assert NAME in answer("two", of(EDITS, 1))
    assert first != second


def test_read_only_stage_gets_all_tables():
    chain = analyse(CHAIN)
    told = payload(Subject(chain, chain), Picture(["strips"], changeable=False))
    assert told["trained"] is None
    assert {"marginals", "backpointers"} <= set(told["results"])


def test_browser_with_other_numbers_asks_for_tables_once(tmp_path):
    wrong = {**of(), NAME: "first"}
    wrong["results"] = {**wrong["results"], "log_partition": 9.0}
    tables = {**of(with_tables=True), NAME: "second"}
    tables["results"]["log_partition"] = 9.0
    result = node.run(tmp_path, MODULES, BODY, [wrong, tables])
    assert [kind for kind, _ in result["asked"]] == ["whole"]
    shown = [each["results"] for each in result["drawn"]]
    assert [each[1][1] for each in shown] == [9.0, 9.0]
    assert shown[0][3] == pytest.approx(shown[1][3], abs=1e-12)


@pytest.mark.parametrize("edits", [EDITS, Edits(strength=0.5), FORBIDDEN], ids=str)
def test_applied_changes_equal_the_whole_payload_in_the_browser(tmp_path, edits):
    whole, changed = {**of(), NAME: "first"}, of(edits, 1)
    tables = of(edits, 1, with_tables=True)
    given = [whole, {**changes(changed, whole), SINCE: "first"}, {**tables, NAME: "second"}]
    result = node.run(tmp_path, MODULES, BODY, given)
    assert result["asked"] == []
    _, by_changes, by_whole = result["drawn"]
    for one, other in zip(by_changes.pop("results"), by_whole.pop("results"), strict=True):
        assert one == (other if other is None else pytest.approx(other, abs=1e-12))
    assert by_changes == by_whole
