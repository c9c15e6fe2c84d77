"""Steps: what each uncovers, that nothing else is on the page, and the clicker that moves them."""

import re

import pytest
import torch
from playwright.sync_api import expect

from crfviz.chain.demonstrations.log_space import forward_messages
from tests.support.screen import MODEL, SENTENCE, assert_equal, chain, grid, named

SEEN = """() => {
  const stage = crfviz.stage();
  const nodes = [...stage.querySelectorAll("[data-node]")];
  const columns = (found) =>
    [...new Set(found.map((each) => Number(each.split(",")[0])))].sort((a, b) => a - b);
  const tables = ["alpha", "beta", "emissions", "marginals"];
  const filled = (name) => columns([...stage.querySelectorAll(`[data-table=${name}]`)]
    .filter((cell) => cell.textContent).map((cell) => cell.dataset.t));
  return {
    step: Number(stage.dataset.step), steps: Number(stage.dataset.steps),
    columns: columns(nodes.map((node) => node.dataset.node)),
    values: Object.fromEntries(nodes.filter((node) => "value" in node.dataset)
      .map((node) => [node.dataset.node, Number(node.dataset.value)])),
    marginals: stage.querySelectorAll("[data-marginal]").length,
    best: nodes.filter((node) => "best" in node.dataset).map((node) => node.dataset.node),
    edges: stage.querySelectorAll("[data-edge]").length,
    bestEdges: stage.querySelectorAll("[data-edge][data-best]").length,
    path: stage.querySelector(".line.best")?.getAttribute("d") ?? "",
    rows: crfviz.read().rows,
    tables: Object.fromEntries(tables.map((name) => [name, filled(name)])),
    sums: [...stage.querySelectorAll("[data-sum]")].map((line) => line.dataset.sum),
    text: stage.innerText + [...stage.querySelectorAll("[title], [aria-label]")]
      .map((each) => each.title + each.getAttribute("aria-label")).join(" "),
    identity: crfviz.read().identity, note: crfviz.read().note,
  };
}"""
BELOW = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollHeight - main.clientHeight;
}"""
LINE = 19  # pixels
WORDS = len(chain().words)


def seen(screen):
    return screen.page.evaluate(SEEN)


def assert_fits(screen):
    assert screen.page.evaluate(BELOW) <= LINE  # rows of the least height leave the legend below


def at_step(screen, step, of=2 * WORDS):
    at = f"[data-stage][data-step='{step}'][data-steps='{of}']"
    expect(screen.page.locator(at)).to_be_attached()


def best_columns(columns):
    table = grid(chain().analysis.best)
    return {place: best for place, best in table.items() if int(place.split(",")[0]) < columns}


def test_viterbi_reveals_each_value_at_its_step(screen):
    screen.open("viterbi", step="start", **{"v.twin": "1"})
    expected = chain()
    path = expected.analysis.viterbi.path
    best = [f"{t},{k}" for t, k in enumerate(path)]
    tags = named(path, expected.tags)
    marginal = f"{expected.analysis.viterbi.probability:.2f}"
    for step in range(2 * WORDS):
        shown = seen(screen)
        assert (shown["step"], shown["steps"]) == (step, 2 * WORDS)
        columns, known = min(step, WORDS), max(0, step - WORDS)
        assert shown["columns"] == list(range(columns))
        assert shown["values"] == pytest.approx(best_columns(columns), abs=1e-6)
        assert shown["edges"] == max(0, columns - 1) * len(expected.tags)
        assert shown["marginals"] == 0
        assert "marginal " not in shown["text"]
        assert shown["best"] == best[WORDS - known :]
        assert shown["bestEdges"] == max(0, known - 1)
        assert (shown["path"] != "") == (known > 1)
        assert shown["rows"] == ({"viterbi": tags[WORDS - known :]} if known else {})
        if known:
            here = WORDS - known
            title = f"{tags[here]} at “{expected.words[here]}”"
            expect(screen.page.locator(".side-title")).to_have_text(title)
        assert (shown["identity"], shown["note"]) == ("", "")
        assert f"p = {marginal}" not in shown["text"]
        screen.press("PageDown")
    shown = seen(screen)
    assert shown["rows"] == {"viterbi": tags, "gold": tags}
    assert f"p = {marginal}" in shown["identity"]
    assert shown["marginals"] == 0
    screen.expect_param("step", None)
    expect(screen.page.locator("[data-testid=stDataFrame]").first).to_be_visible()

    with screen.redraw():
        screen.page.get_by_role("button", name="marginals").click()
    marginals = WORDS * len(expected.tags)
    screen.eventually(lambda: assert_equal(seen(screen)["marginals"], marginals))
    screen.expect_param("v.nodes", "marginals")
    screen.press("Home")
    assert seen(screen)["marginals"] == 0
    expect(screen.page.locator("[data-testid=stDataFrame]")).to_have_count(0)


def test_forward_backward_reveals_alpha_and_beta_step_by_step(screen):
    screen.open("forward-backward", step="start")
    expected = chain()
    tables = expected.analysis.forward_backward
    last = 2 * WORDS + 2
    alpha, beta = grid(tables.log_alpha), grid(tables.log_beta)
    log_z = f"{tables.log_partition:.4f}"
    every = list(range(WORDS))
    for step in range(last):
        shown = seen(screen)
        assert (shown["step"], shown["steps"]) == (step, last)
        screen.eventually(lambda: assert_fits(screen))
        forward, back = min(step, WORDS), max(0, step - WORDS - 1)
        swept = every[:forward] if not back else every[WORDS - back :]
        assert shown["columns"] == swept
        assert shown["tables"]["alpha"] == every[:forward]
        assert shown["tables"]["beta"] == every[WORDS - back :]
        table = beta if back else alpha
        values = {place: table[place] for place in table if int(place.split(",")[0]) in swept}
        assert shown["values"] == pytest.approx(values, abs=1e-6)
        assert (shown["marginals"], shown["best"], shown["rows"]) == (0, [], {})
        title = screen.page.locator(".side-title").all_inner_texts()
        assert (title == ["Z"]) == (step == WORDS + 1)
        assert len(title) == (step > 0)
        assert (log_z in shown["text"]) == (step == WORDS + 1)
        into = {int(each.split(",")[0]) for each in shown["sums"]}
        if 1 < step <= WORDS:
            assert into == {step - 1}
        elif back > 1:
            assert into == {WORDS - back + 1}
        else:
            assert into == set()
        screen.press("ArrowRight")
    shown = seen(screen)
    assert shown["marginals"] == WORDS * len(expected.tags)
    assert shown["best"] == []
    assert shown["rows"]["log_z"] == [log_z] * WORDS
    assert f"{tables.log_partition:.9f}" in shown["note"]


@pytest.mark.rotating
def test_clicker_keys_work_with_any_focus(screen):
    screen.open("viterbi", step="start")
    screen.press("PageDown")
    at_step(screen, 1)
    screen.page.get_by_role("radio", name="light").click()
    screen.press("PageDown", "PageDown", "PageUp", "ArrowRight", "End", "Home", "ArrowRight")
    at_step(screen, 1)
    screen.press(" ")
    at_step(screen, 2)
    screen.page.locator(".st-key-pages summary", has_text="Ask the model").click()
    screen.press(" ")
    at_step(screen, 3)
    screen.press("PageUp")
    expect(screen.page.get_by_role("radio", name="light")).to_be_checked()

    screen.sentence.click()
    screen.press("PageDown")
    at_step(screen, 3)
    screen.expect_param("step", "3")
    screen.press("End", "Backspace")
    screen.page.keyboard.type("at Home")
    screen.press("PageDown", "ArrowLeft", "PageUp")
    at_step(screen, 3)
    with screen.redraw():
        screen.press("Enter")
    longer = 2 * len(chain(sentence=f"{SENTENCE[:-1]}at Home").words)
    at_step(screen, longer, longer)
    screen.press("PageUp")
    at_step(screen, longer - 1, longer)
    screen.press("ArrowRight", "End", "Home", " ")  # inside of the text
    at_step(screen, longer - 1, longer)

    screen.expect_param("step", str(longer - 1))
    screen.page.wait_for_function("crfviz.swept()")  # what is drawn closes a list
    screen.page.locator(".st-key-model button[aria-haspopup=listbox]").click()
    expect(screen.page.get_by_role("listbox")).to_be_visible()
    screen.press("PageDown")
    at_step(screen, longer - 1, longer)
    screen.press("Escape")
    expect(screen.page.get_by_role("listbox")).to_have_count(0)
    screen.press("PageDown")
    at_step(screen, longer, longer)


def test_clicker_turns_to_the_next_and_previous_page(screen):
    screen.open("", sentence=SENTENCE)
    with screen.redraw():  # a key that comes while a page is turned does nothing
        screen.press("PageDown")
        screen.expect_title("Emissions")
    at_step(screen, 0, WORDS + 1)
    assert seen(screen)["tables"]["emissions"] == []
    assert seen(screen)["rows"] == {}
    screen.press("PageDown", "PageDown", "PageDown")
    shown = seen(screen)
    assert (shown["step"], shown["tables"]["emissions"]) == (3, [0, 1, 2])
    assert shown["rows"] == {"greedy": named(chain().analysis.greedy, chain().tags)[:3]}
    assert shown["note"] == ""
    screen.expect_param("step", "3")
    with screen.redraw():
        screen.press("PageUp", "PageUp", "PageUp", "PageUp")
        screen.expect_title("Explore")
    at_step(screen, 0, 0)
    screen.rest()
    screen.page.go_back()  # once, and nothing lies between
    screen.expect_title("Emissions")
    screen.expect_param("model", MODEL)
    stage = screen.page.locator(f"[data-stage][data-steps='{WORDS + 1}']")
    expect(stage).to_be_visible()  # at the step that the address had when the page was turned
    with screen.redraw():
        screen.page.go_forward()
        screen.expect_title("Explore")
    at_step(screen, 0, 0)
    screen.press("PageUp")
    screen.wait_for_text("Explore is the first page of “Follow the chain”.")
    screen.page.locator("h1").click()
    with screen.redraw():
        screen.press(" ")
        screen.expect_title("Emissions")
    at_step(screen, 0, WORDS + 1)
    screen.press("End", " ")
    screen.expect_title("Transitions")


@pytest.mark.rotating
def test_link_followed_right_after_a_step_is_not_overwritten(screen):
    screen.open("viterbi", step="1")
    screen.page.evaluate("""() => {
      const once = (type, act) => addEventListener(type, act, { once: true });
      const step = new KeyboardEvent("keydown", { key: "PageDown" });
      once("mousedown", () => document.dispatchEvent(step));
      once("click", () => { // not heard where it is followed once more
        const begin = performance.now();
        while (performance.now() - begin < 600);  // the next page comes late
      });
    }""")
    screen.page.locator(".st-key-pages a", has_text="Marginals").click()
    screen.expect_title("Marginals")
    screen.page.wait_for_function("crfviz.swept()")
    screen.expect_title("Marginals")


@pytest.mark.rotating
def test_clicker_turns_pages_without_a_picture(screen):
    main = "document.querySelector('[data-testid=stMain]')"
    screen.visit("models")
    screen.page.get_by_role("tab").first.click()  # the cards are below
    screen.page.wait_for_function(f"{main}.scrollHeight > 2 * {main}.clientHeight")
    screen.page.evaluate(f"{main}.scrollTop = 0")
    screen.page.wait_for_function("crfviz.swept()")
    screen.press("PageDown")
    screen.page.wait_for_function(f"{main}.scrollTop > 0")
    screen.expect_title("Models")
    screen.rest()  # charts that are drawn late make the page longer
    screen.page.evaluate(f"{main}.scrollTop = 1e6")
    screen.press("PageDown")
    screen.wait_for_text("Models is the last page of “Work”.")


def test_parts_are_hidden_by_key_and_link(screen):
    screen.open("")
    screen.page.locator("h1").click()  # the focus may be in the sidebar, where letters are typed
    before = seen(screen)
    assert list(before["rows"]) == ["greedy", "left_to_right", "viterbi", "max_marginal", "gold"]
    for key, row in (("w", "greedy"), ("l", "left_to_right"), ("m", "max_marginal"), ("g", "gold")):
        screen.press(key)
        assert row not in seen(screen)["rows"]
        screen.press(key)
        assert row in seen(screen)["rows"]
    screen.press("p")
    shown = seen(screen)
    assert (shown["best"], shown["bestEdges"], shown["path"]) == ([], 0, "")
    assert (shown["identity"], shown["note"]) == (before["identity"], before["note"])
    screen.press("n")
    assert seen(screen)["note"] == ""
    screen.press("s")
    assert seen(screen)["identity"] == ""
    screen.expect_param("v.hide", "path.note.score")
    screen.press("p", "n", "s", "l", "v", "m", "g")
    screen.expect_param("v.rows", "greedy")
    shown = seen(screen)
    assert list(shown["rows"]) == ["greedy"]
    assert (shown["best"], shown["bestEdges"], shown["path"]) == ([], 0, "")
    assert "Viterbi" not in shown["text"].replace("Viterbi lattice", "")
    assert legend(screen).startswith("circle: marginal · thin lines")
    assert (shown["identity"], shown["note"]) == ("", "")
    assert screen.page.locator("[data-differs]").count() == 0

    screen.page.reload()
    screen.wait({"name": 0, "rev": -1})
    assert seen(screen)["rows"] == shown["rows"]
    with screen.redraw():
        screen.follow("Viterbi")
    at_step(screen, 2 * WORDS)
    shown = seen(screen)
    assert (shown["rows"], shown["best"], shown["identity"]) == ({}, [], "")
    screen.page.get_by_role("button", name="View", exact=True).click()
    screen.page.locator("[data-part=viterbi]").click()
    assert list(seen(screen)["rows"]) == ["viterbi"]
    screen.expect_param("v.rows", "greedy.viterbi")
    with screen.redraw():
        screen.page.get_by_role("button", name="single-key shortcuts").click()
    screen.expect_param("v.no_letters", "1")
    screen.press("v")
    assert list(seen(screen)["rows"]) == ["viterbi"]


@pytest.mark.rotating
def test_captions_do_not_reveal_later_steps(screen):
    """The point of the example comes with the last step; folded tags stay folded at every step."""
    point = screen.page.locator("[data-testid=stMain]").get_by_text(
        "Independent and greedy decoding"
    )
    labels = screen.page.locator(".tag-label:visible")
    screen.open("viterbi", step="1")
    drawn = labels.all_inner_texts()
    assert len(drawn) < len(chain().tags)
    expect(point).to_have_count(0)
    screen.press("End")
    expect(point).to_be_visible()
    expect(labels).to_have_text(drawn)  # no row comes or goes
    screen.press("Home")
    expect(point).to_have_count(0)
    with screen.redraw():
        screen.follow("Explore")
    expect(point).to_be_visible()
    assert labels.count() < len(chain().tags)
    screen.page.locator("h1").click()
    screen.press("n")
    expect(point).to_have_count(0)


@pytest.mark.rotating
def test_link_restores_the_whole_screen(watch, fresh):
    """The cell that is explained and how, folded tags, the sidebar; the picture scrolls there."""
    screen = watch(fresh())  # the browser remembers that the sidebar is hidden
    screen.open("forward-backward", model=MODEL, sentence=" ".join([SENTENCE] * 6))
    screen.page.get_by_role("button", name="unlikely tags hidden").click()
    screen.expect_param("v.folded", "no")
    cell = screen.page.locator("[data-table=beta][data-t='30'][data-k='3']")
    cell.click()
    screen.expect_param("v.chosen", f"30 {chain().tags[3]}")
    screen.expect_param("v.panel", "beta")
    screen.page.locator("[data-testid=stSidebar]").hover()
    screen.page.locator("[data-testid=stSidebarCollapseButton] button").click()
    screen.expect_param("v.sidebar", "closed")
    title = screen.page.locator(".side-title").inner_text()
    address = screen.page.url

    other = watch(fresh())
    other.page.goto(address)
    other.wait({"name": 0, "rev": -1})
    expect(other.page.locator(".side-title")).to_have_text(title)
    expect(other.page.locator("[data-kind=beta]")).to_have_attribute("aria-pressed", "true")
    assert set(seen(other)["rows"]) == {"log_z"}
    expect(other.page.locator(".tag-label:visible")).to_have_count(len(chain().tags))
    expect(other.page.locator("[data-testid=stExpandSidebarButton]")).to_be_visible()
    scrolled = """() => {
      const cell = crfviz.stage().querySelector("[data-table=beta][data-chosen]");
      const frame = cell.closest(".scroller");
      const [own, box] = [cell, frame].map((each) => each.getBoundingClientRect());
      return { own: own.toJSON(), box: box.toJSON(), at: [frame.scrollLeft, frame.scrollTop] };
    }"""

    def in_sight():  # else it says where the picture was scrolled to
        where = other.page.evaluate(scrolled)
        own, box = where["own"], where["box"]
        assert box["left"] <= own["left"] < own["right"] <= box["right"], where
        assert box["top"] <= own["top"] < own["bottom"] <= box["bottom"], where

    other.eventually(in_sight)
    expect(other.page.locator("[data-table=beta][data-chosen]")).to_be_in_viewport(ratio=1)
    other.eventually(lambda: assert_fits(other))
    within = """() => {
      const box = (kind) => crfviz.stage().querySelector(kind).getBoundingClientRect();
      const [frame, head, label] = [".scroller", ".word", ".label.tag-name"].map(box);
      const chosen = box("[data-table=beta][data-chosen]");
      return [chosen.top >= head.bottom, chosen.bottom <= frame.bottom,
              Math.abs(head.top - frame.top) < 1, Math.abs(label.left - frame.left) < 1];
    }"""

    def check():  # it scrolls under its words, beside its tags
        assert other.page.evaluate(within) == [True] * 4
        place, inside = (
            other.page.locator(each).first.bounding_box()
            for each in ("[data-table=beta][data-t='30'][data-k='3']", ".scroller")
        )
        assert inside["x"] <= place["x"] <= inside["x"] + inside["width"] - place["width"]

    other.eventually(check)
    other.page.locator("[data-testid=stExpandSidebarButton]").click()
    other.page.wait_for_function("!new URL(document.URL).searchParams.has('v.sidebar')")
    other.follow("Viterbi")
    other.page.wait_for_function("!new URL(document.URL).searchParams.has('v.panel')")


@pytest.mark.rotating
@pytest.mark.parametrize("scrolls", [False, True], ids=["untouched", "scrolled"])
def test_link_shows_its_cell_until_scrolled_even_if_styles_are_late(watch, fresh, scrolls):
    """Unstyled the page leaves the picture little room: its rows do not scroll under its words."""
    low = {"width": 1280, "height": 600}
    screen, held = watch(fresh(viewport=low)), []  # nothing is cached
    screen.page.route(re.compile(r"/Html\.[^/]+\.js"), lambda route: held.append(route))
    view = {"v.folded": "no", "v.chosen": f"30 {chain().tags[3]}", "v.panel": "beta"}
    screen.open("forward-backward", sentence=" ".join([SENTENCE] * 6), **view)
    cell = screen.page.locator("[data-table=beta][data-chosen]")
    left = "crfviz.stage().querySelector('.scroller').scrollLeft"
    screen.page.wait_for_function(f"{left} > 0")
    expect(cell).not_to_be_in_viewport()
    assert held
    if scrolls:
        screen.page.locator(".word").last.hover()
        screen.page.mouse.wheel(-9999, 0)
        screen.page.wait_for_function(f"{left} === 0")
    for route in held:
        route.continue_()
    expect(screen.page.locator("[data-stage]")).to_have_attribute("data-framed", "true")
    if scrolls:
        assert screen.page.evaluate(left) == 0
    else:
        expect(cell).to_be_in_viewport(ratio=1)


def legend(screen):
    return screen.page.locator(".legend").inner_text()


@pytest.mark.rotating
def test_alpha_convention_is_the_same_on_every_page(screen):
    """Under α as the message table, panel, lattice, check row and Log space say the same."""
    model, days = "textbook/ice-cream", "2 3 3 1"
    expected = chain(model, days).analysis
    tag = chain(model, days).tags[0]
    tables, emissions = expected.forward_backward, expected.potentials.emissions
    messages = forward_messages(expected.potentials, tables)
    screen.open("forward-backward", model=model, sentence=days, **{"v.alpha": "message"})
    cells = screen.page.locator("[data-table=alpha]")
    cells.nth(1).click()  # of the first tag, the second word
    sent = f"{messages[1, 0]:.4f}".replace("-", "−")
    expect(screen.page.locator(".side-title")).to_have_text(f"“3” to {tag} at “3”")
    expect(screen.page.locator(".values")).to_contain_text(f"log Σ exp = {sent}")
    expect(screen.page.locator(".strips .label").first).to_contain_text("α·e·β")
    screen.page.locator("h1").click()  # inside of a table the arrows go from cell to cell
    screen.press("Home", "ArrowRight", "ArrowRight")
    at_step(screen, 2, 10)
    arriving = {f"1,{k}": (tables.log_alpha - emissions)[1, k].item() for k in range(2)}
    shown = seen(screen)["values"]
    assert {place: shown[place] for place in arriving} == pytest.approx(arriving, abs=1e-6)

    with screen.redraw():
        screen.press("End")
    with screen.redraw():
        screen.page.get_by_role("radio", name="probability").click()
    values = torch.exp(messages[:3, 0]).tolist()

    def check():
        texts = [text.replace("−", "-") for text in cells.all_inner_texts()[:3]]
        assert [float(text) for text in texts] == [float(f"{value:.4g}") for value in values]

    screen.eventually(check)

    screen.follow("Log space")
    alpha = f"{tables.log_alpha[1, expected.viterbi.path[1]]:.4f}".replace("-", "−")
    with_emission = screen.page.get_by_text("This sum is the message passed on to")
    expect(with_emission).to_contain_text(f"= {alpha}.")


@pytest.mark.rotating
def test_factor_graph_shows_the_messages_of_the_walk(screen):
    """Variables, a factor for each word and step, both ends; α and β as far as the walk came."""
    model, days = "textbook/ice-cream", "2 3 3 1"
    graph = {"model": model, "sentence": days, "v.picture": "graph"}
    expected = chain(model, days)
    tables = expected.analysis.forward_backward
    screen.open("forward-backward", step="7", **graph)  # four of α, Z, two of β
    names = "(all, name) => all.map((one) => one.dataset[name])"
    factors = screen.page.locator("[data-factor]").evaluate_all(names, "factor")
    steps = ["START", "0,1", "1,2", "2,3", "END"]
    assert factors == [*steps, *[f"word {t}" for t in range(4)]]
    expect(screen.page.locator("[data-variable]")).to_have_count(4)
    messages = screen.page.locator("[data-message]")
    sent = messages.evaluate_all(names, "message")
    assert sorted(sent) == [*[f"alpha,{t}" for t in range(4)], "beta,2", "beta,3"]
    best = tables.log_alpha[1].argmax().item()
    text = f"{expected.tags[best]} {tables.log_alpha[1, best]:.1f}".replace("-", "−")
    expect(screen.page.locator("[data-message='alpha,1']")).to_contain_text(text)
    expect(screen.page.locator("[data-now]")).to_have_attribute("data-message", "beta,2")
    screen.press("End")
    expect(messages).to_have_count(8)
    screen.open("hmm", **{**graph, "v.picture": "graphs"})
    expect(screen.page.locator("[data-seen]")).to_have_count(4)
    expect(screen.page.locator("[data-variable]")).to_have_count(8)


@pytest.mark.rotating
def test_pages_without_a_picture_have_steps(screen):
    screen.open("naive", model="textbook/ice-cream", sentence="2 3 3 1", step="start")
    metrics = screen.page.locator("[data-testid=stMetricValue]")
    at_step(screen, 0, 6)
    expect(metrics).to_have_count(1)
    expect(screen.page.locator("[data-testid=stDataFrame]")).to_have_count(0)
    assert "log Z" not in screen.text()
    screen.press("PageDown")
    expect(screen.page.locator("[data-testid=stDataFrame]")).to_have_count(1)
    screen.expect_param("step", "1")
    assert "log Z" not in screen.text()
    screen.press("End")
    expect(metrics).to_have_count(4)
    screen.wait_for_text("Summed one by one: log Z")
    screen.press("PageDown")
    expect(screen.tab("Log space")).to_be_checked()
    at_step(screen, 0, 5)
    screen.page.wait_for_function("crfviz.swept()")  # while a page is turned keys do nothing
    screen.press("ArrowRight", "ArrowRight")
    expect(screen.page.locator("[data-testid=stDataFrame]")).to_have_count(1)
    screen.expect_param("step", "2")
    assert "Σ exp(a − max)" not in screen.text()
    screen.press("ArrowRight", "ArrowRight")
    screen.wait_for_text("log(Σ exp(a − max))")
    assert "without the trick (exp" not in screen.text()
    screen.press("ArrowRight")
    screen.wait_for_text("without the trick (exp")


@pytest.mark.rotating
def test_viterbi_walk_is_announced_to_screen_readers(screen):
    screen.open("viterbi", step="start", sentence="They run .", model=MODEL)
    expected = chain(MODEL, "They run .")
    analysis, tags, words = expected.analysis, expected.tags, expected.words
    heard = screen.page.locator("[data-stage] .heard[role=status]")
    expect(heard).to_have_text("")

    def largest(t):
        score = analysis.best[t].max().item()
        return f"Largest: {tags[analysis.best[t].argmax()]}, {score:.2f}.".replace("-", "−")

    path = named(analysis.viterbi.path, tags)
    transcript = [
        f"Step 1 of 6. Start: each tag of “They” by itself. {largest(0)}",
        f"Step 2 of 6. Forward 2 of 3: the best way into each tag of “run”. {largest(1)}",
        f"Step 3 of 6. Forward 3 of 3: the best way into each tag of “.”. {largest(2)}",
        f"Step 4 of 6. Back: {path[2]} ends the best path (best score plus END).",
        f"Step 5 of 6. Back: the pointer leads from {path[2]} to {path[1]} at “{words[1]}”.",
        f"Step 6 of 6. The best path, read back along the backpointers. Viterbi: {' '.join(path)}.",
    ]
    for told in transcript:
        screen.press("PageDown")
        expect(heard).to_have_text(told)
    screen.press("v")
    expect(heard).to_have_text("Viterbi covered. best path covered. score line covered.")
    screen.press("v")
    shown = f"Viterbi: {' '.join(path)}. best path shown. score line shown."
    expect(heard).to_have_text(shown)
