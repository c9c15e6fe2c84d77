"""A line that was lost leads to a server that knows nothing of the page but its address."""

import pytest
from playwright.sync_api import expect

from tests.support.screen import chain, with_cell

# The way to the server: cut, it loses what is told; whoever comes back is a stranger to the server.
LINE = """(() => {
  const Plain = WebSocket;
  window.line = { cut: false, lost: 0, told: 0, made: 0, open: [] };
  window.WebSocket = class extends Plain {
    constructor(url, protocols) {
      super(url, line.made++ ? protocols?.slice(0, 2) : protocols); // the third names the session
      line.open.push(this);
    }
    send(message) {
      if (line.cut) line.lost++;
      else line.told++;
      if (!line.cut) super.send(message);
    }
  };
  line.drop = () => line.open.splice(0).forEach((each) => each.close());
})()"""
BACK = """([made, told]) => {
  const state = document.querySelector("[data-testid=stApp]").dataset;
  const connected = line.made > made && state.testConnectionState === "CONNECTED";
  return connected && line.told > told && state.testScriptState === "notRunning";
}"""
WORDS = "The old man the boats ."


@pytest.fixture
def screen(watch, fresh):
    context = fresh()
    context.add_init_script(LINE)
    return watch(context).open("transitions")


def drop(screen):
    """The line is lost; the next one is there, and the page was drawn again."""
    before = screen.page.evaluate("[line.made, line.told]")
    screen.page.evaluate("line.drop()")
    screen.page.wait_for_function(BACK, arg=before)


def test_new_session_restores_the_page_from_its_url_and_edits_from_the_outbox(screen):
    screen.open("transitions", sentence=WORDS)
    drop(screen)
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-3.25")
    screen.expect_lattice(chain(sentence=WORDS, edits=with_cell("DET", "NOUN", -3.25)))
    screen.expect_param("t", "DET.NOUN:-3.25")

    screen.page.evaluate("line.cut = true")
    screen.type_score(screen.cell("DET", "NOUN"), "2.5")
    screen.page.wait_for_function("line.lost")
    screen.page.evaluate("line.cut = false")
    drop(screen)
    screen.expect_param("t", "DET.NOUN:2.5")
    screen.expect_param("sentence", WORDS)
    screen.expect_lattice(chain(sentence=WORDS, edits=with_cell("DET", "NOUN", 2.5)))
    screen.expect_edits(1)


@pytest.mark.rotating
def test_new_session_restores_the_cue_of_a_lecture(screen):
    screen.page.goto(screen.address("", lecture="greedy", cue=4))
    expect(screen.page.locator("[data-cue='4']")).to_be_attached()
    screen.rest()
    drop(screen)
    screen.rest()
    expect(screen.page.locator("[data-cue='4']")).to_be_attached()
    screen.press("PageDown")
    expect(screen.page.locator("[data-cue='5']")).to_be_attached()
    screen.expect_params({"lecture": "greedy", "cue": "5"})
