"""The page Rules, driven with AppTest, against the library."""

import base64
import math

import numpy as np
import pytest

from crfviz import entity_probability, forward_backward, load_tagger, match, viterbi
from crfviz.chain.edits import Edits
from crfviz.chain.questions.conditioning import condition, why_not
from crfviz.views.contents import ENTRIES, at_path
from crfviz.views.formatting import score
from tests.support.app_pages import button, go_to, new_app, open_at, opened, payloads, stage_of

SENTENCE = "These look fine to me ."
RULE = "[^ VERB]* VERB VERB .*"


@pytest.fixture
def page():
    def run(**params):
        state = {"model": "upos-en-contextfree", "sentence": SENTENCE, "v.rule": RULE}
        return opened(new_app(), "pages/rules.py", **state | params)

    return run


def table(data, name):
    values = next(each for each in data["tables"] if each["name"] == name)["values"]
    return numbers(values).reshape(len(data["words"]), -1)


def numbers(text, kind="<f8"):
    return np.frombuffer(base64.b64decode(text), kind)


def chain(edits=None):
    potentials = load_tagger("upos-en-contextfree").potentials(SENTENCE.split())
    return (edits or Edits()).apply(potentials)


def test_edits_apply_under_the_rule(page):
    app = page(t="VERB.VERB:3", **{"v.rules": "lattice"})
    found = match(chain(Edits({("VERB", "VERB"): 3.0})), RULE)
    assert {row["id"]: row for row in stage_of(app)["rows"]}["rule"]["tags"] == found.path
    assert {metric.label: metric.value for metric in app.metric}[
        "Price"
    ] == f"{found.cost:.2f} nats"


def test_lattice_by_state_is_the_product(page):
    app = page(t="VERB.VERB:3", **{"v.rules": "states"})
    data, product = stage_of(app), chain().constrained(RULE)
    assert data["tags"] == list(product.tags)
    assert [name.split("·")[0] for name in product.tags] == data["copies"]["of"]
    edited = chain(Edits({("VERB", "VERB"): 3.0})).constrained(RULE)
    best = match(chain(Edits({("VERB", "VERB"): 3.0})), RULE)
    names = [edited.tags[k].split("·")[0] for k in data["results"]["path"]]
    assert names == [chain().tags[k] for k in best.path]
    assert data["results"]["log_partition"] == pytest.approx(best.log_partition, abs=1e-9)
    assert data["edits"]["transitions"] == [["VERB", "VERB", 3.0]]
    colours = dict(zip(data["copies"]["of"], data["colours"], strict=True))
    assert [colours[name] for name in data["copies"]["of"]] == data["colours"]


def test_example_button_applies_a_rule_and_updates_the_link(page):
    app = page()
    button(app, "At most one VERB").click().run()
    assert app.query_params["v.rule"] == "[^ VERB]* VERB? [^ VERB]*"
    assert app.text_input(key="rule").value == "[^ VERB]* VERB? [^ VERB]*"
    assert "No second VERB" in app.text_input(key="rule").label
    app.text_input(key="rule").set_value("").run()  # the first example again
    assert "v.rule" not in app.query_params
    assert app.text_input(key="rule").value == "DET .*"


def test_invalid_rule_is_reported_and_the_old_one_stays(page):
    app = page()
    before = stage_of(app)["rows"]
    app.text_input(key="rule").set_value("VERB (NOUN").run()
    assert "Column 6: '(' is never closed" in app.warning[0].value
    assert app.text_input(key="rule").value == "VERB (NOUN"
    assert stage_of(app)["rows"] == before
    app.text_input(key="rule").set_value("verb .*").run()
    assert "expected a tag such as VERB" in app.warning[0].value


def test_invalid_rule_is_in_the_link_beside_the_applied_rule(page):
    app = page()
    app.text_input(key="rule").set_value(' VERB  (NOUN"').run()
    again = page(**app.query_params)
    assert again.text_input(key="rule").value == ' VERB  (NOUN"'
    assert again.warning[0].value == app.warning[0].value
    assert again.query_params["v.rule"] == RULE
    again.text_input(key="rule").set_value("VERB .*").run()
    assert "v.draft" not in again.query_params
    assert not again.warning


def test_too_long_rule_stays_in_its_field_and_is_cut_in_the_link(page):
    app, typed = page(), "VERB NOUN " * 10_000
    app.text_input(key="rule").set_value(typed).run()
    assert app.text_input(key="rule").value == typed
    assert "at most 1,000 characters, got 100,000" in app.warning[0].value
    assert "A reload keeps the first 1,001 characters" in app.warning[0].value
    again = page(**app.query_params)
    assert again.text_input(key="rule").value == typed[:1001]
    assert "at most 1,000 characters, got 1,001" in again.warning[0].value
    assert again.query_params["v.rule"] == RULE


def test_rule_of_another_model_is_applied_by_a_click(page):
    app = page()
    app.text_input(key="rule").set_value("Fever .*").run()
    app.selectbox(key="model").set_value("textbook/fever").run()
    assert app.text_input(key="rule").value == "Fever .*"
    assert app.query_params["v.rule"] == RULE
    button(app, "Use this rule").click().run()
    assert app.query_params["v.rule"] == "Fever .*"
    assert "v.draft" not in app.query_params
    assert not app.warning


def test_rule_without_a_matching_path_is_reported(page):
    app = page(**{"v.rule": "NOUN"})
    assert "No sentence of 6 words can match the rule NOUN" in app.warning[0].value
    assert {metric.label: metric.value for metric in app.metric}["P(rule)"] == "0"


def test_too_many_states_are_reported_and_the_plain_lattice_drawn(page):
    app = page(**{"v.rules": "states", "v.rule": ".{6}"})
    assert "at most 80" in app.info[0].value
    assert stage_of(app)["copies"] is None
    assert figures(page(step="start", **{"v.rules": "states", "v.rule": ".{6}"}))["Price"] == "…"


def test_tables_include_the_automaton(page):
    app = page(**{"v.twin": "1"})
    assert "next state" in app.dataframe[-1].value


@pytest.mark.parametrize("script", ["explore", "transitions", "viterbi", "entities"])
def test_applied_rule_has_its_path_below_viterbi_on_other_pages(app, script):
    entities = script == "entities"
    model = {"model": "ner-en" if entities else "upos-en-contextfree"}
    rule = "[^ B-LOC]*" if entities else RULE
    app.query_params.update({**model, "sentence": SENTENCE, "v.rule": rule, "v.twin": "1"})
    open_at(app, f"pages/{script}.py")
    assert not app.exception
    rows = [row["id"] for row in stage_of(app)["rows"]]
    assert rows[rows.index("viterbi_legal" if entities else "viterbi") + 1] == "rule"
    tagger = load_tagger(model["model"])
    found = match(tagger.potentials(SENTENCE.split()), rule)
    assert stage_of(app)["rows"][rows.index("rule")]["tags"] == found.path
    for phase in stage_of(app)["walk"]["phases"]:
        assert ("rule" in phase["parts"]) == ("viterbi" in phase["parts"])


def test_rule_chip_removes_the_rule(page):
    app = page()
    app.switch_page("pages/explore.py").run()
    assert app.query_params["v.rule"] == RULE
    app.button(key="no_rule").click().run()
    assert "v.rule" not in app.query_params
    assert "rule" not in [row["id"] for row in stage_of(app)["rows"]]
    assert "no_rule" not in [button.key for button in app.button]


@pytest.mark.parametrize("path", [each.path for each in ENTRIES if each.sentence])
def test_rule_chip_says_whether_only_a_path_is_added(app, path):
    sentence = {"model": "textbook/ice-cream", "sentence": "2 3 1", "v.rule": "C .*"}
    app.query_params.update(sentence)
    open_at(app, at_path(path).script)
    assert not app.exception
    drawn = {row["id"] for data in payloads(app) for row in data["rows"]}
    assert app.button(key="no_rule").label.startswith("Rule (path only): ") == (
        "rule" in drawn and path != "rules"
    )


def test_rule_chip_keeps_a_rejected_draft(page):
    app = page()
    app.text_input(key="rule").set_value("VERB (NOUN").run()
    app.button(key="no_rule").click().run()
    assert "v.rule" not in app.query_params
    assert app.text_input(key="rule").value == "VERB (NOUN"
    assert app.warning[0].value.endswith("is never closed.")


def test_rule_for_other_tags_is_kept_but_not_applied(app):
    app.query_params.update({"model": "textbook/fever", "sentence": "cold", "v.rule": RULE})
    open_at(app, "pages/explore.py")
    assert not app.exception
    assert not app.error
    assert app.button(key="no_rule").label.startswith("Rule not in use: ")
    assert "rule" not in [row["id"] for row in stage_of(app)["rows"]]


def test_rule_row_without_a_match_has_dashes(app):
    app.query_params.update({"model": "textbook/fever", "sentence": "cold", "v.rule": "Fever{2}"})
    open_at(app, "pages/explore.py")
    assert next(row for row in stage_of(app)["rows"] if row["id"] == "rule")["tags"] is None


def chip(app):
    """The chip of the rule in force, with its tooltip."""
    button = app.button(key="no_rule")
    return f"{button.label} {button.help}"


def figures(app):
    return {metric.label: metric.value for metric in app.metric}


def test_walk_shows_chain_automaton_product_and_sum(page):
    seen = []
    for step in ("start", "1", "2", "3", "4"):
        app = page(step=step)
        drawn = any('class="crfviz-automaton"' in html.proto.body for html in app.get("html"))
        shown = figures(app)
        seen.append((drawn, shown["Price"] != "…", shown["P(rule)"] != "…"))
    assert seen == [
        (False, False, False),
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (True, True, True),
    ]
    assert [len(phase["parts"]) > 0 for phase in stage_of(app)["walk"]["phases"]] == [1, 0, 1, 1]


def test_walk_by_state_has_the_viterbi_steps(page):
    app = page(step="3", **{"v.rules": "states"})
    data, product = stage_of(app), chain().constrained(RULE)
    walk = data["walk"]
    assert [phase["sweep"] for phase in walk["phases"]] == [1, -1, 0]
    assert (data["step"], walk["opens_done"]) == (3, True)
    best = viterbi(product)
    assert (data["results"]["path"], data["results"]["score"]) == (best.path, best.score)
    assert figures(app)["Price"] == f"{match(chain(), RULE).cost:.2f} nats"


def test_question_hides_the_cost_until_answered(page):
    app = page(**{"v.ask": "1", "v.asked": f"cost({RULE!r})"})
    assert figures(app) == {"P(rule)": "…", "Price": "…"}
    parts = {part for part, *_ in stage_of(app)["withheld"]}
    assert {"rule", "note", "ruled", "moved"} <= parts
    cost = f"{match(chain(), RULE).cost:.1f}"
    app = page(**{"v.ask": "1", "v.asked": f"cost({RULE!r})", "v.said": cost})
    assert figures(app)["Price"] == f"{match(chain(), RULE).cost:.2f} nats"


def test_first_question_is_about_the_current_rule(page):
    app = page(**{"v.ask": "1"})
    (asked,) = payloads(app, "choices")
    assert asked["text"] == f"What does the rule {RULE} cost, in nats?"


def test_chain_without_a_path_is_reported_instead_of_the_rule(page):
    app = page(**{"model": "ner-en", "sentence": "Go", "p": "0.I-PER", "v.rule": "."})
    assert app.warning[0].value.endswith("Undo an edit or drop a pin.")
    assert figures(app) == {"P(rule)": "–", "Price": "–"}
    assert stage_of(app)["results"]["path"] is None


def test_marginals_paths_and_samples_are_conditioned_on_the_rule(page):
    found = match(chain(), RULE)
    app = page()
    app.switch_page("pages/marginals.py").run()
    data = stage_of(app)
    assert data["results"]["log_partition"] == pytest.approx(found.log_partition)
    assert table(data, "marginals") == pytest.approx(found.marginals.numpy(), abs=1e-9)
    rows = {row["id"]: row for row in data["rows"]}
    assert rows["best_1"]["tags"] == found.path
    share = math.exp(found.score - found.log_partition)
    assert rows["best_1"]["value"] == f"p = {share:.3f}"
    verb = chain().tag_id("VERB")
    drawn = [row["tags"] for name, row in rows.items() if name.startswith("sample")]
    assert drawn
    assert all(tags[tags.index(verb) + 1] == verb for tags in drawn)
    assert data["note"].startswith("Only paths that match the rule count. Entropy")
    assert "Here only paths that match it count." in chip(app)
    go_to(app, "pages/paths.py")
    rows = {row["id"]: row for row in stage_of(app)["rows"]}
    assert rows["best_1"]["tags"] == found.path
    assert not app.exception


def test_why_and_what_if_are_conditioned_on_the_rule(page):
    found = match(chain(), RULE)
    app = page(**{"v.at": "0 DET"})
    app.switch_page("pages/why.py").run()
    rows = {row["id"]: row["tags"] for row in stage_of(app)["rows"]}
    answer = why_not(chain(), 0, "DET", rule=RULE)
    assert rows["viterbi"] == found.path
    assert rows["why"] == answer.path
    log_odds = next(row for row in stage_of(app)["rows"] if row["id"] == "log_odds")["texts"]
    p = found.marginals[0, chain().tag_id("DET")].item()
    assert float(log_odds[0].replace("\u2212", "-")) == pytest.approx(
        math.log(p / (1 - p)), abs=0.006
    )
    app.switch_page("pages/what-if.py").run()
    rows = {row["id"]: row["tags"] for row in stage_of(app)["rows"]}
    assert found.path in rows.values()
    assert not app.exception


def test_cost_of_pins_is_conditioned_on_the_rule(page):
    app = page(**{"p": "1.VERB", "v.at": "0 DET"})
    app.switch_page("pages/why.py").run()
    given = condition(chain(), {1: "VERB"}, rule=RULE)
    told = next(text.value for text in app.text if text.value.startswith("Pinned"))
    assert "P(pins | x, rule)" in told
    assert f"a cost of {score(given.cost, 3)} nats" in told
    assert abs(given.cost - condition(chain(), {1: "VERB"}).cost) > 0.01


def test_marginals_under_a_rule_have_questions(page):
    app = page(**{"v.ask": "1"})
    app.switch_page("pages/marginals.py").run()
    assert "marginals" in [part for part, *_ in stage_of(app)["withheld"]]


def test_window_uses_the_rule_over_the_whole_sentence(page):
    words = (SENTENCE.split() * 21)[:125]
    whole = load_tagger("upos-en-contextfree").potentials(words)
    for cell, edits in (({}, Edits()), ({"t": "VERB.VERB:3"}, Edits({("VERB", "VERB"): 3.0}))):
        found = match(edits.apply(whole), RULE)
        app = page(**{"sentence": " ".join(words), "v.from": "5"} | cell)
        app.switch_page("pages/marginals.py").run()
        data = stage_of(app)
        assert data["results"]["log_partition"] == pytest.approx(found.log_partition)
        assert table(data, "marginals") == pytest.approx(found.marginals[5:].numpy(), abs=1e-9)
        rows = {row["id"]: row for row in data["rows"]}
        assert rows["best_1"]["tags"] == found.path[5:]
        assert rows["sample_1"]["tags"]
        assert data["overview"]["path"] == found.path
        every = numbers(data["overview"]["marginals"]).reshape(125, -1)
        assert every == pytest.approx(found.marginals.numpy(), abs=1e-9)
        assert data["note"].startswith("Only paths that match the rule count. Entropy")
        assert "Here only paths that match it count." in chip(app)
        assert not app.exception


def test_rule_is_not_applied_to_a_too_long_sentence(page):
    words = SENTENCE.split() * 50
    app = page(**{"sentence": " ".join(words), "v.rule": "([^ VERB]* VERB){1,7} [^ VERB]*"})
    app.switch_page("pages/marginals.py").run()
    assert chip(app).startswith("Rule (not counted): ")
    assert "Counted in up to 219 words only." in chip(app)
    plain = forward_backward(load_tagger("upos-en-contextfree").potentials(words)).marginals
    assert table(stage_of(app), "marginals") == pytest.approx(plain[:120].numpy(), abs=1e-9)


def test_rule_applies_to_a_cut_sentence(page):
    words = (SENTENCE.split() * 21)[:125]
    app = page(sentence=" ".join(words))
    cut = match(load_tagger("upos-en-contextfree").potentials(words[:120]), RULE)
    for script in ("paths", "what-if"):
        go_to(app, f"pages/{script}.py")
        assert chip(app).startswith("Rule: ")
        assert cut.path in [row["tags"] for row in stage_of(app)["rows"]]
        assert not app.exception


def test_rule_with_many_copies_adds_only_its_path(page):
    app = page(**{"v.rule": "([^ VERB]* VERB){1,14} [^ VERB]*"})
    app.switch_page("pages/marginals.py").run()
    assert chip(app).startswith("Rule (not counted): ")
    assert "Not counted: 254 tag copies, over 150." in chip(app)
    plain = forward_backward(chain()).marginals.numpy()
    assert table(stage_of(app), "marginals") == pytest.approx(plain, abs=1e-9)


def test_entity_probability_is_conditioned_on_the_rule(app):
    words = "Milan Kundera lives in Milan ."
    rule = "[^ B-PER]*"
    app.query_params.update({"model": "ner-en", "sentence": words, "v.rule": rule})
    app.query_params["v.entity"] = "0 0 LOC"
    open_at(app, "pages/entities.py")
    assert not app.exception
    scores = load_tagger("ner-en").potentials(words.split())
    expected = entity_probability(scores, 0, 0, "LOC", rule=rule)
    plain = entity_probability(scores, 0, 0, "LOC")
    assert abs(expected - plain) > 0.01
    panel = stage_of(app)["entity"]
    assert panel["probability"] == pytest.approx(expected)
    assert panel["total"] == pytest.approx(1.0, abs=1e-9)
    assert not any(each["span"] and each["span"][0] == "PER" for each in panel["hypotheses"])


def test_first_entity_of_the_best_path_under_the_rule_is_chosen(app):
    sentence = "Washington Irving lives in Washington ."  # a person without the rule
    app.query_params.update({"model": "ner-en", "sentence": sentence, "v.rule": "[^ B-PER]*"})
    open_at(app, "pages/entities.py")
    chosen = stage_of(app)["entity"]
    assert (chosen["label"], chosen["first"], chosen["last"]) == ("LOC", 0, 1)
