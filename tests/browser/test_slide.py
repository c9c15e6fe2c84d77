"""The stage alone on a slide: `?embed=stage` of the app, in a frame of another page."""

from playwright.sync_api import expect

DECK = """
<iframe src="{address}" style="width:480px;height:320px"></iframe><p id="heard"></p>
<script>
addEventListener("message", ({{ data }}) => {{
  if (data?.crfviz === "key") document.getElementById("heard").textContent += `${{data.key}} `;
}});
</script>
"""


def test_embedded_stage_is_alone_and_the_clicker_continues_in_the_deck(app, watch, fresh):
    context = fresh()
    deck = f"{app.url}/deck"  # of the same origin: others need CRFVIZ_FRAMES
    address = f"{app.url}/viterbi?model=upos-en-contextfree&embed=stage&step=11"
    context.route(deck, lambda route: route.fulfill(body=DECK.format(address=address)))
    screen = watch(context)
    screen.page.goto(deck)
    slide = screen.page.frame_locator("iframe")
    stage = slide.locator("[data-stage]")
    expect(stage).to_have_attribute("data-step", "11")
    for test_id in ("stSidebar", "stHeader"):
        expect(slide.get_by_test_id(test_id)).to_be_hidden()
    expect(slide.get_by_role("heading", name="Viterbi")).to_be_hidden()
    expect(slide.get_by_text("Show tables")).to_be_hidden()
    stage.click(position={"x": 440, "y": 130})
    screen.page.keyboard.press("PageDown")
    expect(stage).to_have_attribute("data-step", "12")
    screen.page.keyboard.press("PageDown")
    screen.page.keyboard.press("Escape")
    expect(screen.page.locator("#heard")).to_have_text("PageDown Escape")
    expect(stage).to_have_attribute("data-step", "12")
