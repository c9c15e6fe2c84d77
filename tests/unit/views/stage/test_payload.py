"""What the stage is told: strict JSON for any chain, and tables that arrive to the last bit."""

import base64
import json
import math
import struct
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.distribution import sample_counts
from crfviz.chain.edits import Edits
from crfviz.chain.patterns import automaton
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.views.stage.entity import entity_panel
from crfviz.views.stage.payload import payload
from crfviz.views.stage.picture import Cell, Gradient, Grid, Picture, Row, Subject
from crfviz.views.stage.walks import ONE_PICTURE, viterbi_walk
from crfviz.views.strips.decoders import LABELS, backpointer_rows, decoder_rows
from crfviz.views.strips.pictures import (
    alpha_grid,
    best_grid,
    beta_grid,
    emission_grid,
    marginal_grid,
)
from tests.support.strategies import chains, fewer_examples

INF = math.inf
CHAIN = Potentials([[1.0, 0.5], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]], tags=["A", "B"])
WALK = viterbi_walk(possible=True)
NOTHING = Potentials(torch.full((3, 2), -INF), torch.full((2, 2), -INF), [-INF] * 2, [-INF] * 2)


def stage_of(potentials, edits=None, **parts):
    """A chain and all that a page can put on the stage; `parts` replaces fields of both."""
    edits = edits or Edits()
    trained = analyse(potentials)
    now = analyse(edits.apply(potentials)) if edits else trained
    grids = [
        emission_grid(now, "score"),
        alpha_grid(now, "log", "message"),
        alpha_grid(now, "probability", "included"),
        marginal_grid(now, now.max_marginal),
        best_grid(now),
    ]
    rows = [*decoder_rows(now, which=list(LABELS), trained=trained), *backpointer_rows(now)]
    subject = Subject(trained, now, edits)
    picture = Picture(["strips", "lattice", "emissions"], rows, grids, side=Cell(), walk=WALK)
    of_subject = {name: parts.pop(name) for name in [*parts] if hasattr(subject, name)}
    return replace(subject, **of_subject), replace(picture, **parts)


def received(stage, ack=0, *, with_tables=False):
    """The payload as it comes out of the wire, and nothing but strict JSON went in."""
    return json.loads(json.dumps(payload(*stage, ack, with_tables=with_tables), allow_nan=False))


def decoded(text, code="d"):
    """Numbers from base64, little-endian, by the standard library alone."""
    data = base64.b64decode(text, validate=True)
    return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


def transitions_of(trained, num_tokens):
    """All matrices, put together as web/model.js does."""
    matrix = decoded(trained["transitions"])
    if trained["steps"] is None:
        return [] if num_tokens == 1 and all(map(math.isnan, matrix)) else list(matrix)
    everything = list(matrix) * (num_tokens - 1)
    cells, values = (decoded(trained["steps"][k], c) for k, c in (("cells", "i"), ("values", "d")))
    for cell, value in zip(cells, values, strict=True):
        everything[cell] = value
    return everything


def bits(numbers):
    """Floats by their bits: -0.0 is not 0.0, and NaN is itself."""
    return [struct.pack("<d", number) for number in numbers]


def assert_arrives(text, table):
    assert bits(decoded(text)) == bits(table.flatten().tolist())


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_tables_are_restored_bit_for_bit(potentials):
    subject, picture = stage_of(potentials)
    data = received((subject, picture), with_tables=True)
    for name in ("emissions", "start", "end"):
        assert_arrives(data["trained"][name], getattr(potentials, name))
    sent = transitions_of(data["trained"], potentials.num_tokens)
    assert bits(sent) == bits(potentials.transitions.flatten().tolist())
    assert_arrives(data["results"]["marginals"], subject.now.forward_backward.marginals)
    assert_arrives(data["results"]["best"], subject.now.best)
    assert_arrives(data["results"]["alpha"], subject.now.forward_backward.log_alpha)
    assert_arrives(data["results"]["beta"], subject.now.forward_backward.log_beta)
    pointers = decoded(data["results"]["backpointers"], "h")
    assert list(pointers) == subject.now.reached_backpointers.flatten().tolist()
    for sent, table in zip(data["tables"], picture.grids, strict=True):
        if table.editable:  # the stage draws the emissions that it has already
            assert "values" not in sent
            assert torch.equal(table.values, subject.now.potentials.emissions)
        else:
            assert_arrives(sent["values"], table.values)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_minus_infinity_outside_tables_becomes_null(potentials):
    subject, picture = stage_of(potentials)
    data = received((subject, picture))
    results, tables = data["results"], subject.now.forward_backward
    best = subject.now.viterbi
    if best is None:
        assert (results["log_partition"], results["score"], results["path"]) == (None, None, None)
        assert [row["tags"] for row in data["rows"] if row["id"] == "viterbi"] == [None]
    else:
        assert results["log_partition"] == tables.log_partition
        assert (results["score"], results["path"]) == (best.score, best.path)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3), st.floats(0, 2))
def test_payload_has_the_edits_and_the_trained_chain(potentials, strength):
    edits = Edits(strength=strength).with_emission(0, "0", -INF).with_transition("0", "END", 2.5)
    subject, picture = stage_of(potentials, edits)
    data = received((subject, picture), with_tables=True)
    assert data["edits"] == {
        "transitions": [["0", "END", 2.5]],
        "emissions": [[0, "0", None]],
        "strength": strength,
    }
    assert_arrives(data["trained"]["emissions"], potentials.emissions)
    assert_arrives(data["results"]["marginals"], subject.now.forward_backward.marginals)
    trained = subject.trained
    assert "marginals" not in data["ghost"]  # the browser works them out
    if trained.viterbi is None:
        assert (data["ghost"]["path"], data["ghost"]["probability"]) == (None, 0.0)
        assert data["ghost"]["log_partition"] is None
    else:
        assert data["ghost"]["path"] == trained.viterbi.path
        assert data["ghost"]["probability"] == trained.viterbi.probability
        assert data["ghost"]["log_partition"] == trained.forward_backward.log_partition


@pytest.mark.parametrize("edits", [None, Edits(strength=0.5)], ids=["as trained", "edited"])
def test_payload_of_a_fully_forbidden_chain_is_strict_json(edits):
    data = received(stage_of(NOTHING, edits), with_tables=True)
    assert set(decoded(data["trained"]["transitions"])) == {-INF}
    assert set(decoded(data["results"]["marginals"])) == {0.0}
    assert (data["ghost"] is None) == (edits is None)


def test_extreme_numbers_are_restored_bit_for_bit():
    extremes = [-0.0, 5e-324, 1e100, -1e100, -INF, math.nextafter(1.0, 2.0)]
    data = received(stage_of(Potentials([extremes], torch.zeros(6, 6))))
    assert bits(decoded(data["trained"]["emissions"])) == bits(extremes)


def test_transitions_per_step_are_restored():
    steps = torch.arange(12, dtype=torch.float64).reshape(3, 2, 2)
    data = received(stage_of(Potentials(torch.zeros(4, 2), steps)))
    assert transitions_of(data["trained"], 4) == list(range(12))


def test_equal_steps_are_sent_once():
    steps = torch.zeros(30, 9, 9)
    steps[7, 2, 3] = 1.5
    trained = received(stage_of(Potentials(torch.zeros(31, 9), steps)))["trained"]
    assert decoded(trained["steps"]["values"]) == (1.5,)
    assert decoded(trained["steps"]["cells"], "i") == (7 * 81 + 2 * 9 + 3,)
    assert transitions_of(trained, 31) == steps.flatten().tolist()


def test_single_word_has_no_steps():
    single = Potentials(torch.zeros(1, 2), torch.zeros(0, 2, 2))
    trained = received(stage_of(single))["trained"]
    assert trained["steps"] is None
    assert all(math.isnan(number) for number in decoded(trained["transitions"]))


def test_strided_tables_are_sent_in_row_order():
    across = torch.arange(6, dtype=torch.float64).reshape(2, 3).T  # (3, 2), strided
    data = received(stage_of(Potentials(across, torch.arange(4.0).reshape(2, 2).T)))
    assert decoded(data["trained"]["emissions"]) == (0, 3, 1, 4, 2, 5)
    assert decoded(data["trained"]["transitions"]) == (0, 2, 1, 3)
    grid = Grid("x", "x", across, 1.0)
    (sent,) = received(stage_of(CHAIN, grids=[grid]))["tables"]
    assert decoded(sent["values"]) == (0, 3, 1, 4, 2, 5)


@pytest.mark.parametrize("num_tags", [127, 128, 129, 300])
def test_backpointers_of_many_tags_do_not_overflow(num_tags):
    """They were sent as int8 once, and 128 became -128."""
    transitions = torch.zeros(num_tags, num_tags)
    transitions[-1, :] = 1.0
    data = received(stage_of(Potentials(torch.zeros(2, num_tags), transitions)), with_tables=True)
    pointers = np.array(decoded(data["results"]["backpointers"], "h")).reshape(2, num_tags)
    assert (pointers[0] == -1).all()
    assert (pointers[1] == num_tags - 1).all()
    assert len(data["colours"]) == num_tags


def test_trained_results_are_sent_only_with_edits():
    assert received(stage_of(CHAIN))["ghost"] is None
    assert received(stage_of(CHAIN, Edits(strength=0.5)))["ghost"] is not None


def test_sweep_tables_are_sent_only_for_parts_that_need_them():
    stepped = received(stage_of(CHAIN, side=None), with_tables=True)
    assert stepped["results"]["best"] is not None
    without = received(
        stage_of(CHAIN, main=["lattice"], side=None, walk=ONE_PICTURE), with_tables=True
    )
    assert not {"alpha", "beta", "best"} & set(without["results"])
    assert not {"marginals", "best"} & set(received(stage_of(CHAIN, side=None))["results"])
    expected = {"main": ["lattice"], "side": None, "compact": False}
    assert without["panels"] == expected


def test_unconstrained_scores_may_differ_from_the_trained_ones():
    """Without the hard constraints the cells show what the constraints had forbidden."""
    free = CHAIN.with_transition("A", "B", 3.0)
    data = received(stage_of(CHAIN, Edits(constrained=False), unedited=free, constrained=False))
    assert decoded(data["trained"]["transitions"]) == (0.0, 3.0, 0.0, 0.0)
    assert data["constrained"] is False


def test_rows_and_tables_keep_their_contents():
    row = Row(
        "x",
        "a label",
        (1, 0),
        "p = 0.5",
        ("one", "two"),
        shares=(0.5, -1.0),
        titles=("1st", "2nd"),
        columns=("1.", "0.5"),
    )
    grid = Grid("t", "a table", torch.ones(2, 2), 2.0, 3, "probability", outlined=(1, 0))
    texts = {
        "reference": "x",
        "contrast": "y",
        "note": "n",
        "legend": "l",
        "hint": "h",
        "asks": "at",
    }
    stage = stage_of(CHAIN, rows=[row], grids=[grid], step=3, asked=(1, 0), **texts)
    data = received(stage, ack=7)
    assert data["rows"] == [
        {
            "id": "x",
            "label": "a label",
            "tags": [1, 0],
            "value": "p = 0.5",
            "texts": ["one", "two"],
            "shares": [0.5, -1.0],
            "titles": ["1st", "2nd"],
            "columns": ["1.", "0.5"],
        }
    ]
    (sent,) = data["tables"]
    assert decoded(sent.pop("values")) == (1.0,) * 4
    assert sent == {
        "name": "t",
        "label": "a table",
        "scale": 2.0,
        "digits": 3,
        "kind": "probability",
        "editable": False,
        "outlined": [1, 0],
    }
    assert (data["step"], data["ack"], data["asked"]) == (3, 7, [1, 0])
    assert {name: data[name] for name in texts} == texts


def test_sample_counts_are_sent_without_unused_moves():
    samples = sample_counts(CHAIN, 5, seed=1)
    data = received(stage_of(CHAIN, pile=samples, heading=("a", "b")))
    assert data["heading"] == ["a", "b"]
    assert data["pile"]["drawn"] == 5
    assert data["pile"]["newest"] == samples.paths[-1].tolist()
    assert list(decoded(data["pile"]["uses"], "h")) == samples.uses.flatten().tolist()
    moves = decoded(data["pile"]["moves"], "h")
    found = {moves[i : i + 3]: moves[i + 3] for i in range(0, len(moves), 4)}
    made = [(0, j, k) for j, k in samples.paths.tolist()]
    assert found == {move: made.count(move) for move in made}
    none = received(stage_of(CHAIN, pile=sample_counts(CHAIN, 0, seed=1)))["pile"]
    assert (none["drawn"], none["newest"], none["moves"]) == (0, None, "")
    assert received(stage_of(CHAIN))["pile"] is None


def test_gradient_counts_are_restored_bit_for_bit():
    step = gradient_step(CHAIN, ["B", "A"], 1.0)
    data = received(stage_of(CHAIN, side=Gradient(step)))["gradient"]
    for part in ("transitions", "start", "end"):
        assert_arrives(data["difference"][part], getattr(step.difference, part))
        counted = getattr(step.observed, part).flatten().tolist()
        assert list(decoded(data["observed"][part], "d")) == counted
    nothing = received(stage_of(CHAIN, side=Gradient(None)))
    assert (nothing["gradient"], nothing["panels"]["side"]) == (None, "gradient")
    assert received(stage_of(CHAIN))["gradient"] is None


def test_scores_of_a_read_only_picture_are_not_sent():
    assert received(stage_of(CHAIN, changeable=False))["trained"] is None


def test_words_with_markup_are_data():
    words = ["</script>", 'say "so"\\', "naïve 🙂", "\u2028\x00"]
    chain = Potentials(torch.zeros(4, 1), torch.zeros(1, 1), tokens=words)
    assert received(stage_of(chain))["words"] == words


def test_bio_violations_and_the_entity_are_sent_if_present():
    chain = Potentials(torch.zeros(2, 3), torch.zeros(3, 3), tags=["O", "B-X", "I-X"])
    panel = entity_panel(chain, ("X", 0, 1), ["a", "b"], path=[1, 2])
    rows = [Row("x", "a", (2, 0), faults=[0]), Row("y", "b", (0, 0))]
    analysis = analyse(chain)
    subject = Subject(analysis, analysis)
    data = received((subject, Picture(["spans"], rows, side=panel)))
    assert [row.get("faults") for row in data["rows"]] == [[0], None]
    assert data["entity"]["probability"] == pytest.approx(1 / 9, abs=1e-12)
    assert data["entity"]["hypotheses"][0]["relation"] == "none"


def test_trained_values_are_sent_only_with_edits():
    grid = replace(marginal_grid(analyse(CHAIN), None), trained=torch.zeros(2, 2))
    rows = decoder_rows(analyse(CHAIN), which=list(LABELS))
    plain = received(stage_of(CHAIN, rows=rows))
    assert plain["ghost"] is None
    assert all("trained" not in part for part in [*plain["rows"], *plain["tables"]])
    edits = Edits(transitions={("A", "A"): -9.0, ("B", "B"): 9.0})
    subject, picture = stage_of(CHAIN, edits, rows=rows, grids=[grid], changeable=False)
    data = received((subject, picture))
    before = subject.trained
    for name, expected in [
        ("marginals", before.forward_backward.marginals),
        ("alpha", before.forward_backward.log_alpha),
        ("beta", before.forward_backward.log_beta),
        ("best", before.best),
    ]:
        assert_arrives(data["ghost"][name], expected)
    assert {row["id"]: row["trained"] for row in data["rows"]} == before.paths
    assert_arrives(data["tables"][0]["trained"], torch.zeros(2, 2))


def test_payload_of_an_edited_twelve_word_sentence_is_small():
    generator = torch.Generator().manual_seed(0)
    chain = Potentials(
        torch.randn(12, 17, generator=generator),
        torch.randn(17, 17, generator=generator),
        tokens=["word"] * 12,
    )
    edits = Edits(strength=0.5)
    now, trained = analyse(edits.apply(chain)), analyse(chain)
    grids = [
        replace(make(now), trained=make(trained).values)
        for make in (lambda a: alpha_grid(a, "log", "included"), lambda a: beta_grid(a, "log"))
    ]
    subject = Subject(trained, now, edits)
    rows = decoder_rows(now, which=list(LABELS))
    picture = Picture(["alpha", "beta", "strips"], rows, grids, side=Cell())
    assert len(json.dumps(payload(subject, picture))) < 45_000


def test_tag_copies_of_a_rule_have_the_allowed_transitions():
    rule = automaton("[^ B]* B? A", ("A", "B"))
    product = CHAIN.constrained(rule.pattern)
    trained, picture = analyse(product), Picture(["lattice"], rule=rule)
    told = received((Subject(trained, trained, rule=rule), picture))
    assert told["copies"] == told["kept"]
    assert told["copies"]["of"] == [name.split("·")[0] for name in product.tags]
    allowed = np.frombuffer(base64.b64decode(told["copies"]["allowed"]), "<i2")
    K = len(product.tags)
    finite = torch.isfinite(torch.zeros(K + 1, K + 1))
    finite[0, :-1], finite[1:, -1] = torch.isfinite(product.start), torch.isfinite(product.end)
    finite[1:, :-1], finite[0, -1] = torch.isfinite(product.transitions), False
    assert allowed.reshape(K + 1, K + 1).tolist() == finite.int().tolist()


def test_window_has_its_own_tables_and_the_scores_of_all_words():
    scores = torch.arange(12, dtype=torch.float64).reshape(6, 2).sin()
    whole = analyse(Potentials(scores, [[0.5, -1.0], [0.0, 0.2]], tokens=list("abcdef")))
    window = whole.window(2, 3)
    edits = Edits({}, {(4, "1"): 2.0})
    told = received(
        (Subject(window, window, edits=edits, pins={3: "0"}), Picture(["lattice"], side=Cell())),
        with_tables=True,
    )
    assert (told["words"], told["offset"], told["total"]) == (["c", "d", "e"], 2, 6)
    assert_arrives(told["trained"]["emissions"], scores)
    assert_arrives(told["results"]["alpha"], whole.forward_backward.log_alpha[2:5])
    assert told["results"]["log_partition"] == whole.forward_backward.log_partition
    assert told["results"]["path"] == whole.viterbi.path[2:5]
    assert (told["edits"]["emissions"], told["pins"]) == ([[4, "1", 2.0]], [[3, "0"]])
