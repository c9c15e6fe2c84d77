"""A file of 17,500 sentences becomes a document in the browser."""

from playwright.sync_api import expect

from crfviz.annotations.store.store import open_store
from tests.browser.test_annotate import MODEL, Desk

GOLD = ("DET", "ADJ", "NOUN", "VERB", "NOUN", "NOUN", "NUM", "ADP", "DET", "NOUN", "PUNCT")


def conllu_block(text):
    rows = zip(text.split(), GOLD, strict=True)
    return "\n".join(
        f"{n}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for n, (word, tag) in enumerate(rows, start=1)
    )


def test_large_file_is_stored_with_a_progress_bar_and_opened(screen, app):
    desk = Desk(screen)
    sentences = [f"The old man saw boat number {n} in the harbour ." for n in range(17_500)]
    content = "\n\n".join(map(conllu_block, sentences)).encode() + b"\n\n"
    assert 4.5e6 < len(content) < 5e6
    number = f"{len(sentences):,}"
    desk.open(model=MODEL, **{"v.by": "large", "v.part": "add"})
    desk.page.evaluate(
        """() => {
          window.bars = [];
          const look = () => {
            for (const bar of document.querySelectorAll("[data-testid=stProgress]")) {
              if (bars.at(-1) !== bar.innerText) bars.push(bar.innerText);
            }
          };
          const options = { subtree: true, childList: true, characterData: true };
          new MutationObserver(look).observe(document.body, options);
        }"""
    )
    file = {"name": "large.conllu", "mimeType": "text/plain", "buffer": content}
    desk.page.locator("input[type=file]").set_input_files([file])
    found = f"large.conllu is read as CoNLL-U: {number} sentences, {number} with gold tags."
    expect(desk.page.get_by_text(found)).to_be_visible()
    expect(desk.page.get_by_text("Some lines need your attention")).to_have_count(0)
    desk.page.get_by_role("button", name=f"Add {number} sentences").click()
    desk.expect_words(sentences[0].split())
    expect(desk.page.get_by_text(f"0 of {number} done")).to_be_visible()
    bars = desk.page.evaluate("bars")
    assert f"Storing {number} sentences …" in bars or any(f"of {number} stored" in b for b in bars)
    desk.key("n")
    desk.page.keyboard.press("Enter")
    desk.expect_words(sentences[1].split())
    expect(desk.page.get_by_text(f"1 of {number} done")).to_be_visible()
    with open_store(app.database) as store:
        items = store.items("large.conllu")
        assert [item.text for item in items] == sentences
        assert {item.gold for item in items} == {GOLD}
        store.remove("large.conllu")  # other tests list what is there
