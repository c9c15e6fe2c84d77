"""Walking through Viterbi, pointing at nodes, and both by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.support.screen import SENTENCE, assert_equal, chain

FOCUSED = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return { node: element.dataset.node ?? null, cell: element.dataset.cell ?? null,
           name: element.getAttribute("aria-label") };
}"""
COLUMNS = """() => [...new Set(
  [...crfviz.stage().querySelectorAll("[data-node]:not([data-later])")]
    .map((node) => Number(node.dataset.node.split(",")[0])))].sort((a, b) => a - b)"""


def at_step(screen, step):
    expect(screen.page.locator(f".stepper[data-step='{step}']")).to_be_visible()


def linked_step(screen, step):
    """The server hears of it when the keys rest; after the last step the link says none."""
    screen.expect_param("step", str(step) if step else "start")


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("path", "recurrence"), [("viterbi", "max over j"), ("forward-backward", "log Σ over j")]
)
def test_panel_explains_the_recurrence_before_the_first_step(screen, path, recurrence):
    screen.open(path, step="start")
    panel = screen.page.locator(".side-panel.candidates")
    expect(panel.locator(".intro")).to_contain_text(recurrence)
    screen.page.locator("h1").click()
    screen.press("ArrowRight")
    expect(panel.locator(".intro")).to_have_count(0)
    expect(panel.locator(".formula")).to_be_visible()


def survivors(t, k):
    """The best prefix that ends in tag k at word t, as backpointers."""
    pointers = chain().analysis.backpointers.tolist()
    edges = []
    for i in range(t, 0, -1):
        edges.append(f"{i},{pointers[i][k]},{k}")
        k = pointers[i][k]
    return sorted(edges)


def highlighted(screen):
    return sorted(
        screen.page.evaluate(
            """() => [...crfviz.stage().querySelectorAll("[data-edge][data-survivor]")]
                 .map((edge) => edge.dataset.edge)"""
        )
    )


def assert_highlighted(screen, edges):
    screen.eventually(lambda: assert_equal(highlighted(screen), edges))


def test_walk_moves_by_keys_and_buttons(screen):
    screen.open("viterbi")
    last = 2 * len(chain().words)
    at_step(screen, last)
    screen.press("Home")
    at_step(screen, 0)
    screen.press("End")
    at_step(screen, last)
    screen.expect_param("step", None)
    screen.press("Home", "PageDown", "ArrowRight", "PageDown", "ArrowRight", "ArrowLeft")
    at_step(screen, 3)
    assert screen.page.evaluate(COLUMNS) == [0, 1, 2]
    screen.press("PageUp", "Home")
    linked_step(screen, 0)
    first, back, on, end = screen.page.locator(".stepper button[title]").all()
    expect(back).to_be_disabled()
    on.click()
    on.click()
    on.click()
    at_step(screen, 3)
    screen.press("ArrowRight")
    at_step(screen, 4)
    back.click()
    at_step(screen, 3)
    end.click()
    at_step(screen, last)
    first.click()
    at_step(screen, 0)


@pytest.mark.rotating
def test_late_response_does_not_undo_a_newer_step(screen):
    screen.open("viterbi", step="1")
    at_step(screen, 1)
    screen.press("PageUp", "PageDown")
    screen.page.evaluate(
        """() => {
          const key = (name) => crfviz.stage().dispatchEvent(
            new KeyboardEvent("keydown", { key: name, bubbles: true, composed: true }));
          setTimeout(() => {
            key("ArrowRight");
            [window.pairs, window.steps] = [0, new Set()];
            const both = () => {
              window.steps.add(new URL(document.URL).searchParams.get("step"));
              key("ArrowRight");
              key("ArrowLeft");
              window.pairs++;
            };
            window.keys = setInterval(both, 100);
          }, 450);  // the first step has been sent, and not answered yet
        }"""
    )
    screen.page.wait_for_function("window.pairs >= 10 && crfviz.answered()")
    screen.page.evaluate("clearInterval(window.keys)")
    assert screen.page.evaluate("[...window.steps]") == ["2"]
    at_step(screen, 2)
    linked_step(screen, 2)


@pytest.mark.rotating
def test_step_is_in_the_link(screen):
    screen.open("viterbi", step="4")
    at_step(screen, 4)
    assert screen.page.evaluate(COLUMNS) == [0, 1, 2, 3]
    screen.page.reload()
    at_step(screen, 4)
    screen.press("ArrowRight")
    screen.page.reload()  # before the server can have heard
    at_step(screen, 5)
    screen.press("ArrowLeft")
    linked_step(screen, 4)
    screen.page.go_back()
    at_step(screen, 5)


@pytest.mark.rotating
def test_hovering_a_node_highlights_its_survivor(screen):
    screen.open("", sentence=SENTENCE)
    tags = chain().tags
    for t, tag in ((5, "NOUN"), (3, "PART"), (5, "PUNCT")):
        screen.node(t, tags.index(tag)).hover()
        assert_highlighted(screen, survivors(t, tags.index(tag)))
    screen.page.locator("h1").hover()
    assert_highlighted(screen, [])


@pytest.mark.rotating
def test_nodes_are_reached_and_walked_by_keyboard(screen):
    screen.open("", sentence=SENTENCE)
    while not (node := screen.page.evaluate(FOCUSED))["node"]:
        screen.press("Tab")
    t, k = map(int, node["node"].split(","))
    assert node["name"].startswith(f"{chain().words[t]}: {chain().tags[k]}, marginal ")
    screen.press("ArrowRight")
    assert screen.page.evaluate(FOCUSED)["node"] == f"{t + 1},{k}"
    assert_highlighted(screen, survivors(t + 1, k))
    screen.press("ArrowUp", "ArrowLeft")
    moved = screen.page.evaluate(FOCUSED)["node"]
    assert moved.startswith(f"{t},")
    assert moved != f"{t},{k}"


def test_candidates_of_the_chosen_cell_show_their_sums(screen):
    screen.open("viterbi", step="12")
    expected = chain()
    t, k = 3, expected.tags.index("ADP")
    screen.node(t, k).click()
    rows = screen.page.locator(".candidates .candidate:not(.candidate-head):visible").all()
    texts = [row.inner_text().split() for row in rows]
    potentials, best = expected.analysis.potentials, expected.analysis.best
    sums = best[t - 1] + potentials.transitions[:, k] + potentials.emissions[t, k]
    order = sums.argsort(descending=True).tolist()
    assert [row[0] for row in texts] == [expected.tags[j] for j in order]
    for row, j in zip(texts, order, strict=True):
        numbers = [best[t - 1, j], potentials.transitions[j, k], potentials.emissions[t, k]]
        shown = [float(text.replace("−", "-")) for text in row[1:]]
        assert shown == pytest.approx([*map(float, numbers), float(sums[j])], abs=0.0051)
    assert texts[0][0] == expected.tags[expected.analysis.backpointers[t, k]]


@pytest.mark.rotating
def test_buttons_beside_the_picture_reach_every_cell(screen):
    screen.open("forward-backward")
    title = screen.page.locator(".side-title")
    words, tags = chain().words, sorted(chain().tags)
    for name in ["the word before"] * 6 + ["the tag above"] * 17:
        screen.page.get_by_role("button", name=name).click()
    expect(title).to_have_text(f"{tags[0]} at “{words[0]}”")
    for name in ["the word after", "the tag below", "the tag below", "the tag above"]:
        screen.page.get_by_role("button", name=name).click()
    expect(title).to_have_text(f"{tags[1]} at “{words[1]}”")


def test_cells_are_reached_and_walked_by_keyboard(screen):
    sentence = "I want to work ."  # ADJ, the first tag, has no mass and is folded away
    screen.open("transitions", sentence=sentence)
    for _ in range(60):
        screen.press("Tab")
        focused = screen.page.evaluate(FOCUSED)
        if focused["cell"]:
            break
    assert focused["cell"].startswith("START,")
    source, target = focused["cell"].split(",")
    assert focused["name"].startswith(f"from {source} to {target}: ")
    screen.press("ArrowDown")
    assert screen.page.evaluate(FOCUSED)["cell"].endswith(f",{target}")
    screen.press("ArrowRight", "ArrowUp")
    assert screen.page.evaluate(FOCUSED)["cell"].startswith("START,")
